#!/usr/bin/env python3
"""The stack of template.yaml as an app of CDK (docs/tasks/freemium-lambda.md).

Resources, rights and routes are those of template.yaml, which is included. Here are only the
layer, the package, and the values of the parameters, which cdk.json has for each stack.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_lambda, aws_s3_assets, aws_sam
from aws_cdk.cloudformation_include import CfnInclude
from constructs import Construct

EXAMPLE = Path(__file__).resolve().parents[1]


class Freemium(Construct):
    """The back end, as a part of a stack.

    layer         path of the archive that `make layer` builds for the architecture
    architecture  "x86_64" or "arm64"
    parameters    of template.yaml: ConfigSecret and AccountsSecret at least; Layer and
                  Architecture are filled in
    """

    def __init__(
        self, scope: Construct, id: str, *, layer: str, architecture: str, **parameters: str
    ) -> None:
        super().__init__(scope, id)
        arm = architecture == "arm64"
        library = aws_lambda.LayerVersion(
            self,
            "Assay",
            code=aws_lambda.Code.from_asset(layer),
            compatible_architectures=[
                aws_lambda.Architecture.ARM_64 if arm else aws_lambda.Architecture.X86_64
            ],
        )
        filled = {"Layer": library.layer_version_arn, "Architecture": architecture}
        self.included = CfnInclude(
            self,
            "Template",
            template_file=str(EXAMPLE / "template.yaml"),
            parameters={**parameters, **filled},
        )
        package = self._package()
        for child in self.included.node.children:
            if isinstance(child, aws_sam.CfnFunction):
                child.code_uri = aws_sam.CfnFunction.S3LocationProperty(
                    bucket=package.s3_bucket_name, key=package.s3_object_key
                )

    def _package(self) -> aws_s3_assets.Asset:
        """Return the package, made by the Makefile that `sam build` runs."""
        with tempfile.TemporaryDirectory() as folder:
            make = ["make", "--silent", "-C", str(EXAMPLE / "freemium"), "build-cdk"]
            subprocess.run([*make, f"ARTIFACTS_DIR={folder}"], check=True)
            return aws_s3_assets.Asset(self, "Package", path=folder)


def main() -> None:
    app = cdk.App()
    for name, given in app.node.get_context("stacks").items():
        Freemium(cdk.Stack(app, name), "Freemium", **given)
    app.synth()


if __name__ == "__main__":
    main()
