#!/usr/bin/env python3
"""A server on loopback that answers as a path asks for: late, in pieces, never whole …

  fault_server.py [--tls] [FAULT…]     prints its address, and ends when its input does

The tests of every binding run it. `/hits` says how often each path was asked for, and what
the last request was. `/FAULT` has the fault; what follows in the path does not matter. Any
other path gets the faults of the command line, in turn; `@FILE` is that file, as it is.
With --tls it has a certificate that nobody trusts.
"""
import collections
import contextlib
import json
import pathlib
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

GOOD = b'{"good":true}'
GIB = 1 << 30


def bomb():
    """A gigabyte of zeros in a megabyte of gzip."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    head = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return head + block * (GIB // (1 << 20) - 1)


def packed(octets):
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return packer.compress(octets) + packer.flush()


def untrusted():
    """TLS with a certificate for 127.0.0.1 that signed itself."""
    with tempfile.TemporaryDirectory() as name:
        files = [f"{name}/key.pem", f"{name}/certificate.pem"]
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-nodes", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
             "-keyout", files[0], "-out", files[1]], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(files[1], files[0])
        return context


class Faults(BaseHTTPRequestHandler):
    """Each method answers its path."""

    def do_GET(self):
        length = int(self.headers.get("content-length") or 0)
        asked = self.rfile.read(length)
        fault = self.path.split("/")[1].split("?")[0]
        if fault != "hits":
            self.server.hits[fault] += 1
            self.server.last = {
                "method": self.command, "path": self.path, "headers": self.headers.items(),
                "body": asked.decode("latin-1")}
        with contextlib.suppress(OSError):  # of a client that has gone
            getattr(self, fault.replace("-", "_"), self.missing)()
        self.close_connection = True

    do_POST = do_GET

    def log_message(self, *_):
        pass

    def say(self, body=GOOD, status=200, length=None, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if length != "none":
            self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def piecemeal(self, body, seconds):
        for n in range(len(body)):
            if self.server.ended.wait(seconds):
                return
            self.wfile.write(body[n:n + 1])
            self.wfile.flush()

    def missing(self):
        """The next line of the script."""
        fault = self.server.script.pop(0) if self.server.script else ""
        if fault.startswith("@"):
            self.say(pathlib.Path(fault[1:]).read_bytes(), ETag='"1"')
        elif fault:
            getattr(self, fault.replace("-", "_"))()
        else:
            self.say(b"", 404)

    def hits(self):
        self.say(json.dumps({"hits": self.server.hits, "last": self.server.last}).encode())

    def good(self):
        self.say(ETag='"1"', X_Other="not wanted", Set_Cookie="a=b")

    def slow(self):
        self.server.ended.wait(5)
        self.say()

    def drip(self):
        self.say(b"", length=500)
        self.piecemeal(b" " * 500, 0.02)

    def drip_head(self):
        self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
        self.piecemeal(b"x" * 500, 0.02)

    def cut(self):
        self.say(length=len(GOOD) + 20)

    def reset(self):
        self.say(length=len(GOOD) + 20)
        self.wfile.flush()
        # Closed with something still to be sent: the other side sees a reset.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def oversize(self):
        self.say(b'{"good":"' + b"x" * 100_000 + b'"}')

    def long(self):
        self.say(b"[" + b" " * (1 << 20) + b"]")

    def octets(self):
        self.say(b"\xff\x00")

    def redirect(self):
        self.say(b"", 302, Location=f"http://127.0.0.1:{self.server.server_port}/target")

    target = good

    def gzip(self):
        self.say(packed(GOOD), Content_Encoding="gzip")

    def half_gzip(self):
        self.say(packed(GOOD)[:-12], Content_Encoding="gzip")

    def bomb(self):
        self.say(self.server.bomb, Content_Encoding="gzip")

    def brotli(self):
        self.say(b"\x0b\x02\x80hello\x03", Content_Encoding="br")

    def chunked(self):
        self.protocol_version = "HTTP/1.1"
        self.say(b"", length="none", Transfer_Encoding="chunked")
        for n in range(len(GOOD)):
            self.wfile.write(b"1\r\n" + GOOD[n:n + 1] + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

    def half_chunked(self):
        self.protocol_version = "HTTP/1.1"
        self.say(b"5\r\n{\"goo", length="none", Transfer_Encoding="chunked")

    def type(self):
        self.say(Content_Type="text/html; charset=utf-16")

    def empty(self):
        self.say(b"", 204, length="none")

    def unchanged(self):
        self.say(b"", 304, length="none", ETag='"1"')


class FaultServer:
    """The server, in a thread of its own while the context lasts."""

    def __init__(self, script=(), tls=False):
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Faults)
        self.server.daemon_threads = True
        self.server.hits, self.server.last = collections.Counter(), None
        self.server.script = list(script)
        self.server.ended = threading.Event()
        self.server.bomb = bomb()
        if tls:
            self.server.socket = untrusted().wrap_socket(self.server.socket, server_side=True)
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.server.server_port}"

    @property
    def hits(self):
        return self.server.hits

    @property
    def last(self):
        return self.server.last

    def __enter__(self):
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.ended.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


if __name__ == "__main__":
    tls = sys.argv[1:2] == ["--tls"]
    with FaultServer(sys.argv[1 + tls:], tls) as faults:
        print(faults.url, flush=True)
        sys.stdin.read()
