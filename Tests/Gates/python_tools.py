"""Python's virtual environments: of one gate, and of tools from the package index."""
import fcntl
import os
import pathlib
import subprocess
import sys

from contract import ROOT, run

SECONDS = 600
REQUIREMENTS = ROOT / "bindings/python/requirements-check.txt"


def installed(folder, requirements=REQUIREMENTS):
    """The folder of their programs, and None; or None, and why there is none."""
    folder = pathlib.Path(folder).resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Steps that run side by side share it.
    with folder.with_name(f"{folder.name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return made(folder, requirements)


def made(folder, requirements):
    stamp, wanted = folder / "requirements", requirements.read_bytes()
    if stamp.exists() and stamp.read_bytes() == wanted:
        return folder / "bin", None
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
    pip = [folder / "bin/python", "-m", "pip", "install", "--quiet", "--retries", "1",
           "--timeout", "20", "--disable-pip-version-check", "-r", requirements]
    result = subprocess.run(pip, text=True, capture_output=True)
    if result.returncode != 0:
        lines = result.stderr.strip().splitlines() or ["pip failed"]
        return None, f"pip cannot install the tools: {lines[-1][:200]}"
    stamp.write_bytes(wanted)
    return folder / "bin", None


def clean(**more):
    """The variables of this process without those that lead to a library or a module."""
    kept = {key: value for key, value in os.environ.items()
            if not key.startswith(("ASSAY_", "PYTHON", "LD_"))}
    return {**kept, **more}


class Environment:
    """A new virtual environment below a folder, with nothing of this repository in it."""

    def __init__(self, folder):
        self.folder = folder
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True, env=clean())

    def program(self, name, *arguments, **variables):
        return run(self.folder / "venv/bin" / name, *arguments, cwd=self.folder,
                   env=clean(**variables), timeout=SECONDS)

    def python(self, *arguments, **variables):
        return self.program("python", *arguments, **variables)

    def install(self, *arguments, **variables):
        """Packages of this machine, by pip."""
        return self.python("-m", "pip", "install", "--quiet", "--no-index", "--no-cache-dir",
                           "--disable-pip-version-check", *arguments, **variables)
