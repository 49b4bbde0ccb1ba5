"""Serve moto's DynamoDB on a loopback port, one request at a time.

  moto_front.py PORT

moto checks a condition and then writes without a lock, so that several simultaneous requests may
pass the same condition, which the real service excludes. One lock around all requests makes moto
atomic and changes nothing else.
"""

import sys
import threading

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, run_simple

LOCK = threading.Lock()


class Quiet(WSGIRequestHandler):
    """A request handler that logs nothing."""

    def log_request(self, *arguments):
        pass


def front(environ, start_response):
    """Return moto's response, computed while no other request runs."""
    with LOCK:
        return list(MOTO(environ, start_response))


MOTO = DomainDispatcherApplication(create_backend_app)

if __name__ == "__main__":
    run_simple("127.0.0.1", int(sys.argv[1]), front, threaded=True, request_handler=Quiet)
