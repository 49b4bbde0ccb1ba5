"""Compare the rights of each function in the template with what its routes do.

Every call of a route to DynamoDB and Cognito is compared with the policies of the function
that has the route, because an emulator does not refuse what AWS would.
"""
import fnmatch
import pathlib
import re
import threading

import yaml

TEMPLATE = pathlib.Path(__file__).resolve().parents[1] / "template.yaml"
_IN_TRANSACTION = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem",
                   "ConditionCheck": "ConditionCheckItem", "Get": "GetItem"}
_EQUALS = re.compile(r"(#?\w+) = (:\w+)")


def resources():
    """Return the template's resources; `!Ref x` and the like become ("Ref", x)."""
    class Loader(yaml.SafeLoader):
        pass

    def tagged(loader, suffix, node):
        make = {yaml.ScalarNode: loader.construct_scalar,
                yaml.SequenceNode: lambda found: loader.construct_sequence(found, deep=True)}
        return suffix, make[type(node)](node)

    Loader.add_multi_constructor("!", tagged)
    return yaml.load(TEMPLATE.read_text(), Loader)["Resources"]


def functions(found):
    """Return the properties of each function by its name."""
    return {name: each["Properties"] for name, each in found.items()
            if each["Type"] == "AWS::Serverless::Function"}


def statements(found, function):
    """Return the statements of a function's policies, in the template's form; of a conditional
    one what it is if its condition holds."""
    for policy in functions(found)[function]["Policies"]:
        if isinstance(policy, tuple):
            policy = found[policy[1]]["Properties"]["PolicyDocument"]
        for each in policy["Statement"]:
            yield each[1][1] if isinstance(each, tuple) else each


def listed(found):
    return found if isinstance(found, list) else [found]


class Watch:
    """Compares the calls of boto3's clients with the rights of the function that runs."""

    def __init__(self):
        self._found, self._now = resources(), threading.local()
        self._owner = {event["Properties"]["Path"]: name
                       for name, each in functions(self._found).items()
                       for event in each["Events"].values() if "Path" in event["Properties"]}
        self._allowed = {name: list(statements(self._found, name))
                         for name in functions(self._found)}
        self.seen, self.refused = set(), set()

    def of(self, backend):
        """Watch this back end from now on."""
        routed = backend._routed

        def watched(request, context):
            self._now.function = self._owner.get(request.path)
            try:
                return routed(request, context)
            finally:
                self._now.function = None

        def scheduled(function, run):
            def watched(context=None):
                self._now.function = function
                try:
                    return run(context)
                finally:
                    self._now.function = None
            return watched

        backend._routed = watched
        backend.due = scheduled("Due", backend.due)
        backend.reconcile = scheduled("Reconcile", backend.reconcile)
        backend.refunds = scheduled("Refunds", backend.refunds)
        for client, service in ((backend.ledger.executor.client, "dynamodb"),
                                (backend.provider._client, "cognito-idp")):
            client.meta.events.register(f"before-parameter-build.{service}", self._called)
        return self

    def started(self, backend):
        """Make the calls of every function's start."""
        for name in self._allowed:
            self._now.function = name
            backend.check()
        self._now.function = None

    def _called(self, params, model, **unused):
        function = getattr(self._now, "function", None)
        if function is None:
            return
        service = model.service_model.service_name
        for action, resource, key in calls(service, model.name, params):
            self.seen.add((function, action, resource, key.split("#")[0]))
            if not any(allows(each, action, resource, key) for each in self._allowed[function]):
                self.refused.add((function, action, resource, key))


def calls(service, name, params):
    """Return what one request does: action, resource, and the leading key."""
    if service != "dynamodb":
        yield f"{service}:{name}", "Pool", ""
    elif name in ("TransactWriteItems", "TransactGetItems"):
        for item in params["TransactItems"]:
            for kind, each in item.items():
                yield f"dynamodb:{_IN_TRANSACTION[kind]}", "Table", leading(each)
    else:
        index = params.get("IndexName")
        yield f"dynamodb:{name}", f"Table/{index}" if index else "Table", leading(params)


def leading(params):
    for holder in ("Key", "Item"):
        if holder in params:
            return params[holder]["PK"]["S"]
    if "KeyConditionExpression" not in params:
        return ""  # the table itself
    _, value = _EQUALS.search(params["KeyConditionExpression"]).groups()
    return params["ExpressionAttributeValues"][value]["S"]


def allows(statement, action, resource, key):
    condition = statement.get("Condition")
    if condition is not None:
        patterns = condition["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
        if not any(fnmatch.fnmatchcase(key, pattern) for pattern in patterns):
            return False
    wanted = {"Table": ("GetAtt", "Table.Arn"), "Pool": ("GetAtt", "Pool.Arn")}.get(
        resource, ("Sub", "${Table.Arn}/index/" + resource.partition("/")[2]))
    return action in listed(statement["Action"]) and wanted in listed(statement["Resource"])
