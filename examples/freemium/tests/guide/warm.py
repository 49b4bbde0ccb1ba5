"""Run commands in copies of one process that has loaded their programs already.

  warm.py SOCKET                      the process
  warm.py SOCKET NAME [ARGUMENT …]    a command, with its folder, variables and open files

To load Amazon's command line takes longer than all that it does here.
"""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import socket
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
SERVICES = ("acm", "apigatewayv2", "cloudformation", "cloudwatch", "cognito-idp", "dynamodb",
            "lambda", "logs", "s3", "secretsmanager", "sts")


def aws(arguments):
    return DRIVER.main(arguments)


def sam(arguments):
    sys.argv = ["sam", *arguments]
    return SAM.main()


def serve(path):
    global DRIVER, SAM
    import awscli.clidriver

    DRIVER = awscli.clidriver.create_clidriver()
    for name in SERVICES:
        DRIVER.session.get_service_model(name)
    loader = importlib.machinery.SourceFileLoader("sam", str(HERE / "sam"))
    SAM = importlib.util.module_from_spec(importlib.util.spec_from_loader("sam", loader))
    loader.exec_module(SAM)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(f"{path}.new")
    listening.listen()
    os.rename(f"{path}.new", path)  # a socket that is seen takes connections
    while True:
        connection, _ = listening.accept()
        if os.fork() == 0:
            if os.fork() == 0:
                listening.close()
                run(connection)
            os._exit(0)
        connection.close()
        os.wait()


def run(connection):
    """Run one command in this copy, and send its exit status."""
    text, files, _, _ = socket.recv_fds(connection, 1 << 20, 3)
    asked = json.loads(text)
    for place, found in enumerate(files):
        os.dup2(found, place)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environ"])
    status = 1
    try:
        status = {"aws": aws, "sam": sam}[asked["name"]](asked["arguments"]) or 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except Exception:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        connection.sendall(str(status).encode())
        os._exit(0)


def ask(path, name, *arguments):
    while not os.path.exists(path):  # the process still loads; whoever started it has a time limit
        time.sleep(0.05)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        text = json.dumps({"name": name, "arguments": arguments, "folder": os.getcwd(),
                           "environ": dict(os.environ)})
        socket.send_fds(connection, [text.encode()], [0, 1, 2])
        return int(connection.recv(16) or b"1")


if __name__ == "__main__":
    sys.exit(ask(*sys.argv[1:]) if sys.argv[2:] else serve(sys.argv[1]))
