"""Start temporary database engines for tests, on loopback, and remove them at the end.

    with scratch() as place:
        engine = place.engine("postgres")
        if engine.missing:
            print(f"skipped: {engine.missing}")
        engine.start()
        engine.url                      # of a database that is empty
        engine.kill()                   # SIGKILL, as a power cut for the engine
        engine.restart()                # the same data at the same url
        engine.stop()

All files are in one folder, which is removed at the end of the `with`, also after an exception,
SIGINT, SIGTERM or SIGHUP. If this process is killed, so are the engines, and the next scratch()
removes the folder. This module connects only to 127.0.0.1.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import glob
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import IO, Any, ClassVar

HERE = pathlib.Path(__file__).resolve().parent
PREFIX = "assay-stores-"
READY_SECONDS = 90
STOP_SECONDS = 30
# The prctl(2) option for a signal to the child when its parent ends.
PARENT_DEATH = 1
LIBC = ctypes.CDLL(None)


class EngineError(RuntimeError):
    """Raised if an engine does not start; the message ends with the end of its log."""


class Engine:
    """One engine with a folder of its own."""

    name: ClassVar[str]
    #: Whether acknowledged writes survive kill() and restart().
    durable: ClassVar[bool] = True
    #: The signal for an orderly end.
    ending: ClassVar[signal.Signals] = signal.SIGTERM
    #: Whether the engine refuses to run as root and is run as the user nobody instead.
    unprivileged: ClassVar[bool] = True
    #: Environment variables that a client needs.
    environment: ClassVar[dict[str, str]] = {}

    def __init__(self, folder: pathlib.Path, tools: pathlib.Path | None) -> None:
        self.folder, self.tools = folder / self.name, tools
        self.port = 0
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def missing(self) -> str | None:
        """The reason why this engine cannot be started here; None if it can."""
        return None

    @property
    def url(self) -> str:
        """The URL that a ledger connects to."""
        raise NotImplementedError

    def command(self) -> Sequence[str | os.PathLike[str]]:
        """Return the command that runs the engine on its port."""
        raise NotImplementedError

    def prepare(self) -> None:
        """Create the files that the first start needs."""

    def answers(self) -> bool:
        """Return whether the engine accepts requests."""
        raise NotImplementedError

    def start(self) -> None:
        """Start the engine, empty the first time, and wait until it accepts requests."""
        if not self.folder.exists():
            self.folder.mkdir()
            if self.other_user():
                os.chown(self.folder, *nobody())
            self.prepare()
            self.port = free_port()
        self.run()

    restart = start

    def run(self) -> None:
        with self.log() as log:
            self.process = subprocess.Popen(self.command(), stdout=log, **self.conditions())
        until = time.monotonic() + READY_SECONDS
        while not self.answers():
            code = self.process.poll()
            if code is not None or time.monotonic() > until:
                self.kill()
                raise EngineError(f"{self.name} does not start (ended: {code}): {self.tail()}")
            time.sleep(0.05)

    def kill(self) -> None:
        """Send SIGKILL to all of the engine's processes and wait for their end."""
        if self.process is None:
            return
        children = descendants(self.process.pid)
        self.process.kill()
        for pid in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        until = time.monotonic() + STOP_SECONDS
        while any(map(alive, children)) and time.monotonic() < until:
            time.sleep(0.01)
        self.process = None

    def stop(self) -> None:
        """End the engine in order; kill() if that takes too long."""
        if self.process is None:
            return
        self.process.send_signal(self.ending)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(STOP_SECONDS)
        self.kill()

    # ---- for the engines -------------------------------------------------------

    def other_user(self) -> bool:
        return self.unprivileged and os.geteuid() == 0

    def conditions(self) -> dict[str, Any]:
        """Return how the engine's programs run: as nobody where needed, and no longer than this
        process."""
        user: dict[str, Any] = {}
        if self.other_user():
            uid, gid = nobody()
            user = {"user": uid, "group": gid, "extra_groups": []}
        return {"cwd": self.folder, "stderr": subprocess.STDOUT, "preexec_fn": die_with_parent,
                "env": {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C.UTF-8"},
                **user}

    def log(self) -> IO[bytes]:
        return (self.folder / "log").open("ab")

    def tail(self) -> str:
        return (self.folder / "log").read_text(errors="replace")[-1500:]

    def once(self, command: Sequence[str | os.PathLike[str]], text: bytes = b"") -> None:
        """Run a program of the engine to its end."""
        with self.log() as log:
            done = subprocess.run(command, input=text, stdout=log, check=False,
                                  timeout=READY_SECONDS, **self.conditions())
        if done.returncode != 0:
            raise EngineError(f"{self.name}: {command[0]} ended with {done.returncode}: "
                              f"{self.tail()}")


class SQLite(Engine):
    """A database file; there is no process to kill."""

    name = "sqlite"
    unprivileged = False

    @property
    def url(self) -> str:
        return f"sqlite:///{self.folder}/shop.db"

    def run(self) -> None:
        """Do nothing: SQLite has no process."""


class Postgres(Engine):
    """PostgreSQL, the newest version that Debian has installed."""

    name = "postgres"
    ending = signal.SIGINT

    def __init__(self, folder: pathlib.Path, tools: pathlib.Path | None) -> None:
        super().__init__(folder, tools)
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=version_of)
        self.programs = pathlib.Path(found[-1]).parent if found else pathlib.Path()

    @property
    def missing(self) -> str | None:
        return None if self.programs.is_absolute() else "postgresql is not installed"

    @property
    def url(self) -> str:
        return f"postgresql://assay@127.0.0.1:{self.port}/postgres"

    def prepare(self) -> None:
        self.once([self.programs / "initdb", "--pgdata", self.folder / "data", "--auth=trust",
                   "--username=assay", "--encoding=UTF8", "--locale=C", "--no-sync"])

    def command(self) -> Sequence[str | os.PathLike[str]]:
        settings = {"listen_addresses": "127.0.0.1", "port": str(self.port), "fsync": "on",
                    "unix_socket_directories": "", "synchronous_commit": "on",
                    "max_connections": "200", "shared_buffers": "64MB", "jit": "off"}
        return [self.programs / "postgres", "-D", self.folder / "data",
                *[f"--{name}={value}" for name, value in settings.items()]]

    def answers(self) -> bool:
        asked: list[str | os.PathLike[str]] = [
            self.programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run(asked, check=False, stderr=subprocess.DEVNULL).returncode == 0


class MariaDB(Engine):
    """MariaDB with a data folder of its own; root without a password, on loopback only."""

    name = "mariadb"
    tables = pathlib.Path("/usr/share/mysql")
    database = b"""CREATE DATABASE IF NOT EXISTS assay CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE USER IF NOT EXISTS 'assay'@'127.0.0.1';
GRANT ALL ON *.* TO 'assay'@'127.0.0.1';
"""

    @property
    def missing(self) -> str | None:
        there = shutil.which("mariadbd", path="/usr/sbin:/usr/libexec")
        return None if there else "mariadb-server-core is not installed"

    @property
    def url(self) -> str:
        return f"mariadb://assay@127.0.0.1:{self.port}/assay"

    def prepare(self) -> None:
        names = ("mysql_system_tables.sql", "mysql_system_tables_data.sql")
        text = b"CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\n"
        self.once([*self.common(), "--bootstrap"],
                  text + b"".join((self.tables / name).read_bytes() for name in names))
        (self.folder / "begin.sql").write_bytes(self.database)

    def common(self) -> list[str | os.PathLike[str]]:
        (self.folder / "data").mkdir(exist_ok=True)
        if self.other_user():
            os.chown(self.folder / "data", *nobody())
        return ["/usr/sbin/mariadbd", "--no-defaults", f"--datadir={self.folder}/data",
                f"--tmpdir={self.folder}", "--basedir=/usr",
                f"--lc-messages-dir={self.tables}", "--innodb-buffer-pool-size=64M",
                "--innodb-log-file-size=32M"]

    def command(self) -> Sequence[str | os.PathLike[str]]:
        return [*self.common(), "--bind-address=127.0.0.1", f"--port={self.port}",
                f"--socket={self.folder}/socket", f"--pid-file={self.folder}/pid",
                f"--init-file={self.folder}/begin.sql", "--skip-name-resolve",
                "--innodb-flush-log-at-trx-commit=1", "--max-connections=200"]

    def answers(self) -> bool:
        """Return whether the server sends a greeting: a header of four bytes, then version 10."""
        return said(self.port, b"", 5)[4:] == b"\x0a"


class Redis(Engine):
    """Redis with an append-only file and no eviction."""

    name = "redis"

    @property
    def missing(self) -> str | None:
        return None if self.program() else "redis-tools is not installed"

    @staticmethod
    def program() -> str | None:
        """Return the server's program; Debian's redis-check-rdb is the same file under another
        name."""
        return shutil.which("redis-server") or shutil.which("redis-check-rdb")

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def command(self) -> Sequence[str | os.PathLike[str]]:
        settings = {"bind": "127.0.0.1", "port": str(self.port), "dir": str(self.folder),
                    "save": "", "appendonly": "yes", "appendfsync": "always",
                    "maxmemory-policy": "noeviction", "daemonize": "no"}
        return ["redis-server", *[word for name, value in settings.items()
                                  for word in (f"--{name}", value)]]

    def conditions(self) -> dict[str, Any]:
        return {**super().conditions(), "executable": self.program()}

    def answers(self) -> bool:
        return said(self.port, b"PING\r\n", 5) == b"+PONG"


class DynamoDB(Engine):
    """moto's server behind one lock (moto_front.py); it loses its data when it ends."""

    name = "dynamodb"
    durable = False
    unprivileged = False
    environment: ClassVar[dict[str, str]] = {
        "AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_EC2_METADATA_DISABLED": "true"}

    @property
    def missing(self) -> str | None:
        if self.tools is None or not (self.tools / "python").exists():
            return "moto's server is not installed"
        return None

    @property
    def url(self) -> str:
        return f"dynamodb://assay?region=eu-west-1&endpoint=http://127.0.0.1:{self.port}"

    def command(self) -> Sequence[str | os.PathLike[str]]:
        assert self.tools is not None
        return [self.tools / "python", HERE / "moto_front.py", str(self.port)]

    def conditions(self) -> dict[str, Any]:
        found = super().conditions()
        kept = ("PATH", "PYTHONPYCACHEPREFIX")  # the cache of moto's compiled modules is reused
        found["env"] = {**{name: os.environ[name] for name in kept if name in os.environ},
                        "LC_ALL": "C.UTF-8", **self.environment}
        return found

    def answers(self) -> bool:
        return said(self.port, b"GET / HTTP/1.0\r\n\r\n", 5) == b"HTTP/"


ENGINES: dict[str, type[Engine]] = {
    engine.name: engine for engine in (SQLite, Postgres, MariaDB, DynamoDB, Redis)}


# ---- the folder ----------------------------------------------------------------


class Scratch:
    """The folder, and the engines started in it."""

    def __init__(self, folder: pathlib.Path, tools: pathlib.Path | None) -> None:
        self.folder, self.tools = folder, tools
        self.engines: list[Engine] = []

    def engine(self, name: str) -> Engine:
        """Return a new engine, not yet started."""
        folder = self.folder / str(len(self.engines))
        folder.mkdir()
        self.engines.append(ENGINES[name](folder, self.tools))
        return self.engines[-1]

    def end(self) -> None:
        """End all running engines and remove the folder."""
        for engine in self.engines:
            engine.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


@contextlib.contextmanager
def scratch(tools: pathlib.Path | None = None) -> Iterator[Scratch]:
    """Yield a folder for engines. `tools` has the programs of an environment with moto."""
    remove_left_behind()
    folder = pathlib.Path(tempfile.mkdtemp(prefix=PREFIX))
    folder.chmod(0o755)
    place = Scratch(folder, tools)
    before = {number: signal.signal(number, leave)
              for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        with (folder / "lock.new").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            (folder / "lock.new").rename(folder / "lock")
            yield place
    finally:
        place.end()
        for number, handler in before.items():
            signal.signal(number, handler)


def leave(number: int, frame: FrameType | None) -> None:
    """Turn a signal into an exception, so that the clean-up runs."""
    sys.exit(128 + number)


def remove_left_behind() -> None:
    """Remove the folders of killed processes, recognized by their free locks."""
    for folder in pathlib.Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError), (folder / "lock").open("r") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)


# ---- processes and ports -------------------------------------------------------


def die_with_parent() -> None:
    """Ask the kernel, in a child, for SIGKILL when the parent ends."""
    LIBC.prctl(PARENT_DEATH, signal.SIGKILL)


def nobody() -> tuple[int, int]:
    found = pwd.getpwnam("nobody")
    return found.pw_uid, found.pw_gid


def version_of(path: str) -> int:
    """Return the version in a path: 15 of /usr/lib/postgresql/15/bin/initdb."""
    return int(pathlib.Path(path).parts[-3])


def descendants(pid: int) -> list[int]:
    """Return the processes started by this one, directly or indirectly."""
    found = []
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, pathlib.Path(path).read_text().split()):
                found += [child, *descendants(child)]
    return found


def alive(pid: int) -> bool:
    """Return whether the process runs; a zombie does not."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] != "Z"


def free_port() -> int:
    """Return a loopback port without a listener."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def said(port: int, asked: bytes, length: int) -> bytes:
    """Return the first bytes of a response; none if the port does not respond."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            connection.sendall(asked)
            found = b""
            while len(found) < length and (more := connection.recv(length - len(found))):
                found += more
            return found
    except OSError:
        return b""
