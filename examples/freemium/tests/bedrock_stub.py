"""A recorded stub of Bedrock Runtime's operation Converse, on a loopback port.

It reads requests and writes responses as the service does (rest-json): the request is held to
botocore's own model of the operation, and an error has the status and the name of that model.
"""
import contextlib
import gzip
import http.server
import json
import pathlib
import threading
import time
import urllib.parse

import botocore
from botocore.model import ServiceModel
from botocore.validate import ParamValidator

FOLDER = pathlib.Path(botocore.__file__).parent / "data/bedrock-runtime"
# As the service answers, recorded from its documentation of Converse; the text is filled in.
RECORDED = {
    "output": {"message": {"role": "assistant", "content": [{"text": ""}]}},
    "stopReason": "end_turn",
    "usage": {"inputTokens": 30, "outputTokens": 628, "totalTokens": 658},
    "metrics": {"latencyMs": 1275},
}
MESSAGES = {
    "ThrottlingException": "Too many requests, please wait before trying again.",
    "ModelTimeoutException": "Model has timed out in processing the request. "
                             "Try your request again.",
    "AccessDeniedException": "You don't have access to the model with the specified model ID.",
    "ValidationException": "Input is too long for requested model.",
    "ServiceUnavailableException": "Bedrock is unable to process your request.",
    "InternalServerException": "The system encountered an unexpected error during processing. "
                               "Try your request again.",
    "ModelErrorException": "The model returned the following errors: unknown error",
    "ModelNotReadyException": "Model is not ready for inference.",
    "ResourceNotFoundException": "Could not resolve the foundation model from the model "
                                 "identifier.",
}


def model():
    """Return botocore's model of the service."""
    [path] = FOLDER.glob("*/service-2.json*")
    octets = path.read_bytes()
    return ServiceModel(json.loads(gzip.decompress(octets) if path.suffix == ".gz" else octets))


SHAPES = model()
CONVERSE = SHAPES.operation_model("Converse")


class Bedrock:
    """The stub, from its start to `close`.

    plan   what the next requests get, one an entry: None, an answer; the name of an error; or a
           function of (connection, request), which answers itself. After them every request
           gets an answer, the text "answer to INPUT"
    asked  each request: model id and body
    """

    def __init__(self):
        self.plan, self.asked, self.faults = [], [], []
        stub = self

        class Bound(_Connection):
            owner = stub

        self._server = _Server(("127.0.0.1", 0), Bound)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def close(self):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, address):
        """Say nothing of a client that ended the connection, which is part of the tests."""


class _Connection(http.server.BaseHTTPRequestHandler):
    owner: Bedrock
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    owes = False

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        path = self.path.split("/")
        name, request = urllib.parse.unquote(path[2]), json.loads(body)
        self._check(path, {"modelId": name, **request})
        self.owner.asked.append((name, request))
        if self.owes:
            self.answer(OTHER)
            self.owes = False
        now = self.owner.plan.pop(0) if self.owner.plan else None
        if callable(now):
            now(self, request)
        elif now is None:
            self.answer(request)
        else:
            self.refuse(now)

    def _check(self, path, request):
        """Note what the service would not take, for the test."""
        report = ParamValidator().validate(request, CONVERSE.input_shape)
        signed = self.headers.get("Authorization", "")
        if (len(path), path[1], path[3:]) != (4, "model", ["converse"]):
            self.owner.faults.append(self.path)
        if not signed.startswith("AWS4-HMAC-SHA256 ") or "/bedrock/aws4_request" not in signed:
            self.owner.faults.append("signature")
        if report.has_errors():
            self.owner.faults.append(report.generate_report())

    def answer(self, request, **members):
        text = f"answer to {request['messages'][0]['content'][0]['text']}"
        message = {"role": "assistant", "content": [{"text": text}]}
        self.write(200, {**RECORDED, "output": {"message": message}, **members})

    def refuse(self, name):
        status = SHAPES.shape_for(name).metadata.get("error", {}).get("httpStatusCode", 500)
        self.write(status, {"message": MESSAGES[name]}, {"x-amzn-ErrorType": f"{name}:http://x/"})

    def write(self, status, body, headers=()):
        octets = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **dict(headers)}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(octets)))
        self.end_headers()
        self.wfile.write(octets)
        self.wfile.flush()

    def log_message(self, *arguments):
        """Log nothing."""


OTHER = {"messages": [{"content": [{"text": "ANOTHER'S"}]}]}


def twice(connection, request):
    """Answer twice at once, the second time with a text that nobody asked for."""
    connection.answer(request)
    connection.answer(OTHER)


def twice_later(connection, request):
    """Answer once, and the second time when the next request is on the same connection."""
    connection.answer(request)
    connection.owes = True


def late(seconds):
    """Answer after so many seconds."""
    def answer(connection, request):
        time.sleep(seconds)
        with contextlib.suppress(OSError):
            connection.answer(request)

    return answer


def in_drops(connection, request):
    """Answer a byte every tenth of a second, so that no single read is late."""
    connection.send_response(200)
    connection.send_header("Content-Type", "application/json")
    connection.send_header("Content-Length", "1000")
    connection.end_headers()
    with contextlib.suppress(OSError):
        for _ in range(25):
            connection.wfile.write(b" ")
            connection.wfile.flush()
            time.sleep(0.1)
    connection.close_connection = True


def cut(connection, request):
    """Take the request and end the connection without an answer."""
    connection.close_connection = True


def garbled(connection, request):
    connection.write(200, ["no", "answer"])
