"""Create virtual environments: of tools from the package index, and of packages under test.

  python_tools.py                         makes the one that the checks share, build/python-tools
  python_tools.py FOLDER REQUIREMENTS     makes one of other tools
"""
import contextlib
import fcntl
import os
import pathlib
import shutil
import subprocess
import sys

from project import ROOT

# A new environment with only pip, the template for others. `of` in it records its Python.
FRESH = ROOT / "build/environment"
TOOLS = ROOT / "build/python-tools"
MYPY_CACHE = ROOT / "build/mypy"
REQUIREMENTS = (ROOT / "docs/requirements.txt", ROOT / "Tests/requirements.txt")


def clean(**more):
    """Return this process's variables without those that lead to a library or a module."""
    return {**{key: value for key, value in os.environ.items()
               if not key.startswith(("ASSAY_", "PYTHON", "LD_"))}, **more}


@contextlib.contextmanager
def alone(folder):
    """Hold a lock while making a folder that parallel steps share."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def create(folder):
    """Make a new environment in a folder, as a copy, because installing pip takes five seconds."""
    stamp, wanted = FRESH / "of", f"{sys.base_prefix} {sys.version}"
    with alone(FRESH):
        if not stamp.exists() or stamp.read_text() != wanted:
            subprocess.run([sys.executable, "-m", "venv", "--clear", FRESH], check=True,
                           env=clean())
            stamp.write_text(wanted)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(FRESH, folder, symlinks=True)


class Environment:
    """A new environment in a folder, with nothing of this repository on its path."""

    def __init__(self, folder):
        self.folder, self.program = folder, folder / "venv/bin/python"
        create(folder / "venv")

    def python(self, *arguments, **variables):
        return subprocess.run([self.program, *arguments], cwd=self.folder, env=clean(**variables),
                              stdin=subprocess.DEVNULL, text=True, capture_output=True)

    def install(self, *arguments, **variables):
        """Run pip without the package index."""
        return self.python("-m", "pip", "install", "--no-index", "--no-cache-dir",
                           "--disable-pip-version-check", *arguments, **variables)


def installed(folder=TOOLS, requirements=REQUIREMENTS, options=()):
    """Return (folder of the tools' programs, None), or (None, why they cannot be installed); `options`
    are further ones of pip."""
    folder = pathlib.Path(folder).resolve()
    with alone(folder):
        return made(folder, requirements, options)


def made(folder, requirements, options):
    stamp = folder / "requirements"
    wanted = b"".join(path.read_bytes() for path in requirements)
    if stamp.exists() and stamp.read_bytes() == wanted:
        return folder / "bin", None
    create(folder)
    # Most of these modules are never imported, and Python compiles the others at their first
    # import.
    pip = [folder / "bin/python", "-m", "pip", "install", "--quiet", "--no-compile", "--retries",
           "1", "--timeout", "20", "--disable-pip-version-check", *options]
    for path in requirements:
        pip += ["-r", path]
    result = subprocess.run(pip, text=True, capture_output=True, env=clean())
    if result.returncode != 0:
        lines = result.stderr.strip().splitlines() or ["pip failed"]
        return None, f"pip cannot install the tools: {lines[-1][:200]}"
    stamp.write_bytes(wanted)
    return folder / "bin", None


if __name__ == "__main__":
    _, reason = installed(sys.argv[1], [pathlib.Path(sys.argv[2])]) if sys.argv[1:] else installed()
    sys.exit(reason)
