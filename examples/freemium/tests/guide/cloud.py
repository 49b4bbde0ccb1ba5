"""Serve what the guide's commands talk to, on a loopback port: moto's services, CloudFormation with
SAM's transform, and the gateway with functions that run as they were packed.

  cloud.py PORT

moto's CloudFormation has no pool, gateway, alarm or metric filter: those are made here by the
service's own call, whose parameters botocore checks. The gateway reads routes and authorizers of
the definition that SAM made of the template. It decodes access tokens, and does not verify them:
no test of the guide forges one.
"""
import base64
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings
import zipfile

import boto3
from moto.awslambda.models import LambdaFunction, lambda_backends
from moto.cloudformation import models as stacks
from moto.cloudformation import parsing
from moto.core.common_models import CloudFormationModel
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, run_simple

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import transformed

ACCOUNT = "123456789012"
MOTO = DomainDispatcherApplication(create_backend_app)
PLACE = {}
UNPACKED = {}
CALLED = """
import importlib, json, sys
module, _, name = sys.argv[1].rpartition(".")
print(json.dumps(getattr(importlib.import_module(module), name)(json.load(sys.stdin), None)))
"""


def client(name, region):
    return boto3.client(name, region_name=region, endpoint_url=PLACE["url"])


# ---- CloudFormation

# Type: service, call, the answer's path to the resource's name, how the call names it (None: by
# itself), and what else is renamed.
OTHERS = {
    "AWS::Cognito::UserPool": (
        "cognito-idp", "create_user_pool", "UserPool.Id", "PoolName", {}),
    "AWS::Cognito::UserPoolClient": (
        "cognito-idp", "create_user_pool_client", "UserPoolClient.ClientId", "ClientName", {}),
    "AWS::ApiGatewayV2::Api": ("apigatewayv2", "create_api", "ApiId", "Name", {}),
    "AWS::ApiGatewayV2::Stage": ("apigatewayv2", "create_stage", "StageName", None, {}),
    "AWS::CloudWatch::Alarm": ("cloudwatch", "put_metric_alarm", None, "AlarmName", {}),
    "AWS::Logs::MetricFilter": (
        "logs", "put_metric_filter", None, "filterName",
        {"LogGroupName": "logGroupName", "FilterPattern": "filterPattern",
         "MetricTransformations": "metricTransformations", "MetricNamespace": "metricNamespace",
         "MetricName": "metricName", "MetricValue": "metricValue",
         "DefaultValue": "defaultValue"}),
}
BODIES = {}
# moto counts instances by the service in the name of a model's module.
MODULE = "moto.cloudformation.models"


def renamed(found, names):
    if isinstance(found, dict):
        return {names.get(name, name): renamed(each, names) for name, each in found.items()}
    return [renamed(each, names) for each in found] if isinstance(found, list) else found


class Other:
    """A resource that moto's CloudFormation lacks, made by the call of its service."""

    def __init__(self, name, region):
        self.physical_resource_id, self.name, self.region = name, name, region

    @staticmethod
    def cloudformation_name_type():
        return None

    @classmethod
    def has_cfn_attr(cls, attr):
        return attr in ("Arn", "ProviderName")

    def get_cfn_attribute(self, attribute_name):
        if attribute_name != "Arn":
            raise KeyError(attribute_name)
        return f"arn:aws:cognito-idp:{self.region}:{ACCOUNT}:userpool/{self.name}"

    @classmethod
    def create_from_cloudformation_json(cls, resource_name, cloudformation_json, account_id,
                                        region_name, **unused):
        given = dict(cloudformation_json["Properties"])
        service, call, path, own_name, names = OTHERS[cls.cloudformation_type()]
        given = renamed(given, names)
        tags = given.pop("Tags", None)
        definition = given.pop("Body", None)
        if definition is not None:
            given.update(ProtocolType="HTTP")
        if own_name is not None:
            given.setdefault(own_name, resource_name)
        del tags
        made = getattr(client(service, region_name), call)(**typed(service, call, given))
        name = given.get(own_name, resource_name)
        for part in path.split(".") if path else ():
            made = name = made[part]
        if definition is not None:
            BODIES[name] = (region_name, definition)
        return cls(name, region_name)

    @classmethod
    def update_from_cloudformation_json(cls, original_resource, *unused, **more):
        return original_resource  # no command of the guide changes one

    @classmethod
    def delete_from_cloudformation_json(cls, resource_name, unused, account_id, region_name):
        kind = cls.cloudformation_type()
        if kind == "AWS::ApiGatewayV2::Api":
            client("apigatewayv2", region_name).delete_api(ApiId=resource_name)
        elif kind == "AWS::CloudWatch::Alarm":
            client("cloudwatch", region_name).delete_alarms(AlarmNames=[resource_name])


def typed(service, call, given):
    """Return the parameters with the numbers that the call takes: CloudFormation reads texts."""
    made = boto3.client(service, region_name="us-east-1")
    shape = made.meta.service_model.operation_model(
        made.meta.method_to_api_mapping[call]).input_shape
    return _typed(shape, given)


def _typed(shape, given):
    if shape.type_name == "structure":
        return {name: _typed(shape.members[name], each) if name in shape.members else each
                for name, each in given.items()}
    if shape.type_name == "list":
        return [_typed(shape.member, each) for each in given]
    number = {"integer": int, "long": int, "double": float, "float": float}.get(shape.type_name)
    return number(given) if number else given


for kind in OTHERS:
    type(kind.replace("::", ""), (Other, CloudFormationModel),
         {"__module__": MODULE, "cloudformation_type": staticmethod(lambda kind=kind: kind)})


def transforming(parse):
    def parsed(*given):
        found = parse(*given)
        target = given[0] if found is None else None
        template = target.template_dict if found is None else found
        if "Transform" in template:
            template = transformed.translated(template)
            if target is not None:
                target.template_dict = template
        return found if target is not None else template
    return parsed


def without_nothing(clean):
    """Return what fills in a template, which in moto would leave AWS::NoValue in a list."""
    def cleaned(given, resources):
        found = clean(given, resources)
        return [each for each in found if each is not None] if isinstance(given, list) else found
    return cleaned


parsing.clean_json = without_nothing(parsing.clean_json)


def with_layers(create):
    """Return what makes a function, which in moto's CloudFormation would have no layer; one for
    another processor is refused when the function starts, so here when it is made."""
    def created(resource_name, cloudformation_json, account_id, region_name, **more):
        made = create(resource_name, cloudformation_json, account_id, region_name, **more)
        given = cloudformation_json["Properties"]
        made.update_configuration({"Layers": given["Layers"]})
        made.architectures = given["Architectures"]
        for each in given["Layers"]:
            layer = lambda_backends[account_id][region_name].layers_versions_by_arn(each)
            if not set(made.architectures) <= set(layer.compatible_architectures):
                raise ValueError(f"{each} is for {layer.compatible_architectures}")
        return made
    return created


LambdaFunction.create_from_cloudformation_json = with_layers(
    LambdaFunction.create_from_cloudformation_json)


def applied(self, apply=stacks.ChangeSet.apply):
    """Apply a change set, after which moto's stack would have no outputs.

    Of the previous values moto would not read a list, and it would change what its condition
    leaves out: no command of the guide changes a condition."""
    self.parameters = {
        name: ",".join(each) if isinstance(each, list) else each
        for name, each in self.parameters.items()}
    known = self.stack.resource_map.lazy_condition_map
    self.template_dict["Resources"] = {
        name: each for name, each in self.template_dict["Resources"].items()
        if each.get("Condition") not in known or known[each["Condition"]]}
    apply(self)
    self.stack.template_dict = self.template_dict
    self.stack.output_map = self.stack._create_output_map()


stacks.ChangeSet.apply = applied
for holder in (stacks.Stack, stacks.ChangeSet):
    holder._parse_template = transforming(holder._parse_template)
# A resource that cannot be made stops the server's call, and so the command.
warnings.filterwarnings("error", message="Tried to parse")


# ---- the gateway

def answer(api, method, path, headers, body):
    """Return status, headers and body of one request to an API."""
    region, definition = BODIES[api]
    route = definition["paths"].get(path, {}).get(method.lower())
    if route is None:
        return 404, {}, b'{"message":"Not Found"}'
    context = {"http": {"method": method, "path": path, "sourceIp": "127.0.0.1"}}
    for wanted in route.get("security", ()):
        [name] = wanted
        if name != "NONE":
            scheme = definition["components"]["securitySchemes"][name]
            claims = claimed(headers, scheme["x-amazon-apigateway-authorizer"])
            if claims is None:
                return 401, {}, b'{"message":"Unauthorized"}'
            context["authorizer"] = {"jwt": {"claims": claims}}
    key = f"{method} {path}"
    event = {"version": "2.0", "routeKey": key, "rawPath": path, "headers": headers,
             "requestContext": {**context, "routeKey": key}, "isBase64Encoded": False,
             "body": body.decode() or None}
    said = invoked(region, route["x-amazon-apigateway-integration"]["uri"], event)
    if said is None:
        return 500, {}, b'{"message":"Internal Server Error"}'
    return said["statusCode"], said.get("headers") or {}, (said.get("body") or "").encode()


def claimed(headers, authorizer):
    """Return the claims of a token that the authorizer takes, else None."""
    found = re.fullmatch(r"Bearer [\w-]+\.([\w-]+)\.[\w-]+", headers.get("authorization", ""))
    if not found:
        return None
    claims = json.loads(base64.urlsafe_b64decode(found[1] + "=" * (-len(found[1]) % 4)))
    wanted = authorizer["jwtConfiguration"]
    good = claims["iss"] == wanted["issuer"] and claims.get("client_id") in wanted["audience"]
    return claims if good else None


def invoked(region, uri, event):
    """Return the answer of the function behind an integration, from a new process; None: it
    failed."""
    name = re.search(r"function:([\w-]+)/invocations", uri)[1]
    backend = lambda_backends[ACCOUNT][region]
    function = backend.get_function(name)
    task = unpacked(function.code_bytes)
    [layer] = [unpacked(backend.layers_versions_by_arn(each["Arn"]).code_bytes)
               for each in function.layers]
    own = {key: value for key, value in os.environ.items() if not key.startswith("ASSAY_")}
    done = subprocess.run(
        [sys.executable, "-c", CALLED, function.handler], cwd=task, input=json.dumps(event),
        text=True, capture_output=True,
        env={**own, **function.environment_vars, "AWS_ENDPOINT_URL": PLACE["url"],
             "AWS_REGION": region, "AWS_DEFAULT_REGION": region, "LAMBDA_TASK_ROOT": str(task),
             "LD_LIBRARY_PATH": f"{layer}/lib", "PYTHONPATH": f"{task}:{layer}/python"})
    if done.returncode != 0:
        print(done.stderr, file=sys.stderr, flush=True)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def unpacked(octets):
    key = hash(octets)
    if key not in UNPACKED:
        folder = pathlib.Path(tempfile.mkdtemp(dir=PLACE["folder"]))
        with zipfile.ZipFile(io.BytesIO(octets)) as archive:
            archive.extractall(folder)
        UNPACKED[key] = folder
    return UNPACKED[key]


def front(environ, start_response):
    """Send requests of an API's host to the gateway, and all others to moto."""
    if "/account-settings" in environ["PATH_INFO"]:  # moto has no limit of an account
        start_response("200 OK", [("Content-Type", "application/json")])
        return [b'{"AccountLimit": {"ConcurrentExecutions": 1000}}']
    api = re.match(r"(\w+)\.execute-api\.", environ.get("HTTP_HOST", ""))
    if not api:
        return MOTO(environ, start_response)
    headers = {name[5:].replace("_", "-").lower(): value for name, value in environ.items()
               if name.startswith("HTTP_")}
    headers["content-type"] = environ.get("CONTENT_TYPE", "")
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    status, said, text = answer(api[1], environ["REQUEST_METHOD"], environ["PATH_INFO"], headers,
                                body)
    start_response(f"{status} Status", [*said.items()])
    return [text]


class Quiet(WSGIRequestHandler):
    def log_request(self, *arguments):
        pass


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        PLACE.update(url=f"http://127.0.0.1:{sys.argv[1]}", folder=folder)
        run_simple("127.0.0.1", int(sys.argv[1]), front, threaded=True, request_handler=Quiet)
