#!/usr/bin/env python3
"""Test the command line as a person runs it.

  cli.py BINARY [--suite NAME]

The command itself mints the evidence with an authority of this run; the counts of assay report
are compared with a count made here, line by line.
"""
import argparse
import base64
import gzip
import hashlib
import functools
import json
import os
import pathlib
import pty
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from datetime import datetime, timedelta, timezone
from html.parser import HTMLParser

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "Tests/Gates"), str(ROOT / "Tests/CLI"), str(ROOT)]
import mistakes  # noqa: E402
from report import Suite  # noqa: E402
from tools.contract.reader import Contract  # noqa: E402

NOW = "2026-11-20T12:00:00Z"
MIDNIGHT = int(datetime(2026, 11, 20, tzinfo=timezone.utc).timestamp()) * 1000
HOUR = 3_600_000
SVG = "{http://www.w3.org/2000/svg}"


def heeds(number):
    """Return what a child runs before its program to heed a signal: nohup, or a shell without job
    control, lets a child ignore some."""
    return functools.partial(signal.signal, number, signal.SIG_DFL)


class Command:
    """The binary, in its own folder."""

    def __init__(self, binary, folder):
        self.binary, self.folder = str(binary), pathlib.Path(folder)

    def run(self, *arguments, stdin=b"", **variables):
        """Run the command; return exit code, standard output and standard error."""
        done = subprocess.run(
            [self.binary, *map(str, arguments)], cwd=self.folder, input=stdin,
            capture_output=True, timeout=300, check=False, env={**os.environ, **variables})
        return done.returncode, done.stdout, done.stderr.decode(errors="replace")

    def into(self, out, *arguments, room=None):
        """Run the command with output to `out`; return exit code and standard error. With `room` no
        file may become longer than that many bytes."""
        def limit():
            if room is not None:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        with open(out, "wb") as file:
            done = subprocess.run(
                [self.binary, *map(str, arguments)], cwd=self.folder, stdin=subprocess.DEVNULL,
                stdout=file, stderr=subprocess.PIPE, timeout=300, check=False, preexec_fn=limit,
                restore_signals=False)
        return done.returncode, done.stderr.decode(errors="replace")

    def mint(self, *arguments):
        code, out, err = self.run("mint", *arguments, "--authority", "ca", "--now", NOW)
        if code:
            raise SystemExit(f"assay mint {arguments}: {err}")
        return out

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        return path

    def verify(self, blob, kind, *more):
        """Verify evidence; return exit code, the name of the status or the message, and the
        document."""
        self.file("evidence", blob)
        code, out, err = self.run("verify", "evidence", "--kind", kind, "--config",
                                  "ca/config.json", "--now", NOW, "--json", *more)
        if not out:
            return code, err, {}
        document = json.loads(out)
        return code, document["status"]["name"], document

    def report(self, *arguments, stdin=b""):
        """Return the report of a file as JSON."""
        code, out, err = self.run(
            "report", *arguments, "--config", "ca/config.json", "--json", stdin=stdin)
        if code:
            raise SystemExit(f"assay report {arguments}: {err}")
        return json.loads(out)


def line(blob, time=None, **more):
    entry = dict(more)
    if time is not None:
        entry["timeMs"] = time
    entry["blob"] = blob
    return json.dumps(entry).encode() + b"\n"


def classes(report):
    return {entry["name"]: entry["requests"] for entry in report["classes"]
            if entry["requests"]}


# ---- triage ----------------------------------------------------------------

def check_triage(suite, assay, blobs):
    def triage(blob, *more):
        assay.file("blob", blob)
        return assay.run("triage", "blob", "--config", "ca/config.json", *more)

    wanted = [
        ("cracker", b"com.urus.iap.12345678", 1, "cracking-tool", "rejected.triage.cracking-tool"),
        ("foreign", blobs["foreign"], 1, "foreign", "rejected.triage.foreign-bundle"),
        ("candidate", blobs["receipt"], 0, "candidate", "pending.triage.verify-next"),
        ("app receipt", blobs["app-receipt"], 0, "candidate", "pending.triage.verify-next"),
        ("jws", blobs["jws"] + b"\n", 0, "jws", "pending.triage.verify-next"),
        ("damaged", b"!", 1, "malformed", "malformed.transport.base64"),
    ]
    for name, blob, code, category, status in wanted:
        got, out, _ = triage(blob, "--json")
        document = json.loads(out)
        suite.expect(
            (got, document["triage"]["category"], document["status"]["name"])
            == (code, category, status), f"triage of {name}",
            f"{got} {document['triage']} {document['status']}")
        got, out, _ = triage(blob)
        suite.expect(got == code and status in out.decode(), f"triage of {name} as text",
                     out.decode())
    _, out, _ = triage(blobs["receipt"])
    suite.expect(out == b"CANDIDATE  blob  pending.triage.verify-next\n",
                 "what is worth verifying has one line", out.decode())
    _, out, _ = triage(blobs["receipt"], "-v")
    suite.expect(re.search(r"UNVERIFIED +bundleId +com\.example\.app", out.decode()),
                 "claims are marked as unverified", out.decode())
    assay.file("good", blobs["receipt"])
    assay.file("bad", b"com.urus.iap.1")
    code, out, _ = assay.run("triage", "good", "bad", "--config", "ca/config.json", "--json")
    kinds = [json.loads(text)["triage"]["category"] for text in out.splitlines()]
    suite.expect((code, kinds) == (1, ["candidate", "cracking-tool"]),
                 "several files, one document per line", f"{code} {kinds}")
    code, out, _ = assay.run("triage", "-", "--config", "ca/config.json", "--json",
                             stdin=blobs["receipt"])
    suite.expect(code == 0 and json.loads(out)["triage"]["format"] == "transaction-receipt",
                 "triage of standard input", f"{code} {out}")
    code, _, err = assay.run("triage", "nothing-here", "--config", "ca/config.json")
    suite.expect(code == 2 and "nothing-here" in err, "triage of a missing file", err)
    code, _, err = assay.run("triage", "good", "--config", "good")
    suite.expect(code == 2 and "configuration" in err, "triage without a configuration", err)


# ---- what report counts -----------------------------------------------------

def check_counts(suite, assay, blobs):
    receipt, second = blobs["receipt"].decode(), blobs["second"].decode()
    foreign, jws = blobs["foreign"].decode(), blobs["jws"].decode()
    escaped = '{"blob":"' + receipt.replace("/", "\\/").replace("e", "\\u0065", 3) + '"}'
    # Each line without its end, and its class; None: unreadable; "": no request.
    lines = [
        (line(receipt, MIDNIGHT + 5), "candidate"),
        (line(receipt, MIDNIGHT + 6), "repeated"),
        (line(foreign, MIDNIGHT + HOUR), "foreign"),
        (line(foreign, MIDNIGHT + HOUR), "foreign"),
        (line("com.urus.iap.99887766", MIDNIGHT), "cracking-tool"),
        (line(jws, MIDNIGHT, other={"deep": [1, {"blob": "inner"}]}), "jws"),
        (line(second, MIDNIGHT + 3 * HOUR), "candidate"),
        (line(""), "malformed"),
        (escaped.encode(), "repeated"),
        (b'{"blob":"x","blob":"com.urus.iap.5"}', "cracking-tool"),
        (b'  {"blob" : "com.urus.iap.5" , "n":[-0.5e+3,true,false,null,{}]}  ', "cracking-tool"),
        (b"", ""), (b"   ", ""), (b"\t", ""),
        (b"hello", None), (b'{"blob":"x"', None), (b'{"blob":"x"} {}', None),
        (b'{"blob":"x",}', None), (b"[]", None), (b'"text"', None), (b"{}", None),
        (b'{"blob":5}', None), (b'{"blob":null}', None), (b'{"other":"x"}', None),
        (b'{"blob":"a\tb"}', None), (b'{"blob":"\\x41"}', None),
        (b'{"blob":"\\u12"}', None), (b'{"blob":"x","n":01}', None),
        (b'{"blob":"x","n":1.}', None), (b'{"blob":"x","n":nul}', None),
        (b'{blob:"x"}', None), (b'{"blob":"x","n":' + b"[" * 100 + b"]" * 100 + b"}", None),
        (b"\x00", None), (b'{"blob":"', None), (b'{"blob":"\\', None),
    ]
    expected, unreadable = {}, []
    for number, (_, kind) in enumerate(lines, 1):
        if kind is None:
            unreadable.append(number)
        elif kind:
            expected[kind] = expected.get(kind, 0) + 1
    for name, end in [("LF", b"\n"), ("CRLF", b"\r\n")]:
        text = end.join(content.rstrip(b"\n") for content, _ in lines)
        for last, tail in [("with a final line end", end), ("without one", b"")]:
            report = assay.report(assay.file("hand.ndjson", text + tail))
            suite.expect(classes(report) == expected, f"classes, {name} {last}",
                         f"{classes(report)} instead of {expected}")
            suite.expect(
                report["unreadable"] == {"count": len(unreadable), "lines": unreadable[:5]},
                f"unreadable lines, {name} {last}", str(report["unreadable"]))
            suite.expect(report["lines"] == len(lines), f"all lines, {name} {last}",
                         str(report["lines"]))
    body = b"\n".join(content.rstrip(b"\n") for content, _ in lines)
    marked = assay.report(assay.file("marked.ndjson", b"\xef\xbb\xbf" + body))
    suite.expect(classes(marked) == expected, "a byte order mark does not matter",
                 str(classes(marked)))
    piped = assay.report("-", stdin=body)
    suite.expect(classes(piped) == expected and piped["source"] == "standard input",
                 "standard input", str(classes(piped)))
    report = assay.report(assay.file("hand.ndjson", body))
    suite.expect(
        report["work"] == {"nothing": 6, "lookup": 2, "verification": 3}, "the work",
        str(report["work"]))
    size = {"foreign": 2 * len(foreign), "repeated": 2 * len(receipt)}
    got = {entry["name"]: entry["bytes"] for entry in report["classes"]}
    suite.expect(all(got[name] == value for name, value in size.items()), "bytes of a class",
                 f"{got} instead of {size}")
    suite.expect(report["callsAvoided"]["requests"] == 8, "calls avoided",
                 str(report["callsAvoided"]))
    suite.expect(report["largest"][0]["bytes"] == max(len(receipt), len(foreign), len(jws)),
                 "the largest input", str(report["largest"]))
    other = body.replace(b'"blob"', b'"proof"').replace(b'"timeMs"', b'"at"')
    renamed = assay.report(assay.file("renamed.ndjson", other), "--blob-member", "proof",
                           "--time-member", "at")
    suite.expect((classes(renamed), renamed["firstMs"]) == (expected, report["firstMs"]),
                 "members of other names", str(classes(renamed)))
    empty = assay.report(assay.file("empty.ndjson", b""))
    suite.expect((empty["requests"], empty["series"]) == (0, None), "an empty file", str(empty))


def check_long_lines(suite, assay):
    short = line("com.urus.iap.1")
    cap = 64 << 10
    longest = b'{"blob":"com.urus.iap.2","pad":"' + b"x" * (cap - 34) + b'"}'
    for over, kind in [(0, "read"), (1, "too long")]:
        content = longest.replace(b'"}', b"x" * over + b'"}')
        assert len(content) == cap + over
        for end in [b"\n", b"\r\n", b""]:
            report = assay.report(
                assay.file("long.ndjson", short + content + end), "--line-cap", 64)
            suite.expect(report["tooLong"]["count"] == over, f"a line of {len(content)} is {kind}",
                         str(report["tooLong"]))
    huge = b'{"blob":"' + b"A" * (24 << 20) + b'"}\n'
    report = assay.report(assay.file("huge.ndjson", short + huge + short + huge + short))
    suite.expect(
        (report["tooLong"], report["requests"], report["lines"])
        == ({"count": 2, "lines": [2, 4]}, 3, 5), "lines longer than a batch are passed by",
        f"{report['tooLong']} {report['requests']} {report['lines']}")


def check_times(suite, assay):
    base = datetime(2026, 11, 20, 13, 14, 15, tzinfo=timezone.utc)
    ms = int(base.timestamp()) * 1000
    east = base.astimezone(timezone(timedelta(hours=5, minutes=30)))
    good = [
        (ms, ms), (ms // 1000, ms), (str(ms), ms), (str(ms // 1000), ms),
        (ms / 1000 + 0.25, ms + 250), ("2026-11-20T13:14:15Z", ms),
        ("2026-11-20T13:14:15.250Z", ms + 250), ("2026-11-20T13:14:15.2509999Z", ms + 250),
        ("2026-11-20 13:14:15", ms), (east.isoformat(), ms), ("2026-11-20T13:14:15+0000", ms),
        ("2026-11-20t08:14:15-05:00", ms), ("2026-11-20T13:14", ms - 15_000),
        ("2026-11-20", MIDNIGHT), ("2024-02-29T00:00:00Z", 1_709_164_800_000),
    ]
    for value, expected in good:
        report = assay.report(assay.file("time.ndjson", line("com.urus.iap.1", value)))
        suite.expect(report["firstMs"] == expected, f"time {value!r}",
                     f"{report['firstMs']} instead of {expected}")
    bad = [0, -ms, 10 ** 30, "yesterday", "", "2026-02-29", "2026-13-01", "2026-11-20T25:00Z",
           "2026-11-20T13:14:15+1", "1999-01-01T00:00:00Z", None, {"a": 1}, [1], True,
           "2026-11-20T13:14:15Z!"]
    text = b"".join(line("com.urus.iap.1", value) for value in bad if value is not None)
    text += b'{"timeMs":null,"blob":"com.urus.iap.1"}\n'
    report = assay.report(assay.file("time.ndjson", text))
    suite.expect((report["withoutTime"], report["requests"], report["series"])
                 == (len(bad), len(bad), None), "what is no time leaves the request",
                 f"{report['withoutTime']} of {len(bad)}")


def check_series(suite, assay):
    cracker = "com.urus.iap.1"
    times = [MIDNIGHT + hour * HOUR + minute * 60_000
             for hour in range(24) for minute in range(0, 60, 60 // (hour % 5 + 1))]
    lines = [line(cracker, time) for time in times]
    report = assay.report(assay.file("series.ndjson", b"".join(lines)))
    series = report["series"]
    place = series["classes"].index("cracking-tool")
    wanted = [sum(1 for time in times if (time - MIDNIGHT) // HOUR == hour)
              for hour in range(24)]
    suite.expect((series["startMs"], series["widthMs"]) == (MIDNIGHT, HOUR), "a day by the hour",
                 str(series)[:200])
    suite.expect([counts[place] for counts in series["intervals"]] == wanted,
                 "the count of every hour", str(series["intervals"]))
    backwards = assay.report(assay.file("back.ndjson", b"".join(reversed(lines))))
    suite.expect(backwards["series"] == series, "the order of lines does not matter")
    odd = line(cracker, int(datetime(2010, 5, 5, tzinfo=timezone.utc).timestamp()) * 1000)
    clocked = assay.report(assay.file("odd.ndjson", b"".join(lines) * 30 + odd))["series"]
    suite.expect((clocked["widthMs"], clocked["outside"]) == (HOUR, 1),
                 "one wrong clock does not squeeze the day", str(clocked)[:200])
    for days, width in [(0.02, 60_000), (0.25, 15 * 60_000), (3, 3 * HOUR), (40, 24 * HOUR),
                        (2000, 40_320 * 60_000)]:
        count = 6000
        text = b"".join(
            line(cracker, 1_300_000_000_000 + int(days * 86_400_000 * step / count))
            for step in range(count))
        series = assay.report(assay.file("span.ndjson", text))["series"]
        total = sum(map(sum, series["intervals"]))
        suite.expect((series["widthMs"], total) == (width, count), f"{days} days",
                     f"{series['widthMs']} instead of {width}, {total} requests")


# ---- in money, and beside another day ------------------------------------------

PRICES = b"""\xef\xbb\xbfproduct,price,currency
# two currencies, one without decimals
com.example.app.premium.monthly, 9.99, USD
com.example.app.coins100\t0.1\tUSD\r
com.example.app.season,1500,JPY

com.example.app.lifetime,1000000000,KWD
"""
PREMIUM, COINS = "com.example.app.premium.monthly", "com.example.app.coins100"


def check_money(suite, assay):
    """Compare the amounts with those made here in decimals (CLI-9)."""
    def bought(product, number, kind="transaction", *more):
        return assay.mint(kind, "--product", product, "--transaction-id", number,
                          "--original-transaction-id", number, *more).decode()
    coins = [bought(COINS, 180000900000100 + number, "transaction", "--type", "consumable")
             for number in range(3)]
    lines = [bought(PREMIUM, 180000900000200), *coins, coins[0], coins[0],
             bought("com.example.app.season", 180000900000300, "transaction", "--type",
                    "non-renewing"),
             bought("com.example.app.lifetime", 180000900000400, "transaction", "--type",
                    "non-consumable"),
             bought("com.example.app.standard.monthly", 180000900000500),
             assay.mint("app-receipt", "--purchases", 3).decode(),
             assay.mint("renewal-info", "--product", PREMIUM).decode(), "com.urus.iap.1"]
    log = assay.file("money.ndjson", b"".join(line(blob, MIDNIGHT) for blob in lines))
    prices = assay.file("prices.csv", PRICES)
    plain = assay.report(log)
    suite.expect("money" not in plain and "comparedWith" not in plain,
                 "CLI-9: no money without prices, no comparison without a day", str(plain.keys()))
    report = assay.report(log, "--prices", prices)
    money = report.pop("money")
    suite.expect(report == plain, "CLI-9: prices change nothing else")
    claimed = [tuple(entry[key] for key in ("currency", "class", "requests", "amount"))
               for entry in money["claimed"]]
    suite.expect(claimed == [
        ("JPY", "jws", 1, "1500"), ("KWD", "jws", 1, "1000000000"),
        ("USD", "jws", 4, "10.29"), ("USD", "repeated", 2, "0.20")], "CLI-9: amounts, by currency",
        str(claimed))
    suite.expect((money["withoutPrice"], money["severalPurchases"], money["prices"])
                 == (1, 1, "prices.csv"), "CLI-9: what does not count", str(money))
    many = assay.report(
        assay.file("many.ndjson", line(lines[7], MIDNIGHT) * 20_000), "--prices", prices)
    suite.expect(many["money"]["claimed"][1]["amount"] == "19999000000000",
                 "CLI-9: a sum beyond 2^53 is exact", str(many["money"]))
    check_comparison(suite, assay, log, prices, report, money)
    for content, place, words in [
            (b"", "", "has no price"), (b"product,price,currency\n", "", "has no price"),
            (b"a,1,USD\na,2,USD", ":2", "has a price already"), (b"a,1,USD\nb 1 USD", ":2", "give a"),
            (b"a,1", ":1", "give a product id"), (b",1,USD", ":1", "give a product id"),
            (b"a,1,usd", ":1", "is no price"), (b"a,1,US", ":1", "is no price"),
            (b"a,-1,USD", ":1", "is no price"), (b"a,1.0000,USD", ":1", "is no price"),
            (b"a,1e3,USD", ":1", "is no price"), (b"a,.5,USD", ":1", "is no price"),
            (b"a," + b"9" * 40 + b",USD", ":1", "is no price"),
            (b"a,1000000000.001,USD", ":1", "at most 1,000,000,000"),
            (b"a" * 256 + b",1,USD", ":1", "give a product id"), (b"a,1,USD\xff", "", "UTF-8"),
            (b"#" * (4 << 20) + b"#", "", "longer than 4 MiB"),
            (b"".join(b"p%d,1,USD\n" % number for number in range(10_001)), ":10001", "10,000"),
    ]:
        assay.file("bad.csv", content)
        code, out, err = assay.run("report", log, "--config", "ca/config.json", "--prices", "bad.csv")
        suite.expect((code, out) == (2, b"") and f"bad.csv{place}" in err and words in err,
                     f"CLI-9: prices {content[:30]}", f"{code} {err}")


def check_comparison(suite, assay, log, prices, report, money):
    """A log and its report are the same day; what is neither is refused."""
    assay.file("then.ndjson", b"".join(line(blob, MIDNIGHT - 24 * HOUR) for blob in
                                       ["com.urus.iap.1", "com.urus.iap.2", "!"]))
    earlier = assay.report("then.ndjson", "--prices", prices)
    assay.file("then.json", json.dumps(earlier).encode())
    forms = [assay.report(log, "--prices", prices, "--yesterday", name)["comparedWith"]
             for name in ("then.ndjson", "then.json")]
    suite.expect(forms[0] == forms[1], "CLI-9: a log and its report compare alike", str(forms))
    change = {one["name"]: (one["requests"], one["change"]) for one in forms[0]["classes"]}
    suite.expect((change["cracking-tool"], change["malformed"], forms[0]["requests"])
                 == ((2, -1), (1, -1), 3)
                 and change["jws"] == (0, classes(report)["jws"]), "CLI-9: changes", str(change))
    same = assay.file("same.json", json.dumps({**report, "money": money}).encode())
    again = assay.report(log, "--prices", prices, "--yesterday", same)["comparedWith"]
    suite.expect(again["claimed"] == money["claimed"] and not any(
        one["change"] for one in again["classes"]), "CLI-9: a day beside itself", str(again))
    code, out, _ = assay.run("report", log, "--config", "ca/config.json", "--prices", prices,
                             "--yesterday", "then.ndjson", "--html", "money.html")
    shown, page = out.decode(), (assay.folder / "money.html").read_text()
    for wanted in ["compared with then.ndjson, 19 November 2026", "−1 (−50.0 %)", "new",
                   "1,000,000,000", "10.29 USD", "not counted: 1 request with a product",
                   "A counterfeit."]:
        suite.expect(wanted in shown and re.sub("compared with |not counted: ", "", wanted) in page,
                     f"CLI-9: text and page have {wanted!r}", shown)
    checked = Page()
    checked.feed(page)
    suite.expect(not checked.faults and not checked.open, "CLI-9: the page is well formed",
                 f"{checked.faults} {checked.open}")
    for content, words in [({**report, "report": 2}, "version 2"),
                           ({**report, "classes": []}, "without the class")]:
        assay.file("another.json", json.dumps(content).encode())
        code, _, err = assay.run("report", log, "--config", "ca/config.json", "--yesterday",
                                 "another.json")
        suite.expect(code == 2 and words in err, f"CLI-9: a report {words}", f"{code} {err}")
    code, _, err = assay.run("report", "-", "--config", "ca/config.json", "--prices", "-")
    suite.expect(code == 2 and "only one of" in err, "CLI-9: standard input twice", err)
    code, out, _ = assay.run("explain", "repeated")
    suite.expect(code == 0 and b"in plain words" in out, "CLI-9: explain knows a class", out)


# ---- a day -------------------------------------------------------------------

def check_day(suite, assay):
    code, _, err = assay.run("mint", "--day", 6000, "--authority", "ca", "--now", NOW,
                             "--out", "day.ndjson")
    if not suite.expect(code == 0, "mint a day", err):
        return
    again = assay.mint("--day", 6000)
    suite.expect(again == (assay.folder / "day.ndjson").read_bytes(),
                 "the same seed mints the same day")
    suite.expect(assay.mint("--day", 100, "--seed", 2) != assay.mint("--day", 100),
                 "another seed, another day")
    forms = {}
    for name, extra in [("json", ["--json"]), ("text", []), ("threads", ["--json", "--threads", 5]),
                        ("one thread", ["--json", "--threads", 1])]:
        outputs = []
        for run in ("a", "b"):
            code, out, err = assay.run(
                "report", "day.ndjson", "--config", "ca/config.json", "--svg", f"{run}.svg",
                "--html", f"{run}.html", *extra)
            suite.expect((code, err) == (0, ""), f"report as {name}", err)
            outputs.append((out, (assay.folder / f"{run}.svg").read_bytes(),
                            (assay.folder / f"{run}.html").read_bytes()))
        suite.expect(outputs[0] == outputs[1], f"two runs give the same bytes, {name}")
        forms[name] = outputs[0]
    suite.expect(forms["json"] == forms["threads"] == forms["one thread"],
                 "the number of threads changes nothing")
    report = json.loads(forms["json"][0])
    share = {name: count / 6000 for name, count in classes(report).items()}
    for name, wanted, room in [("foreign", .79, .02), ("cracking-tool", .093, .012),
                               ("candidate", .10, .012), ("repeated", .01, .005),
                               ("unconfirmed", .007, .004)]:
        suite.expect(abs(share.get(name, 0) - wanted) < room, f"share of {name}",
                     str(share.get(name)))
    text = (assay.folder / "day.ndjson").read_bytes()
    twice = assay.report(assay.file("twice.ndjson", text + text))
    # A request that names no purchase cannot be recognised: some unconfirmed ones.
    once, both = classes(report), classes(twice)
    nameless = both["unconfirmed"] - once["unconfirmed"]
    suite.expect(
        both["candidate"] == once["candidate"] and 0 <= nameless < once["unconfirmed"]
        and both["repeated"]
        == 2 * once["repeated"] + report["work"]["verification"] - nameless,
        "the second time every purchase is a repeat", f"{once} {both}")
    suite.expect(report["repeatFilter"]["bytes"] == 16 << 20
                 and 0 <= report["repeatFilter"]["errorRate"] < 1e-6,
                 "the filter says how it errs", str(report["repeatFilter"]))
    check_drawing(suite, report, forms["json"][1])
    check_page(suite, report, forms["json"][2].decode())
    table = forms["text"][0].decode()
    for name, count in classes(report).items():
        suite.expect(re.search(rf"^  {name} +{count:,} ", table, re.MULTILINE),
                     f"the table has {name}", table)
    check_memory(suite, assay)


def check_drawing(suite, report, svg):
    root = ElementTree.fromstring(svg)
    names = [element.tag.removeprefix(SVG) for element in root.iter()]
    suite.expect(root.get("role") == "img" and names[1:3] == ["title", "desc"],
                 "the drawing has a title and a description", str(names[:3]))
    suite.expect("prefers-color-scheme:dark" in svg.decode(), "the drawing has dark colours")
    columns = [group for group in root.iter(SVG + "g") if group.get("class") == "column"]
    series = report["series"]
    suite.expect(len(columns) == len(series["intervals"]), "a column for every interval",
                 str(len(columns)))
    scale = None
    for column, counts in zip(columns, series["intervals"]):
        tip = column.find(SVG + "title").text
        suite.expect(f": {sum(counts):,} request" in tip, "a column says its number", tip)
        bars = {bar.get("class").removeprefix("fill-"): float(bar.get("height"))
                for bar in column.findall(SVG + "rect") if bar.get("class") != "hit"}
        wanted = {name: count for name, count in zip(series["classes"], counts) if count}
        suite.expect(bars.keys() == wanted.keys(), "a bar for every class of the interval",
                     f"{bars} {wanted}")
        total = sum(counts)
        scale = scale or sum(bars.values()) / total
        suite.expect(
            all(abs(bars.get(name, 0) - count * scale) < 0.6 for name, count in wanted.items()),
            "bars are as high as their numbers", f"{bars} {wanted}")


class Page(HTMLParser):
    """Collects tags that do not match, and everything that could load a resource."""
    EMPTY = {"meta", "rect", "path", "br"}

    def __init__(self):
        super().__init__()
        self.open, self.faults, self.tables, self.text = [], [], 0, []

    def handle_starttag(self, tag, attrs):
        if tag in {"script", "link", "img", "iframe", "object", "embed", "base"}:
            self.faults.append(tag)
        for name, value in attrs:
            if name in {"src", "href", "srcset", "style"} or name.startswith("on"):
                self.faults.append(f"{tag} {name}={value}")
        self.tables += tag == "table"
        if tag not in Page.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in Page.EMPTY:
            return
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}>")

    def handle_data(self, data):
        self.text.append(data)


def check_page(suite, report, html):
    page = Page()
    page.feed(html)
    page.close()
    suite.expect(not page.faults and not page.open, "the page is well formed and fetches nothing",
                 f"{page.faults} {page.open}")
    bare = html.replace("http://www.w3.org/2000/svg", "")
    suite.expect(not re.search(r"https?:|url\(|@import", bare), "no address in the page")
    suite.expect(html.startswith("<!DOCTYPE html>") and "prefers-color-scheme:dark" in html
                 and "<title>" in html and 'lang="en"' in html, "the page's frame")
    suite.expect(page.tables >= 4, "tables beside the pictures", str(page.tables))
    text = " ".join(page.text)
    for name, count in classes(report).items():
        suite.expect(f"{count:,}" in text, f"the page has the number of {name}", str(count))
    rows = re.findall(r"<tr><th scope=\"row\">\d+ \w+, [^<]*</th>(.*?)</tr>", html)
    totals = [int(re.findall(r">([\d,]+)</td>", row)[-1].replace(",", "")) for row in rows]
    suite.expect(totals == [sum(counts) for counts in report["series"]["intervals"]],
                 "the table of the chart has its numbers", str(totals))


def check_memory(suite, assay):
    """Check that the peak of memory is equal for a day ten times as long."""
    peaks = []
    for count in (6000, 60_000):
        assay.mint("--day", count, "--out", "memory.ndjson")
        read, write = os.pipe()
        child = subprocess.Popen(
            [assay.binary, "report", "memory.ndjson", "--config", "ca/config.json"],
            cwd=assay.folder, stdout=write, stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read, "rb") as out:
            out.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        suite.expect(child.returncode == 0, f"a day of {count}")
        peaks.append(usage.ru_maxrss)
    (assay.folder / "memory.ndjson").unlink()
    suite.expect(peaks[1] < peaks[0] + 16_384, "memory does not grow with the file",
                 f"{peaks} KiB")


def check_refused_files(suite, assay):
    packed = assay.file("day.ndjson.gz", gzip.compress(line("com.urus.iap.1")))
    code, out, err = assay.run("report", packed, "--config", "ca/config.json")
    suite.expect((code, out) == (2, b"") and "zcat" in err, "a packed file is refused", err)
    code, _, err = assay.run("report", "-", "--config", "ca/config.json",
                             stdin=b"\x28\xb5\x2f\xfd rest")
    suite.expect(code == 2 and "zstdcat" in err, "so is a packed pipe", err)
    for what, arguments, word in [
            ("a missing file", ["nothing-here"], "nothing-here"),
            ("a folder", ["."], "folder"),
            ("a page that cannot be written", ["hand.ndjson", "--html", "no/such/x"], "no/such"),
            ("one member for both", ["hand.ndjson", "--blob-member", "timeMs"], "the same"),
            ("no memory", ["hand.ndjson", "--repeat-memory", "0"], "--repeat-memory")]:
        code, _, err = assay.run("report", *arguments, "--config", "ca/config.json")
        suite.expect(code == 2 and word in err, what, f"{code} {err}")


def check_hostile_name(suite, assay):
    name = "<script>alert('x')</script>&\"\u202e.ndjson".replace("/", "_")
    assay.file(name, line("com.urus.iap.1", MIDNIGHT))
    code, _, err = assay.run("report", name, "--config", "ca/config.json", "--svg", "odd.svg",
                             "--html", "odd.html")
    suite.expect(code == 0, "a file with a hostile name", err)
    html = (assay.folder / "odd.html").read_text()
    suite.expect("<script" not in html and "\u202e" not in html, "its name is only text")
    ElementTree.fromstring((assay.folder / "odd.svg").read_bytes())
    page = Page()
    page.feed(html)
    suite.expect(not page.faults and not page.open, "the page stays well formed",
                 str(page.faults))


def on_terminal(assay, *arguments):
    """Return what a command writes to a terminal on standard error."""
    master, slave = pty.openpty()
    child = subprocess.Popen([assay.binary, *arguments], cwd=assay.folder, stderr=slave,
                             stdout=subprocess.DEVNULL, stdin=subprocess.PIPE)
    os.close(slave)
    child.stdin.close()
    shown = b""
    while True:
        try:
            piece = os.read(master, 4096)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(master)
    return child.wait(timeout=60), shown.decode(errors="replace")


def check_progress(suite, assay):
    arguments = ["report", "day.ndjson", "--config", "ca/config.json"]
    code, shown = on_terminal(assay, *arguments)
    suite.expect(code == 0 and "lines/s" in shown and "left" in shown,
                 "a terminal shows the progress", repr(shown[-200:]))
    suite.expect(shown.endswith("\r\x1b[K"), "and is clean afterwards", repr(shown[-40:]))
    code, shown = on_terminal(assay, *arguments, "--quiet")
    suite.expect((code, shown) == (0, ""), "unless it is to be quiet", repr(shown))
    code, _, err = assay.run(*arguments, "--timing")
    suite.expect(code == 0 and "a second" in err and re.search(r"line \d+: \d+ µs", err),
                 "timing is reported on standard error", err)


# ---- evidence ------------------------------------------------------------------

def check_evidence(suite, assay, blobs):
    def verify(blob, kind, *more):
        return assay.verify(blob, kind, *more)[:2]

    older = assay.mint("transaction-receipt", "--receipt-version", "2", "--purchased",
                       "2014-03-01", "--expires", "2014-04-01", "--transport", "doubled")
    many = assay.mint("app-receipt", "--purchases", "12", "--transport", "raw", "--device",
                      "02:00:5e:10:20:30")
    older_answer = assay.mint("verify-receipt-response", "--response-style", "ios6", "--expired",
                              "--apple-status", "21006")
    for name, blob, kind in [
            ("receipt", blobs["receipt"], "transaction-receipt"),
            ("version 2", older, "transaction-receipt"),
            ("app receipt", blobs["app-receipt"], "app-receipt"),
            ("twelve purchases", many, "app-receipt"),
            ("answer", blobs["answer"], "verify-receipt-response"),
            ("expired answer", older_answer, "verify-receipt-response")]:
        got = verify(blob, kind)
        suite.expect(got == (0, "ok"), f"verify {name}", str(got))
    got = verify(many, "app-receipt", "--subject", "02005E102030")
    suite.expect(got == (0, "ok"), "an app receipt of this device", str(got))
    got = verify(many, "app-receipt", "--subject", "02005E102031")
    suite.expect(got == (1, "rejected.account.device"), "and of another", str(got))
    got = verify(blobs["jws"], "transaction", "--subject", "00")
    suite.expect(got[0] == 2 and "--subject" in got[1], "a subject for a JWS", str(got))
    got = verify(many, "app-receipt", "--subject", "0g")
    suite.expect(got[0] == 2 and "hexadecimal" in got[1], "an invalid subject", str(got))
    got = verify(blobs["app-receipt"], "transaction-receipt")
    suite.expect(got == (1, "rejected.kind.mismatch"), "the wrong kind", str(got))
    got = verify(blobs["receipt"], "receipt")
    suite.expect(got[0] == 2 and "app-receipt" in got[1], "an invalid kind", str(got))
    _, out, _ = assay.run("verify", assay.file("answer", blobs["answer"]), "--kind",
                          "verify-receipt-response", "--config", "ca/config.json", "--now", NOW)
    suite.expect(out.startswith(b"READ ") and b"VERIFIED" not in out,
                 "an answer is read, not verified", out.decode()[:80])
    check_decisions(suite, assay, blobs, older_answer)
    check_inspection(suite, assay, blobs, many)


# ---- attested keys ---------------------------------------------------------------

def check_attested_keys(suite, assay):
    device = json.loads((assay.folder / "ca/device.json").read_text())
    signed = '{"challenge":"abc"}'
    key_id, public_key = device["keyId"], device["publicKey"]
    mint = ("--client-data", signed)

    verify = assay.verify
    about = ("--key-id", key_id, "--client-data", signed)
    for transport in ["base64", "raw", "url-safe", "unpadded", "wrapped"]:
        blob = assay.mint("attestation", *mint, "--transport", transport)
        got = verify(blob, "attestation", *about)
        suite.expect(got[:2] == (0, "ok"), f"verify an attestation sent {transport}", str(got[:2]))
    suite.expect(got[2]["attestation"]["publicKey"]["x963"] == public_key,
                 "the key that the folder names", str(got[2]["attestation"]["publicKey"]))
    for system, category in [("ios27", 4), ("ios18", None), ("macos", None)]:
        for environment, name in [("Production", "production"), ("Sandbox", "development")]:
            blob = assay.mint("attestation", *mint, "--system", system, "--environment",
                              environment)
            got = verify(blob, "attestation", *about)
            facts = got[2].get("attestation") or {}
            suite.expect(
                (got[0], facts.get("environment"), facts.get("category")) == (0, name, category),
                f"an attestation of {system} in {environment}", str(got[:2]))
    hexadecimal = hashlib.sha256(signed.encode()).hexdigest()
    assay.file("signed", signed.encode())
    for given in [("--client-data-hash", hexadecimal), ("--client-data-file", "signed")]:
        got = verify(blob, "attestation", "--key-id", key_id, *given)
        suite.expect(got[:2] == (0, "ok"), f"an attestation by {given[0]}", str(got[:2]))
    got = verify(blob, "attestation", "--key-id", key_id, "--client-data", signed + " ")
    suite.expect(got[:2] == (1, "rejected.attest.nonce"), "other client data", str(got[:2]))
    for more, word in [
            ((), "--key-id"), (("--key-id", key_id), "--client-data"),
            ((*about, "--client-data-hash", "00"), "--client-data"),
            ((*about, "--subject", "00"), "--subject")]:
        got = verify(blob, "attestation", *more)
        suite.expect(got[0] == 2 and word in got[1], f"an attestation with {len(more)} words",
                     str(got[:2]))
    check_assertions(suite, assay, verify, mint, public_key, signed)
    check_attest_receipts(suite, assay, verify, mint, public_key)
    check_attest_forgeries(suite, assay, verify, mint, about, public_key, signed)
    check_attest_inspection(suite, assay, mint, key_id)


def check_assertions(suite, assay, verify, mint, public_key, signed):
    blob = assay.mint("assertion", *mint, "--counter", "7")
    raw = base64.b64decode(public_key).hex()
    for key in [public_key, raw]:
        for stored, wanted in [(6, (0, "ok")), (7, (1, "rejected.assertion.counter"))]:
            got = verify(blob, "assertion", "--public-key", key, "--counter", stored,
                         "--client-data", signed)
            suite.expect(got[:2] == wanted, f"an assertion after {stored}", str(got[:2]))
    got = verify(blob, "assertion", "--public-key", public_key, "--client-data", "x")
    suite.expect(got[:2] == (1, "rejected.assertion.signature"), "an assertion of other data",
                 str(got[:2]))
    got = verify(blob, "assertion", "--client-data", signed)
    suite.expect(got[0] == 2 and "--public-key" in got[1], "an assertion without a key",
                 str(got[:2]))
    got = verify(blob, "transaction", "--public-key", public_key)
    suite.expect(got[0] == 2 and "--public-key" in got[1], "a key for a transaction",
                 str(got[:2]))
    assay.file("evidence", blob)
    code, _, err = assay.run("decide", "assertion:evidence", "--config", "ca/config.json")
    suite.expect(code == 2 and "assay verify" in err, "no decision by an assertion", err)


def check_attest_receipts(suite, assay, verify, mint, public_key):
    for more, kind, risk in [((), "ATTEST", None), (("--refreshed", "--risk", "5"), "RECEIPT", 5)]:
        blob = assay.mint("attest-receipt", *mint, *more)
        for key, bound in [((), False), (("--public-key", public_key), True)]:
            got = verify(blob, "attest-receipt", *key)
            facts = got[2].get("attestReceipt") or {}
            suite.expect(
                (got[0], facts.get("type"), facts.get("risk"), facts.get("bound"))
                == (0, kind, risk, bound), f"a receipt of type {kind}, bound {bound}",
                str(got[:2]))
    got = verify(blob, "app-receipt")
    suite.expect(got[0] == 1, "it is no app receipt", str(got[:2]))


def check_attest_forgeries(suite, assay, verify, mint, about, public_key, signed):
    """Check every rule that can be broken, in each kind for which it is listed."""
    code, out, _ = assay.run("mint", "--list-forgeries")
    suite.expect(code == 0, "the list of forgeries")
    given = {
        "attestation": about,
        "assertion": ("--public-key", public_key, "--client-data", signed),
        "attest-receipt": (),
    }
    tried = 0
    for row in out.decode().splitlines():
        rule, status, name = row.split(None, 2)
        kind = name.split(":")[0]
        if kind not in given:
            continue
        blob = assay.mint(kind, *mint, "--forge", rule)
        got = verify(blob, kind, *given[kind])
        suite.expect(got[:2] == (1, status), f"forged {rule} of {name}", str(got[:2]))
        tried += 1
    suite.expect(tried > 30, "there are forgeries of App Attest", str(tried))
    code, _, err = assay.run("mint", "assertion", "--forge", "ATT-21", "--authority", "ca")
    suite.expect(code == 2 and "--list-forgeries" in err, "a rule of another kind", err)
    for arguments, word in [
            (["attestation", "--system", "ios9"], "ios9"),
            (["attestation", "--client-data", ""], "--client-data"),
            (["attest-receipt", "--risk", "-1"], "risk"),
            (["assertion", "--set", "a=1"], "--set"), (["assertion", "--xcode"], "Xcode")]:
        code, _, err = assay.run("mint", *arguments, "--authority", "ca", "--now", NOW)
        suite.expect(code == 2 and word in err, f"mint {' '.join(arguments)}", f"{code} {err}")


def check_shown(suite, assay, name, blob, form, words):
    """Check that the output of `inspect` is marked as unverified, and that truncated input ends
    nothing."""
    assay.file("look", blob)
    code, out, _ = assay.run("inspect", "look")
    shown = out.decode().splitlines()
    suite.expect(code == 0 and all(row.startswith("UNVERIFIED") for row in shown)
                 and all(any(word in row for row in shown) for word in words),
                 f"inspect {name}", out.decode()[:600])
    code, out, _ = assay.run("inspect", "look", "--json")
    seen = json.loads(out)
    suite.expect((code, seen["verified"], seen["format"]) == (0, False, form),
                 f"inspect {name} as JSON", out.decode()[:200])
    for cut in range(0, len(blob), max(1, len(blob) // 25)):
        assay.file("cut", blob[:cut])
        code, _, err = assay.run("inspect", "cut")
        suite.expect(code in (0, 1), f"inspect {name} cut at {cut}", f"{code} {err}")


def check_attest_inspection(suite, assay, mint, key_id):
    blob = assay.mint("attestation", *mint, "--category", "2")
    assay.file("look", blob)
    _, out, _ = assay.run("inspect", "look", "--json")
    facts = json.loads(out)["authData"]
    suite.expect(
        (facts["appId"], facts["os.version"], facts["os.platform"], facts["category"])
        == ("ABCDE12345.com.example.app", "27.0.1", "iphoneos", "2 (testflight)"),
        "inspect names App ID, system and category", str(facts))
    for kind, words in [
            ("attestation", [key_id, "x5c[1]", "aaguid  appattest", "App Attest receipt"]),
            ("assertion", ["counter  1", "not checked"]),
            ("attest-receipt", ["6 type  ATTEST", "attestedKey", "certificates[2]"])]:
        for transport in ["base64", "raw"]:
            blob = assay.mint(kind, *mint, "--transport", transport)
            check_shown(suite, assay, f"an {kind}, {transport}", blob, kind, words)


def check_decisions(suite, assay, blobs, expired):
    for kind, blob, code, state in [
            ("transaction-receipt", blobs["receipt"], 0, "active"),
            ("app-receipt", blobs["app-receipt"], 0, "active"),
            ("verify-receipt-response", blobs["answer"], 0, "active"),
            ("verify-receipt-response", expired, 1, "expired"),
            ("transaction", blobs["jws"], 0, "active")]:
        assay.file("piece", blob)
        got, out, err = assay.run("decide", f"{kind}:piece", "--config", "ca/config.json",
                                  "--now", NOW, "--json")
        decision = json.loads(out).get("decision") if out else None
        suite.expect((got, decision and decision["state"]) == (code, state),
                     f"decide from {kind}", f"{got} {decision} {err}")
    # A product that is not in the catalogue decides nothing, and the document reports it (DCD-3).
    settings = json.loads((assay.folder / "ca/config.json").read_text())
    assay.file("bare.json", json.dumps({**settings, "products": {}}).encode())
    assay.file("piece", blobs["jws"])
    got, out, err = assay.run("decide", "transaction:piece", "--config", "bare.json", "--now", NOW)
    suite.expect(got == 1 and b"left out: unknown-product com.example.app.premium.monthly" in out,
                 "decide names what is left out", f"{got} {out} {err}")


def check_inspection(suite, assay, blobs, many):
    for name, blob, form, words in [
            ("a transaction receipt", blobs["receipt"], "transaction-receipt",
             ["bid  com.example.app", "version  3", "not checked"]),
            ("an app receipt", many, "app-receipt",
             ["2 bundleId  com.example.app", "1703 transactionId", "certificates[0]"])]:
        check_shown(suite, assay, name, blob, form, words)
    code, _, err = assay.run("inspect", assay.file("look", b"com.urus.iap.1"))
    suite.expect(code == 1 and "assay triage" in err, "inspect something else", err)


def check_minting(suite, assay, blobs):
    for form in ["raw", "base64", "wrapped", "wrapped-lf", "url-safe", "unpadded", "doubled"]:
        blob = assay.mint("transaction-receipt", "--transport", form)
        assay.file("form", blob)
        code, out, _ = assay.run("verify", "form", "--kind", "transaction-receipt", "--config",
                                 "ca/config.json", "--now", NOW, "--json")
        suite.expect(code == 0, f"a receipt sent {form}", out.decode()[:300])
    for arguments, word in [
            (["transaction-receipt", "--transport", "pigeon"], "pigeon"),
            (["transaction-receipt", "--receipt-version", "4"], "--receipt-version"),
            (["transaction-receipt", "--forge", "JWS-29"], "--forge"),
            (["transaction-receipt", "--xcode"], "Xcode"),
            (["app-receipt", "--purchases", "0"], "--purchases"),
            (["verify-receipt-response", "--response-style", "ios9"], "--response-style"),
            (["--day", "0"], "--day"), (["receipt"], "transaction-receipt")]:
        code, _, err = assay.run("mint", *arguments, "--authority", "ca", "--now", NOW)
        suite.expect(code == 2 and word in err, f"mint {' '.join(arguments)}", f"{code} {err}")
    kept = assay.folder / "ca"
    modes = {path.name: path.stat().st_mode & 0o777 for path in kept.glob("*-key.pem")}
    suite.expect(len(modes) > 14 and set(modes.values()) == {0o600},
                 "keys are for their owner alone", str(modes))
    config = json.loads((kept / "config.json").read_text())
    suite.expect(config["receipts"] == json.loads((kept / "receipts.json").read_text()),
                 "the configuration takes its receipts")
    suite.expect(config["attest"] == json.loads((kept / "attest.json").read_text()),
                 "the configuration takes its App Attest")


def check_tokens(suite, assay):
    """Check tokens, and the key set of the same folder."""
    def parts(token):
        return [json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
                for part in token.decode().strip().split(".")[:2]]

    keys = json.loads(assay.mint("keyset"))
    kids = {key["kid"]: key["kty"] for key in keys["keys"]}
    suite.expect(sorted(kids.values()) == ["EC", "RSA"], "a key set of both kinds", str(keys))
    suite.expect(json.loads(assay.mint("keyset", "--issuer", "https://x.example.com"))["issuer"]
                 == "https://x.example.com", "a key set of another issuer")
    for more, alg, kty in [((), "RS256", "RSA"), (("--alg", "ES256"), "ES256", "EC"),
                           (("--profile", "jwt"), "RS256", "RSA"),
                           (("--profile", "apple-id"), "RS256", "RSA")]:
        header, claims = parts(assay.mint("token", *more))
        suite.expect(header["alg"] == alg and kids[header["kid"]] == kty,
                     f"a token {' '.join(more)}", str(header))
        suite.expect(claims["exp"] - claims["iat"] == 3600, f"its times {' '.join(more)}")
    header, claims = parts(assay.mint(
        "token", "--kid", "other", "--subject", "user-1", "--client", "c", "--issued",
        "2026-11-20T10:00:00Z", "--life", "60", "--set", 'scope="a b"', "--remove", "jti"))
    suite.expect(
        (header["kid"], claims["sub"], claims["client_id"], claims["iat"], claims["exp"],
         claims["scope"], claims.get("jti"))
        == ("other", "user-1", "c", 1795168800, 1795168860, "a b", None),
        "a token as it was asked for", f"{header} {claims}")
    _, claims = parts(assay.mint("token", "--profile", "apple-id", "--nonce", "n", "--audience",
                                 "com.example.web"))
    suite.expect((claims["nonce"], claims["aud"]) == ("n", "com.example.web"),
                 "an identity token", str(claims))
    _, claims = parts(assay.mint("token", "--profile", "apple-id", "--apple-event",
                                 "account-deleted", "--subject", "s-1"))
    event = json.loads(claims["events"])
    suite.expect((event["type"], event["sub"]) == ("account-deleted", "s-1")
                 and "sub" not in claims and "email" not in event, "a notification", str(claims))
    block = json.loads((assay.folder / "ca/tokens.json").read_text())
    config = json.loads((assay.folder / "ca/config.json").read_text())
    assay.file("with-tokens.json", json.dumps({**config, "tokens": block}).encode())
    code, _, err = assay.run("config", "check", "with-tokens.json")
    suite.expect(code == 0, "the block tokens is one", err)
    for arguments, word in [
            (["token", "--profile", "saml"], "--profile"), (["token", "--alg", "none"], "--alg"),
            (["token", "--life", "400000000"], "--life"), (["token", "--nonce", "n"], "--nonce"),
            (["token", "--profile", "jwt", "--client", "c"], "--client"),
            (["token", "--forge", "TOK-12"], "--forge"), (["keyset", "--xcode"], "--xcode"),
            (["token", "--issued", "yesterday"], "--issued"),
            (["token", "--remove", "prize"], "--remove")]:
        code, out, err = assay.run("mint", *arguments, "--authority", "ca", "--now", NOW)
        suite.expect((code, out) == (2, b"") and word in err, f"mint {' '.join(arguments)}",
                     f"{code} {err}")


# ---- output that cannot be written --------------------------------------------

def check_full_disk(suite, assay, blobs):
    """Check that incomplete output is an error, and leaves no file that appears complete."""
    assay.file("t.jws", blobs["jws"])
    assay.file("few.ndjson", line(blobs["receipt"].decode(), MIDNIGHT) * 3)
    config, now = ("--config", "ca/config.json"), ("--now", NOW)
    mint = ("mint", "transaction", "--authority", "ca", *now)
    day = ("mint", "--day", 300, "--authority", "ca", *now)
    report = ("report", "few.ndjson", *config)
    printing = [
        ("verify", "t.jws", "--kind", "transaction", *config, *now),
        ("verify", "t.jws", "--kind", "transaction", *config, *now, "--json"),
        ("decide", "transaction:t.jws", *config, *now),
        ("decide", "transaction:t.jws", *config, *now, "--json"),
        ("triage", "t.jws", *config, *now), ("triage", "t.jws", *config, *now, "--json"),
        ("inspect", "t.jws"), ("inspect", "t.jws", "--json"), report, (*report, "--json"), mint,
        day, ("mint", "verify-receipt-response", "--authority", "ca", *now),
        ("mint", "--list-forgeries"), ("demo",),
        ("normalize-key-id", "00" * 32), ("--help",), ("mint", "--help"),
        ("--generate-completion-script", "bash"), ("--version",), ("explain", "JWS-20"),
        ("explain", "ok", "--json"), ("config", "check", "ca/config.json", "-v"), ("init", "-"),
        ("--complete", "ver"), ("--describe",)]
    for arguments in printing:
        code, err = assay.into("/dev/null", *arguments)
        suite.expect(code == 0, f"{arguments} without a fault", f"{code} {err}")
        code, err = assay.into("/dev/full", *arguments)
        suite.expect(code == 2 and "cannot be written: No space" in err,
                     f"{arguments} into a full disk", f"{code} {err}")
    # A verdict that could not be written is not a verdict.
    assay.file("forged", blobs["jws"][:-4] + b"AAAA")
    code, err = assay.into(
        "/dev/full", "verify", "forged", "--kind", "transaction", *config, *now)
    suite.expect(code == 2, "a refusal into a full disk", f"{code} {err}")
    writing = [(*mint, "--out"), (*day, "--out"), (*report, "--svg"), (*report, "--html"),
               ("mint", "attestation", "--authority", "ca", *now, "--out"),
               ("mint", "app-receipt", "--authority", "ca", *now, "--out")]
    before = sorted(path.name for path in assay.folder.iterdir())
    for arguments in writing:
        code, err = assay.into("/dev/null", *arguments, "/dev/full")
        suite.expect(code == 2 and "/dev/full cannot be written: No space" in err,
                     f"{arguments} /dev/full", f"{code} {err}")
        code, err = assay.into("/dev/null", *arguments, "there", room=1000)
        suite.expect(code == 2 and "there cannot be written" in err,
                     f"{arguments} where there is no room", f"{code} {err}")
        code, err = assay.into("/dev/null", *arguments, "no/such/folder")
        suite.expect(code == 2 and "no/such/folder cannot be written: No such" in err,
                     f"{arguments} into no folder", f"{code} {err}")
        suite.expect(sorted(path.name for path in assay.folder.iterdir()) == before,
                     f"{arguments} leaves no file behind")
    kept = assay.file("kept", b"what stood there")
    kept.chmod(0o640)
    code, err = assay.into("/dev/null", *day, "--out", "kept", room=1000)
    suite.expect((code, kept.read_bytes()) == (2, b"what stood there"), "the older file is left")
    link = assay.folder / "link"
    link.symlink_to("kept")
    code, err = assay.into("/dev/null", *mint, "--out", "link")
    suite.expect(code == 0 and link.is_symlink() and kept.read_bytes().count(b".") == 2
                 and kept.stat().st_mode & 0o777 == 0o640, "a link leads to its file", err)
    code, out, err = assay.run(*mint, "--out", "/dev/stdout")
    suite.expect(code == 0 and out.count(b".") == 2, "/dev/stdout is no file", err)
    code, err = assay.into("/dev/null", "mint", "transaction", "--authority", "small", *now,
                           room=100)
    suite.expect(code == 2 and not (assay.folder / "small/root.der").exists()
                 and all(path.stat().st_size < 100 for path in (assay.folder / "small").iterdir()),
                 "an authority without room", f"{code} {err}")
    suite.expect(assay.run("mint", "transaction", "--authority", "small", *now)[0] == 0,
                 "and once more with room")


def check_ended(suite, assay):
    """Check that a signal during a long write leaves the old file, or none."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        out = assay.folder / f"day-{number}"
        out.mkdir()
        kept = out / "day.ndjson"
        if number == signal.SIGINT:
            kept.write_bytes(b"what stood there")
        before = {path.name: path.read_bytes() for path in out.iterdir()}
        running = subprocess.Popen(
            [assay.binary, "mint", "--day", "100000000", "--authority", "ca", "--now", NOW, "--out",
             str(kept)], cwd=assay.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True, preexec_fn=heeds(number))
        part = out / f"day.ndjson.part-{running.pid}"
        for _ in range(3000):
            if running.poll() is not None or (part.exists() and part.stat().st_size):
                break
            time.sleep(0.01)
        begun = part.exists()
        running.send_signal(number)
        code = running.wait(60)
        left = {path.name: path.read_bytes() for path in out.iterdir()}
        suite.expect(begun and code == -number and left == before,
                     f"mint --day ended by {number.name} leaves no part", f"{code} {begun} {left}")


def check_xcode(suite, assay):
    """Check that each message about --xcode leads to the command that works."""
    def said(*more):
        code, _, err = assay.run("mint", "transaction", "--authority", "ca", "--now", NOW, *more)
        return code, err

    for more, words in [
            (("--environment", "Xcode"), "--xcode --environment Xcode"),
            (("--environment", "LocalTesting"), "--xcode --environment LocalTesting"),
            (("--xcode", "Xcode"), "--xcode takes no value"),
            (("--xcode", "--environment", "Production"), "leave --xcode out"),
            (("--environment", "xcode"), "Production and Sandbox"),
            (("--xcode", "--environment", "sandbox"), "Xcode and LocalTesting")]:
        code, err = said(*more)
        suite.expect(code == 2 and words in err, f"mint {' '.join(more)}", f"{code} {err}")
    for name in ("Xcode", "LocalTesting"):
        suite.expect(said("--xcode", "--environment", name)[0] == 0, f"mint --xcode for {name}")
    for kind in ("transaction-receipt", "notification", "attestation", "realtime-request"):
        code, _, err = assay.run("mint", kind, "--authority", "ca", "--now", NOW, "--xcode")
        suite.expect(code == 2 and f"no {kind}, but transaction, renewal-info" in err,
                     f"mint {kind} --xcode", f"{code} {err}")


# ---- mint refuses nonsense ------------------------------------------------------

def check_nonsense(suite, assay):
    cases = [
        ("--quantity", "0"), ("--quantity", "-1"), ("--quantity", "1000001"),
        ("--quantity", "many"), ("--type", "lifetime"), ("--environment", "Producton"),
        ("--environment", "production"), ("--environment", "Xcode"), ("--environment", ""),
        ("--bundle-id", ""), ("--bundle-id", "com example"), ("--bundle-id", "x" * 256),
        ("--product", ""), ("--product", "a\nb"), ("--product", "ä"), ("--app-id", "0"),
        ("--app-id", "-5"), ("--transaction-id", ""), ("--transaction-id", "GPA.1234"),
        ("--transaction-id", "1" * 21), ("--transaction-id", "-1"),
        ("--original-transaction-id", "x"), ("--account", "u-17"), ("--account", ""),
        ("--purchased", "0"), ("--purchased", "1750000000"), ("--purchased", "yesterday"),
        ("--purchased", "2101-01-01"), ("--purchased", "2026-12-24"), ("--expires", "2026"),
        ("--expires", "2020-01-01"), ("--signed", "2020-01-01"), ("--signed", "-1"),
        ("--grace-until", "2026-01-01"), ("--now", "5"), ("--now", "2107-01-01"),
        ("--notification-type", "did renew"), ("--notification-type", ""),
        ("--subtype", "x"), ("--set", "price"), ("--set", "=1"), ("--set", "a..b=1"),
        ("--remove", "prize"), ("--apple-status", "-1"), ("--apple-status", "21200"),
        ("--apple-status", "200"), ("--device", "00"), ("--device", "xyz"),
        ("--team", "ABC"), ("--team", "abcde12345"), ("--category", "11"),
        ("--bundle-version", ""), ("--bundle-version", "1 2")]
    kinds = {"--subtype": "notification", "--notification-type": "notification",
             "--device": "app-receipt", "--apple-status": "verify-receipt-response",
             "--team": "attestation", "--category": "attestation",
             "--bundle-version": "attestation"}
    for option, value in cases:
        now = () if option == "--now" else ("--now", NOW)
        code, out, err = assay.run("mint", kinds.get(option, "transaction"), "--authority", "ca",
                                   *now, f"{option}={value}")
        suite.expect((code, out) == (2, b"") and option[2:] in err,
                     f"mint {option} {value!r}", f"{code} {out[:80]} {err}")
    for more in [("--type", "consumable", "--expires", "2027-01-01"),
                 ("--type", "non-consumable", "--expired"), ("--type", "consumable", "--family"),
                 ("--type", "consumable", "--trial"), ("--type", "non-renewing", "--upgraded"),
                 ("--type", "consumable", "--renewal-off"),
                 ("--type", "consumable", "--billing-retry"),
                 ("--type", "consumable", "--grace-until", "2027-01-01"),
                 ("--expired", "--expires", "2027-01-01"), ("--xcode", "--environment", "Sandbox"),
                 ("--purchased", "2026-11-01", "--expires", "2026-10-31"),
                 ("--purchased", "2026-11-01", "--signed", "2026-10-31")]:
        code, out, err = assay.run("mint", "transaction", "--authority", "ca", "--now", NOW, *more)
        suite.expect((code, out) == (2, b""), f"mint {' '.join(more)}", f"{code} {err}")
    # Values that Apple could not sign must be requested by name.
    assay.file("odd", assay.mint("transaction", "--set", "quantity=-1"))
    code, out, _ = assay.run("inspect", "odd", "--json")
    suite.expect(code == 0 and b"-1" in out, "nonsense by --set")
    for good in [("--quantity=10",), ("--transaction-id=0",), ("--purchased=2026-11-20T12:00:00Z",),
                 ("--type=non-renewing", "--expires=2027-01-01"), ("--expires=2026-11-11",),
                 ("--account=0F8FAD5B-D9CB-469F-A165-70867728950E",),
                 ("--xcode", "--environment=LocalTesting"), ("--remove=price",),
                 ("--billing-retry", "--expired", "--grace-until=2026-11-30")]:
        code, _, err = assay.run("mint", "transaction", "--authority", "ca", "--now", NOW, *good)
        suite.expect(code == 0, f"mint {' '.join(good)}", err)


def check_key_ids(suite, assay):
    octets = bytes((251 - 7 * place) % 256 for place in range(32))
    normal = base64.b64encode(octets).decode()
    url = base64.urlsafe_b64encode(octets).decode().rstrip("=")
    dashed = "-" + url[1:]
    code, out, err = assay.run("normalize-key-id", normal, url, octets.hex(), octets.hex().upper())
    suite.expect((code, out.decode().split()) == (0, [normal] * 4), "four forms, one text", err)
    code, out, err = assay.run("normalize-key-id", dashed)
    suite.expect((code, out.decode()) == (0, "+" + dashed[1:].replace("-", "+").replace(
        "_", "/") + "=\n"), "a key id may begin with a hyphen", err)
    code, out, err = assay.run("normalize-key-id", normal[:-1], url)
    suite.expect((code, out.decode()) == (1, normal + "\n") and "malformed.attest.key-id" in err,
                 "what is no key id", err)
    code, _, err = assay.run("normalize-key-id")
    suite.expect(code == 2, "no key id at all", err)


def check_help(suite, assay):
    for command in ["demo", "init", "config check", "verify", "triage", "decide", "inspect", "report",
                    "explain", "mint", "normalize-key-id"]:
        code, out, _ = assay.run(*command.split(), "--help")
        text = out.decode()
        suite.expect(code == 0 and "Examples:" in text and "Exit codes:" in text
                     and f"assay {command}" in text, f"help of {command}", text[:200])
    _, out, _ = assay.run("--help")
    suite.expect(all(name in out.decode() for name in ["triage", "report"]), "help names them")
    version = re.search(r'ASSAY_VERSION "(.*)"', (ROOT / "include/assay.h").read_text())[1]
    code, out, _ = assay.run("--version")
    suite.expect((code, out.decode()) == (0, f"assay {version}\n"), "the version", out.decode())
    for arguments, word in [
            (["verfy"], "did you mean verify"), (["verify", "x", "--knd", "y"], "--kind"),
            (["verify", "--kind", "transaction"], "<file>"),
            (["verify", "x", "--kind"], "--kind=VALUE"), (["inspect", "a", "b"], "one argument too many"),
            (["inspect", "a", "--json=1"], "takes no value"), (["config"], "check"),
            (["verify", "x", "--kind", "a", "--kind", "b"], "twice"), (["config", "x"], "check"),
            (["mint", "transaction", "--app-id", "many"], "--app-id")]:
        code, out, err = assay.run(*arguments)
        suite.expect((code, out) == (2, b"") and word in err and "usage: assay" in err,
                     f"assay {' '.join(arguments)}", f"{code} {err}")


# ---- configuration, explanation, completion ---------------------------------------

def check_configuration(suite, assay, blobs):
    """Check that the configuration comes from --config, else ASSAY_CONFIG, else ./assay.json; and
    init and config check."""
    assay.file("piece", blobs["jws"])
    decide = ("decide", "transaction:piece", "--now", NOW)
    code, _, err = assay.run(*decide)
    suite.expect(code == 2 and all(word in err for word in [
        "--config", "ASSAY_CONFIG", "assay.json", "assay init"]), "no configuration", err)
    code, _, err = assay.run(*decide, ASSAY_CONFIG="ca/config.json")
    suite.expect(code == 0, "the one that ASSAY_CONFIG names", err)
    code, _, err = assay.run(*decide, ASSAY_CONFIG="gone.json")
    suite.expect(code == 2 and "gone.json (from ASSAY_CONFIG)" in err, "and that is not there", err)
    made = ("init", "--bundle-id", "com.example.app", "--app-id", "1234567890", "--team",
            "ABCDE12345")
    code, out, err = assay.run(*made)
    suite.expect((code, out) == (0, b"") and "assay.txt" in err, "assay init", err)
    written = (assay.folder / "assay.json").read_bytes()
    suite.expect(json.loads(written)["apps"][0]["teamId"] == "ABCDE12345", "what it wrote")
    explained = (assay.folder / "assay.txt").read_text()
    missing = [name for name in json.loads(written) if f"\n{name}\n" not in explained
               and f"\n{name}." not in explained]
    suite.expect(not missing, "every member is explained beside it", " ".join(missing))
    code, _, err = assay.run(*made)
    suite.expect(code == 2 and "assay.json exists already" in err
                 and (assay.folder / "assay.json").read_bytes() == written,
                 "assay init writes over nothing", err)
    code, out, err = assay.run(*made, "-")
    suite.expect(code == 0 and out == written and explained.strip() == err.strip(),
                 "assay init to standard output", err[:200])
    for more, word in [(("--bundle-id", ""), "bundleId"), (("--team", "abc"), "teamId"),
                       (("--app-id", "0"), "appAppleId")]:
        code, out, err = assay.run("init", "other.json", *more)
        suite.expect(code == 2 and "apps[0]" in err and not (assay.folder / "other.json").exists(),
                     f"assay init with no {word}", err)
    code, _, err = assay.run(*decide)
    suite.expect(code == 1, "./assay.json, under Apple's roots", err)
    code, out, _ = assay.run("config", "check")
    shown = out.decode()
    suite.expect(code == 0 and shown.startswith("ACCEPTED  assay.json (found in this folder)")
                 and "ABCDE12345.com.example.app" in shown, "config check", shown)
    _, out, _ = assay.run("config", "check", "-v")
    suite.expect(b"storekit.cache.chains" in out, "config check -v", out.decode()[:400])
    code, out, _ = assay.run("config", "check", "--json", ASSAY_CONFIG="ca/config.json")
    suite.expect(code == 0 and json.loads(out)["ok"] is True, "config check --json")
    assay.file("bad.json", written.replace(b'"plans"', b'"plan"'))
    code, out, _ = assay.run("config", "check", "bad.json")
    suite.expect(code == 1 and out.startswith(b"REFUSED  bad.json") and b" plan\n" in out,
                 "config check of one with another member", out.decode())
    code, _, err = assay.run("triage", "piece", ASSAY_CONFIG="bad.json")
    suite.expect(code == 2 and "bad.json (from ASSAY_CONFIG) is not a usable configuration" in err
                 and "at plan" in err, "the path stands in a refusal", err)
    (assay.folder / "assay.json").unlink()
    (assay.folder / "assay.txt").unlink()


def check_brevity(suite, assay, blobs):
    """Check that output is short without -v, and complete with it."""
    config = ("--config", "ca/config.json", "--now", NOW)
    assay.file("good", blobs["jws"])
    assay.file("bad", blobs["jws"][:-4] + b"AAAA")
    for name, code in [("good", 0), ("bad", 1)]:
        got, out, _ = assay.run("verify", name, "--kind", "transaction", *config)
        short = out.decode()
        _, out, _ = assay.run("verify", name, "--kind", "transaction", *config, "-v")
        full = out.decode()
        suite.expect(got == code and "checks" not in short and "chain." not in short.split("at ")[0]
                     and "jws.size" in full and set(short.split("\n")) <= set(full.split("\n")),
                     f"verify of a {name} one, short and full", short + full)
        suite.expect(len(short.splitlines()) <= 10, f"verify of a {name} one is short", short)
    _, out, _ = assay.run("decide", "transaction:good", *config)
    suite.expect(b"expiresAtMs" in out and b"groups.0" not in out, "a short decision", out.decode())
    _, out, _ = assay.run("decide", "transaction:good", *config, "--verbose")
    suite.expect(b"groups.0.state" in out, "a whole decision", out.decode())
    _, out, _ = assay.run("inspect", "good")
    short = out.decode()
    _, out, _ = assay.run("inspect", "good", "-v")
    suite.expect("serial" not in short and b"serial" in out, "inspect -v has all of certificates")


def check_explanations(suite, assay):
    for row in Contract().statuses[::7]:
        name, number, message, hint, rules = row.name, row.code, row.message, row.hint, row.rules
        for word in (name, str(number)):
            code, out, err = assay.run("explain", word, "--json")
            found = json.loads(out) if code == 0 else {}
            suite.expect((found.get("name"), found.get("number"), found.get("what happened"),
                          found.get("what to do")) == (name, str(number), message, hint),
                         f"explain {word}", err)
        rule = rules.split(",")[0]
        code, out, _ = assay.run("explain", rule.lower())
        suite.expect(code == 0 and f"  {name}\n" in out.decode() + "\n", f"explain {rule}",
                     out.decode())
    for word, wanted in [("DEC-14", "active"), ("RSK-11", "an assertion passed"),
                         ("DEC-13", "denied-by-policy"), ("rejected", "rejected.chain.not-ca"),
                         ("attest.time", "live, stored"), ("apps[3].teamId", "10 characters"),
                         ("products.com-example.plan", "a name in plans"), ("0", "every check"),
                         ("storekit", "storekit.anchors"), ("21007", "receipt at production"),
                         ("21142", "internal data access"), ("4040010", "TransactionIdNotFound"),
                         ("TransactionIdNotFound", "4040010"), ("4040002", "later"),
                         ("RESCIND_CONSENT", "restrict the account"), ("INITIAL_BUY", "Subtype"),
                         ("verifyReceipt", "buy.itunes.apple.com"), ("NotificationType", "REFUND"),
                         ("get-transaction-info", "operation"), ("getTransactionInfo", "operation"),
                         ("consume-quota", "database"), ("app-receipt", "a kind of document"),
                         ("Transaction", "a type of facts"), ("expirationIntent", "billing error"),
                         ("ConsumptionStatus", "partially"), ("STO-98", "ledger.md"),
                         ("DEC-14", "receipts-decisions.md"), ("cli-8", "command-line.md")]:
        code, out, err = assay.run("explain", word)
        suite.expect(code == 0 and wanted in out.decode(), f"explain {word}", out.decode() + err)
    # All that has a name in the tables (CLI-5): what a shell is offered, and some of it asked.
    named = []
    for table in ("rules", "kinds", "configuration", "appstore/errors", "names"):
        for row in (ROOT / f"contract/{table}.tsv").read_text().splitlines():
            if row and not row.startswith("#"):
                cells = row.split("\t")
                named += cells[2:3] if not cells[0] else cells[:2 if "errors" in table else 1]
    # A number of Apple's is explained with its set: the same one means other things elsewhere.
    named = sorted(name for name in set(named) - {"name"} if not (len(name) == 1 and name.isdigit()))
    _, out, _ = assay.run("--complete", "explain", "")
    offered = {line.split("\t")[0] for line in out.decode().splitlines()}
    suite.expect(len(named) > 1200 and set(named) <= offered, "CLI-5: all that has a name is known",
                 f"{len(named)} {sorted(set(named) - offered)[:10]}")
    lost = [name for name in named[::29] if assay.run("explain", name, "--json")[0] != 0]
    suite.expect(not lost, "CLI-5: and explained", " ".join(lost))
    for word, near in [("rejected.chain.untrusted-rot", "rejected.chain.untrusted-root"),
                       ("JWS-200", "JWS-20"), ("attest.tme", "attest.time"), ("nonsense", ""),
                       ("99999999", ""), ("", ""), ("a" * 4000, "")]:
        code, out, err = assay.run("explain", word)
        suite.expect((code, out) == (2, b"") and near in err and "nothing called" in err,
                     f"explain {word[:40]}", err)


def check_kinds(suite, assay, blobs):
    """The kind is found from the file, whatever it is called (CLI-1)."""
    config = ("--config", "ca/config.json", "--now", NOW)
    kinds = {
        "transaction": blobs["jws"], "transaction-receipt": blobs["receipt"],
        "app-receipt": blobs["app-receipt"], "verify-receipt-response": blobs["answer"],
        **{kind: assay.mint(kind) for kind in ["renewal-info", "notification", "app-transaction",
                                               "realtime-request", "attest-receipt"]}}
    for kind, blob in kinds.items():
        for end in (b"", b"\n", b"\r\n\r\n"):
            assay.file("found", blob.strip() + end)
            code, out, err = assay.run("verify", "found", *config)
            suite.expect(code == 0 and f"  {kind}  ok\n" in out.decode(),
                         f"CLI-1: {kind} is found", f"{code} {out.decode()} {err}")
            found = assay.run("verify", "found", *config, "--json")
            named = assay.run("verify", "found", *config, "--json", "--kind", kind)
            suite.expect(found == named, f"CLI-1: {kind} named or found, the same document")
    for kind, more in [("attestation", "--key-id"), ("assertion", "--public-key")]:
        assay.file("found", assay.mint(kind))
        code, _, err = assay.run("verify", "found", *config, "--client-data", "hello")
        suite.expect(code == 2 and more + " is missing" in err, f"CLI-1: {kind} is found", err)
    folder = assay.folder / "pieces"
    folder.mkdir()
    names = []
    for kind in ("transaction", "renewal-info", "transaction-receipt"):
        (folder / f"{kind}:1.jws").write_bytes(kinds[kind] + b"\n")
        names.append(f"pieces/{kind}:1.jws")
    code, out, err = assay.run("decide", *names, *config, "--json")
    decision = json.loads(out)["decision"] if out else {}
    suite.expect(code == 0 and decision["plan"] == "premium", "CLI-1: decide finds every kind",
                 f"{code} {decision} {err}")
    assay.file("found", b"com.urus.iap.1")
    for command in ("verify", "decide"):
        code, out, _ = assay.run(command, "found", *config)
        suite.expect(code == 1 and b"rejected.triage.cracking-tool" in out,
                     f"CLI-1: {command} says what has no kind", out.decode())
    code, out, _ = assay.run("verify", "found", *config, "--json")
    suite.expect(code == 1 and json.loads(out)["kind"] == "triage", "CLI-1: as JSON, too")


def check_demo(suite, assay):
    """The main job without a file, a configuration and a network (CLI-4)."""
    with tempfile.TemporaryDirectory() as empty:
        done = subprocess.run([assay.binary, "demo"], cwd=empty, env={}, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=60, check=False)
        left = os.listdir(empty)
    shown = done.stdout.decode()
    suite.expect((done.returncode, done.stderr, left) == (0, b"", []), "CLI-4: demo leaves nothing",
                 f"{done.returncode} {done.stderr} {left}")
    wanted = ["VERIFIED  transaction  ok", "ENTITLED  plan premium, active DEC-14",
              "NOT ENTITLED  plan free, refunded", "transaction  rejected.chain.untrusted-root",
              "transaction  rejected.app.bundle-id", "assay mint", "5 of 5 outcomes",
              "signed by a test authority"]
    suite.expect(all(word in shown for word in wanted), "CLI-4: demo shows every outcome", shown)
    code, out, _ = assay.run("demo", "-v")
    suite.expect(code == 0 and b"jws.signature" in out, "CLI-4: demo -v has the checks")


def check_minting_bar(suite, assay):
    """A day that is minted has a bar, and no line of it is left (CLI-6)."""
    day = ["mint", "--day", "20000", "--authority", "ca", "--now", NOW, "--out", "bar.ndjson"]
    code, shown = on_terminal(assay, *day)
    suite.expect(code == 0 and "of 20,000" in shown and "requests/s" in shown
                 and shown.endswith("\r\x1b[K"), "CLI-6: minting a day shows how far it is",
                 repr(shown[-200:]))
    code, shown = on_terminal(assay, *day, "--quiet")
    suite.expect((code, shown) == (0, ""), "CLI-6: unless it is to be quiet", repr(shown))
    code, err = assay.into("/dev/null", *day)
    suite.expect((code, err) == (0, ""), "CLI-6: nor into a file", err)
    (assay.folder / "bar.ndjson").unlink()


def check_standard(suite, assay):
    """Standard streams that are closed: nothing is read from, or written into, another file."""
    for closed, wanted in [("<&-", 0), (">&-", 2), ("2>&-", 0), ("<&- >&- 2>&-", 2)]:
        done = subprocess.run(
            ["sh", "-c", f'"$0" mint transaction --authority ca --now {NOW} {closed}',
             assay.binary], cwd=assay.folder, stdin=subprocess.PIPE, capture_output=True,
            timeout=60, check=False)
        suite.expect(done.returncode == wanted, f"CLI-6: {closed}",
                     f"{done.returncode} {done.stderr}")
    keys = list((assay.folder / "ca").glob("*-key.pem"))
    suite.expect(all(key.read_text().startswith("-----BEGIN") for key in keys),
                 "CLI-6: the keys are as they were")


def check_completion(suite, assay):
    """Check the completions of the command; install_tree.py tests the shells themselves."""
    for words, kind, wanted in [
            (["ver"], "words", ["verify"]), (["config", ""], "words", ["check"]),
            (["verify", ""], "files", []), (["verify", "x", "--kind", "transaction-"], "words",
                                            ["transaction-receipt"]),
            (["verify", "x", "--kind=transaction-"], "words", ["--kind=transaction-receipt"]),
            (["verify", "x", "--kind", "=", "transaction-"], "words", ["transaction-receipt"]),
            (["verify", "x", "--ki"], "words", ["--kind"]), (["verify", "--config", ""], "files", []),
            (["verify", "--config", "="], "files", []), (["decide", "notif"], "words",
                                                         ["notification:"]),
            (["decide", "notification:n"], "files", []), (["decide", "notification", ":", "n"],
                                                          "files", []),
            (["decide", "purchase"], "files", []),
            (["mint", "--environment", "S"], "words", ["Sandbox"]),
            (["mint", "--authority", ""], "folders", []), (["mint", "--forge", "JWS-2"], "words",
                                                           ["JWS-20", "JWS-29"]),
            (["explain", "rejected.chain.un"], "words",
             ["rejected.chain.unpinned", "rejected.chain.untrusted-root"]),
            (["verify", "--", "--k"], "files", []), (["mint", "--system", "m"], "words", ["macos"])]:
        _, out, _ = assay.run("--complete", *words)
        lines = out.decode().splitlines()
        offered = [line.split("\t")[0] for line in lines[1:]]
        suite.expect(lines[0] == kind and (offered == wanted or set(wanted) < set(offered)
                                           and words[1:2] == ["--forge"]),
                     f"completion of {words}", " ".join(lines))
    code, _, err = assay.run("--generate-completion-script", "tcsh")
    suite.expect(code == 2 and "fish" in err, "a shell that is not known", err)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("--suite", default="cli")
    options = parser.parse_args()
    suite = Suite(options.suite)
    with tempfile.TemporaryDirectory() as folder:
        assay = Command(options.binary.resolve(), folder)
        blobs = {
            "jws": assay.mint("transaction").strip(),
            "receipt": assay.mint("transaction-receipt", "--transaction-id", "2000000900000101"),
            "second": assay.mint("transaction-receipt", "--transaction-id", "2000000900000202"),
            "app-receipt": assay.mint("app-receipt"),
            "answer": assay.mint("verify-receipt-response"),
            "foreign": assay.mint("transaction-receipt", "--bundle-id", "com.example.other"),
        }
        check_triage(suite, assay, blobs)
        check_counts(suite, assay, blobs)
        check_long_lines(suite, assay)
        check_times(suite, assay)
        check_series(suite, assay)
        check_money(suite, assay)
        check_day(suite, assay)
        check_refused_files(suite, assay)
        check_hostile_name(suite, assay)
        check_progress(suite, assay)
        check_evidence(suite, assay, blobs)
        check_attested_keys(suite, assay)
        check_minting(suite, assay, blobs)
        check_tokens(suite, assay)
        check_nonsense(suite, assay)
        check_xcode(suite, assay)
        check_ended(suite, assay)
        check_full_disk(suite, assay, blobs)
        check_key_ids(suite, assay)
        check_configuration(suite, assay, blobs)
        check_brevity(suite, assay, blobs)
        check_explanations(suite, assay)
        check_kinds(suite, assay, blobs)
        check_demo(suite, assay)
        check_minting_bar(suite, assay)
        check_standard(suite, assay)
        mistakes.check_mistakes(suite, assay)
        check_completion(suite, assay)
        check_help(suite, assay)
    suite.finish()


if __name__ == "__main__":
    main()
