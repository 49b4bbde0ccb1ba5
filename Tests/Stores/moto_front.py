"""moto's DynamoDB on a loopback port, one request at a time.

  moto_front.py PORT

moto checks a condition and writes without holding anything in between, so that of many
simultaneous requests more than one passes; the service does not do that. One lock around
the whole makes it atomic, and nothing else about it is changed.
"""

import sys
import threading

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, run_simple

LOCK = threading.Lock()


class Quiet(WSGIRequestHandler):
    """No line for each request."""

    def log_request(self, *arguments):
        pass


def front(environ, start_response):
    """The answer of moto, made while no other request runs."""
    with LOCK:
        return list(MOTO(environ, start_response))


MOTO = DomainDispatcherApplication(create_backend_app)

if __name__ == "__main__":
    run_simple("127.0.0.1", int(sys.argv[1]), front, threaded=True, request_handler=Quiet)
