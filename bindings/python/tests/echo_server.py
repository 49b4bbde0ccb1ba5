"""Servers on loopback, among them one that records its requests and has a constant response."""
import contextlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from played_faults import GOOD


class Loopback:
    """A server in a thread of its own while the context lasts."""

    def __init__(self, handler):
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


class Echo(BaseHTTPRequestHandler):
    def do_GET(self):
        length = int(self.headers.get("content-length") or 0)
        self.server.last = {
            "method": self.command, "path": self.path, "headers": self.headers.items(),
            "body": self.rfile.read(length).decode("latin-1")}
        if self.server.late:
            self.server.ended.wait(5)
        self.send_response(200)
        self.send_header("Set-Cookie", "a=b")
        self.send_header("Content-Length", str(len(GOOD)))
        self.end_headers()
        self.wfile.write(GOOD.encode())
        self.close_connection = True

    do_POST = do_GET

    def handle(self):
        with contextlib.suppress(OSError):  # a client that has gone
            super().handle()

    def log_message(self, *_):
        pass


class EchoServer(Loopback):
    def __init__(self, late=False):
        super().__init__(Echo)
        self.server.last, self.server.late = None, late
        self.server.ended = threading.Event()

    @property
    def last(self):
        return self.server.last

    def __exit__(self, *_):
        self.server.ended.set()
        super().__exit__()
