"""The callers of the function: both kinds of API, custom domains, a balancer, a function URL."""
import json
import unittest

from freemium.backend import OPEN, ROUTES
from freemium.events import Request
from running import BackendCase, new_password, new_username

CALL = '{"tier":"free"}'


def http_api(path, route=None, claims=None, **more):
    """Return an event of payload 2.0; `route` is the one that the API has matched."""
    context = {"stage": "$default", "http": {"method": "POST", "path": path, "sourceIp": "::1"}}
    if claims:
        context["authorizer"] = {"jwt": {"claims": claims, "scopes": None}}
    event = {"version": "2.0", "rawPath": path, "headers": {}, "body": CALL,
             "requestContext": context, **more}
    return {**event, "routeKey": route} if route else event


def rest_api(path, resource=None, claims=None, **more):
    """Return an event of a REST API, or of payload 1.0 of an HTTP API."""
    context = {"stage": "prod", "identity": {"sourceIp": "::1"}}
    if claims:
        context["authorizer"] = {"claims": claims}
    event = {"path": path, "httpMethod": "POST", "headers": {}, "multiValueHeaders": {},
             "body": CALL, "requestContext": context, **more}
    return {**event, "resource": resource} if resource else event


def balancer(path, forwarded="203.0.113.9", **more):
    """Return an event of an Application Load Balancer."""
    return {"requestContext": {"elb": {"targetGroupArn": "arn:aws:elasticloadbalancing:x"}},
            "httpMethod": "POST", "path": path, "queryStringParameters": {}, "body": CALL,
            "headers": {"x-forwarded-for": forwarded}, "isBase64Encoded": False, **more}


class EventsCase(BackendCase):
    def status(self, event):
        return self.backend.answer(event)["statusCode"]

    @property
    def claims(self):
        return {"sub": "someone", "token_use": "access", "client_id": self.client}


class PathTest(EventsCase):
    settings = {"attest_signup": True}  # without it the route is 404

    def test_bck18_the_route_is_the_one_that_the_gateway_matched(self):
        route, claims = "/v1/analyze", self.claims
        proxy = {"pathParameters": {"proxy": "v1/analyze"}}
        for event in (
                http_api("/api/v1/analyze", "POST /v1/analyze", claims),
                http_api("/a/b/v1/analyze", "ANY /v1/analyze", claims),
                http_api("/api/v1/analyze", "ANY /{proxy+}", claims, **proxy),
                http_api("/api/v1/analyze", "POST /v1/{name}", claims,
                         pathParameters={"name": "analyze"}),
                http_api(route, "$default", claims),
                http_api(route, None, claims),
                rest_api("/api/v1/analyze", route, claims),
                rest_api("/api/v1/analyze", "/{proxy+}", claims, **proxy),
                rest_api("/api/v1/analyze", "/v1/{proxy+}", claims,
                         pathParameters={"proxy": "analyze"}),
                rest_api("/prod/v1/analyze", route, claims, version="1.0"),
                rest_api(route, None, claims)):
            with self.subTest(event=event):
                self.assertEqual(Request.of(event).path, route)
                self.assertEqual(self.status(event), 200)

    def test_bck18_every_route_behind_a_base_path(self):
        for path in (*OPEN, *ROUTES):
            for event in (http_api(f"/api{path}", f"POST {path}"), rest_api(f"/api{path}", path)):
                with self.subTest(path=path, event=event):
                    self.assertEqual(Request.of(event).path, path)
                    self.assertNotIn(self.status({**event, "body": None}), (404, 405, 500))

    def test_bck18_a_path_that_the_gateway_did_not_match(self):
        for event in (http_api("/v1/analyze", "POST /v1/other", self.claims),
                      rest_api("/v1/analyze", "/v1/other", self.claims),
                      http_api("/api/v1/analyze", "$default", self.claims),
                      http_api("/v1/analyzed", "ANY /{proxy+}", self.claims),
                      http_api("/nowhere", "ANY /{proxy+}", self.claims, pathParameters=None),
                      http_api(5, 5, self.claims), rest_api(["x"], 5, self.claims)):
            with self.subTest(event=event):
                self.assertEqual(self.status(event), 404)

    def test_bck18_events_that_are_none(self):
        for event in ({}, [], None, 5, {"headers": [], "multiValueHeaders": {"a": 5, "b": []}},
                      {"rawPath": "/5/v1/analyze", "requestContext": {"stage": 5, "http": 5}},
                      {"path": None, "requestContext": {"elb": 5}, "headers": {"x": None}},
                      {"routeKey": "POST /{a}", "pathParameters": {"a": 5}, "rawPath": "/x"},
                      {"resource": "/{a}", "pathParameters": ["a"]}):
            with self.subTest(event=event):
                answer = self.backend.answer(event)
                self.assertIn(answer["statusCode"], (404, 405, 500))
                self.assertIn("error", json.loads(answer["body"]))

    def test_bck18_the_stage_of_an_http_api(self):
        event = http_api("/prod/v1/analyze", "$default", self.claims)
        event["requestContext"]["stage"] = "prod"
        self.assertEqual(self.status(event), 200)

    def test_bck18_both_places_of_the_claims_and_no_other(self):
        claims = self.claims
        for make in (http_api, rest_api):
            event = make("/v1/analyze")
            for authorizer, status in (
                    ({"jwt": {"claims": claims}}, 200), ({"claims": claims}, 200),
                    ({"lambda": claims}, 401), ({"iam": claims}, 401), (claims, 401),
                    ({"jwt": claims}, 401), ({"jwt": {"claims": {}}}, 401), ({}, 401),
                    (None, 401)):
                with self.subTest(make=make.__name__, authorizer=authorizer):
                    event["requestContext"]["authorizer"] = authorizer
                    self.assertEqual(self.status(event), status)


    def test_bck18_the_same_claims_from_both_kinds_of_api(self):
        """Check that a REST API's texts and an HTTP API's values make one caller, on every route,
        and that whatever else an authorizer can pass makes none."""
        more = {"exp": 1_900_000_000, "version": 2, "cognito:groups": ["a", "b"]}
        for path in ROUTES:
            http = {**self.claims, **more, "sub": path}  # one of the routes deletes it
            rest = {name: str(value) for name, value in http.items()}
            answers = []
            for event in (rest_api(path, path, rest), http_api(path, f"POST {path}", http)):
                event["body"] = "{}"
                answers.append(self.backend.answer(event))
            self.assertEqual(answers[0]["statusCode"], answers[1]["statusCode"], path)
            self.assertNotEqual(answers[0]["statusCode"], 401, path)
        for claims in (json.dumps(rest), [rest], {"claims": rest}, {**rest, "sub": None},
                       {**rest, "sub": ""}, {**rest, "sub": ["someone"]},
                       {**rest, "token_use": "id"}, {**rest, "client_id": "other"}):
            for authorizer in ({"claims": claims}, {"jwt": {"claims": claims}}):
                event = rest_api("/v1/analyze", "/v1/analyze")
                event["requestContext"]["authorizer"] = authorizer
                self.assertEqual(self.status(event), 401, authorizer)


class BalancerTest(EventsCase):
    """A function without a gateway, which verifies the bearer token and removes the base path."""

    settings = {"caller": "token", "base_path": "/api"}
    verifier_members = {"ledger": {"transfer": "allow", "signup": {
        "limit": 2, "attemptLimit": 40, "unknownLimit": 1}}}

    def test_bck18_a_balancer_and_a_function_url(self):
        bearer = f"Bearer {self.app().token}"
        for path, status in (("/api/v1/analyze", 200), ("/v1/analyze", 200), ("/api/x", 404),
                             ("/apiv1/analyze", 404), ("/api/api/v1/analyze", 404)):
            with self.subTest(path=path):
                sent = {"headers": {"authorization": bearer}}
                self.assertEqual(self.status(balancer(path, **sent)), status)
                url = http_api(path, "$default", headers={"authorization": bearer})
                url["requestContext"]["authorizer"] = {"iam": {"userId": "someone"}}
                self.assertEqual(self.status(url), status)
        for event in (http_api("/api/v1/analyze", "POST /api/v1/analyze"),
                      rest_api("/api/v1/analyze", "/{proxy+}",
                               pathParameters={"proxy": "api/v1/analyze"})):
            self.assertEqual(self.status({**event, "headers": {"authorization": bearer}}), 200)
        self.assertEqual(self.status(balancer("/api/v1/analyze")), 401)
        self.assertEqual(self.status(balancer("/api/v1/analyze", requestContext={
            "elb": {}, "authorizer": {"claims": self.claims}})), 401)

    def test_a_balancer_is_answered_in_its_form(self):
        event = balancer("/api/v1/analyze")
        answer = self.backend.answer(event)
        self.assertIs(answer["isBase64Encoded"], False)
        self.assertNotIn("multiValueHeaders", answer)
        del event["headers"]
        event["multiValueHeaders"] = {"Authorization": ["x", f"Bearer {self.app().token}"]}
        answer = self.backend.answer(event)
        self.assertEqual(answer["statusCode"], 200)
        self.assertEqual(answer["multiValueHeaders"]["Content-Type"], ["application/json"])

    def test_w19_the_address_is_the_one_that_the_balancer_added(self):
        def sign_up(number, forwarded):
            body = {"username": new_username(), "password": new_password()}
            chosen = f"198.51.100.{number}, {forwarded}" if forwarded else ""
            return self.status(balancer("/api/v1/signup", chosen, body=json.dumps(body)))

        self.assertEqual([sign_up(n, "203.0.113.50") for n in range(4)], [200, 200, 429, 429])
        self.assertEqual(sign_up(5, "203.0.113.51"), 200)
        self.assertEqual([sign_up(6, None), sign_up(7, None)], [200, 429])


if __name__ == "__main__":
    unittest.main()
