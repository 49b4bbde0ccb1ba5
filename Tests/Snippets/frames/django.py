"""Frame of docs/tasks/frameworks.md: a shop on Django, asked as its clients ask."""
import django
import routes
from django.conf import settings

routes.prepare()
settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["testserver"], SECRET_KEY="of a test")
django.setup()
# SNIPPET
from django.test import Client

client = Client(enforce_csrf_checks=True)


def post(path, body, headers):
    answer = client.post(path, body, content_type="application/json", headers=headers)
    found = answer.json() if answer["Content-Type"] == "application/json" else None
    return answer.status_code, found, answer.headers


routes.ask(post, bad_body=400)
