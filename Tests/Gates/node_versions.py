#!/usr/bin/env python3
"""Run the case table over each Node.js that can be had, and a purchase over Deno and Bun: all of them
load one and the same addon, that of the package which ASSAY_NODE names.

  node_versions.py                 Node.js 18 of Debian 12, 22 and 24, Deno, Bun
  node_versions.py --on PLATFORM   Node.js for another platform that the package has, such as
                                   linux-x64-musl; one for 64-bit ARM verifies a purchase, under qemu

Node.js for musl runs with the musl of Debian 13: that of 12 cannot run it. It and Debian's Node.js are
laid over /usr, for which it takes root. What cannot be had is skipped.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import node_tools
from project import ROOT, run
from report import Suite

# Debian's Node.js 18, and what of it is not on every system.
DEBIAN_18 = ["nodejs=18.*", "libnode108", "libbrotli1", "libc-ares2", "libicu72", "libnghttp2-14",
             "libuv1", "node-acorn", "node-busboy", "node-cjs-module-lexer", "node-minimatch",
             "node-undici", "node-xtend"]
FILES = "case-table,errors,loading"
# What is printed as Node.js prints it, but for the platform in the first line.
PURCHASE = """
import { readFileSync } from "node:fs";
import { libraryPath, RejectedError, Verifier, version } from "assay";
import { Ledger } from "assay/ledger";

const verifier = Verifier.fromFile("authority/config.json");
const jws = readFileSync("purchase.jws", "utf8").trim();
const transaction = await verifier.async.verifyTransaction(jws);
console.log(libraryPath.split("/").at(-2));
console.log(version, Ledger.name, transaction.productId);
console.log(JSON.stringify(verifier.decide(transaction)));
const forged = verifier.verify("transaction", jws.slice(0, -8) + "AAAAAAAA");
console.log(forged.ok, forged.status);
try { forged.throwIfFailed(); } catch (error) { console.log(error instanceof RejectedError); }
for (let i = 0; i < 2000; i++) verifier.verifyTransaction(jws);
verifier.close();
"""


def check_table(suite, name, *command):
    """Run the case table over a Node.js; the last word of its command is the program."""
    *before, program = command
    found = run(*before, program, "--version")
    if found.returncode != 0:
        suite.skip(f"Node.js {name}", f"it does not start here: {found.stderr.strip()[-200:]}")
        return
    suite.expect(name not in ("18", "22", "24") or found.stdout.startswith(f"v{name}."),
                 f"this is Node.js {name}", found.stdout)
    done = subprocess.run([*before, sys.executable, ROOT / "Tests/Gates/node.py", "--node", program,
                           "--suite", f"node-{name}", "--only", FILES], check=False)
    suite.expect(done.returncode == 0, f"the case table over Node.js {name}")


def check_purchase(suite, programs):
    """Compare what each program prints with what Node.js prints."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "node_modules").mkdir()
        (folder / "node_modules/assay").symlink_to(os.environ["ASSAY_NODE"])
        (folder / "main.mjs").write_text(PURCHASE)
        minted = run(os.environ["ASSAY_CLI"], "mint", "transaction", "--authority", "authority",
                     cwd=folder)
        (folder / "purchase.jws").write_text(minted.stdout)
        clean = {key: value for key, value in os.environ.items() if not key.startswith("ASSAY_")}
        wanted = run("node", "main.mjs", cwd=folder, env=clean)
        suite.expect(wanted.stdout.count("\n") == 5 and wanted.stdout.endswith("\ntrue\n"),
                     "a purchase over Node.js", wanted.stdout + wanted.stderr)
        own, _, rest = wanted.stdout.partition("\n")
        for what, command in programs.items():
            found = run(*command, "main.mjs", cwd=folder, env=clean)
            suite.expect(found.stdout == f"{what if what in node_tools.OTHERS else own}\n{rest}",
                         f"the same over {what}", found.stdout + found.stderr[-1000:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--on", choices=node_tools.OTHERS)
    options = parser.parse_args()
    suite = Suite(f"node-{options.on or 'versions'}")
    if options.on:
        command, why = node_tools.find_other(options.on)
        if why:
            suite.skip(f"Node.js for {options.on}", why)
        elif "arm64" in options.on:
            check_purchase(suite, {options.on: command})
        else:
            check_table(suite, "musl", *command)
        suite.finish(may_be_empty=True)
    debian = node_tools.unpacked(ROOT / "build/node-18", DEBIAN_18)
    if debian:
        check_table(suite, "18", *node_tools.laid_over(debian), "/usr/bin/node")
    else:
        suite.skip("Node.js 18", "apt-get does not have it")
    program, why = node_tools.find_program()
    if why is None:
        check_table(suite, "22", program)
    more, why_more = node_tools.find_more()
    if why_more is None:
        check_table(suite, "24", more["24"])
        check_purchase(suite, {"Deno": [more["deno"], "run", "--allow-all",
                                        "--node-modules-dir=manual"], "Bun": [more["bun"]]})
    for reason in filter(None, (why, why_more)):
        suite.skip("what is from the Python package index", reason)
    suite.finish(may_be_empty=True)


if __name__ == "__main__":
    main()
