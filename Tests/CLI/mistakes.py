"""Typical mistakes, each with what is said about it and the remedy that is named (CLI-8).

A row is a command with one mistake. What is shown must have the status, the place, both values
where they are no secret, and a remedy; the remedy is then done, and must help. `first` are
mistakes of a first day, `made` those that were made while this project was built.

The same rows are made through the Python binding, wherever a program can make them.
"""
import base64
import collections
import hashlib
import json
import re

from python_host import PythonHost

NOW = "2026-11-20T12:00:00Z"
NOW_MS = "1795176000000"
ACCOUNT = "0f8fad5b-d9cb-469f-a165-70867728950e"
OTHER = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
MONTHLY = "com.example.app.premium.monthly"
SIGNED = '{"challenge":"abc"}'


class Beside(list):
    """Values that the command line shows beside a refusal, which itself repeats no evidence."""


# Both values of several mistakes, and the remedy.
APPS = Beside(["com.example.app,", "com.example.wrong"])
SANDBOX = Beside(["found +Sandbox", "wanted +Production"])
PRODUCTION = Beside(["found +Production", "wanted +Sandbox"])
ENVIRONMENTS = "see environments in the configuration"

# `words` of the command; "<FILE" is its standard input. `status`, `at`: as they are shown; without
# a status the message is on standard error. `remedy`: words of it. `cure`: the command without the
# mistake, which ends with 0; None: the mistake is understood, and the command itself ends so.
# `python`: status or exception, place and remedy where those of the binding are others; False: no
# program can make it. A row without a status is a mistake of the command line alone.
Mistake = collections.namedtuple(
    "Mistake", "origin what words code status at values remedy cure python", defaults=[None])
WHITE_SPACE = "white space stands before or after the text"


def verify(file, config="good.json", *more):
    return ["verify", file, "--config", config, "--now", NOW, *more]


def decide(file, config="good.json", *more):
    return ["decide", file, "--config", config, "--now", NOW, *more]


def check(config):
    return ["config", "check", config]


def at(now):
    return ["verify", "t.jws", "--config", "good.json", "--now", now]


def attested(client, *more, config="good.json", file="key.b64"):
    return verify(file, config, *client, *more)


def rows(key):
    """The table; `key`: key id and public key of the device whose evidence is minted."""
    good, right = verify("t.jws"), check("good.json")
    nonce, bought = ("--client-data", SIGNED), ("ta.jws", "good.json", "--account")
    transaction = ("good.json", "--kind", "transaction")
    key_id, point = ("--key-id", key["keyId"]), ("--public-key", key["publicKey"])
    table = [
        # ---- evidence of something else ----
        ("first", "the bundle id of another app", verify("t.jws", "bundle.json"), 1,
         "rejected.app.bundle-id", "bundleId", APPS,
         "apps lacks its bundleId", good),
        ("first", "a notification for another app", verify("n.jws", "bundle.json"), 1,
         "rejected.app.bundle-id", "data.bundleId", APPS,
         "apps lacks its bundleId", verify("n.jws")),
        ("first", "the receipt of another app", verify("app.txt", "bundle.json"), 1,
         "rejected.app.bundle-id", "attribute 2", APPS,
         "apps lacks its bundleId", verify("app.txt")),
        ("first", "the Apple ID of another app", verify("np.jws", "number.json"), 1,
         "rejected.app.app-apple-id", "data.appAppleId", Beside(["1234567890, as", "wanted +99"]),
         "the appAppleId of that app in apps is wrong", verify("np.jws")),
        ("first", "Sandbox at Production", verify("t.jws", "production.json"), 1,
         "rejected.environment.not-accepted", "environment", SANDBOX,
         ENVIRONMENTS, good),
        ("first", "Production at Sandbox", verify("tp.jws", "sandbox.json"), 1,
         "rejected.environment.not-accepted", "environment", PRODUCTION,
         ENVIRONMENTS, verify("tp.jws")),
        ("first", "a Sandbox receipt at Production", verify("app.txt", "production.json"), 1,
         "rejected.environment.not-accepted", "attribute 0", SANDBOX,
         ENVIRONMENTS, verify("app.txt")),
        ("made", "minted evidence under Apple's roots", verify("t.jws", "apple.json"), 1,
         "rejected.chain.untrusted-root", r"x5c\[2\]", [], "in a test use its config.json", good),
        ("first", "a purchase of another account", decide(*bought, OTHER), 1,
         "rejected.account.token-mismatch", None, [], "compare the account",
         decide(*bought, ACCOUNT)),
        ("first", "an account that is no UUID", decide(*bought, "u-17"), 2,
         "misuse.decision.account", "account", [], "as a UUID", decide(*bought, ACCOUNT)),

        # ---- another text, another kind ----
        ("first", "the name of a file in place of its text", verify("name.txt", *transaction), 1,
         "malformed.jws.form", "byte 1", [], "not the name of the file", good),
        ("first", "the name of a file, and no kind", verify("name.txt"), 1,
         "malformed.transport.base64", "byte 1", [], "not the name of the file", good, False),
        ("first", "the text in place of a file", verify("TEXT"), 2, None, None, [],
         "give - and the text on standard input", [*verify("-"), "<t.jws"]),
        ("first", "a line end after the text", verify("line.jws"), 0, "ok", None, [], "", None,
         ("malformed.jws.form", r"byte \d{4}", WHITE_SPACE)),
        ("first", "blank lines around the text", verify("blank.jws"), 0, "ok", None, [], "", None,
         ("malformed.jws.form", "byte 0", WHITE_SPACE)),
        ("first", "a file that is not there", verify("gone.jws"), 2, None, None, ["gone.jws"],
         "there is no file", good),
        ("first", "a folder in place of a file", verify("ca"), 2, None, None, ["ca"],
         "is a folder, not a file", good),
        ("first", "renewal info taken for a transaction", verify("r.jws", *transaction), 1,
         "rejected.kind.mismatch", None, ["expected transaction, looks like renewal-info"],
         "verify it as that kind", verify("r.jws")),
        ("first", "a receipt taken for a transaction", verify("app.txt", *transaction), 1,
         "malformed.jws.form", r"byte \d+", [], "a text beginning with MII is a receipt",
         verify("app.txt")),
        ("first", "a kind that there is not", verify("t.jws", *transaction[:2], "transactions"), 2,
         None, None, ["transactions"], "did you mean transaction", good,
         ("ValueError", "", "kind must be one of transaction, ")),
        ("first", "the body of a notification in place of its text", verify("body.json"), 2, None,
         None, ["signedPayload"], "jq -r", verify("n.jws"),
         ("malformed.jws.form", "byte 0", "pass the JWS alone: no JSON wrapper")),
        ("first", "a receipt as the form field brought it", verify(
            "form.txt", *transaction[:2], "app-receipt"), 1, "malformed.transport.base64",
         r"byte \d+", ["form field not decoded"], "have the client encode once", verify("app.txt")),
        ("first", "half of a text", verify("half.jws"), 1, "malformed.jws.signature-length",
         "signature", [], "truncated", good),
        ("first", "an altered text", verify("altered.jws"), 1, "rejected.jws.signature", None, [],
         "was changed: treat it as forged", good),

        # ---- time ----
        ("made", "seconds for milliseconds as now", at(NOW_MS[:-3]), 2, "misuse.call.now", "now_ms",
         Beside([NOW_MS[:-3], "seconds"]), "pass milliseconds since 1970", at(NOW_MS)),
        ("first", "seconds for milliseconds in a payload", verify("seconds.jws"), 1,
         "rejected.date.range", "signedDate", Beside(["1795175940", "in seconds"]),
         "seconds instead of milliseconds", good),
        ("first", "a clock that is slow", at("2026-11-19T12:00:00Z"), 1, "rejected.date.future",
         "signedDate", Beside(["1795175940000", "2026-11-19 12:00"]), "clock is slow: synchronise",
         good),
        ("first", "a date that is none", at("20.11.2026"), 2, None, None, ["--now 20.11.2026"],
         "a date like 2026-01-31", good),

        # ---- the configuration ----
        ("first", "a misspelt member", check("misspelt.json"), 1, "config.document.unknown-member",
         "enviroments", [], "did you mean environments?", right),
        ("first", "a misspelt member of a block", check("block.json"), 1,
         "config.document.unknown-member", "decision.gracePerod", [], "did you mean gracePeriod?",
         right),
        ("made", "a member outside its block", check("outside.json"), 1,
         "config.document.unknown-member", "anchors", [], "did you mean storekit.anchors", right),
        ("first", "a plan that there is not", check("plan.json"), 1, "config.products.form",
         re.escape(f"products.{MONTHLY}.plan"), ["plans are free, standard, premium"],
         "did you mean premium?", right),
        ("first", "quotas of no plan", check("quota.json"), 1, "config.quotas.form",
         "quotas.premum", ["plans are free, standard, premium"], "did you mean premium?", right),
        ("first", "a type that there is not", check("type.json"), 1, "config.products.form",
         re.escape(f"products.{MONTHLY}.type"), ["takes auto-renewable, non-renewing"],
         "did you mean auto-renewable?", right),
        ("first", "an environment in lower case", check("small.json"), 1, "config.document.range",
         r"environments\[0\]", ["takes Production, Sandbox"], "did you mean Production?", right),
        ("first", "one environment without a list", check("one.json"), 1, "config.document.type",
         "environments", ["takes Production, Sandbox"], "write it in a list", right),
        ("first", "Production without the Apple ID", check("none.json"), 1,
         "config.apps.app-apple-id-required", r"apps\[0\].appAppleId", [],
         "copy it from App Store Connect", right),
        ("first", "the Apple ID as a text", check("quoted.json"), 1, "config.apps.form",
         r"apps\[0\].appAppleId", [], "write the number without quotes", right),
        ("first", "a name in place of the team id", check("team.json"), 1, "config.apps.form",
         r"apps\[0\].teamId", ["10 characters of A to Z and 0 to 9"], "teamId has 10 characters",
         right),
        ("first", "a number that is too large", check("range.json"), 1, "config.document.range",
         "clockSkewMs", ["takes 0 to 300000, not 600000"], "takes 0 to 300000", right),
        ("first", "a number as a text", check("text.json"), 1, "config.document.type",
         "clockSkewMs", ["takes 0 to 300000"], "write the number without quotes", right),
        ("first", "a comma too many", check("comma.json"), 1, "config.document.syntax", r"byte \d+",
         [], "JSON", right),
        ("first", "the name of a configuration in place of its text", ["config", "check", "-",
         "<name.json"], 1, "config.document.syntax", "byte 0", [], "not the name of its file",
         right),
        ("first", "a configuration in place of its name", verify("t.jws", '{"apps":[]}'), 2, None,
         None, [], "--config takes the name of a file", good),
        ("made", "the folder of a configuration in place of it", verify("t.jws", "ca"), 2, None,
         None, ["ca is a folder"], "is a folder, not a file", good),
        ("first", "no configuration", ["verify", "t.jws"], 2, None, None, [],
         "assay init writes one", good),

        # ---- decisions ----
        ("first", "a product that the catalogue lacks", decide("t.jws", "bare.json"), 1,
         None, None, [MONTHLY, "unknown-product"], "add it to products if you sell it",
         decide("t.jws"), ("rejected.decision.not-entitled", "", "unknown-product")),
        ("first", "a product of another type", decide("t.jws", "consumable.json"), 1, None, None,
         [MONTHLY, "type-mismatch"], "correct its type in products", decide("t.jws"),
         ("rejected.decision.not-entitled", "", "type-mismatch")),
        ("made", "a misspelt kind before the file", decide("transacton:t.jws"), 2, None, None,
         ["transacton"], "did you mean transaction", decide("transaction:t.jws")),
        ("made", "two files where one is verified", [*verify("t.jws"), "r.jws"], 2, None, None,
         ["r.jws"], "is one argument too many", good),
        ("first", "evidence that decides nothing", decide("a.jws"), 2, "misuse.decision.evidence",
         r"evidence\[0\]", Beside(["a.jws", "app-transaction"]), "pass only documents", decide("t.jws")),

        # ---- App Attest ----
        ("made", "a line end in the file of the client data", attested(
            ("--client-data-file", "signed.line"), *key_id), 1, "rejected.attest.nonce", None, [],
         "trim: the client data matches without", attested(nonce, *key_id)),
        ("made", "the hash of the client data in its place", attested(
            ("--client-data-file", "signed.hash"), *key_id), 1, "rejected.attest.nonce", None, [],
         "data-is-hash: .* pass it as a hash", attested(
             ("--client-data-hash", hashlib.sha256(SIGNED.encode()).hexdigest()), *key_id)),
        ("first", "the name of a file as client data", attested(
            ("--client-data", "signed"), *key_id), 1, "rejected.attest.nonce", None, ["signed"],
         "give it with --client-data-file", attested(("--client-data-file", "signed"), *key_id),
         ("rejected.attest.nonce", r"x5c\[0\]", "other-challenge")),
        ("first", "an attestation without its key id", attested(nonce), 2, None, None, [],
         "--key-id is missing: what the app calls its key", attested(nonce, *key_id),
         ("TypeError", "", "key_id")),
        ("first", "the key id of another key", attested(
            nonce, "--key-id", base64.b64encode(bytes(32)).decode()), 1, "rejected.attest.key-id",
         "key_id", [], "other-key", attested(nonce, *key_id)),
        ("first", "a build from Xcode at Production", attested(
            nonce, *key_id, file="development.b64", config="attest.json"), 1,
         "rejected.attest.environment", None, ["made for development"], "attest.environments",
         attested(nonce, *key_id, file="development.b64")),
        ("first", "an App ID with another team", attested(nonce, *key_id, config="appid.json"), 1,
         "rejected.attest.app-id", None,
         ["'ABCDE12345.com.example.app'", "'ZZZZZ99999.com.example.app'"],
         "compare the App ID in the message with attest.appIds", attested(nonce, *key_id)),
        ("first", "an assertion that was seen before", attested(
            nonce, *point, "--counter", "7", file="request.b64"), 1, "rejected.assertion.counter",
         None, ["sent 7, stored 7"], "the app must send its|a replay", attested(
             nonce, *point, "--counter", "6", file="request.b64")),

        # ---- the command line ----
        ("first", "a command that there is not", ["verfy", "t.jws"], 2, None, None, ["verfy"],
         "did you mean verify?", good),
        ("first", "an option that there is not", [*verify("t.jws"), "--jsn"], 2, None, None,
         ["--jsn"], "did you mean --json?", good),
        ("first", "a rule that there is not", ["explain", "rejected.chain.untrusted-rot"], 2, None,
         None, [], "did you mean rejected.chain.untrusted-root", ["explain", "JWS-20"]),
        ("first", "minting without a folder for keys", ["mint", "transaction"], 2, None, None, [],
         "--authority DIR is missing", ["mint", "transaction", "--authority", "ca"]),
        ("made", "--xcode with a value", ["mint", "transaction", "--authority", "ca", "--xcode",
         "Xcode"], 2, None, None, ["--xcode"], "takes no value",
         ["mint", "transaction", "--authority", "ca", "--xcode"]),
        ("made", "the start of a day's minting, twice", ["init", "good.json"], 2, None, None,
         ["good.json"], "exists already, and is left as it is", ["init", "fresh.json"]),
    ]
    return [Mistake(*row) for row in table]


def prepare(assay):
    """Files of the table; the text of the transaction, which nothing may repeat."""
    def minted(name, *words):
        blob = assay.mint(*words)
        assay.file(name, blob.strip() if name.endswith(("jws", "txt")) else blob)
        return blob.strip()

    jws = minted("t.jws", "transaction")
    minted("tp.jws", "transaction", "--environment", "Production")
    minted("ta.jws", "transaction", "--account", ACCOUNT)
    minted("seconds.jws", "transaction", "--set", "signedDate=1795175940")
    minted("r.jws", "renewal-info")
    minted("a.jws", "app-transaction")
    minted("np.jws", "notification", "--environment", "Production")
    note = minted("n.jws", "notification")
    receipt = minted("app.txt", "app-receipt")
    minted("key.b64", "attestation", "--client-data", SIGNED)
    minted("development.b64", "attestation", "--client-data", SIGNED, "--environment", "Sandbox")
    minted("request.b64", "assertion", "--client-data", SIGNED, "--counter", "7")
    for name, content in {
            "name.txt": b"t.jws", "name.json": b"ca/config.json", "line.jws": jws + b"\n",
            "blank.jws": b"\n\r\n  " + jws + b"\r\n\n", "half.jws": jws[:-20],
            "altered.jws": jws[:-6] + (b"AAAAAA" if jws[-6:] != b"AAAAAA" else b"BBBBBA"),
            "body.json": json.dumps({"signedPayload": note.decode()}).encode(),
            "form.txt": receipt.replace(b"+", b"%2B").replace(b"/", b"%2F").replace(b"=", b"%3D"),
            "signed": SIGNED.encode(), "signed.line": SIGNED.encode() + b"\n",
            "signed.hash": hashlib.sha256(SIGNED.encode()).digest()}.items():
        assay.file(name, content)
    good = json.loads((assay.folder / "ca/config.json").read_text())
    product = good["products"][MONTHLY]

    def config(name, without=(), **changes):
        changed = {key: value for key, value in {**good, **changes}.items() if key not in without}
        assay.file(name + ".json", json.dumps(changed).encode())

    def app(**changes):
        entry = {**good["apps"][0], **changes}
        return [{key: value for key, value in entry.items() if value is not None}]

    def sold(**changes):
        return {**good["products"], MONTHLY: {**product, **changes}}

    config("good")
    config("bundle", apps=app(bundleId="com.example.wrong"))
    config("number", apps=app(appAppleId=99))
    config("production", environments=["Production"])
    config("sandbox", environments=["Sandbox"])
    config("apple", without=["storekit"])
    config("misspelt", without=["environments"], enviroments=["Production"])
    config("block", decision={"gracePerod": True})
    config("outside", without=["storekit"], anchors=good["storekit"]["anchors"])
    config("plan", products=sold(plan="premum"))
    config("quota", quotas={"premum": {"calls": 5}})
    config("type", products=sold(type="auto-renewing"))
    config("small", environments=["production"])
    config("one", environments="Sandbox")
    config("none", apps=app(appAppleId=None))
    config("quoted", apps=app(appAppleId="1234567890"))
    config("team", apps=app(teamId="My Team"))
    config("range", clockSkewMs=600_000)
    config("text", clockSkewMs="60000")
    config("bare", products={})
    config("consumable", products=sold(type="consumable"))
    config("attest", attest={**good["attest"], "environments": ["production"]})
    config("appid", attest={**good["attest"], "appIds": ["ZZZZZ99999.com.example.app"]})
    assay.file("comma.json", json.dumps(good)[:-1].encode() + b",}")
    return jws.decode()


def check_mistakes(suite, assay):
    jws = prepare(assay)
    key = json.loads((assay.folder / "ca/device.json").read_text())

    def run(words):
        given = [word for word in words if word.startswith("<")]
        stdin = (assay.folder / given[0][1:]).read_bytes() if given else b""
        words = [jws if word == "TEXT" else word for word in words if word not in given]
        code, out, err = assay.run(*words, stdin=stdin)
        return code, out.decode(errors="replace") + err

    table = rows(key)
    for row in table:
        code, shown = run(row.words)
        # Everything that is wrong with what is shown about one mistake.
        wrong = [] if code == row.code else [f"exit code {code}, not {row.code}"]
        if row.status and not re.search(rf"(?m)  {re.escape(row.status)}$", shown):
            wrong.append(f"not the status {row.status}")
        if row.at and not re.search(rf"(?m)^  at +{row.at}$", shown):
            wrong.append(f"not the place {row.at}")
        wrong += [f"not {each}" for each in row.values if not re.search(each, shown)]
        if row.remedy and not re.search(row.remedy, shown):
            wrong.append(f"not the remedy {row.remedy}")
        if jws[-60:] in shown:
            wrong.append("the evidence is repeated")
        suite.expect(not wrong, f"CLI-8: {row.what}", "; ".join(wrong) + "\n" + shown)
        if row.cure:
            code, shown = run(row.cure)
            suite.expect(code == 0, f"CLI-8: {row.what}: the remedy helps", f"{code} {shown}")
    check_python(suite, PythonHost(assay.folder), table, jws)
    for origin, least in [("first", 30), ("made", 10)]:
        count = sum(row.origin == origin for row in table)
        suite.expect(count >= least, f"CLI-8: {least} mistakes {origin}", str(count))


def check_python(suite, host, table, jws):
    """Check that the binding says the same about a mistake, and takes what the remedy says."""
    made = [row for row in table if row.python or row.status and row.python is None]
    for row in made:
        status, at, remedy = row.python or (row.status, row.at, row.remedy)
        found, place, shown = host.run(row.words)
        wrong = [] if found == status else [f"not the status {status}"]
        if at is not None and not re.fullmatch(at, place):
            wrong.append(f"not the place {at}")
        values = [] if row.python or isinstance(row.values, Beside) else row.values
        wrong += [f"not {each}" for each in [*values, remedy] if not re.search(each, shown)]
        if jws[-60:] in shown:
            wrong.append("the evidence is repeated")
        suite.expect(not wrong, f"CLI-8: {row.what}, in Python",
                     f"{'; '.join(wrong)}\n{found} at {place}: {shown}")
        if row.cure:
            found = host.run(row.cure)
            suite.expect(found[0] == "ok", f"CLI-8: {row.what}: the remedy helps in Python", found)
    suite.expect(len(made) >= 40, "CLI-8: 40 mistakes in Python", str(len(made)))
