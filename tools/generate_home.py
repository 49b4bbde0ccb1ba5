"""What the project's home (packaging/project.toml) implies for files that people write.

Each place is found by its form, whatever is there now, so that nothing needs to know
the previous home.
"""
import re

import project
from status_rows import ROOT

# An import path below a home, and not a folder: `../assay/bindings/go` is none.
MODULE = re.compile(r"(?<![\w./$}-])[a-z0-9-]+(?:\.[a-z0-9-]+)+(?:/[\w.~-]+)*/bindings/go(?![\w-])")
GO = ["bindings/go/**/*.go", "bindings/go/go.mod", "bindings/go/README.md", "README.md",
      "docs/**/*.md", "Tests/Benchmarks/overhead_go/*", "Tests/Snippets/frames/*.go",
      "examples/gin/*"]
# Composer's name of the package, and the folder below vendor/ that it has there.
VENDOR = re.compile(r"""(?m)(?:(?<=vendor/)|(?<=["' ])(?!vendor/))[a-z0-9-]+/assay(?=["'/]|$)""")
PHP = ["docs/start/php.md", "docs/tasks/php-fpm.md", "bindings/php/README.md",
       "bindings/php/composer.json", "bindings/php/examples/fpm/preload.php",
       "bindings/php/tests/ComposerTest.php", "examples/laravel/composer.json"]
# Files with whole lines that say the address: (path, pattern, what follows the address).
LINES = [
    ("bindings/php/composer.json", r'("homepage": )".*"', '"{address}"'),
    ("bindings/php/composer.json", r'("name": )"Assay .*"', '"{authors}"'),
    ("bindings/php/composer.json", r'("email": )".*"', '"{mail}"'),
    ("bindings/php/composer.json", r'("docs": )".*"', '"{address}/start/php.html"'),
    ("bindings/python/pyproject.toml", r"(?m)^(home = )\".*\"$", '"{address}"'),
    ("bindings/python/pyproject.toml", r"(?m)^(mail = )\".*\"$", '"{authors} <{mail}>"'),
    ("packaging/debian/control", r"(?m)^(Maintainer: ).*$", "{authors} <{mail}>"),
    ("packaging/debian/control", r"(?m)^(Homepage: ).*$", "{address}"),
    ("packaging/debian/copyright", r"(?m)^(Source: ).*$", "{address}"),
    ("packaging/debian/copyright", r"(?m)^(Upstream-Contact: ).*$", "{authors} <{mail}>"),
    ("bindings/c/assay.pc.in", r"(?m)^(URL: ).*$", "{address}"),
    # Written by tools/manual.py from the command line, which says nothing about the home.
    ("man/assay.1", r"(?m)^(\.Lk ).*$", "{address}"),
]


def outputs(table, contract):
    """Path below the repository -> text, of every file that names the home."""
    values = {"address": project.address(), "authors": project.AUTHORS, "mail": project.mail()}
    texts = {}
    for path, pattern, value in LINES:
        text = texts.get(path) or (ROOT / path).read_text()
        wanted = value.format(**values)
        texts[path], count = re.subn(pattern, lambda found: found[1] + wanted, text)
        if not count:
            raise SystemExit(f"{path}: no place for {value}")
    for path in sorted({path for pattern in GO for path in ROOT.glob(pattern) if path.is_file()}):
        name = str(path.relative_to(ROOT))
        text = texts.get(name) or path.read_text()
        if MODULE.search(text):
            texts[name] = MODULE.sub(project.go_module(), text)
    for name in PHP:
        text = texts.get(name) or (ROOT / name).read_text()
        texts[name] = VENDOR.sub(f"{project.vendor()}/assay", text)
    return texts
