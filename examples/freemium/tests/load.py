#!/usr/bin/env python3
"""Put a bounded load on the running back end, compared with a constant response.

  load.py [SECONDS] [WORKERS]

The requests are one third each purchases, metered calls and calls without a token. Every one
must get the expected response, or 503 with Retry-After; the times are printed. Exits with 1
after any other response.
"""
import collections
import http.client
import json
import statistics
import sys
import threading
import time
import unittest
from urllib.parse import urlsplit

from freemium.local.gateway import Gateway
from running import PREMIUM, BackendCase

WANTED = {"update": 200, "analyze": 200, "nobody": 401}


class Nobody:
    """An authorizer that verifies nothing."""

    def claims(self, header):
        return None


def constant(event, context):
    return {"statusCode": 200, "headers": {"Content-Type": "application/json"}, "body": "{}"}


def loaded(url, requests, seconds, workers):
    """Send requests; return the responses by name and status, and their times in ms."""
    place, end = urlsplit(url), time.monotonic() + seconds
    said, times, lock = collections.Counter(), [], threading.Lock()

    def work(number):
        connection = http.client.HTTPConnection(place.hostname, place.port, timeout=60)
        mine, took = collections.Counter(), []
        while time.monotonic() < end:
            name, path, headers, body = requests[number % len(requests)]
            number += 1
            begin = time.perf_counter()
            connection.request("POST", path, body, headers)
            answer = connection.getresponse()
            answer.read()
            took.append((time.perf_counter() - begin) * 1000)
            is_later = answer.status == 503 and answer.headers["Retry-After"]
            mine[name, "later" if is_later else answer.status] += 1
        connection.close()
        with lock:
            said.update(mine)
            times.extend(took)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return said, times


def requests_of(apps, case):
    """Return the requests that the workers repeat."""
    kind, found = {"Content-Type": "application/json"}, []
    for app in apps:
        caller = {**kind, "Authorization": f"Bearer {app.token}"}
        jws = case.bought(PREMIUM)
        found += [("update", "/v1/update-subscription", caller,
                   json.dumps({"signedTransactionData": jws}).encode()),
                  ("analyze", "/v1/analyze", caller, b'{"tier":"free","input":"text"}'),
                  ("nobody", "/v1/analyze", kind, b'{"tier":"free"}')]
    return found


def wrong(said):
    """Return the responses that are neither expected nor "later"."""
    return {key: count for key, count in said.items()
            if key[1] not in (WANTED[key[0]], "later")}


def shown(title, said, times, seconds):
    p99 = statistics.quantiles(times, n=100)[98] if len(times) > 1 else times[0]
    later = sum(count for (_, status), count in said.items() if status == "later")
    print(f"  {title:<10} {len(times) / seconds:7.0f} a second, median "
          f"{statistics.median(times):6.1f} ms, p99 {p99:7.1f} ms, later: {later}")


class Load(BackendCase):
    def runTest(self):
        seconds, workers = SIZE
        requests = requests_of([self.app() for _ in range(4)], self)
        other = Gateway(constant, Nobody()).start()
        try:
            print(f"{workers} workers, {seconds} s each:")
            shown("a constant", *loaded(other.url, requests, seconds, workers), seconds)
        finally:
            other.close()
        said, times = loaded(self.url, requests, seconds, workers)
        shown("freemium", said, times, seconds)
        self.assertEqual(wrong(said), {})


SIZE = (5.0, 8)

if __name__ == "__main__":
    words = sys.argv[1:]
    SIZE = (float(words[0]) if words else 5.0, int(words[1]) if len(words) > 1 else 8)
    result = unittest.TextTestRunner(verbosity=0).run(unittest.TestSuite([Load()]))
    sys.exit(not result.wasSuccessful())
