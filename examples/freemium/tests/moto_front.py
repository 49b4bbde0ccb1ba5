"""Serve moto's DynamoDB and Cognito on a loopback port, for the tests.

  moto_front.py PORT

Two things are in front of it, because moto is not the service:

- one lock: moto checks a condition and writes without a lock, so that more than one of many
  concurrent requests passes;
- a guard for SignUp: moto stores AllowAdminCreateUserOnly and ignores it (BCK-21). The guard
  reads the pool's own setting and responds as Cognito does.
"""
import io
import json
import sys
import threading

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, run_simple

LOCK = threading.Lock()
MOTO = DomainDispatcherApplication(create_backend_app)
SIGN_UP = "AWSCognitoIdentityProviderService.SignUp"
REFUSED = {"__type": "NotAuthorizedException",
           "message": "SignUp is not permitted for this user pool"}


class Quiet(WSGIRequestHandler):
    """A request handler that logs nothing."""

    def log_request(self, *arguments):
        pass


def front(environ, start_response):
    """Return moto's response, made while no other request runs."""
    with LOCK:
        if environ.get("HTTP_X_AMZ_TARGET") == SIGN_UP and is_closed(environ):
            start_response("400 Bad Request", [("Content-Type", "application/x-amz-json-1.1")])
            return [json.dumps(REFUSED).encode()]
        return list(MOTO(environ, start_response))


def is_closed(environ):
    """Return whether the pool of this client is closed for SignUp."""
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    environ["wsgi.input"] = io.BytesIO(body)
    from moto.cognitoidp.models import cognitoidp_backends

    client = json.loads(body).get("ClientId")
    for account in cognitoidp_backends.values():
        for backend in account.values():
            for pool in backend.user_pools.values():
                if client in pool.clients:
                    setting = pool.extended_config.get("AdminCreateUserConfig") or {}
                    return setting.get("AllowAdminCreateUserOnly") is True
    return False


if __name__ == "__main__":
    run_simple("127.0.0.1", int(sys.argv[1]), front, threaded=True, request_handler=Quiet)
