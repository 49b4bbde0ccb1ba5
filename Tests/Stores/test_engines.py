"""Test the temporary engines: acknowledged writes survive SIGKILL, nothing else remains."""

import contextlib
import os
import pathlib
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

import engines

TOOLS = pathlib.Path(sys.executable).parent


class Client:
    """A number stored in an engine, through the client that hosts use."""

    def __init__(self, engine):
        self.url = urllib.parse.urlsplit(engine.url)
        self.environment = engine.environment
        getattr(self, engine.name)()

    def sql(self, connection, mark):
        """Use SQL; `mark` is the engine's placeholder of an argument."""
        self.close = connection.close
        cursor = connection.cursor()
        cursor.execute("CREATE TABLE IF NOT EXISTS kept (id BIGINT PRIMARY KEY)")

        def insert(number):
            cursor.execute(f"INSERT INTO kept (id) VALUES ({mark})", (number,))

        def numbers():
            cursor.execute("SELECT id FROM kept ORDER BY id")
            return [row[0] for row in cursor.fetchall()]

        self.insert, self.numbers = insert, numbers

    def sqlite(self):
        self.sql(sqlite3.connect(self.url.path[1:], isolation_level=None), "?")

    def postgres(self):
        import psycopg

        self.sql(psycopg.connect(self.url.geturl(), autocommit=True), "%s")

    def mariadb(self):
        import pymysql

        self.sql(pymysql.connect(host=self.url.hostname, port=self.url.port, autocommit=True,
                                 user=self.url.username, database=self.url.path[1:]), "%s")

    def redis(self):
        import redis

        client = redis.Redis.from_url(self.url.geturl())
        self.close = client.close
        self.insert = lambda number: client.sadd("kept", number)
        self.numbers = lambda: sorted(map(int, client.smembers("kept")))

    def dynamodb(self):
        import boto3

        os.environ.update(self.environment)
        options = dict(urllib.parse.parse_qsl(self.url.query))
        client = boto3.client("dynamodb", endpoint_url=options["endpoint"],
                              region_name=options["region"])
        self.close = client.close
        if not client.list_tables()["TableNames"]:
            client.create_table(
                TableName="kept", BillingMode="PAY_PER_REQUEST",
                AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "N"}],
                KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}])
        self.insert = lambda number: client.put_item(
            TableName="kept", Item={"id": {"N": str(number)}})
        self.numbers = lambda: sorted(
            int(item["id"]["N"]) for item in client.scan(TableName="kept")["Items"])


def listeners(pid):
    """Return the addresses, in hexadecimal, on which a process and its children listen."""
    sockets = set()
    for one in (pid, *engines.descendants(pid)):
        with contextlib.suppress(FileNotFoundError):  # the process has ended
            for path in pathlib.Path(f"/proc/{one}/fd").iterdir():
                sockets.add(os.readlink(path).removeprefix("socket:[").removesuffix("]"))
    found = set()
    for name in ("tcp", "tcp6"):
        for line in pathlib.Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and words[9] in sockets:
                found.add(words[1].rpartition(":")[0])
    return found


class Engines(unittest.TestCase):
    """Tests of each engine."""

    def run_one(self, name):
        with engines.scratch(TOOLS) as place:
            engine = place.engine(name)
            if engine.missing:
                self.skipTest(engine.missing)
            engine.start()
            if engine.process is not None:
                self.assertEqual(listeners(engine.process.pid), {"0100007F"})
            client = Client(engine)
            for number in range(20):
                client.insert(number)
            engine.kill()
            client.close()
            if engine.process is None and name != "sqlite":
                self.assertEqual(engines.said(engine.port, b"", 1), b"")
            engine.restart()
            kept = list(range(20)) if engine.durable else []
            self.assertEqual(self.numbers(engine), kept)
            engine.stop()
            engine.restart()
            self.assertEqual(self.numbers(engine), kept)
        self.assertFalse(place.folder.exists())

    def numbers(self, engine):
        client = Client(engine)
        found = client.numbers()
        client.close()
        return found

    def test_sqlite(self):
        self.run_one("sqlite")

    def test_postgres(self):
        self.run_one("postgres")

    def test_mariadb(self):
        self.run_one("mariadb")

    def test_redis(self):
        self.run_one("redis")

    def test_dynamodb(self):
        self.run_one("dynamodb")


class NothingStays(unittest.TestCase):
    """Tests that nothing remains, however the process that started an engine ends."""

    CODE = """
import engines, os, sys, time
with engines.scratch() as place:
    engine = place.engine("redis")
    engine.start()
    print(engine.process.pid, place.folder, flush=True)
    if sys.argv[1] == "exception":
        raise RuntimeError("as asked")
    time.sleep(60)
"""

    def setUp(self):
        if engines.Redis.program() is None:
            self.skipTest("redis-tools is not installed")

    def start(self, how):
        process = subprocess.Popen(
            [sys.executable, "-B", "-c", self.CODE, how], stdout=subprocess.PIPE, text=True,
            stderr=subprocess.DEVNULL, cwd=pathlib.Path(__file__).parent)
        self.addCleanup(process.kill)
        pid, folder = process.stdout.readline().split()
        process.stdout.close()
        return process, int(pid), pathlib.Path(folder)

    def gone(self, pid):
        until = time.monotonic() + 20
        while engines.alive(pid) and time.monotonic() < until:
            time.sleep(0.02)
        return not engines.alive(pid)

    def test_exception_and_signals(self):
        for how in ("exception", "SIGTERM", "SIGINT", "SIGHUP"):
            with self.subTest(how=how):
                process, pid, folder = self.start(how)
                if how != "exception":
                    process.send_signal(signal.Signals[how])
                process.wait(30)
                self.assertTrue(self.gone(pid))
                self.assertFalse(folder.exists())

    def test_killed(self):
        process, pid, folder = self.start("SIGKILL")
        process.kill()
        process.wait(30)
        self.assertTrue(self.gone(pid))
        with engines.scratch():
            self.assertFalse(folder.exists())

    def test_folder_in_use_stays(self):
        with engines.scratch() as one, engines.scratch() as other:
            self.assertTrue(one.folder.exists())
            self.assertTrue(other.folder.exists())
            self.assertEqual(one.folder.parent, pathlib.Path(tempfile.gettempdir()))


class Fails(unittest.TestCase):
    """Tests that an engine that does not start reports why."""

    def test_port_taken(self):
        with engines.scratch() as place, socket.socket() as taken:
            engine = place.engine("redis")
            if engine.missing:
                self.skipTest(engine.missing)
            engine.start()
            engine.stop()
            taken.bind(("127.0.0.1", engine.port))
            with self.assertRaisesRegex(engines.EngineError, "bind|in use"):
                engine.restart()


if __name__ == "__main__":
    unittest.main()
