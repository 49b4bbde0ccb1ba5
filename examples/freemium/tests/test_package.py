"""The deployed package, packed as `sam build` packs it, and its content."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import assay
from running import COMMANDS, EXAMPLE, shipped

ROOT = EXAMPLE.parents[1]
TEMPLATE = (EXAMPLE / "template.yaml").read_text()
FUNCTIONS = re.findall(r"\n  (\w+):\n    Type: AWS::Serverless::Function\n", TEMPLATE)
PACKED = (EXAMPLE / re.search(r"CodeUri: *(\S+)", TEMPLATE)[1]).resolve()
GUIDE = (ROOT / "docs/tasks/freemium-lambda.md").read_text()
# Matches a key in base64 or PEM, and the members that contain one.
KEY = re.compile(r"[A-Za-z0-9+/]{43}=|-----BEGIN"
                 r"|[\"'](accountKey|customerKey|forgetKey|privateKey)[\"']\s*:")


def packed(folder, function):
    """Return the archive of a function as a folder, made by the Makefile that `sam build` runs."""
    subprocess.run(["make", "-C", str(PACKED), f"build-{function}"], check=True,
                   capture_output=True, env={**os.environ, "ARTIFACTS_DIR": str(folder)})
    return {str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob("*")
            if path.is_file()}


class PackageTest(unittest.TestCase):
    def test_nothing_secret_is_packed(self):
        modules = {f"freemium/{path.name}" for path in (EXAMPLE / "freemium").glob("*.py")}
        for function in FUNCTIONS:
            with self.subTest(function=function), tempfile.TemporaryDirectory() as folder:
                names = packed(folder, function)
                # Only the modules are packed: no configuration, no test, no wheel, nothing local.
                self.assertEqual(names, modules - COMMANDS)
                for name in names:
                    text = pathlib.Path(folder, name).read_text()
                    self.assertNotRegex(text, KEY, name)

    def test_each_function_is_packed_by_that_makefile(self):
        self.assertEqual(len(FUNCTIONS), 8)
        self.assertEqual(TEMPLATE.count("Metadata: {BuildMethod: makefile}"), 8)
        self.assertTrue((PACKED / "Makefile").is_file())

    def test_what_is_packed_is_the_handler(self):
        handler = re.search(r"Handler: (\S+)\.(\w+)", TEMPLATE)
        with tempfile.TemporaryDirectory() as folder:
            packed(folder, FUNCTIONS[0])
            code = f"import {handler[1].rpartition('.')[0]}.backend as b; print(b.__file__)"
            path = f"{folder}{os.pathsep}{pathlib.Path(assay.__file__).parents[1]}"
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                                  env={**os.environ, "PYTHONPATH": path}, cwd=folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(done.stdout.startswith(folder), done.stdout)
            self.assertTrue(pathlib.Path(folder, "freemium/function.py").is_file())

    def test_the_filled_files_lie_elsewhere(self):
        """Check that the guide's steps leave no file with a key in the checkout."""
        steps = GUIDE.split("## Deploy")[1].split("\n## ")[0]
        filled = re.findall(r'--secret-string "file://([^"]+)"', steps)
        self.assertGreaterEqual(len(filled), 2)
        self.assertEqual([name for name in filled if not name.startswith("$KEYS/")], [])
        self.assertIn("export KEYS=$(mktemp -d)", steps)
        for name in ("config.json", "tests", "template.yaml", "requirements.txt"):
            self.assertNotIn(PACKED, (EXAMPLE / name).resolve().parents)

    def test_the_configuration_of_all_functions_has_no_key(self):
        """Check that the secret of the accounts has what the guide removes from config.json."""
        code = re.search(r"```sh not-run=\w+\n(umask.*?)```", GUIDE, re.S)[1]
        split = re.search(r"python3 - .*?<<'END'\n(.*?)\nEND\n", code, re.S)[1]
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-c", split, folder], check=True, cwd=EXAMPLE)
            found = {path.name: json.loads(path.read_text())
                     for path in pathlib.Path(folder).iterdir()}
        self.assertEqual(set(found), {"config.json", "accounts.json"})
        self.assertNotRegex(json.dumps(found["config.json"]), KEY)
        accounts = found["accounts.json"]
        self.assertEqual(set(accounts), {"accountKey", "assay"})
        self.assertEqual(set(accounts["assay"]["ledger"]), {"forgetKey"})
        self.assertEqual(found["config.json"]["assay"]["products"], shipped()["assay"]["products"])

    def test_the_requirement_is_pinned_to_this_version(self):
        lines = [line for line in (EXAMPLE / "requirements.txt").read_text().splitlines()
                 if line and not line.startswith("#")]
        self.assertIn(f"assay=={assay.__version__}", lines)
        self.assertTrue(all(re.fullmatch(r"[a-z0-9]+==[0-9.]+", line) for line in lines))


if __name__ == "__main__":
    unittest.main()
