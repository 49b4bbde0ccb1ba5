"""The template as CloudFormation makes it, by the translator that its transform runs."""
import json
import logging
import os

import boto3
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator
from samtranslator.yaml_helper import yaml_parse

REGION = "eu-central-1"
CODE = "s3://bucket/key"
# Of the packages: both tools upload them, each to its own place.
_ELSEWHERE = {"Code", "Metadata"}
logging.getLogger("samtranslator").setLevel(logging.ERROR)


class _NoManagedPolicies:
    def load(self):
        return {}


def template(text, given):
    """Return a template without its transform.

    text   in YAML or JSON
    given  parameter: value, or an object of CloudFormation, which takes its place everywhere
    """
    found = yaml_parse(text)
    for name in given:
        del found["Parameters"][name]
    found = _filled(found, given)
    # Here CodeUri is a folder: what is uploaded of it has another name.
    found.get("Globals", {}).get("Function", {}).pop("CodeUri", None)
    for each in found["Resources"].values():
        if each["Type"] == "AWS::Serverless::Function":
            each["Properties"]["CodeUri"] = CODE
    return translated(found)


def translated(found):
    """Return a template, as an object, without its transform."""
    os.environ.setdefault("AWS_DEFAULT_REGION", REGION)
    defaults = {name: each["Default"] for name, each in found.get("Parameters", {}).items()
                if "Default" in each and not name.startswith("Bootstrap")}
    made = Translator(_NoManagedPolicies(), Parser(), boto_session=boto3.Session())
    return made.translate(found, defaults)


def _filled(found, given):
    """Put values in the place of parameters, as Ref or within a text of Fn::Sub."""
    if isinstance(found, dict):
        if list(found) == ["Ref"] and found["Ref"] in given:
            return given[found["Ref"]]
        return {name: _filled(each, given) for name, each in found.items()}
    if isinstance(found, list):
        return [_filled(each, given) for each in found]
    if isinstance(found, str):
        for name, value in given.items():
            if isinstance(value, str):
                found = found.replace(f"${{{name}}}", value)
    return found


def plain(found):
    """Return a part of a template in one of the forms that mean the same."""
    if isinstance(found, dict):
        if list(found) == ["Fn::GetAtt"] and isinstance(found["Fn::GetAtt"], str):
            return {"Fn::GetAtt": found["Fn::GetAtt"].split(".", 1)}
        if list(found) == ["Fn::Sub"] and isinstance(found["Fn::Sub"], str) \
                and "${" not in found["Fn::Sub"]:
            return found["Fn::Sub"]
        return {name: plain(each) for name, each in found.items() if name not in _ELSEWHERE}
    if isinstance(found, list):
        return [plain(each) for each in found]
    if isinstance(found, str) and found.startswith("{"):
        try:
            return json.loads(found)
        except ValueError:
            return found
    return found
