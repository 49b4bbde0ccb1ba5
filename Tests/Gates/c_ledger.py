"""Check examples/ledger.c, for installed.py: the command line mints purchases, the program grants
them."""
import json
import shutil
import signal
import sqlite3
import subprocess

COINS = ["--type", "consumable", "--product", "com.example.app.coins100"]
MOST_WRITES = 200


class Shop:
    """A folder with a configuration, purchases and a database."""

    def __init__(self, program, environment, folder, cli):
        self.program, self.environment, self.folder = program, environment, folder
        self.cli = cli
        self.config, self.count = folder / "config.json", 4_000_000_000_000_000
        self.folder.mkdir()
        self.database = folder / "shop.db"
        self.purchase()
        config = json.loads((folder / "ca/config.json").read_text())
        self.config.write_text(json.dumps({**config, "ledger": {"engine": "sqlite"}}))
        self.create()

    def create(self):
        command = [self.program, self.config, self.database, "--create"]
        subprocess.run(list(map(str, command)), check=True, env=self.environment)

    def purchase(self):
        """Mint a new purchase and return its file."""
        self.count += 1
        path = self.folder / f"{self.count}.jws"
        command = [self.cli, "mint", "transaction", "--authority",
                   self.folder / "ca", "--out", path, *COINS, "--transaction-id", self.count,
                   "--original-transaction-id", self.count]
        subprocess.run(list(map(str, command)), check=True, capture_output=True)
        return path

    def command(self, account, jws):
        return list(map(str, [self.program, self.config, self.database, account, jws]))

    def claim(self, account, jws, *before):
        """Claim a purchase; return the exit code and the two words that the program prints."""
        result = subprocess.run([*before, *self.command(account, jws)], text=True,
                                capture_output=True, env=self.environment, check=False)
        return result.returncode, result.stdout.strip()

    def rows(self, statement):
        with sqlite3.connect(self.database) as database:
            return database.execute(statement).fetchall()

    def wallet(self):
        return self.rows("SELECT account, quantity FROM wallet")

    def again(self):
        """Replace the database by an empty one."""
        for path in self.folder.glob("shop.db*"):
            path.unlink()
        self.create()


def check(suite, program, environment, folder, cli):
    shop = Shop(program, environment, folder / "shop", cli)
    check_files(suite, shop)
    check_answers(suite, shop)
    check_failures(suite, shop)
    check_together(suite, shop)
    check_kills(suite, shop)


def check_files(suite, shop):
    """Check that a missing database is not created and a relative path is named in the error
    (STO-78)."""
    jws = shop.purchase()
    for path in ("missing.db", "shop.db", str(shop.folder / "missing.db"), "./missing.db"):
        result = subprocess.run([shop.program, shop.config, path, "ann", jws], cwd=shop.folder,
                                env=shop.environment, capture_output=True, text=True, check=False)
        suite.expect(result.returncode == 2 and path in result.stderr, f"ledger: no {path}",
                     result.stderr)
    suite.expect(not (shop.folder / "missing.db").exists(), "ledger: no file is made in passing")
    shop.rows("DROP TABLE assay_purchase")
    command = [shop.program, shop.config, shop.database, "--create"]
    result = subprocess.run(command, env=shop.environment, capture_output=True, text=True,
                            check=False)
    suite.expect(result.returncode == 2 and "config.ledger.schema" in result.stderr,
                 "ledger: a table that is missing is not made", result.stderr)
    shop.again()


def check_answers(suite, shop):
    jws = shop.purchase()
    for account, wanted in [
            ("ann", (0, "granted ok")),
            ("ann", (0, "already-granted rejected.purchase.already-granted")),
            ("bob", (1, "refused-final rejected.purchase.other-account"))]:
        said = shop.claim(account, jws)
        suite.expect(said == wanted, f"ledger: {account} hears {wanted[1]}", str(said))
    suite.expect(shop.wallet() == [("ann", 1)], "ledger: paid out once", str(shop.wallet()))
    forged = shop.folder / "forged.jws"
    forged.write_text(jws.read_text().strip()[:-4] + "AAAA")
    said = shop.claim("ann", forged)
    suite.expect(said == (1, "refused-final rejected.jws.signature"), "ledger: a forged JWS",
                 str(said))
    for arguments in ([], ["c", "d", "a"], ["/nonexistent", "d", "a", str(jws)],
                      [str(shop.config), str(shop.folder), "ann", str(jws)]):
        result = subprocess.run([shop.program, *arguments], env=shop.environment,
                                capture_output=True, check=False)
        suite.expect(result.returncode == 2, f"ledger {' '.join(arguments)}", result.stderr)


def check_failures(suite, shop):
    """Check a grant that fails in the host's own table, and a schema that differs."""
    jws = shop.purchase()
    shop.rows("ALTER TABLE wallet ADD COLUMN other TEXT")
    said = shop.claim("ann", jws)
    suite.expect(said == (3, "deferred unavailable.claim.in-progress"),
                 "ledger: a grant that fails", str(said))
    found = shop.rows("SELECT COUNT(*) FROM assay_purchase WHERE state <> 'granted'")
    suite.expect(found == [(0,)], "ledger: then nothing is claimed", str(found))
    shop.rows("ALTER TABLE wallet DROP COLUMN other")
    said = shop.claim("ann", jws)
    suite.expect(said == (0, "granted ok"), "ledger: a grant that works again", str(said))
    shop.rows("ALTER TABLE assay_purchase_key RENAME COLUMN target TO other")
    said = shop.claim("ann", shop.purchase())
    suite.expect(said == (3, "deferred unavailable.database.statement-failed"),
                 "ledger: another schema", str(said))
    shop.again()


def check_whole(suite, program, environment, database):
    """Check that a transaction of a single step is committed as a whole or not at all (EXC-24)."""
    database.touch()

    def step(mark, *calls):
        return json.dumps({"id": 7, "transaction": mark, "calls": [
            {"sql": text, "args": list(args), "returnsRows": text.startswith("SELECT")}
            for text, *args in calls]})

    add, found = "INSERT INTO t (k) VALUES (?)", ["SELECT k FROM t"]
    refused = {"code": 500, "error": {"code": "19", "executed": "no"}}
    steps = [
        (step(None, ["CREATE TABLE t (k TEXT PRIMARY KEY)"]), {"code": 200, "results": [{}]}),
        (step("single", [add, "a"], found), {"code": 200, "results": [{}, {"rows": [["a"]]}]}),
        (step("single", [add, "b"], [add, "a"]), refused),
        (step("commit", [add, "c"]), {"code": 500, "error": {"code": "21", "executed": "no"}}),
        (step("single", [add, "d"]), {"code": 200, "results": [{}]}),
        (step("begin", [add, "e"]), {"code": 200, "results": [{}]}),
        (step("single", [add, "f"]), {"code": 500, "error": {"code": "21", "executed": "no"}}),
    ]
    result = subprocess.run([program, database], input="\n".join(text for text, _ in steps),
                            env=environment, text=True, capture_output=True, check=False)
    for number, (said, (_, wanted)) in enumerate(zip(result.stdout.splitlines(), steps)):
        suite.expect(json.loads(said) == {"id": 7, **wanted}, f"store: step {number}", said)
    with sqlite3.connect(database) as rows:
        kept = rows.execute("SELECT k FROM t ORDER BY k").fetchall()
    suite.expect(kept == [("a",), ("d",)], "store: what was committed", str(kept))


def check_grants(suite, program, environment, database):
    """Check that a grant that ends or begins a transaction is rolled back (STO-38), and that
    waiting for a lock or a statement ends at its limit (STO-76)."""
    add = "INSERT INTO t (k) VALUES ('%s')"
    with sqlite3.connect(database) as rows:
        rows.execute("CREATE TABLE t (k TEXT PRIMARY KEY)")

    def answers(*lines):
        result = subprocess.run([program, database], input="\n".join(map(json.dumps, lines)),
                                env=environment, text=True, capture_output=True, check=False)
        return [json.loads(line) for line in result.stdout.splitlines()]

    def step(mark, *texts, **limits):
        return {"id": 7, "transaction": mark, "limits": limits,
                "calls": [{"sql": text, "args": [], "returnsRows": False} for text in texts]}

    misuse = {"id": 7, "code": 500, "error": {"code": "transaction", "executed": "unknown"}}
    for texts in (["COMMIT"], ["ROLLBACK"], ["END; BEGIN"], ["BEGIN"], ["RELEASE assay_grant"],
                  ["SAVEPOINT own", "RELEASE assay_grant"]):
        said = answers(step("begin", add % "claim"), {"grant": [add % "grant", *texts]},
                       step(None, "SELECT 1"))
        suite.expect(said[1] == misuse and said[2]["code"] == 200, f"store: grant {texts}",
                     str(said))
    said = answers(step("begin", add % "claim"),
                   {"grant": ["SAVEPOINT own", add % "no", "ROLLBACK TO own", "RELEASE own",
                              add % "; COMMIT"]}, step("commit"))
    suite.expect([one["code"] for one in said] == [200] * 3, "store: an own savepoint", str(said))
    with sqlite3.connect(database, isolation_level=None) as rows:
        kept = rows.execute("SELECT k FROM t ORDER BY k").fetchall()
        suite.expect(kept == [("; COMMIT",), ("claim",)], "store: what was granted", str(kept))
        rows.execute("BEGIN IMMEDIATE")
        said = answers(step("begin", lockMs=50), step(None, add % "a", lockMs=50))
        busy = {"id": 7, "code": 500, "error": {"code": "5", "executed": "no"}}
        suite.expect(said == [busy] * 2, "store: a lock", str(said))
        rows.execute("ROLLBACK")
    slow = ("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c)"
            " SELECT MAX(n) FROM c")
    late = {"id": 7, "code": 500, "error": {"code": "9", "executed": "no"}}
    said = answers(step(None, slow, statementMs=50),
                   step("single", add % "b", slow, statementMs=50))
    suite.expect(said == [late] * 2, "store: a statement that does not end", str(said))


def check_together(suite, shop):
    """Check eight claims of one purchase at once, on a new database."""
    jws = shop.purchase()
    running = [subprocess.Popen(shop.command("ann", jws), env=shop.environment, text=True,
                                stdout=subprocess.PIPE) for _ in range(8)]
    said = sorted(process.communicate()[0].split()[0] for process in running)
    suite.expect(said == ["already-granted"] * 7 + ["granted"], "ledger: eight at once",
                 str(said))
    suite.expect(shop.wallet() == [("ann", 1)], "ledger: paid out once by eight",
                 str(shop.wallet()))


def check_kills(suite, shop):
    """Kill the program at every write to the disk: each purchase is still granted exactly once
    (EXC-24)."""
    if shutil.which("strace") is None:
        suite.skip("ledger: killed at every write", "strace is not installed")
        return
    killed, ended = 0, False
    for place in range(1, MOST_WRITES):
        jws, account = shop.purchase(), f"ann{place}"
        inject = f"inject=pwrite64,fdatasync,fsync:signal=SIGKILL:when={place}"
        code, _ = shop.claim(account, jws, "strace", "-qq", "-o", "/dev/null", "-e", inject)
        ended = code == 0
        if ended:
            break
        # strace ends with the status of the program that it traces.
        killed += code == -signal.SIGKILL
        code, said = shop.claim(account, jws)
        paid = [row for row in shop.wallet() if row[0] == account]
        suite.expect(code == 0 and len(paid) == 1, f"ledger: killed at write {place}",
                     f"{said}, {paid}")
    suite.expect(ended and killed == place - 1 > 3, "ledger: killed at every write",
                 f"{killed} of {place}")
