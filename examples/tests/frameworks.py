#!/usr/bin/env python3
"""The shops on web frameworks, each started as examples/README.md says, and asked over HTTP.

  frameworks.py FRAMEWORK

All are asked the same (asked.py). ASSAY_PROGRAM is the command line, ASSAY_LIBRARY libassay.so.
"""
import argparse
import contextlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
LIBRARY = pathlib.Path(os.environ["ASSAY_LIBRARY"])
sys.path.insert(0, str(ROOT / "Tests/Gates"))

import go
import node_tools
import python_tools
from report import Suite

from asked import ORDERS, Asked, Bench

# Debian's, in place of what Composer fetches.
PHP = pathlib.Path("/usr/share/php")
PACKAGES = {
    "laravel": ["Illuminate/autoload.php"],
    "symfony": ["Symfony/Bundle/FrameworkBundle/autoload.php",
                "Symfony/Component/Console/autoload.php", "Doctrine/DBAL/autoload.php"],
}
# Where Debian's packages of Node.js are, and what `make node` builds.
NODE_PACKAGES = pathlib.Path("/usr/share/nodejs")
NODE_BINDING = ROOT / "build/node/node_modules/assay"
WORDS = ("rejected.jws.signature", "treat it as forged")
PATIENCE = 60


class Shop:
    """A shop on one framework. `setup` and `serve` are commands, run in `folder`; None: its
    framework is not installed, and `why` says so."""

    why, logs, database = None, (), "shop.db"

    def __init__(self, name, folder, port):
        self.name, self.folder, self.source, self.port = name, folder, EXAMPLES / name, port
        self.variables = {}
        self.address = f"127.0.0.1:{port}"

    def place(self, bench):
        """Write the two files of the test authority where the shop reads them."""
        (self.folder / "config.json").write_text(bench.config)
        (self.folder / "keys.json").write_text(bench.keys)


class PythonShop(Shop):
    def __init__(self, *given):
        super().__init__(*given)
        programs, self.why = python_tools.installed()
        if self.why:
            return
        python, shop = [programs / "python"], self.source / "shop.py"
        self.variables = {"PYTHONPATH": os.pathsep.join(
            [str(ROOT / "bindings/python"), str(self.source)])}
        self.setup = [*python, shop]
        if self.name == "fastapi":
            self.serve = [*python, "-m", "uvicorn", "--app-dir", self.source, "--port", self.port,
                          "main:app"]
        elif self.name == "django":
            self.variables["DJANGO_SECRET_KEY"] = "of a test"
            self.serve = [*python, self.source / "manage.py", "runserver", "--noreload", self.port]
        else:
            flask = [*python, "-m", "flask", "--app", self.source / "app.py"]
            self.setup = [*flask, "setup"]
            self.serve = [*flask, "run", "--port", self.port]


class GoShop(Shop):
    def __init__(self, *given):
        super().__init__(*given)
        suite = Suite(self.name)
        variables = go.in_gopath(suite, go.environment(self.name, LIBRARY.parent),
                                 self.source)
        if variables is None:
            self.why = "a package of Debian is missing"
            return
        program = self.folder / "shop"
        subprocess.run(["go", "build", "-o", program, "."], cwd=self.source, env=variables,
                       check=True)
        self.variables = {"GIN_MODE": "release",
                          "LD_LIBRARY_PATH": variables["LD_LIBRARY_PATH"]}
        self.setup, self.serve = [program, "setup"], [program, self.address]


class PhpShop(Shop):
    """The shop in a copy of its folder, with Debian's framework and a loader in place of
    Composer's."""

    def __init__(self, *given):
        super().__init__(*given)
        needed = [PHP / name for name in PACKAGES[self.name]]
        missing = [str(path) for path in needed if not path.is_file()]
        if missing:
            self.why = f"{' '.join(missing)} is missing"
            return
        shutil.copytree(self.source, self.folder, dirs_exist_ok=True)
        for name in ("bootstrap/cache", "storage/logs", "var", "vendor"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        code = "app" if self.name == "laravel" else "src"
        loads = "".join(f"require_once '{path}';\n"
                        for path in (*needed, ROOT / "bindings/php/autoload.php"))
        (self.folder / "vendor/autoload.php").write_text(
            f"<?php\n{loads}spl_autoload_register(static fn ($class) =>"
            f" str_starts_with($class, 'App\\\\') && require dirname(__DIR__) . '/{code}/'"
            " . strtr(substr($class, 4), '\\\\', '/') . '.php');\n")
        php = [shutil.which("php")]
        # A process for each of several requests, as PHP-FPM has.
        self.variables = {"PHP_CLI_SERVER_WORKERS": "4"}
        self.serve = [*php, "-d", "ffi.enable=1", "-S", self.address, "-t", "public",
                      "public/index.php"]
        if self.name == "laravel":
            (self.folder / "shop.db").touch()
            self.logs = ["storage/logs/laravel.log"]
            self.setup = [*php, "artisan", "migrate", "--force"]
        else:
            self.database = "var/shop.db"
            self.setup = [*php, "bin/console", "app:setup"]

    def place(self, bench):
        (self.folder / "config/assay.json").write_text(bench.config)
        (self.folder / "config/keys.json").write_text(bench.keys)


class NodeShop(Shop):
    """The shop in a copy of its folder, with its packages beside it, on a Node.js with node:sqlite.
    A framework is Debian's."""

    def __init__(self, *given):
        super().__init__(*given)
        program, self.why = node_tools.find_program()
        packages = [NODE_BINDING]
        if self.name == "express":
            packages.append(NODE_PACKAGES / self.name)
        missing = [str(path) for path in packages if not path.is_dir()]
        if missing:
            self.why = f"{' '.join(missing)} is missing"
        if self.why:
            return
        shutil.copytree(self.source, self.folder, dirs_exist_ok=True)
        (self.folder / "node_modules").mkdir()
        for path in packages:
            (self.folder / "node_modules" / path.name).symlink_to(path)
        # Debian's packages find one another by NODE_PATH.
        self.variables = {"NODE_PATH": str(NODE_PACKAGES), "NODE_ENV": "production"}
        self.setup = [program, "main.mjs", "setup"]
        self.serve = [program, "main.mjs", self.port]


SHOPS = {"fastapi": PythonShop, "django": PythonShop, "flask": PythonShop, "gin": GoShop,
         "nethttp": GoShop, "laravel": PhpShop, "symfony": PhpShop, "node-http": NodeShop,
         "express": NodeShop}


class Running:
    """A shop that serves, until it is left."""

    def __init__(self, shop):
        self.shop, self.log = shop, shop.folder / "log"
        self.environment = {**os.environ, **shop.variables}

    def __enter__(self):
        """Set up and start the shop."""
        made = subprocess.run(list(map(str, self.shop.setup)), cwd=self.shop.folder,
                              env=self.environment, text=True, capture_output=True)
        if made.returncode:
            raise SystemExit(f"{self.shop.name}: setup: {made.stdout}{made.stderr}")
        self.start()
        return self

    def __exit__(self, *_):
        self.stop(signal.SIGTERM)

    def start(self):
        with self.log.open("a") as log:
            # A group of its own: PHP's server has children.
            self.process = subprocess.Popen(
                list(map(str, self.shop.serve)), cwd=self.shop.folder, env=self.environment,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        until = time.monotonic() + PATIENCE
        while not self.listens():
            if self.process.poll() is not None or time.monotonic() > until:
                self.kill()
                raise SystemExit(f"{self.shop.name}: {self.log.read_text()}")
            time.sleep(0.02)

    def listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.shop.port), timeout=1).close()
        except OSError:
            return False
        return True

    def stop(self, number):
        """Send a signal to the shop and its children, and wait for its end."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self):
        self.stop(signal.SIGKILL)
        while self.listens():  # a child that has not ended yet
            time.sleep(0.01)

    def ask(self, path, body, headers):
        """Send one request; without a body it is a GET."""
        connection = http.client.HTTPConnection("127.0.0.1", self.shop.port, timeout=PATIENCE)
        try:
            if body is None:
                connection.request("GET", path, headers=headers)
            else:
                connection.request("POST", path, body,
                                   {"Content-Type": "application/json", **headers})
            response = connection.getresponse()
            text = response.read()
        finally:
            connection.close()
        try:
            found = json.loads(text)
        except ValueError:
            found = None
        return response.status, found, response.headers

    def logged(self):
        return "".join(path.read_text(errors="replace") for path in
                       (self.log, *(self.shop.folder / name for name in self.shop.logs))
                       if path.exists())


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def check(suite, name, folder):
    shop = SHOPS[name](name, folder, free_port())
    if shop.why:
        suite.skip(name, shop.why)
        suite.finish(may_be_empty=True)
    bench = Bench(folder)
    shop.place(bench)
    with Running(shop) as running:
        asked = Asked(suite, bench, running.ask, folder / shop.database)
        asked.check_rows()
        asked.check_bodies()
        asked.check_at_once()
        asked.check_faults()
        asked.check_killed(running.kill, running.start)
        # Together the frameworks have every order.
        asked.check_orders(ORDERS[list(SHOPS).index(name)::len(SHOPS)])
        asked.check_part()
        asked.close()
    text = running.logged()
    for word in WORDS:
        suite.expect(word in text, f"the log has {word}", text[-2000:])
    for secret in (bench.ann, bench.bought, bench.bought.rpartition(".")[2]):
        suite.expect(secret not in text, "the log has no token and no evidence")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("framework", choices=SHOPS)
    name = parser.parse_args().framework
    suite = Suite(name)
    with tempfile.TemporaryDirectory(prefix="assay-shop-") as folder:
        check(suite, name, pathlib.Path(folder))
    suite.finish()


if __name__ == "__main__":
    main()
