#!/usr/bin/env python3
"""Look at a report and at pages of the built site, in a browser (screens.py).

  looked.py PROGRAM SITE

The report is of a minted day, with prices and another day to compare with. A page with planted
faults shows that the check finds them.
"""
import argparse
import pathlib
import subprocess
import tempfile

import screens
from project import ROOT
from report import Suite

FOLDER = ROOT / "build/screens"
NOW = "2026-11-20T12:00:00Z"
PRICES = """\
product,price,currency
com.example.app.standard.monthly,4.99,USD
com.example.app.premium.monthly,9.99,USD
com.example.app.season,1500,JPY
com.example.app.coins100,0.99,USD
"""
# A start, a task with code in tabs, a reference, a page of tables.
PAGES = ["index.html", "tasks/sessions.html", "reference/go/assay-tokens.html", "decisions.html"]
SEARCH = {"name": "search", "fill": [".md-search__input", "grant twice"],
          "shown": ".md-search-result__item"}
# Name of a page -> what is told of it, and its content.
FAULTS = {
    "pale": ("axe-core has no serious finding",
             "<p style='color:#999;background:#aaa'>pale words</p>"),
    "wide": ("not wider than the screen", "<div style='width:2000px'>wide</div>"),
    "nameless": ("each chart has words",
                 "<section><svg role=img width=99 height=99></svg><table></table></section>"),
    "tableless": ("each chart has a table",
                  "<section><svg role=img width=99 height=99 aria-label='Requests by hour'></svg>"
                  "</section>"),
    "small": ("the text of charts can be read",
              "<section><svg role=img width=99 height=99 viewBox='0 0 990 990' aria-label='Requests "
              "by hour'><text y=20>12</text></svg><table></table></section>"),
    "elsewhere": ("nothing comes from elsewhere",
                  "<img alt=elsewhere src=http://127.0.0.1:9/x.png>"),
    "complaint": ("the browser does not complain", "<script>nothing.is()</script>"),
}


class Findings:
    """Keeps what is told of pages with planted faults from the suite."""

    def __init__(self, suite):
        self.suite, self.found = suite, set()

    def expect(self, met, what, detail=""):
        name, _, told = what.partition(" 390 light: ")
        if name not in FAULTS:
            self.suite.expect(met, what, detail)
        elif not met:
            self.found.add((name, told))

    def skip(self, what, why):
        self.suite.skip(what, why)


def report(program, folder):
    """Return the page of a report with everything in it."""
    def run(*arguments):
        subprocess.run([program, *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    for seed in ("1", "2"):
        run("mint", "--day", "3000", "--seed", seed, "--authority", "ca", "--now", NOW, "--quiet",
            "--out", f"{seed}.ndjson")
    (folder / "prices.csv").write_text(PRICES)
    run("report", "1.ndjson", "--config", "ca/config.json", "--yesterday", "2.ndjson", "--prices",
        "prices.csv", "--html", "report.html", "--quiet")
    return folder / "report.html"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("site", type=lambda text: pathlib.Path(text).resolve())
    options = parser.parse_args()
    suite = Suite("looked")
    with tempfile.TemporaryDirectory(prefix="assay-looked-") as name:
        folder = pathlib.Path(name)
        pages = [{"name": page.rpartition("/")[2].removesuffix(".html"),
                  "address": (options.site / page).as_uri()} for page in PAGES]
        pages.append({**SEARCH, "address": (options.site / "index.html").as_uri()})
        pages.append({"name": "report", "tall": True,
                      "address": report(options.program, folder).as_uri()})
        for name, (_, fault) in FAULTS.items():
            (folder / f"{name}.html").write_text(
                "<!DOCTYPE html><html lang=en><meta charset=utf-8><meta name=viewport "
                f"content='width=device-width'><title>A fault</title><main><h1>A</h1>{fault}")
            pages.append({"name": name, "address": (folder / f"{name}.html").as_uri(),
                          "at": "390 light"})
        findings = Findings(suite)
        screens.look(findings, pages, FOLDER)
    for name, (what, _) in FAULTS.items():
        suite.skipped or suite.expect((name, what) in findings.found, f"a planted fault: {what}",
                                      str(sorted(findings.found)))
    suite.finish(may_be_empty=suite.skipped)


if __name__ == "__main__":
    main()
