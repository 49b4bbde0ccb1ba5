#!/usr/bin/env python3
"""Check that an AWS Lambda layer works in the folders where Lambda puts it.

  layer.py FOLDER CASES --library LIBRARY [--arm64-root ROOT] [--suite NAME]

The layer for LIBRARY's machine is unpacked as /opt of a function; the handler of
docs/tasks/lambda.md and the example of the Python binding run with it. With ROOT the layer is for
64-bit ARM, and Python runs under qemu.
"""
import argparse
import base64
import json
import pathlib
import re
import stat
import subprocess
import sys
import tempfile
import zipfile

from project import ROOT, soname
from python_tools import clean
from report import Suite

sys.path.insert(0, str(ROOT / "packaging"))
import build_layer  # noqa: E402

LARGEST = 6_000_000
GUIDE = ROOT / "docs/tasks/lambda.md"
EXAMPLE = ROOT / "bindings/python/examples/lambda_handler.py"
# LD_LIBRARY_PATH as Lambda sets it for its Python runtimes, with the layer's folder for /opt.
LOADER_PATH = ("/var/lang/lib:/lib64:/usr/lib64:/var/runtime:/var/runtime/lib:"
               "/var/task:/var/task/lib:{opt}/lib")

# Calls a handler as Lambda does; prints the location of the package and the responses.
PROGRAM = """
import importlib, json, platform, sys
function = importlib.import_module(sys.argv[1])
events = json.load(open(sys.argv[2]))
import assay
print(json.dumps({"package": assay.__file__, "library": assay.library_path(),
                  "machine": platform.machine(),
                  "answers": [function.handler(event, None) for event in events]}))
"""


def unpack(layer, folder, with_links):
    """Unpack as Lambda does, or as a tool that does not support symbolic links."""
    with zipfile.ZipFile(layer) as archive:
        archive.extractall(folder)
        for entry in archive.infolist():
            path = folder / entry.filename
            mode = entry.external_attr >> 16
            if not stat.S_ISLNK(mode):
                path.chmod(stat.S_IMODE(mode))
            elif with_links:
                path.unlink()
                path.symlink_to(archive.read(entry).decode())


def check_content(suite, layer, library):
    with tempfile.TemporaryDirectory() as name:
        again = build_layer.write_layer(library, name)
        suite.expect(again.read_bytes() == layer.read_bytes(), "the same bytes when built again")
    size = layer.stat().st_size
    suite.expect(size <= LARGEST, f"at most {LARGEST} bytes", str(size))
    with zipfile.ZipFile(layer) as archive:
        entries = {entry.filename: entry.external_attr >> 16 for entry in archive.infolist()}
        suite.expect(archive.testzip() is None, "is sound")
        suite.expect(archive.read(f"lib/{soname()}") == pathlib.Path(library).read_bytes(),
                     "holds the library")
    for wanted in ["python/assay/__init__.py", "python/assay/py.typed", f"lib/{soname()}"]:
        suite.expect(wanted in entries, f"holds {wanted}")
    known = r"python/assay(-[0-9.]+\.dist-info|/ledger)?/[\w.]+$|lib/libassay\.so"
    other = sorted(name for name in entries if not re.match(known, name))
    suite.expect(not other, "holds nothing else", " ".join(other))
    tests = sorted(name for name in entries if "tests/" in name or "/test_" in name)
    suite.expect(not tests, "holds no tests", " ".join(tests))
    suite.expect(all(mode & 0o444 == 0o444 for mode in entries.values()),
                 "everybody may read it")


def guide_handler():
    """Return the source of the handler in docs/tasks/lambda.md."""
    blocks = re.findall(r"```python file=lambda_handler.py\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    if len(blocks) != 1:
        raise SystemExit(f"{GUIDE.name} has {len(blocks)} blocks of Python, not one")
    return blocks[0]


def events(case):
    """Return API Gateway requests of the buying account: a genuine purchase, then a forged one."""
    def request(jws):
        return {"requestContext": {"authorizer": {"claims": {"sub": bought_by(case)}}},
                "body": json.dumps({"transaction": jws})}

    return [request(case["jws"]), request(case["jws"][:-4] + "AAAA")]


def bought_by(case):
    """Return the account token in the JWS of a case; None if it has none."""
    payload = case["jws"].split(".")[1]
    body = base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))
    return json.loads(body).get("appAccountToken")


def accepted(table):
    """Return the case of an accepted transaction with an account token, given as a JWS."""
    for case in table["cases"]:
        if (case["call"], case.get("kind"), case["expect"]["status"]) == (
                "verify_jws", "transaction", "ok") and "jws" in case and bought_by(case):
            return case
    raise SystemExit("the case table has no accepted transaction")


def python_of(root):
    """Return the interpreter and the variables that it needs."""
    if not root:
        return [sys.executable], {}
    return (["qemu-aarch64-static", "-L", root, f"{root}/usr/bin/python3.11"],
            {"PYTHONHOME": f"{root}/usr"})


def check_use(suite, layer, table, root, with_links):
    case = accepted(table)
    how = "" if with_links else ", unpacked without links"
    with tempfile.TemporaryDirectory() as name:
        opt, task = pathlib.Path(name) / "opt", pathlib.Path(name) / "task"
        unpack(layer, opt, with_links)
        task.mkdir()
        (task / "guide.py").write_text(guide_handler())
        (task / "example.py").write_text(EXAMPLE.read_text())
        (task / "assay.json").write_text(json.dumps(table["verifiers"][case["verifier"]]))
        (task / "events.json").write_text(json.dumps(events(case)))
        python, variables = python_of(root)
        variables = clean(**variables, PYTHONPATH=f"{task}:{opt}/python",
                          PYTHONDONTWRITEBYTECODE="1", LAMBDA_TASK_ROOT=str(task),
                          LD_LIBRARY_PATH=LOADER_PATH.format(opt=opt),
                          ASSAY_CONFIG=str(task / "assay.json"))
        for module in ["guide", "example"]:
            result = subprocess.run(
                [*python, "-c", PROGRAM, module, str(task / "events.json")], cwd=task,
                env=variables, text=True, capture_output=True)
            if suite.expect(result.returncode == 0, f"{module} runs{how}", result.stderr[-1500:]):
                said = json.loads(result.stdout.splitlines()[-1])
                check_answers(suite, f"{module}{how}", said, opt, root, with_links)


def check_answers(suite, name, said, opt, root, with_links):
    suite.expect(said["package"].startswith(f"{opt}/python/"), f"{name}: the layer's package",
                 said["package"])
    wanted = f"{opt}/python/assay/{soname()}" if with_links else soname()
    suite.expect(said["library"] == wanted, f"{name}: the layer's library", said["library"])
    suite.expect((said["machine"] == "aarch64") == bool(root), f"{name}: the machine",
                 said["machine"])
    genuine, forged = said["answers"]
    suite.expect(genuine["statusCode"] == 200, f"{name}: takes a genuine purchase", str(genuine))
    suite.expect("plan" in json.loads(genuine["body"]), f"{name}: says the plan", str(genuine))
    suite.expect(forged["statusCode"] == 400, f"{name}: refuses a forged one", str(forged))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("cases")
    parser.add_argument("--library", required=True)
    parser.add_argument("--arm64-root", metavar="ROOT")
    parser.add_argument("--suite", default="layer")
    options = parser.parse_args()
    suite = Suite(options.suite)
    architecture = build_layer.architecture_of(options.library)
    layer = pathlib.Path(options.folder) / f"assay-layer-{architecture}.zip"
    if suite.expect(layer.exists(), "there is a layer", str(layer)):
        table = json.loads(pathlib.Path(options.cases).read_text())
        check_content(suite, layer, options.library)
        check_use(suite, layer, table, options.arm64_root, with_links=True)
        check_use(suite, layer, table, options.arm64_root, with_links=False)
    suite.finish()


if __name__ == "__main__":
    main()
