"""The chapter "Deploy" of the guide: every command of it, in its order, in one shell.

`aws` is Amazon's own command line, on moto's services (guide/cloud.py); `sam` is a stand-in with
SAM's builder (guide/sam), or the program that ASSAY_SAM names; `curl` is curl, whose requests to
the API go to the gateway of guide/cloud.py. Functions run as they were packed, with the layer that
was published. An option, a name or a resource that does not exist fails its command, and so this.
"""
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from running import ENGINE, EXAMPLE, HAS_MINT, PREMIUM, authority

ROOT = EXAMPLE.parents[1]
HERE = pathlib.Path(__file__).resolve().parent / "guide"
CHAPTER = (ROOT / "docs/tasks/freemium-lambda.md").read_text().split("\n## Deploy\n")[1].split(
    "\n## ")[0]
BLOCKS = re.findall(r"```sh not-run=setup\n(.*?)```", CHAPTER, re.DOTALL)
QUESTIONS = re.findall(r"^\| `([^`|]+)` \| (?:`([^`|]+)`|Enter)", CHAPTER.split(
    "| question | answer |")[1].split("\n\n")[0], re.MULTILINE)
BESIDE = pathlib.Path(sys.executable).parent

# Each command of these names is logged with its exit status: `export X=$(…)` hides it from bash.
WRAPPED = """#!/bin/bash
{before}
{program} "$@"
status=$?
printf '%s\\t%s\\n' "$status" "{name} $*" >> "$COMMANDS"
exit $status
"""
EDITED = """
import json, pathlib, sys

for path in map(pathlib.Path, sys.argv[1:]):
    if path.name == "config.json":
        found = json.loads(path.read_text())
        found["assay"]["storekit"] = json.loads(pathlib.Path({policy!r}).read_text())
        path.write_text(json.dumps(found))
"""


class Cloud:
    """guide/cloud.py in a process of its own, from the start of a test to its end."""

    def __init__(self, log):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = log.open("w")
        self.process = subprocess.Popen(
            [sys.executable, HERE / "cloud.py", str(self.port)], stderr=self.log,
            env={**os.environ, **credentials(), "MOTO_ACM_VALIDATION_WAIT": "0"})
        for _ in range(1200):
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        raise RuntimeError(f"the cloud did not start: {log.read_text()[-2000:]}")

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=30)
        self.log.close()


def credentials():
    return {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local", "AWS_PAGER": "",
            "AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull, "SAM_CLI_TELEMETRY": "0"}


@unittest.skipUnless(HAS_MINT and ENGINE == "moto", "runs with moto and assay-cli")
class DeployTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.cloud = Cloud(cls.folder / "cloud.log")
        cls.addClassCleanup(cls.cloud.close)
        warm = subprocess.Popen([sys.executable, HERE / "warm.py", cls.folder / "warm"],
                                env={**os.environ, **credentials(), "HOME": str(cls.folder)})
        cls.addClassCleanup(warm.wait)
        cls.addClassCleanup(warm.terminate)
        cls.checkout = cls.folder / "checkout"
        shutil.copytree(EXAMPLE, cls.checkout / "examples/freemium", ignore=shutil.ignore_patterns(
            "tests", "__pycache__", ".aws-sam", "samconfig.toml", "cdk"))
        cls.make_programs()
        cls.fill_old_table()
        cls.parts, cls.failure = cls.run_blocks()

    @classmethod
    def make_programs(cls):
        programs = cls.folder / "bin"
        programs.mkdir()
        (cls.folder / "policy.json").write_text(json.dumps(authority().config["storekit"]))
        (cls.folder / "edit.py").write_text(EDITED.format(policy=str(cls.folder / "policy.json")))
        (cls.folder / "answers").write_text("".join(f"{answer}\n" for _, answer in QUESTIONS))
        warm = f"{sys.executable} -SE {HERE / 'warm.py'} {cls.folder / 'warm'}"
        sam = os.environ.get("ASSAY_SAM") or f"{warm} sam"
        answers = f"exec < <(envsubst < {cls.folder}/answers)"
        reaches = (f"for arg; do shift; set -- \"$@\" \"$(sed -E 's|^https://(([a-z0-9]+)"
                   f"[.]execute-api[.][^/]+)|{cls.cloud.url}|' <<< \"$arg\")\"; done\n"
                   "api=$(sed -E 's|^https://||' <<< \"$URL\")")
        layer = (f"run() {{ if [ \"$*\" = layer ]; then {sys.executable} "
                 f"{ROOT}/packaging/build_layer.py --library {os.environ['ASSAY_LIBRARY']} "
                 f"--out {cls.checkout}/build/layer; else {shutil.which('make')} \"$@\"; fi; }}")
        for name, program, before in (
                ("aws", f"{warm} aws", ""),
                ("sam", sam, answers),
                ("curl", f"{shutil.which('curl')} -H \"Host: $api\"", reaches),
                ("make", "run", layer),
                ("python3", sys.executable, ""),
                ("edit", f"{sys.executable} {cls.folder}/edit.py", "")):
            (programs / name).write_text(
                WRAPPED.format(name=name, program=program, before=before))
            (programs / name).chmod(0o755)

    @classmethod
    def fill_old_table(cls):
        import boto3

        client = boto3.client("dynamodb", region_name="eu-central-1",
                              endpoint_url=cls.cloud.url, aws_access_key_id="local",
                              aws_secret_access_key="local")
        client.create_table(
            TableName="article", BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"}
                                  for name in ("PK", "SK")],
            KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"},
                       {"AttributeName": "SK", "KeyType": "RANGE"}])
        bought = authority().transaction(product=PREMIUM, transaction_id="770001")
        for account, text, updated in (("old-1", bought, 5), ("old-2", bought, 9),
                                       ("old-3", "forged", 1)):
            client.put_item(TableName="article", Item={
                "PK": {"S": f"USER#{account}"}, "SK": {"S": "SUBSCRIPTION"},
                "plan": {"S": "premium"}, "rawJWS": {"S": text}, "updatedAt": {"N": str(updated)}})
        client.put_item(TableName="article", Item={
            "PK": {"S": "USER#old-1"}, "SK": {"S": "DATE#2026-01-01"}})

    @classmethod
    def run_blocks(cls):
        """Run all blocks in one shell; return what each printed, and why it stopped early."""
        script = ["set -u -o pipefail"]
        for number, block in enumerate(BLOCKS):
            script += [f"echo; echo '@@ {number}'", block]
            if "/v1/signup" in block:
                body = json.dumps({"signedTransactionData": authority().transaction(
                    product=PREMIUM)})
                script += ["echo; echo '@@ bought'",
                           f"curl -sS \"$URL/v1/update-subscription\" -H "
                           f"\"Authorization: Bearer $TOKEN\" --json '{body}'"]
        commands = cls.folder / "commands"
        commands.touch()
        done = subprocess.run(
            ["bash", "-c", "\n".join(script)], cwd=cls.checkout, text=True, capture_output=True,
            stdin=subprocess.DEVNULL, timeout=900,
            env={"HOME": str(cls.folder), "TMPDIR": str(cls.folder), "LANG": "C.UTF-8",
                 "PATH": f"{cls.folder}/bin:/usr/bin:/bin", **credentials(), "EDITOR": "edit",
                 "AWS_ENDPOINT_URL": cls.cloud.url, "COMMANDS": str(commands), "OLD": "article"})
        found = re.split(r"\n@@ (\w+)\n", f"\n{done.stdout}")
        cls.commands = [line.split("\t", 1) for line in commands.read_text().splitlines()]
        parts = dict(zip(found[1::2], found[2::2]))
        told = f"{done.stderr}\n{(cls.folder / 'cloud.log').read_text()}"
        return parts, told if done.returncode or len(parts) < len(BLOCKS) else ""

    def printed(self, text):
        """Return what the block with this text printed."""
        [number] = [number for number, block in enumerate(BLOCKS) if text in block]
        return self.parts[str(number)].strip()

    def test_every_command_succeeds(self):
        self.assertGreater(len(self.commands), 40)
        allowed = [("1", "python3 move_rows.py")]  # rows were left: one forged, one of two
        bad = [(status, command) for status, command in self.commands
               if status != "0" and not any(status == each and command.startswith(start)
                                            for each, start in allowed)]
        self.assertEqual(bad, [], self.failure[-6000:])
        self.assertEqual(self.failure, "", self.failure[-6000:])

    def test_the_table_has_its_mark(self):
        self.assertEqual(self.printed("create_schema"), "migrated")

    def test_an_account_calls_what_was_deployed(self):
        example = re.search(r"```text not-run=diagram\n(.*?)```", CHAPTER, re.DOTALL)[1]
        said = re.findall(r"\{.*?\}(?=\{|$)", self.printed("/v1/signup"))
        self.assertEqual([json.loads(each) for each in said],
                         [json.loads(each) for each in example.splitlines()])
        self.assertEqual(json.loads(self.parts["bought"]), {"plan": "premium"})

    def test_a_function_starts_anew_with_other_secrets(self):
        said = self.printed("Revision=2").splitlines()[-1]
        self.assertEqual(json.loads(said)["plan"], "premium")

    def test_the_alarms_are_those_of_the_table(self):
        rows = re.findall(r"^\| `(\w+)` \| ", CHAPTER.split("| alarm | says | do |")[1], re.M)
        listed = self.printed("describe-alarms")
        for name in rows:
            self.assertIn(f"freemium-{name}-", listed)
        self.assertEqual(len(rows), 3)

    def test_rows_of_the_article(self):
        said = self.printed("move_rows.py").splitlines()
        self.assertEqual(said[-1], "1 stored, 2 not")
        self.assertTrue(said[0].startswith("old-1: rejected."), said)
        self.assertTrue(said[1].startswith("old-3: malformed."), said)

    def test_nothing_is_left(self):
        import boto3

        for service, call, member in (
                ("cloudformation", "list_stacks", "StackSummaries"),
                ("dynamodb", "list_tables", "TableNames"),
                ("lambda", "list_layers", "Layers"),
                ("lambda", "list_functions", "Functions"),
                ("cloudwatch", "describe_alarms", "MetricAlarms")):
            client = boto3.client(service, region_name="eu-central-1", endpoint_url=self.cloud.url,
                                  aws_access_key_id="local", aws_secret_access_key="local")
            left = [each for each in getattr(client, call)()[member] if each != "article"
                    and not (service == "cloudformation"
                             and each["StackStatus"] == "DELETE_COMPLETE")]
            self.assertEqual(left, [], call)


    def test_the_package_is_the_same_for_both_processors(self):
        """Check it with SAM's builder, and against what the Makefile alone packs."""
        packages = []
        for architecture in ("x86_64", "arm64"):
            folder = self.folder / architecture
            shutil.copytree(self.checkout / "examples/freemium", folder,
                            ignore=shutil.ignore_patterns(".aws-sam"))
            template = folder / "template.yaml"
            text = template.read_text()
            self.assertEqual(text.count("Default: x86_64"), 1)
            template.write_text(text.replace("Default: x86_64", f"Default: {architecture}"))
            subprocess.run([sys.executable, HERE / "sam", "build"], cwd=folder, check=True,
                           capture_output=True)
            built = folder / ".aws-sam/build"
            packages.append({str(path.relative_to(built)): path.read_bytes()
                             for path in built.rglob("*.py")})
        self.assertEqual(packages[0], packages[1])
        alone = self.folder / "alone"
        subprocess.run(["make", "-C", EXAMPLE / "freemium", "build-x", f"ARTIFACTS_DIR={alone}"],
                       check=True, capture_output=True)
        self.assertEqual({name.partition("/")[2] for name in packages[0]},
                         {str(path.relative_to(alone)) for path in alone.rglob("*.py")})


class QuestionsTest(unittest.TestCase):
    def test_each_parameter_is_answered(self):
        known = (EXAMPLE / "template.yaml").read_text().split("\nParameters:\n")[1]
        names = re.findall(r"^  (\w+):$", known.split("\n\n")[0], re.M)
        self.assertEqual([question for question, _ in QUESTIONS
                          if question.startswith("Parameter ")],
                         [f"Parameter {name}" for name in names])


if __name__ == "__main__":
    unittest.main()
