"""What a request asks of the table, as the guide's chapter on cost says it."""
import re
import unittest
from unittest import mock

from running import ENGINE, EXAMPLE, PREMIUM, App, BackendCase

GUIDE = (EXAMPLE.parents[1] / "docs/tasks/freemium-lambda.md").read_text()
READS = {"GetItem", "Query"}


class CostTest(BackendCase):
    settings = {"ceiling": {"premium": 10000}}

    def asked(self, call):
        """Return how many items a call reads, and how many it writes."""
        from botocore.client import BaseClient

        names, make = [], BaseClient._make_api_call

        def noted(client, name, given):
            if client.meta.service_model.service_name == "dynamodb":
                names.extend([name] * len(given.get("TransactItems", [name])))
            return make(client, name, given)
        with mock.patch.object(BaseClient, "_make_api_call", noted):
            self.assertEqual(call().status, 200)
        return sum(name in READS for name in names), sum(name not in READS for name in names)

    @unittest.skipUnless(ENGINE == "moto", "counts the requests to DynamoDB")
    def test_the_guide_counts_what_a_request_reads_and_writes(self):
        app, bought = self.app(), self.bought(PREMIUM)
        found = {"signup": self.asked(App(self).sign_up),
                 "update-subscription": self.asked(lambda: app.update(bought))}
        self.assertEqual(self.asked(lambda: app.update(bought)), found["update-subscription"])
        found["analyze"] = self.asked(lambda: app.analyze("premium"))
        chapter = GUIDE.split("## What it costs")[1]
        table = re.findall(r"^\| `/v1/([\w-]+)` \| (\d) \| (\d)", chapter, re.M)
        self.assertEqual({name: (int(reads), int(writes)) for name, reads, writes in table}, found)


if __name__ == "__main__":
    unittest.main()
