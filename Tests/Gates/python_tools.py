"""Tools that come from the Python package index, in an environment of their own.

  python_tools.py FOLDER REQUIREMENTS     makes that environment
"""
import fcntl
import pathlib
import subprocess
import sys

from contract import ROOT

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


if __name__ == "__main__":
    _, reason = installed(sys.argv[1], pathlib.Path(sys.argv[2]))
    sys.exit(reason)
