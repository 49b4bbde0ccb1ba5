"""Serve moto's DynamoDB on a loopback port, one request at a time.

  moto_front.py PORT

moto checks a condition and then writes without a lock, so that several simultaneous requests may
pass the same condition, which the real service excludes. One lock around all requests makes moto
atomic.

A transaction of moto copies the table first, and a query sorts it. Here a transaction copies its
own items, and a query gets those of its key, with the same results: the time of a request does not
grow with the table.
"""

import copy
import sys
import threading
from unittest import mock

from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.dynamo_type import DynamoType
from moto.dynamodb.models.table import Table
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, run_simple

LOCK = threading.Lock()


class Quiet(WSGIRequestHandler):
    """A request handler that logs nothing."""

    def log_request(self, *arguments):
        pass


def write_transaction(self, calls, wholly=DynamoDBBackend.transact_write_items):
    """Write all, or leave the items as they were."""
    before = []
    for call in calls:
        for kind, each in call.items():
            table = self.tables.get(each["TableName"])
            if not table or not table.range_key_attr:
                return wholly(self, calls)
            key = each["Item" if kind == "Put" else "Key"]
            part = table.items[DynamoType(key[table.hash_key_attr])]
            place = DynamoType(key[table.range_key_attr])
            before.append((part, place, copy.deepcopy(part.get(place))))
    try:
        with mock.patch.object(Table, "__deepcopy__", lambda table, _: table, create=True):
            return wholly(self, calls)
    except Exception:
        for part, place, item in before:
            part.pop(place, None)
            if item is not None:
                part[place] = item
        raise


def query(self, key, comparison, values, limit, start, forward, projection, index, *more,
          hash_key_conditions=None, sought=Table.query, **others):
    """Query the items that have the key."""
    if not self.range_key_attr:
        items = self.all_items()
    elif index is None:
        items = list(self.items.get(key, {}).values())
    else:
        name, value = hash_key_conditions[0]
        items = [item for part in self.items.values() for item in part.values()
                 if name in item.attrs and item.attrs[name] == value]
    with mock.patch.object(self, "all_items", lambda: items):
        return sought(self, key, comparison, values, limit, start, forward, projection, index,
                      *more, hash_key_conditions=hash_key_conditions, **others)


def front(environ, start_response):
    """Return moto's response, computed while no other request runs."""
    with LOCK:
        return list(MOTO(environ, start_response))


DynamoDBBackend.transact_write_items = write_transaction
Table.query = query
MOTO = DomainDispatcherApplication(create_backend_app)

if __name__ == "__main__":
    run_simple("127.0.0.1", int(sys.argv[1]), front, threaded=True, request_handler=Quiet)
