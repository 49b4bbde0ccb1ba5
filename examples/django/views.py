"""The routes of the shop: what is no such body is 400, everything else is the shop's answer."""
import json

from django.core.exceptions import BadRequest
from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

import shop


def member(request: HttpRequest, name: str) -> str:
    try:
        text = json.loads(request.body)[name]
    except (ValueError, KeyError, TypeError, RecursionError) as fault:
        raise BadRequest(name) from fault
    if not isinstance(text, str):
        raise BadRequest(name)
    return text


def answered(answer: shop.Answer) -> JsonResponse:
    body, status, headers = answer
    return JsonResponse(body, status=status, headers=headers)


@csrf_exempt
@require_POST
def purchases(request: HttpRequest) -> JsonResponse:
    authorization = request.headers.get("Authorization", "")
    return answered(shop.purchase(authorization, member(request, "jws")))


@csrf_exempt
@require_POST
def notifications(request: HttpRequest) -> JsonResponse:
    return answered(shop.notify(member(request, "signedPayload")))
