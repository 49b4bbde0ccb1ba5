"""The recipes that ask Apple what a migration left open, each against mock Apple (MIG-42)."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import go
import migrate_world as worlds
import node_tools
from player import Player

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECIPES = ROOT / "examples/migrate"
NODE_PACKAGE = ROOT / "build/node/node_modules/assay"
FILES = ("answers.ndjson", "unknown-to-apple.ndjson")
# A question has a place of its own, so that one that is killed can be seen to be asked again.
PYTHON = """
import json, os, pathlib, sys
import ask
from assay.http import Sender
from assay.ledger import Ledger
folder, config, database, hosts, mode = sys.argv[1:]
send, count = Sender(hosts=json.loads(hosts)), 0
def sender(request):
    global count
    count += 1
    if mode == "killed" and count == 6:
        os._exit(9)
    if mode == "refused":
        return {"id": request["id"], "status": 401, "body": None}
    return send(request)
ask.CHUNK = 1
ledger = Ledger("sqlite:///" + database, pathlib.Path(config).read_text())
print(ask.ask(pathlib.Path(folder), ledger, sender))
"""
NODE = """
import { readFileSync } from "node:fs";
import { Sender } from "assay";
import { Ledger, SQLite } from "assay/ledger";
import { ask } from "./ask.mjs";
const [folder, config, database, hosts, mode] = process.argv.slice(2);
const sender = new Sender({ hosts: JSON.parse(hosts) });
let count = 0;
const send = (request) => {
  count += 1;
  if (mode === "killed" && count === 6) process.exit(9);
  return mode === "refused" ? { id: request.id, status: 401, body: null } : sender.send(request);
};
const ledger = new Ledger(new SQLite(database), readFileSync(config));
console.log(await ask(folder, ledger, send, 1));
"""
PHP = """<?php
require $_SERVER['argv'][1];
[, , $folder, $config, $database, $hosts, $mode] = $_SERVER['argv'];
$send = new Assay\\Sender(json_decode($hosts, true));
$count = 0;
$sender = function (array $request) use ($send, $mode, &$count): array {
    if ($mode === 'killed' && ++$count === 6) {
        exit(9);
    }
    return $mode === 'refused'
        ? ['id' => $request['id'], 'status' => 401, 'body' => null] : $send($request);
};
$ledger = Assay\\Ledger\\Ledger::open('sqlite:' . $database, file_get_contents($config));
echo ask($folder, $ledger, $sender, 1), "\\n";
"""

GO = """package main

import (
\t"context"
\t"encoding/json"
\t"fmt"
\t"os"
\t"time"

\tassay "assay.example/bindings/go"
\t"assay.example/bindings/go/ledger"
\t_ "github.com/mattn/go-sqlite3"
)

func main() {
\tfolder, config, database := os.Args[1], os.Args[2], os.Args[3]
\thosts, mode := os.Args[4], os.Args[5]
\tsender, count := assay.Sender{MaxWait: time.Hour}, 0
\t_ = json.Unmarshal([]byte(hosts), &sender.Hosts)
\tsend := func(ctx context.Context, x *assay.Exchange) (any, error) {
\t\tif x.StepName() != "http" {
\t\t\treturn sender.Send(ctx, x)
\t\t}
\t\tif count++; mode == "killed" && count == 6 {
\t\t\tos.Exit(9)
\t\t}
\t\tif mode == "refused" {
\t\t\tvar step struct{ HTTP struct{ ID int } }
\t\t\t_ = json.Unmarshal(x.Payload(), &step)
\t\t\treturn map[string]any{"id": step.HTTP.ID, "status": 401, "body": nil}, nil
\t\t}
\t\treturn sender.Send(ctx, x)
\t}
\ttext, _ := os.ReadFile(config)
\tshop, err := ledger.Open(context.Background(), "sqlite3", database, string(text))
\tif err == nil {
\t\tcount, err = ask(context.Background(), folder, shop, send, 1)
\t}
\tif err != nil {
\t\tfmt.Println(err)
\t\tos.Exit(1)
\t}
\tfmt.Println(count)
}
"""

SWIFT = """
import AssaySQLite
import AssaySwift
import Foundation

let given = CommandLine.arguments
let hosts = try JSONDecoder().decode([String: URL].self, from: Data(given[4].utf8))
let sender = Sender()
actor Count {
  var sent = 0
  func next() -> Int { sent += 1; return sent }
}
let count = Count()
let shop = try Ledger(sqlite: given[3], Verifier(file: given[2]))
func send(_ step: HTTPStep) async -> HTTPReply {
  if given[5] == "killed", await count.next() == 6 { exit(9) }
  if given[5] == "refused" { return HTTPReply(id: step.id, status: 401) }
  guard let host = step.url.host(), let server = hosts[host],
    var place = URLComponents(url: step.url, resolvingAgainstBaseURL: false)
  else { fatalError("no such host") }
  (place.scheme, place.host, place.port) = ("http", server.host(), server.port)
  var step = step
  (step.url, step.headers) = (place.url!, step.headers + [["Host", host]])
  return await sender.send(step)
}
do {
  print(try await ask(URL(fileURLWithPath: given[1]), shop, send, chunk: 1))
} catch {
  print(error)
  exit(1)
}
"""
SWIFT_MODULES = ROOT / "build/swift"


def swift_program(folder):
    """Build the recipe in Swift with a driver; return (program, None), or (None, why it cannot)."""
    if not (SWIFT_MODULES / "libAssaySQLite.a").exists():
        return None, "make swift-docs was not run"
    (folder / "main.swift").write_text(SWIFT)
    recipe = RECIPES / "swift/Sources/ask"
    program = folder / "ask-swift"
    subprocess.run(
        ["swiftc", "-swift-version", "6", "-Onone", "-warnings-as-errors", "-module-name", "ask",
         "-I", SWIFT_MODULES, "-I", ROOT / "Sources/CLibCrypto", "-I", ROOT / "Sources/CSQLite",
         recipe / "Ask.swift", recipe / "Sender.swift", folder / "main.swift",
         *(SWIFT_MODULES / f"lib{name}.a" for name in ("AssaySQLite", "AssaySwift", "Assay")),
         "-lsqlite3", "-lcrypto", "-lm", "-o", program], check=True)
    return [program], None


def go_program(suite, folder):
    """Build the recipe in Go with a driver; return (command, None), or (None, why it cannot)."""
    if not shutil.which("go"):
        return None, "no Go"
    place = folder / "go"
    shutil.copytree(RECIPES / "go", place)
    (place / "main.go").write_text(GO)
    library = pathlib.Path(os.environ["ASSAY_LIBRARY"]).parent
    variables = go.in_gopath(suite, go.environment(suite.name, library), place)
    if variables is None:
        return None, "a package of Debian is missing"
    subprocess.run(["go", "build", "-o", "ask", "."], cwd=place, env=variables, check=True)
    return ["env", f"LD_LIBRARY_PATH={library}", place / "ask"], None


def hosts_of(suite, folder):
    """Return {host: (command, why it cannot be run)}; the drivers are written into a folder."""
    for name, text in (("drive.py", PYTHON), ("drive.mjs", NODE), ("drive.php", PHP)):
        (folder / name).write_text(text)
    shutil.copy(RECIPES / "ask.mjs", folder)
    program, no_go = go_program(suite, folder)
    swift, no_swift = swift_program(folder)
    (folder / "node_modules").mkdir()
    (folder / "node_modules/assay").symlink_to(NODE_PACKAGE)
    node, why = node_tools.find_program()
    if not NODE_PACKAGE.exists():
        why = "make node was not run"
    php = shutil.which("php")
    return {
        "Python": ([sys.executable, folder / "drive.py"], None),
        "Node.js": ([node, folder / "drive.mjs"], why),
        "PHP": ([php, "-d", "ffi.enable=1", folder / "drive.php", RECIPES / "ask.php"],
                None if php else "no PHP"),
        "Go": (program, no_go),
        "Swift": (swift, no_swift),
    }


def rows():
    """Return what Apple knows, and the rows that a shop has of it, without evidence."""
    periods = [{"product": worlds.MONTHLY, "environment": "Production",
                "originalTransactionId": "1", "transactionId": str(at + 1),
                "webOrderLineItemId": str(at + 1),
                "purchased": worlds.NOW - (70 - at) * worlds.MONTH,
                "expires": worlds.NOW - (69 - at) * worlds.MONTH} for at in range(70)]
    coins = {"product": worlds.COINS, "type": "consumable", "environment": "Sandbox",
             "transactionId": "500", "purchased": worlds.NOW - worlds.DAY}
    return {"purchases": [*periods, coins]}, [
        {"account": "u1", "originalTransactionId": "1"},
        {"account": "u2", "transactionId": "500", "environment": "Sandbox"},
        {"account": "u3", "originalTransactionId": "999"},
        {"account": "u4", "transactionId": "7"}]


def found(folder):
    """Return what the two files have, in short."""
    answers, unknown = ([json.loads(line) for line in (folder / name).read_text().splitlines()]
                        for name in FILES)
    return (sorted((row["account"], row["originalTransactionId"], len(row["evidences"]))
                   for row in answers),
            [(line["account"], line["originalTransactionId"], line["status"]) for line in unknown])


# Apple has pages of 20, a row 32 texts.
WANTED = (sorted([("u1", "1", 32), ("u1", "1", 32), ("u1", "1", 6), ("u2", "500", 1),
                  ("u4", "1", 32), ("u4", "1", 32), ("u4", "1", 6)]),
          [("u3", "999", "rejected.app-store.not-found")])


def check(stage):
    """Ask each host's recipe, migrate its answers."""
    suite = stage.suite
    state, kept = rows()
    (stage.folder / "state.json").write_text(json.dumps(state))
    (stage.folder / "rows.ndjson").write_text("".join(json.dumps(row) + "\n" for row in kept))
    code, report, err = stage.migrate("asks", "--dry-run")
    suite.expect(code == 0 and report["ask"] == {"hearsay": 4}, "MIG-22: four questions", err)
    drivers = stage.folder / "drivers"
    drivers.mkdir()
    with Player(stage.assay.binary, stage.folder, "--state", "state.json",
                clock="live") as player:
        config = stage.config | {"appStoreServerApi": player.config["appStoreServerApi"]}
        (stage.folder / "asking.json").write_text(json.dumps(config))
        for host, (command, why) in hosts_of(suite, drivers).items():
            if why:
                suite.skip(f"MIG-42: {host}", why)
                continue
            answers = check_host(stage, player, host, command)
    (stage.folder / "rows.ndjson").write_bytes((answers / "answers.ndjson").read_bytes())
    words = stage.arguments("answers", "--ledger", f"sqlite:{stage.ledger()}", "--assume",
                            "granted")
    words[words.index("--now") + 1] = str(int(time.time() * 1000))
    done = subprocess.run(words, cwd=stage.folder, capture_output=True, timeout=60, check=False)
    report, err = stage.report("answers"), done.stderr.decode()
    counts = {k: v for k, v in report["purchases"].items() if v}
    suite.expect(done.returncode == 1 and report["rows"]["good"] == 7
                 and counts == {"seen": 141, "distinct": 71, "granted": 1, "conflict": 70},
                 "MIG-42: the answers are rows", f"{counts} {err}")


def check_host(stage, player, host, command):
    """Run one recipe: undisturbed, killed and started again, with a key that Apple refuses."""
    suite, ledger = stage.suite, stage.ledger()
    hosts = json.dumps(dict.fromkeys(player.first["hosts"], player.url))

    def run(name, mode):
        folder = stage.folder / f"asked-{host}-{name}"
        if not folder.exists():
            folder.mkdir()
            shutil.copy(stage.folder / "report-asks/ask.ndjson", folder)
        done = subprocess.run(
            [*map(str, command), str(folder), str(stage.folder / "asking.json"), str(ledger), hosts,
             mode], capture_output=True, text=True, timeout=120, check=False,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(
                [str(RECIPES), str(ROOT / "bindings/python")]), "PYTHONDONTWRITEBYTECODE": "1"})
        return folder, done

    calm, done = run("calm", "calm")
    suite.expect(done.returncode == 0 and done.stdout.strip() == "4" and found(calm) == WANTED,
                 f"MIG-42: {host} asks", f"{found(calm)} {done.stderr}")
    killed, done = run("killed", "killed")
    suite.expect(done.returncode == 9 and json.loads((killed / "asked.json").read_text())[0] == 1,
                 f"MIG-42: {host} is killed", f"{done.returncode} {done.stderr}")
    with (killed / FILES[0]).open("ab") as torn:
        torn.write(b'{"account":"u')
    killed, done = run("killed", "calm")
    suite.expect(done.returncode == 0 and found(killed) == WANTED,
                 f"MIG-42: {host} goes on where it was", f"{found(killed)} {done.stderr}")
    refused, done = run("refused", "refused")
    suite.expect(done.returncode not in (0, 9) and found(refused) == ([], [])
                 and "rejected.app-store.unauthorized" in done.stderr + done.stdout,
                 f"MIG-42: {host} says that Apple refuses the key", done.stderr)
    for folder in (calm, killed):
        modes = {oct((folder / name).stat().st_mode & 0o777) for name in FILES}
        suite.expect(modes == {"0o600"}, f"MIG-42: {host}: the files are the owner's", str(modes))
    return calm
