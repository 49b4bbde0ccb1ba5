"""The app of CDK: what it makes is what SAM makes of template.yaml.

ASSAY_CDK names a Python that has aws-cdk-lib (`make check-lambda-cdk` makes one); without it the
app is only type-checked (make check-examples-lint).
"""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import zipfile

from running import COMMANDS, EXAMPLE

try:
    import transformed
except ImportError:
    transformed = None  # the translator of SAM is not installed

APP = EXAMPLE / "cdk"
PYTHON = os.environ.get("ASSAY_CDK")
STACK = json.loads((APP / "cdk.json").read_text())["context"]["stacks"]["freemium"]


class ConfigurationTest(unittest.TestCase):
    def test_its_values_are_parameters_of_the_template(self):
        text = (EXAMPLE / "template.yaml").read_text()
        known = text.split("\nParameters:\n")[1].split("\nConditions:\n")[0]
        for name in set(STACK) - {"layer", "architecture"}:
            self.assertIn(f"  {name}:\n", known)


@unittest.skipUnless(PYTHON and transformed, "ASSAY_CDK names no Python that has aws-cdk-lib")
class SynthesisTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.out = pathlib.Path(folder.name) / "cdk.out"
        layer = pathlib.Path(folder.name) / "layer.zip"
        with zipfile.ZipFile(layer, "w") as archive:
            archive.writestr("python/assay/__init__.py", "")
        stacks = {"freemium": {**STACK, "layer": str(layer)}}
        done = subprocess.run(
            [PYTHON, "app.py"], cwd=APP, capture_output=True, text=True,
            env={**os.environ, "CDK_OUTDIR": str(cls.out), "PYTHONPATH": "",
                 "CDK_CONTEXT_JSON": json.dumps({"stacks": stacks}),
                 "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "1"})
        if done.returncode != 0:
            raise AssertionError(done.stderr[-3000:])
        cls.made = json.loads((cls.out / "freemium.template.json").read_text())

    def test_it_makes_what_sam_makes(self):
        layers = [name for name, each in self.made["Resources"].items()
                  if each["Type"] == "AWS::Lambda::LayerVersion"]
        self.assertEqual(len(layers), 1)
        given = {name: value for name, value in STACK.items()
                 if name not in ("layer", "architecture")}
        wanted = transformed.template((EXAMPLE / "template.yaml").read_text(), {
            **given, "Architecture": STACK["architecture"], "Layer": {"Ref": layers[0]}})
        found = transformed.template(json.dumps(self.made), {})
        del found["Resources"][layers[0]]
        self.assertEqual(set(found["Resources"]), set(wanted["Resources"]))
        for name, each in wanted["Resources"].items():
            with self.subTest(name=name):
                self.assertEqual(transformed.plain(found["Resources"][name]),
                                 transformed.plain(each))
        for name, each in wanted["Outputs"].items():
            self.assertEqual(transformed.plain(found["Outputs"][name]), transformed.plain(each))

    def test_its_package_is_that_of_sam(self):
        [folder] = [path for path in self.out.glob("asset.*") if path.is_dir()]
        names = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
        modules = {f"freemium/{path.name}" for path in (EXAMPLE / "freemium").glob("*.py")}
        self.assertEqual(names, modules - COMMANDS)
        keys = {each["Properties"]["CodeUri"]["Key"] for each in self.made["Resources"].values()
                if each["Type"] == "AWS::Serverless::Function"}
        self.assertEqual(keys, {f"{folder.name.removeprefix('asset.')}.zip"})


if __name__ == "__main__":
    unittest.main()
