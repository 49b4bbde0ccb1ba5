#!/usr/bin/env python3
"""Gate: one line holds the project's home, and everything that names it derives from it.

  home.py [--suite NAME]

In a copy of the sources the line is changed and tools/generate.py run: the new home must
be in every place, the old one in none, and --check must have seen the difference.
"""
import argparse
import email
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from contract import ROOT
from report import Suite

sys.path.append(str(ROOT / "tools"))

import project

OTHER = "verify.example.net/apple"
# Where the home must appear; a file not made from the line would keep the old one.
PLACES = {
    "bindings/go/go.mod": "module verify.example.net/apple/bindings/go\n",
    "bindings/go/verifier.go": '"verify.example.net/apple/bindings/go/internal/libassay"',
    "Tests/Benchmarks/overhead_go/go.mod": "replace verify.example.net/apple/bindings/go =>",
    "README.md": "verify.example.net/apple/bindings/go",
    "docs/start/go.md": "verify.example.net/apple/bindings/go",
    "docs/start/php.md": "composer require apple/assay",
    "docs/tasks/php-fpm.md": "vendor/apple/assay/preload.php",
    "bindings/php/examples/fpm/preload.php": "'vendor/apple/assay/preload.php'",
    "bindings/php/tests/ComposerTest.php": "['apple/assay' => '*']",
    "bindings/php/composer.json": '"homepage": "https://verify.example.net/apple"',
    "packaging/debian/control": "Homepage: https://verify.example.net/apple\n",
    "packaging/debian/copyright": "Source: https://verify.example.net/apple\n",
    "bindings/c/assay.pc.in": "URL: https://verify.example.net/apple\n",
    "bindings/python/pyproject.toml": 'home = "https://verify.example.net/apple"',
    "man/assay.1": ".Lk https://verify.example.net/apple\n",
    "man/assay.3": ".Lk https://verify.example.net/apple\n",
    "man/assay-statuses.7": ".Lk https://verify.example.net/apple\n",
}
# The sentence that says that the home is a placeholder, and this line itself.
MAY_NAME_IT = {"packaging/project.toml", "CONTRIBUTING.md"}


def tracked():
    """The sources; without a repository every file that is not build output."""
    found = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True,
                           capture_output=True)
    if found.returncode == 0:
        return [name for name in found.stdout.splitlines() if (ROOT / name).is_file()]
    return [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file()
            and not {"build", ".git"} & set(path.relative_to(ROOT).parts)]


def generate(folder, *arguments):
    return subprocess.run([sys.executable, "tools/generate.py", *arguments], cwd=folder,
                          text=True, capture_output=True)


def naming(folder, names, home):
    """The files that have the home in them."""
    return {name for name in names if home.encode() in (folder / name).read_bytes()}


def copied(names, folder):
    for name in names:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)


def check_change(suite, folder, names):
    home = project.home()
    setting = folder / project.SETTING
    suite.expect(generate(folder, "--check").returncode == 0, "the copy is in step")
    text = setting.read_text()
    setting.write_text(text.replace(f'home = "{home}"', f'home = "{OTHER}"'))
    seen = generate(folder, "--check")
    suite.expect(seen.returncode == 1, "--check sees another home", seen.stdout + seen.stderr)
    missed = [name for name in PLACES if f"stale: {name}\n" not in seen.stdout]
    suite.expect(not missed, "--check names every place", " ".join(missed))
    made = generate(folder)
    suite.expect(made.returncode == 0, "generate.py writes another home", made.stderr)
    suite.expect(generate(folder, "--check").returncode == 0, "nothing is left to write")
    for name, words in PLACES.items():
        suite.expect(words in (folder / name).read_text(), f"the new home is in {name}")
    left = naming(folder, names, home) - MAY_NAME_IT
    suite.expect(not left, "the old home is nowhere", " ".join(sorted(left)))
    setting.write_text(text.replace(f'home = "{home}"', 'home = "no host"'))
    suite.expect(generate(folder, "--check").returncode == 1, "a home that is no host is refused")
    setting.write_text(text)
    generate(folder)
    changed = [name for name in names if (folder / name).read_bytes() != (ROOT / name).read_bytes()]
    suite.expect(not changed, "back again nothing has changed", " ".join(changed[:5]))


def check_packages(suite):
    """What a registry would read."""
    module = (ROOT / "bindings/go/go.mod").read_text().split()[1]
    suite.expect("." in module.partition("/")[0], "the Go module path begins with a host", module)
    composer = json.loads((ROOT / "bindings/php/composer.json").read_text())
    suite.expect({"homepage", "support", "authors", "name"} <= set(composer), "composer.json")
    found = subprocess.run(
        [sys.executable, "-c", "import sys, build_wheel; "
         "sys.stdout.buffer.write(build_wheel.metadata())"], cwd=ROOT / "bindings/python",
        capture_output=True)
    metadata = email.message_from_string(found.stdout.decode())
    suite.expect(metadata["Home-page"] == project.address(), "the wheel has its home")
    suite.expect(project.mail() in (metadata["Author-email"] or ""), "the wheel has its authors")
    links = re.findall(r"\]\(([^)#\s]+)", metadata.get_payload())
    suite.expect(links, "the wheel's README has links")
    for link in links + [value.partition(", ")[2] for value in metadata.get_all("Project-URL")]:
        target = link.removeprefix(project.address() + "/")
        source = target.removesuffix(".html").replace("/index", "/README")
        there = any((ROOT / name).is_file() for name in (
            f"docs/{source}.md", f"{source}.md", source.removeprefix("source/")))
        suite.expect(target != link and there, f"a link of the wheel leads somewhere: {link}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", default="home")
    options = parser.parse_args()
    suite = Suite(options.suite)
    names = tracked()
    with tempfile.TemporaryDirectory() as folder:
        copied(names, pathlib.Path(folder))
        check_change(suite, pathlib.Path(folder), names)
    check_packages(suite)
    suite.finish()


if __name__ == "__main__":
    main()
