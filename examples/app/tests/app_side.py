#!/usr/bin/env python3
"""Check the Swift package for apps with stubs of Apple's modules (Stubs): that it compiles in every
mode of Xcode, has its texts in every language, and behaves as docs/tasks/app-side.md describes.

  app_side.py [--only TEXT]    scenarios whose name contains TEXT, without the compile modes

A scenario is a function of Scenes.swift, a server (server.py), the output, and the requests. Some
are played against the freemium back end itself (back_end.py), which needs ASSAY_LIBRARY and
ASSAY_PROGRAM.
"""
import argparse
import json
import os
import pathlib
import plistlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(ROOT / "Tests/Gates"), str(HERE)]

import back_end
from report import Suite
from server import (
    AGAIN,
    ATTEST,
    NOT_AUTHORIZED,
    NOTHING,
    REFUSED,
    SECONDS,
    UNAUTHORIZED,
    Server,
    held,
)
from snippets import blocks_of

BUILD = ROOT / "build/app"
APP = HERE.parent
SOURCES = APP / "Sources/FreemiumClient"
PRIVACY = SOURCES / "Resources/PrivacyInfo.xcprivacy"
# The pages with Swift code of their own.
ATTEST_PAGE, PAGE = ROOT / "docs/app-attest.md", ROOT / "docs/tasks/app-side.md"
LANGUAGES = ("en", "de", "fr", "ja", "zh-Hans")
# In the order of compilation: SwiftUI needs Combine.
STUBS = ("Security", "CryptoKit", "DeviceCheck", "StoreKit", "Combine", "AuthenticationServices",
         "SwiftUI")
# On Linux, URLSession is in a module of its own.
FIRST = "#if canImport(FoundationNetworking)\nimport FoundationNetworking\n#endif\n"
MAIN_ACTOR = ["-default-isolation", "MainActor"]
UPCOMING = [word for name in ("NonisolatedNonsendingByDefault", "MemberImportVisibility",
                              "InferIsolatedConformances")
            for word in ("-enable-upcoming-feature", name)]
MODES = {
    "Swift 5": ["-swift-version", "5"],
    "Swift 5, MainActor": ["-swift-version", "5", *MAIN_ACTOR],
    "Swift 6": ["-swift-version", "6"],
    "Swift 6, MainActor": ["-swift-version", "6", *MAIN_ACTOR],
    "a new project of Xcode 26": ["-swift-version", "5", *MAIN_ACTOR, *UPCOMING],
    "a new project of Xcode 26, in Swift 6": ["-swift-version", "6", *MAIN_ACTOR, *UPCOMING],
}


def swiftc(*words):
    return subprocess.run(["swiftc", *map(str, words)], capture_output=True, text=True)


def must(done):
    if done.returncode:
        raise SystemExit(done.stderr[-4000:])


def stubs():
    """Compile the stubs; return their folder and objects."""
    for name in STUBS:
        must(swiftc("-parse-as-library", "-swift-version", "5", "-emit-module", "-emit-object",
                    "-module-name", name, HERE / f"Stubs/{name}.swift", "-I", BUILD,
                    "-o", BUILD / f"{name}.o", "-emit-module-path", BUILD / f"{name}.swiftmodule"))


def sources():
    """Return the files of the app as Linux compiles them."""
    found = [BUILD / path.name for path in sorted(SOURCES.glob("*.swift"))]
    for path in found:
        path.write_text(FIRST + (SOURCES / path.name).read_text())
    return found


def blocks(page):
    """Return one file for each block of the page that needs Apple's modules, without the attribute
    that Linux's Foundation does not have."""
    found = []
    for block in blocks_of(page):
        if block.language == "swift" and block.words.get("not-run") == "app":
            found.append(BUILD / f"{page.stem}-{block.line}.swift")
            found[-1].write_text(FIRST + block.text.replace("@objc ", ""))
    return found


def check_modes(suite):
    """Check that the package, its use and the page compile without a warning in each mode
    (BCK-30)."""
    must(swiftc("-emit-module", "-swift-version", "6", "-D", "SWIFT_PACKAGE", "-I", BUILD,
                "-module-name", "FreemiumClient", *sources(), HERE / "Module.swift",
                "-emit-module-path", BUILD / "FreemiumClient.swiftmodule"))
    for what, files in {"the app": sources(), PAGE.name: blocks(PAGE),
                        ATTEST_PAGE.name: blocks(ATTEST_PAGE)}.items():
        suite.expect(files, f"{what} has Swift")
        for name, words in MODES.items():
            done = swiftc("-typecheck", "-warnings-as-errors", *words, "-I", BUILD, *files)
            suite.expect(done.returncode == 0, f"BCK-30: {what} in {name}",
                         "\n".join(re.findall(r"\S+: error: .*", done.stderr)[:8]) or done.stderr)


def check_package(suite):
    """Check that the manifest has every file and every language, and that the page has every
    file."""
    done = subprocess.run(["swift", "package", "--package-path", APP, "--scratch-path",
                           BUILD / "package", "describe", "--type", "json"],
                          capture_output=True, text=True)
    must(done)
    found = json.loads(done.stdout)
    target, = found["targets"]
    suite.expect(found["platforms"] == [{"name": "ios", "version": "16.0"}], "package: for iOS 16",
                 found["platforms"])
    suite.expect(sorted(target["sources"]) == sorted(path.name for path in SOURCES.iterdir()
                                                     if path.is_file()),
                 "package: its files", target["sources"])
    localized = {pathlib.Path(resource["path"]).name + " of "
                 + resource["rule"]["process"].get("localization", "all")
                 for resource in target["resources"]}
    suite.expect(localized == {f"Localizable.strings of {name.lower()}" for name in LANGUAGES}
                 | {f"{PRIVACY.name} of all"}, "package: its resources", localized)
    used = {"NSPrivacyAccessedAPICategoryUserDefaults"} if any(
        "UserDefaults" in path.read_text() for path in SOURCES.glob("*.swift")) else set()
    declared = {row["NSPrivacyAccessedAPIType"] for row in plistlib.loads(PRIVACY.read_bytes())[
        "NSPrivacyAccessedAPITypes"]}
    suite.expect(declared == used, "package: its privacy manifest", declared)
    page = PAGE.read_text()
    for path in [*sorted(SOURCES.rglob("*.*")), *APP.glob("ObjectiveC/*")]:
        if path.is_file():
            suite.expect(path.read_text() in page, f"package: the page has {path.name}", path)


def check_objective_c(suite):
    """Check that the Objective-C compiles for iOS without a warning, with stubs of the headers."""
    clang = pathlib.Path(shutil.which("swiftc")).parent / "clang"
    for path in sorted(APP.glob("ObjectiveC/*.m")):
        done = subprocess.run(
            [clang, "-fsyntax-only", "-x", "objective-c", "-target", "arm64-apple-ios16.0",
             "-fobjc-arc", "-fblocks", "-Wall", "-Wextra", "-Werror", "-nostdinc",
             "-I", HERE / "Stubs/ObjectiveC", path], capture_output=True, text=True)
        suite.expect(done.returncode == 0, f"Objective-C: {path.name}", done.stderr)


def texts(language):
    """Return the texts of a language."""
    found = (SOURCES / f"Resources/{language}.lproj/Localizable.strings").read_text()
    return dict(re.findall(r'^"([^"]+)" = "([^"]+)";$', found, re.M))


def check_texts(suite, play):
    """Check that each error of DeviceCheck has two texts in each language, which Foundation
    finds, and that every text that the code names is there."""
    named = set(re.findall(r'\("(purchase\.[a-z]+)"\)',
                           (SOURCES / "KeepsPurchases.swift").read_text()))
    english = texts("en")
    for language in LANGUAGES:
        found = texts(language)
        suite.expect(found.keys() == english.keys() and set() < named <= found.keys(),
                     f"texts: {language} has each", found.keys() ^ english.keys())
        if language != "en":
            same = [name for name in found.keys() & english.keys() if name != "purchase.ok"
                    and found[name] == english[name]]
            suite.expect(not same, f"texts: {language} is translated", same)
        said = [text for name, text in found.items() if name.startswith("device.")]
        play(f"texts: a customer reads {language}", "trouble", "\n".join([*said, "true"]),
             language=language)


def scenes():
    """Compile the app with Scenes.swift to a program, and return its path."""
    must(swiftc("-parse-as-library", "-swift-version", "5", "-D", "SWIFT_PACKAGE", "-I", BUILD,
                *sources(), HERE / "Module.swift", HERE / "Scenes.swift",
                *(BUILD / f"{name}.o" for name in STUBS), "-o", BUILD / "scenes"))


class Run:
    """One run of a scenario: its output, and the requests that the server received."""

    def __init__(self, scene, home=None, kill_at=None, language="en", **server):
        self.home = home or BUILD / "home"
        if home is None:
            shutil.rmtree(self.home, ignore_errors=True)
            self.home.mkdir()
        self.server = Server(**server)
        self.process = subprocess.Popen(
            [BUILD / "scenes", scene, self.server.url, self.home / "queue"], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(self.home), "XDG_CONFIG_HOME": str(self.home),
                 "TEXTS": str(SOURCES / f"Resources/{language}.lproj")})
        if kill_at:
            self.server.wait(kill_at)
            self.process.kill()
        try:
            self.printed, self.errors = self.process.communicate(timeout=4 * SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.printed, self.errors = self.process.communicate()
            self.errors += "did not end"
        self.printed = self.printed.strip()
        self.server.close()

    def asked(self, path):
        return self.server.bodies(path)

    def sent(self, member):
        """Return a member of each request to /v1/update-subscription."""
        return [body.get(member) for body in self.asked(UPDATE)]


class Player:
    """Runs scenarios, and compares their output with the expected one."""

    def __init__(self, suite, only):
        self.suite, self.only = suite, only

    def __call__(self, name, scene, printed, **more):
        """Return the run; None if `only` excludes it."""
        if self.only not in name:
            return None
        run = Run(scene, **more)
        self.suite.expect(run.printed == printed and run.process.returncode == 0, name,
                          f"{run.printed!r}, not {printed!r} {run.errors[-500:]}")
        return run


def also(suite, run, what, wanted, found):
    """Check a further property of a scenario that ran."""
    if run:
        value = found()
        suite.expect(value == wanted, what, value)


UPDATE, SESSION, ANALYZE, SIGN_UP = (
    "v1/update-subscription", "v1/session", "v1/analyze", "v1/signup")
CHALLENGE, PROMOTION = "v1/signup/challenge", "v1/promotion"
SIGNED_UP = ["provider", SIGN_UP, "provider"]
# A third try, which continues with the challenge of the first.
ATTESTED = ["provider", SIGN_UP, SIGN_UP, "provider"]
AWAY = "threw DCError(code: DeviceCheck.DCError.Code.serverUnavailable)"
KEPT = "plan free, finished [], queued [\"7\"], asked []"
GRANTED = "plan premium, finished [7], queued [], asked []"
ELSEWHERE = "plan free, finished [7], queued [], asked [\"7\"]"
MOVABLE = "plan free, finished [], queued [\"7\"], asked [\"7 movable\"]"
LEFT = "plan free, finished [7], queued [], asked []"
CAN_MOVE = 409, {"error": REFUSED, "canTransfer": True}
TOO_SOON = 409, {"error": REFUSED, "canTransfer": False}, {"Retry-After": "3600"}
TOO_MANY = 400, {"__type": "NotAuthorizedException", "message": "Password attempts exceeded"}
HALF_MADE = 200, {"ChallengeName": "NEW_PASSWORD_REQUIRED", "Session": "s"}
PLAN = 200, {"plan": "premium"}


def refused(*answers):
    return {"provider": list(answers)}


# Maps each first response to the outcome of the purchase. The second response is 200.
ANSWERS = [
    ("a plan", PLAN, GRANTED),
    ("409", (409, {"error": REFUSED, "canTransfer": False}), ELSEWHERE),
    ("409 without canTransfer", (409, {"error": REFUSED}), ELSEWHERE),
    ("409 with canTransfer", CAN_MOVE, MOVABLE),
    ("409 with Retry-After", TOO_SOON, KEPT),
    ("403", (403, {"error": REFUSED, "canTransfer": False}), ELSEWHERE),
    ("403 of a gateway", (403, {"message": "Forbidden"}), KEPT),
    ("403 in HTML", (403, b"<html>"), KEPT),
    ("200 in HTML", (200, b"<html>"), KEPT),
    ("200 without a plan", (200, {}), KEPT),
    ("400", (400, {"error": REFUSED}), KEPT),
    ("401 Attestation required", ATTEST, KEPT),
    ("404", (404, {"error": "Not found"}), KEPT),
    ("413", (413, {"message": "Request Too Long"}), KEPT),
    ("429, moved a short time ago",
     (429, {"error": "Moved a short time ago", "canTransfer": False}, {"Retry-After": "3600"}),
     KEPT),
    ("500", (500, {"error": "Try again later"}), KEPT),
    ("503", AGAIN, KEPT),
    ("503 until a date", (503, {}, {"Retry-After": "Wed, 25 Nov 2026 09:00:00 GMT"}), KEPT),
    ("503 for ever", (503, {}, {"Retry-After": "99999999999999999999"}), KEPT),
    ("503 for inf", (503, {}, {"Retry-After": "inf"}), KEPT),
    ("503 for -1", (503, {}, {"Retry-After": "-1"}), KEPT),
    ("no answer", NOTHING, KEPT),
]


def check_sign_in(suite, play):
    """Check that credentials are made once, and replaced when the account is closed (BCK-33,
    BCK-34)."""
    for name, what, server, printed, asked in [
        ("BCK-34: one account, one token", "sign in", {}, "token\ntoken", SIGNED_UP),
        ("BCK-34: the answer of the sign-up got lost, 409 is a success", "sign in",
         {"script": {SIGN_UP: [(409, {"status": "already_exists"})], "provider": [
             NOT_AUTHORIZED, (200, {"AuthenticationResult":
                                    {"AccessToken": "t", "ExpiresIn": 3600}})]}},
         "token\ntoken", SIGNED_UP),
        ("BCK-34: a namespace before #", "sign in", {"script": refused(
            (400, {"__type": "com.amazonaws.x#UserNotFoundException"}))},
         "token\ntoken", SIGNED_UP),
        ("STO-58: a sign-up that stopped half-way is finished", "sign in",
         {"script": refused(HALF_MADE)}, "token\ntoken", SIGNED_UP),
        ("BCK-34: closed credentials are replaced", "sign in three times", {"closed": True},
         "token\ntoken\ntoken", SIGNED_UP * 2),
        ("BCK-34: a joined account that was deleted elsewhere", "sign in as joined", {},
         "token\nstill joined: false", SIGNED_UP * 2),
        ("BCK-34: an account that was just made is not given up", "keep the credentials",
         {"script": refused(NOT_AUTHORIZED, NOT_AUTHORIZED)},
         'threw provider("NotAuthorizedException")\ntoken\nthe same: true',
         [*SIGNED_UP, "provider"]),
        ("BCK-34: a provider that refuses everybody closes no account", "keep the credentials",
         {"script": {"provider": [NOT_AUTHORIZED] * 4,
                     SIGN_UP: [(409, {"status": "already_exists"})]}},
         'threw provider("NotAuthorizedException")\ntoken\nthe same: true',
         SIGNED_UP * 3),
        ("BCK-34: too many attempts pass", "keep the credentials", {"script": refused(TOO_MANY)},
         'threw provider("attempts exceeded")\ntoken\nthe same: true', ["provider", *SIGNED_UP]),
        ("BCK-34: a busy provider", "keep the credentials",
         {"script": refused((400, {"__type": "TooManyRequestsException"}))},
         'threw provider("TooManyRequestsException")\ntoken\nthe same: true',
         ["provider", *SIGNED_UP]),
        ("BCK-34: a provider that is away", "keep the credentials",
         {"script": refused((500, {"__type": "InternalErrorException"}))},
         "threw server(500)\ntoken\nthe same: true", ["provider", *SIGNED_UP]),
        ("BCK-13: too many sign-ups", "keep the credentials", {"script": {SIGN_UP: [(429, {})]}},
         "threw server(429)\ntoken\nthe same: true", ["provider", SIGN_UP, *SIGNED_UP]),
        ("BCK-34: a sign-up that is away", "keep the credentials", {"script": {SIGN_UP: [AGAIN]}},
         "threw server(503)\ntoken\nthe same: true", ["provider", SIGN_UP, *SIGNED_UP]),
        ("BCK-33: a locked keychain makes no account", "sign in behind a locked keychain", {},
         "token\nthrew keychain(-25308)\ntoken\nthe same: true", [*SIGNED_UP, "provider"]),
        ("BCK-33: without random octets there is no account", "sign in without random octets", {},
         "threw random(-1)\nkept: false\ntoken", SIGNED_UP),
        ("BCK-33: an item that holds no credentials", "sign in with a damaged item", {},
         "token\nanother: true", SIGNED_UP),
        ("BCK-36: a sign-in that runs does not undo the joining", "join while a sign-in runs",
         {"script": refused(held(NOT_AUTHORIZED)), "closed": True},
         "the old one's token: none\nstill joined: true\ntoken", ["provider"] * 2),
        ("BCK-29: the sign-up of an attested device", "sign up, and go on with the key",
         {"attest_signup": True}, "token\nsession 1\nkeys 1", [
             "provider", SIGN_UP, CHALLENGE, SIGN_UP, "provider", "v1/challenge", SESSION]),
        ("BCK-29: serverUnavailable is the same key and the same hash, later",
         "sign up while Apple is away", {"attest_signup": True},
         f"{AWAY}\n{AWAY}\ntoken\nasked 3, keys 1, hashes 1", [
             "provider", SIGN_UP, CHALLENGE, "provider", SIGN_UP, *ATTESTED]),
        ("BCK-29: a challenge that is over is replaced, and the key is not",
         "sign up while Apple is away", {"attest_signup": True, "script": {
             CHALLENGE: [(200, {"challenge": "old", "expiresAtMs": 1e12})] * 2}},
         f"{AWAY}\n{AWAY}\ntoken\nasked 3, keys 1, hashes 2", [
             "provider", SIGN_UP, CHALLENGE, "provider", SIGN_UP, CHALLENGE,
             "provider", SIGN_UP, CHALLENGE, SIGN_UP, "provider"]),
        ("BCK-29: another error of attestKey is another key, for invalidKey at once",
         "sign up after failed attestations", {"attest_signup": True},
         "threw DCError(code: DeviceCheck.DCError.Code.unknownSystemFailure)\ntoken\n"
         "asked 3, keys 3, hashes 3", [
             "provider", SIGN_UP, CHALLENGE, "provider", SIGN_UP, CHALLENGE, CHALLENGE, SIGN_UP,
             "provider"]),
        ("BCK-29: two keys that Apple refuses are enough for one try",
         "sign up with a key that Apple refuses", {"attest_signup": True},
         "threw DCError(code: DeviceCheck.DCError.Code.invalidKey)\ntoken\n"
         "asked 3, keys 3, hashes 3", None),
        ("BCK-29: a proof without an answer is sent again as it was", "sign up, three tries",
         {"attest_signup": True, "script": {SIGN_UP: [ATTEST, AGAIN, ATTEST, (429, {})]}},
         "threw server(503)\nthrew server(429)\ntoken\nasked 1, keys 1, hashes 1", [
             "provider", SIGN_UP, CHALLENGE, SIGN_UP, "provider", SIGN_UP, SIGN_UP,
             "provider", SIGN_UP, SIGN_UP, "provider"]),
        ("BCK-29: a repetition that is refused is another key, at once", "sign up, three tries",
         {"attest_signup": True, "script": {SIGN_UP: [ATTEST, AGAIN, ATTEST, ATTEST]}},
         "threw server(503)\ntoken\ntoken\nasked 2, keys 2, hashes 2", [
             "provider", SIGN_UP, CHALLENGE, SIGN_UP, "provider", SIGN_UP, SIGN_UP, CHALLENGE,
             SIGN_UP, "provider"]),
        ("BCK-29: a new key that is refused is one for each try", "sign up, three tries",
         {"attest_signup": True, "script": {SIGN_UP: [ATTEST] * 4}},
         "threw server(401)\nthrew server(401)\ntoken\nasked 3, keys 3, hashes 3", None),
        ("BCK-29: no challenge, no key", "sign up, three tries",
         {"attest_signup": True, "script": {CHALLENGE: [AGAIN]}},
         "threw server(503)\ntoken\ntoken\nasked 1, keys 1, hashes 1", None),
        ("BCK-29: a device that cannot attest says so", "sign up where a device cannot attest",
         {"attest_signup": True}, "token", None),
    ]:
        run = play(name, what, printed, **server)
        if run and asked:
            suite.expect(run.server.paths() == asked, f"{name}: requests", run.server.paths())
        if what == "sign up where a device cannot attest":
            also(suite, run, f"{name}: the code", 1,
                 lambda: run.asked(SIGN_UP)[-1].get("unsupported"))


def check_calls(suite, play):
    """Check metered calls (BCK-35) and the two kinds of 401."""
    for name, what, server, printed, asked in [
        ("BCK-1: a token that is refused is renewed once", "analyze",
         {"script": {ANALYZE: [UNAUTHORIZED]}}, '{"tier": "premium"}',
         [*SIGNED_UP, ANALYZE, "provider", ANALYZE]),
        ("BCK-1: and once only", "analyze", {"script": {ANALYZE: [UNAUTHORIZED] * 3}},
         "threw server(401)", [*SIGNED_UP, ANALYZE, "provider", ANALYZE]),
        ("BCK-29: Attestation required is no bad token", "analyze", {"attest_calls": True},
         "threw server(401)", [*SIGNED_UP, ANALYZE]),
        ("BCK-29: with a session", "analyze with a session", {"attest_calls": True},
         '{"tier": "premium"}\n{"tier": "premium"}',
         [*SIGNED_UP, "v1/challenge", SESSION, ANALYZE, ANALYZE]),
        ("BCK-29: a session that is refused is asked for anew", "analyze with a session",
         {"attest_calls": True, "script": {ANALYZE: [ATTEST]}},
         '{"tier": "premium"}\n{"tier": "premium"}',
         [*SIGNED_UP, "v1/challenge", SESSION, ANALYZE, "v1/challenge", SESSION, ANALYZE, ANALYZE]),
        ("BCK-29: a server without sessions is asked once", "analyze with a session",
         {"script": {SESSION: [(404, {"error": "Not found"})]}},
         '{"tier": "premium"}\n{"tier": "premium"}',
         [*SIGNED_UP, "v1/challenge", SESSION, ANALYZE, ANALYZE]),
        ("BCK-35: the tier to fall back to", "analyze",
         {"script": {ANALYZE: [(403, {"error": "x", "fallback": "free"})]}}, '{"tier": "free"}',
         [*SIGNED_UP, ANALYZE, ANALYZE]),
        ("BCK-35: once", "analyze",
         {"script": {ANALYZE: [(429, {"error": "x", "fallback": "free"})] * 3}},
         "threw server(429)", [*SIGNED_UP, ANALYZE, ANALYZE]),
        ("BCK-35: and none where none is named", "analyze",
         {"script": {ANALYZE: [(429, {"error": "x", "fallback": None})]}},
         "threw server(429)", [*SIGNED_UP, ANALYZE]),
    ]:
        run = play(name, what, printed, **server)
        if run:
            suite.expect(run.server.paths() == asked, f"{name}: requests", run.server.paths())


def check_purchases(suite, play):
    """Check purchases (BCK-30 to BCK-32)."""
    for name, answer, state in ANSWERS:
        play(f"BCK-31: {name}", "buy", state, script={UPDATE: [answer]})
        if state == KEPT:
            play(f"BCK-32: {name}, and back in the foreground", "buy, and come back",
                 f"{KEPT}\n{GRANTED}", script={UPDATE: [answer]})
    # Both responses 401 concern the token here, so the request is sent twice.
    play("BCK-31: 401", "buy", KEPT, script={UPDATE: [UNAUTHORIZED] * 2})
    play("BCK-31: no sign-in", "buy", KEPT, script={"provider": [NOTHING]})
    play("BCK-29: a purchase that waits for the device says so", "buy while Apple is away",
         f"{KEPT}\n{texts('en')['device.serverUnavailable.happened']}\n{GRANTED}\nno trouble",
         attest_signup=True)
    run = play("BCK-32: a day for one purchase is no day for another", "buy, and wait",
               'plan premium, finished [7], queued ["6"], asked []',
               script={UPDATE: [AGAIN, (400, {"error": REFUSED}), PLAN]})
    also(suite, run, "BCK-32: which was sent again", ["x.7.z", "x.6.z", "x.7.z"],
         lambda: run.sent("signedTransactionData"))
    run = play("STO-42: the customer moves it", "buy, and move", f"{MOVABLE}\n{GRANTED}",
               script={UPDATE: [CAN_MOVE]})
    also(suite, run, "STO-42: asked, and then with confirm", [None, True],
         lambda: run.sent("confirm"))
    run = play("STO-42: too soon, and still confirmed", "buy, and move twice", f"{KEPT}\n{GRANTED}",
               script={UPDATE: [CAN_MOVE, TOO_SOON]})
    also(suite, run, "STO-42: confirm stays", [None, True, True],
         lambda: run.sent("confirm"))
    play("STO-42: the customer leaves it", "buy, and leave", LEFT, script={UPDATE: [CAN_MOVE]})
    play("STO-42: and has read it", "buy, and leave", LEFT,
         script={UPDATE: [(409, {"error": REFUSED, "canTransfer": False})]})
    run = play("BCK-31: newer evidence that comes meanwhile is sent",
               "buy, and hear more meanwhile", GRANTED, script={UPDATE: [held(PLAN)]})
    also(suite, run, "BCK-31: both were sent", ["x.7.z", "x.7.newer"],
         lambda: run.sent("signedTransactionData"))
    play("BCK-31: on a full disk it is not finished before the answer", "buy on a full disk",
         "plan free, finished [], queued [], asked []\n" + GRANTED, script={UPDATE: [AGAIN]})
    run = play("BCK-32: a bad file stops nothing", "launch with bad files",
               'plan premium, finished [], queued ["007", "1", "3", "4", "a.tmp"], asked []')
    also(suite, run, "BCK-2: an unreadable file never says no purchase",
         [{"signedTransactionData": "x.2.z"}], lambda: run.asked(UPDATE))
    run = play("BCK-32: a hundred returns are no flood", "come back many times",
               "plan premium, finished [], queued [], asked []", script={UPDATE: [AGAIN] * 2})
    also(suite, run, "BCK-32: four requests at most", True, lambda: len(run.asked(UPDATE)) <= 4)
    run = play("BCK-2: no purchase is said once, and not while one waits",
               "synchronise without a purchase",
               'plan free, finished [], queued ["2"], asked []')
    also(suite, run, "BCK-2: an empty object", [{}], lambda: run.asked(UPDATE))
    run = play("BCK-36: purchases follow to another account", "synchronise for another account",
               "plan premium, finished [8, 7, 8, 7], queued [], asked []")
    also(suite, run, "BCK-30: the strongest first, twice", ["x.8.z", "x.7.z"] * 2,
         lambda: run.sent("signedTransactionData"))


def check_kills(suite, play):
    """Check that an app that is killed at any point loses nothing (BCK-31)."""
    if play.only:
        return
    for name, kill_at, answer in [("before the answer", UPDATE, held(PLAN)),
                                  ("at the sign-in", "provider", held(NOT_AUTHORIZED))]:
        path = UPDATE if kill_at == UPDATE else "provider"
        first = Run("buy", kill_at=kill_at, script={path: [answer]})
        suite.expect((first.home / "queue/7").read_text() == "x.7.z",
                     f"BCK-31: killed {name}: it is on disk")
        play(f"BCK-31: killed {name}, and launched again", "launch", GRANTED, home=first.home)
    home = BUILD / "home"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    play("BCK-31: killed before it was kept, StoreKit has it", "launch", GRANTED, home=home)


def check_device(suite, play):
    """Check that the app uses one key while it works, and then another (BCK-29)."""
    attest_only = "session 1\nsession 1\nkeys 1"
    for name, what, printed, server in [
        ("one proof, then its text", "session", attest_only, {}),
        ("the key of the first proof makes the next", "session, and another",
         "session 1\nsession 2\nkeys 1, assertions 1", {}),
        ("a key that the server does not know is replaced at once", "session, and another",
         "the first\nsession 1\nkeys 2, assertions 1", {"script": {SESSION: [
             (200, {"session": "the first", "expiresAtMs": 9e15}), ATTEST]}}),
        ("a key of another phone is replaced at once", "session on another phone",
         "session 1\nkeys 1", {}),
        ("a key that was made on another phone", "session on another phone, before the first proof",
         "session 1\nkeys 1", {}),
        ("invalidInput is a key that does not work", "session after invalidInput",
         "session 1\nsession 2\nkeys 2", {}),
        ("a failure of the system may pass, a second one does not", "session after system failures",
         "session 1\nthrew unknownSystemFailure\nsession 2\nkeys 1\n"
         "threw unknownSystemFailure\nsession 3\nkeys 2", {}),
        ("serverUnavailable keeps the key", "session while Apple is away",
         "threw serverUnavailable\nthrew serverUnavailable\nsession 1\n"
         + "threw serverUnavailable\n" * 3 + "session 2\nkeys 1", {}),
        ("another error of attestKey is a new key", "session after failed attestations",
         "threw unknownSystemFailure\nthrew invalidInput\nsession 1\nkeys 4", {}),
        ("a device that cannot attest", "session on an old device", "none\nnone", {}),
        ("two at once are one proof", "two sessions at once",
         "session 1\nsession 1\nkeys 1, assertions 0", {}),
        ("a server that is away", "session, three tries",
         "threw server(503)\nthrew server(503)\nsession 1\nkeys 1",
         {"script": {SESSION: [AGAIN, AGAIN]}}),
        ("an answer that got lost", "session", "no answer\nsession 1\nkeys 1",
         {"script": {SESSION: [NOTHING]}}),
        ("a new key that is refused is one for each try", "session, three tries",
         "threw server(401)\nthrew server(401)\nsession 1\nkeys 3",
         {"script": {SESSION: [ATTEST, ATTEST]}}),
        ("a bad token is no bad key", "session, three tries",
         "threw server(401)\nsession 1\nsession 1\nkeys 1",
         {"script": {SESSION: [UNAUTHORIZED, UNAUTHORIZED]}}),
    ]:
        run = play(f"BCK-29: {name}", what, printed, **server)
        if run and name in ("a server that is away", "an answer that got lost"):
            proofs = run.asked(SESSION)
            suite.expect(all(proof == proofs[0] for proof in proofs) and len(proofs) > 1,
                         f"BCK-29: {name}: the same attestation again", proofs)


def check_promotions(suite, play):
    """Check that a promotion is requested until the answer is final, each time with a token of its
    own (DVC-12)."""
    granted, kept = '["coins": 5], unanswered []', 'unanswered ["welcome"]'
    for name, what, printed, server in [
        ("granted", "promotion", granted, {}),
        ("with a session", "promotion", granted, {"attest_calls": True}),
        ("had before", "promotion", "none, unanswered []",
         {"script": {PROMOTION: [(409, {"error": "Not available"})]}}),
        ("a conflict of a gateway", "promotion", f"server(409), {kept}",
         {"script": {PROMOTION: [(409, b"<html>")]}}),
        ("a token that Apple refuses", "promotion", f"server(400), {kept}",
         {"script": {PROMOTION: [(400, {"error": "Invalid request"})]}}),
        ("no such offer", "promotion", "server(404), unanswered []",
         {"script": {PROMOTION: [(404, {"error": "Not found"})]}}),
        ("a 200 in HTML", "promotion, three tries",
         f"server(200), {kept}\nserver(503), {kept}\n{granted}",
         {"script": {PROMOTION: [(200, b"<html>"), AGAIN]}}),
        ("no answer, then another", "promotion, three tries",
         f"no answer, {kept}\nserver(503), {kept}\n{granted}",
         {"script": {PROMOTION: [NOTHING, AGAIN]}}),
        ("no DeviceCheck", "promotion without DeviceCheck",
         "featureUnsupported, unanswered []", {}),
    ]:
        run = play(f"DVC-12: {name}", what, printed, **server)
        if what == "promotion, three tries":
            also(suite, run, f"DVC-12: {name}: each its own token", 3,
                 lambda: len({body["deviceToken"] for body in run.asked(PROMOTION)}))


def check_upgrade(suite, play):
    """Check the upgrade and the deletion (BCK-36 to BCK-38)."""
    run = play("BCK-38: a lost answer is asked for again, with the same body", "upgrade",
               "token\njoined: a_joined", script={"v1/account/link": [NOTHING, AGAIN]})
    also(suite, run, "BCK-38: three times the same", 3,
         lambda: run.asked("v1/account/link").count(run.asked("v1/account/link")[0]))
    play("BCK-38: a conflict changes nothing", "upgrade", "token\nthrew server(409) the same: true",
         script={"v1/account/link": [(409, {"status": "conflict"})]})
    play("BCK-37: deleted after the answer, and not before", "delete",
         "token\nthrew server(503) kept: true repeat: true\ndeleted, kept: false repeat: false",
         script={"v1/account/delete": [AGAIN]})


def check_back_end(suite, play):
    """Check that the app and the freemium back end understand each other, with what a device of
    the test authority signs."""
    if back_end.why_not():
        suite.skip("the app against the back end", back_end.why_not())
        return
    for name, scene, wanted, logged, settings in [
        ("BCK-29: an attested sign-up, then a session by the same key",
         "sign up, and go on with the key", r"token\nas1~\S+\nkeys 1", None,
         {"attest_signup": True, "attest_calls": True}),
        ("BCK-29: a session by an attestation, then metered calls", "analyze with a session",
         r'(\{"tier": "free", "plan": "free".*\}\n?){2}', None, {"attest_calls": True}),
        ("BCK-29: a device that cannot attest", "sign up where a device cannot attest", "token",
         None, {"attest_signup": True}),
        ("ATT-26: a development key", "sign in", r"threw server\(401\)\n.*",
         "device refused: rejected.attest.environment",
         {"attest_signup": True, "environment": "Sandbox"}),
        ("BCK-31: a purchase", "buy", re.escape(GRANTED), None, {}),
        ("DVC-12: a promotion, and its repetitions with other tokens", "promotion, three tries",
         r'(\["coins": 5\], unanswered \[\]\n?){3}', None, {"attest_calls": True}),
        ("BCK-37: the deletion, and a repetition in the next account", "delete",
         r"token\n(deleted, kept: false repeat: false\n?){2}", None, {}),
    ]:
        if play.only in name:
            printed, log = back_end.played(BUILD / "scenes", scene, **settings)
            suite.expect(re.fullmatch(wanted, printed), f"{name}, at the back end", printed)
            if logged:
                suite.expect(logged in log, f"{name}: {logged}", log)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    suite = Suite("app-side")
    BUILD.mkdir(parents=True, exist_ok=True)
    stubs()
    if not options.only:
        check_package(suite)
        check_objective_c(suite)
        check_modes(suite)
    scenes()
    play = Player(suite, options.only)
    for check in (check_sign_in, check_calls, check_purchases, check_kills, check_device,
                  check_promotions, check_upgrade, check_texts, check_back_end):
        check(suite, play)
    suite.finish()


if __name__ == "__main__":
    main()
