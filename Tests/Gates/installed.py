#!/usr/bin/env python3
"""Check that an installation by `make install` can be built against and used.

  installed.py CASES --cli BINARY [--suite NAME]

Installs into a temporary folder, builds the C examples with pkg-config (and with CMake if it is
installed), and runs them on evidence of the case table and against the mock Apple. install_tree.py
checks which files are installed and removed.
"""
import argparse
import base64
import hashlib
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import time

import c_ledger
from project import ROOT, run, version
from install_tree import make
from report import Suite

sys.path.insert(0, str(ROOT / "Tests/CLI"))
import faults  # noqa: E402

EXAMPLES = ROOT / "bindings/c/examples"
TESTS = ROOT / "bindings/c/tests"
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
STRICT_CPP = ["-std=c++17", *STRICT[1:]]


def pkg_config(prefix, *arguments):
    environment = dict(os.environ, PKG_CONFIG_PATH=str(prefix / "lib/pkgconfig"))
    return run("pkg-config", *arguments, env=environment)


def check_install(suite, prefix):
    result = make("install-lib", f"PREFIX={prefix}")
    suite.expect(result.returncode == 0, "make install-lib", result.stderr[-1500:])
    said = pkg_config(prefix, "--modversion", "assay").stdout.strip()
    suite.expect(said == version(), "pkg-config knows the version", said)


def build_examples(suite, prefix, folder):
    flags = pkg_config(prefix, "--cflags", "--libs", "assay").stdout.split()
    for name, more in [("verify", ["-lcjson"]), ("receipt", ["-lcjson"]),
                       ("attest", ["-lcjson"]), ("expiry", []), ("product", [])]:
        result = run("gcc", *STRICT, EXAMPLES / f"{name}.c", "-o", folder / name, *flags, *more)
        suite.expect(result.returncode == 0, f"{name}.c builds with pkg-config",
                     result.stderr[:1500])
    sending = [EXAMPLES / f"{name}.c" for name in ("http_step", "body_text")]
    flags_of_curl = run("pkg-config", "--cflags", "--libs", "libcurl", "zlib").stdout.split()
    for program, source in [("run_exchange", EXAMPLES / "run_exchange.c"),
                            ("send", TESTS / "send.c")]:
        result = run("gcc", *STRICT, f"-I{EXAMPLES}", source, *sending, "-o", folder / program,
                     *flags, "-lcjson", *flags_of_curl)
        suite.expect(result.returncode == 0, f"{program}.c builds with pkg-config",
                     result.stderr[:1500])
    for program, source in [("ledger", EXAMPLES / "ledger.c"), ("store", TESTS / "store.c")]:
        result = run("gcc", *STRICT, f"-I{EXAMPLES}", source, EXAMPLES / "sqlite_step.c", "-o",
                     folder / program, *flags, "-lcjson", "-lsqlite3")
        suite.expect(result.returncode == 0, f"{program}.c builds with pkg-config",
                     result.stderr[:1500])
    for program, source in [("verify-cpp", EXAMPLES / "verify.cpp"),
                            ("handles", TESTS / "handles.cpp")]:
        result = run("g++", *STRICT_CPP, source, "-o", folder / program, *flags)
        suite.expect(result.returncode == 0, f"{source.name} builds with pkg-config",
                     result.stderr[:1500])
    program = ("#include <assay.h>\nint main() { return assay_version_number() == "
               "ASSAY_VERSION_NUMBER ? 0 : 1; }\n")
    result = run("g++", "-std=c++11", "-x", "c++", "-", "-o", folder / "plus", *flags,
                 input=program)
    suite.expect(result.returncode == 0, "a C++ program links", result.stderr[:1500])


def text_of(case, name="jws"):
    if name in case:
        return case[name].encode()
    return base64.b64decode(case[name + "Base64"]) if name + "Base64" in case else None


def check_verify(suite, program, environment, cases):
    """Check verify.c with one case of each outcome: verified, and up to twenty refusals."""
    table = json.loads(pathlib.Path(cases).read_text())
    chosen = {}
    for case in table["cases"]:
        if case["call"] == "verify_jws" and text_of(case):
            wanted = case["expect"]["status"]
            # Cases that verify.c cannot pass on: it drops line ends and refuses times out of range.
            if not text_of(case).endswith((b"\n", b"\r")):
                chosen.setdefault((case["kind"], wanted), case)
    suite.expect(any(status == "ok" for _, status in chosen), "the table has good evidence")
    for (kind, wanted), case in sorted(chosen.items())[:60]:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            config = folder / "config.json"
            config.write_text(json.dumps(table["verifiers"][case["verifier"]]))
            evidence = folder / "evidence.jws"
            evidence.write_bytes(text_of(case))
            result = run(program, config, kind, evidence, "--at", case["now"],
                         env=environment, errors="replace")
            first = result.stdout.partition("\n")[0]
            if wanted == "ok":
                good = result.returncode == 0 and first == f"verified: {kind}"
            else:
                good = result.returncode == 1 and first == f"refused:  {wanted}"
            suite.expect(good, f"verify: {case['name']}", f"{result.returncode}, {first}")


def check_cpp(suite, folder, environment, cases):
    """Check verify.cpp with one case of each outcome of a transaction, and what assay.hpp adds."""
    table = json.loads(pathlib.Path(cases).read_text())
    chosen = {}
    for case in table["cases"]:
        if case["call"] == "verify_jws" and case["kind"] == "transaction" and text_of(case) \
                and not text_of(case).endswith((b"\n", b"\r")):
            chosen.setdefault(case["expect"]["status"], case)
    suite.expect("ok" in chosen, "the table has a good transaction")
    config, evidence = folder / "cpp.json", folder / "cpp.jws"
    for wanted, case in sorted(chosen.items())[:30]:
        config.write_text(json.dumps(table["verifiers"][case["verifier"]]))
        evidence.write_bytes(text_of(case))
        result = run(folder / "verify-cpp", config, evidence, "--at", case["now"],
                     env=environment, errors="replace")
        first = result.stdout.partition("\n")[0]
        good = (0, "verified: transaction") if wanted == "ok" else (1, f"refused:  {wanted}")
        suite.expect((result.returncode, first) == good, f"verify.cpp: {case['name']}",
                     f"{result.returncode}, {first}, {result.stderr[:300]}")
        if wanted == "ok":
            suite.expect("  plan    " in result.stdout, "verify.cpp decides", result.stdout)
    for content, line in (("{}x", "refused:  config.document.syntax"), (None, "")):
        config.unlink() if content is None else config.write_text(content)
        result = run(folder / "verify-cpp", config, evidence, env=environment)
        suite.expect((result.returncode, result.stdout.partition("\n")[0]) == (2, line),
                     f"verify.cpp with the configuration {content}", result.stdout + result.stderr)
    result = run(folder / "handles", env=environment)
    suite.expect(result.returncode == 0, "handles, errors and optional texts of assay.hpp",
                 result.stdout + result.stderr)


def run_receipt(program, environment, table, case, blob):
    """Run receipt.c on one input; return its exit code and lines."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        config = folder / "config.json"
        config.write_text(json.dumps(table["verifiers"][case["verifier"]]))
        (folder / "blob").write_bytes(blob)
        command = [program, config, folder / "blob", "--at", case["now"]]
        if "subjectBase64" in case:
            command += ["--device", base64.b64decode(case["subjectBase64"]).hex()]
        result = run(*command, env=environment, errors="replace")
        return result.returncode, result.stdout.splitlines()


def check_receipt(suite, program, environment, cases):
    """Check receipt.c with valid and refused receipts, and one case of each triage result."""
    table = json.loads(pathlib.Path(cases).read_text())
    triage, accepted, refused = {}, [], {}
    for case in table["cases"]:
        wanted = case["expect"]["status"]
        if wanted.startswith("misuse"):
            continue
        if case["call"] == "triage" and (text_of(case, "blob") or b"\n")[-1:] not in b"\r\n":
            triage.setdefault(wanted, (case, text_of(case, "blob")))
        elif case["call"] == "verify_receipt" and text_of(case, "receipt"):
            entry = case, text_of(case, "receipt")
            if wanted == "ok":
                accepted.append(entry)
            elif wanted != "rejected.kind.mismatch":  # the program follows triage's format
                refused.setdefault((case["kind"], wanted), entry)
    suite.expect(triage and accepted and refused, "the table has receipts")
    for wanted, (case, blob) in triage.items():
        _, lines = run_receipt(program, environment, table, case, blob)
        suite.expect(lines and lines[0].startswith(f"triage:   {wanted}, "),
                     f"receipt: {case['name']}", str(lines[:1]))
    for case, blob in accepted[:30]:
        code, lines = run_receipt(program, environment, table, case, blob)
        suite.expect(code == 0 and f"verified: {case['kind']}" in lines,
                     f"receipt: {case['name']}", f"{code}, {lines[:4]}")
    case, raw = next(entry for entry in accepted
                     if entry[0]["kind"] == "app-receipt" and entry[1][:2] == b"\x30\x82")
    code, lines = run_receipt(program, environment, table, case, raw + b"\n")
    suite.expect(code == 1 and "refused:  malformed.app-receipt.trailing" in lines,
                 "receipt: a line end behind octets is not taken away", f"{code}, {lines[:4]}")
    for case, blob in list(refused.values())[:60]:
        code, lines = run_receipt(program, environment, table, case, blob)
        suite.expect(code == 1 and any(line.startswith("refused:  ") for line in lines)
                     and not any(line.startswith("verified: ") for line in lines),
                     f"receipt: {case['name']}", f"{code}, {lines[:4]}")
    result = run(program, env=environment)
    suite.expect(result.returncode == 2, "receipt without arguments", result.stderr)
    for device in ["0", "0g", "", "00" * 17]:
        result = run(program, "config.json", "--device", device, env=environment)
        suite.expect(result.returncode == 2, f"receipt --device {device!r}", result.stderr)


def run_attest(program, environment, table, case, action, record, key_id=None):
    """Run attest.c on one object; return its exit code, its lines, and the record afterwards."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        config, kept = folder / "config.json", folder / "record.json"
        config.write_text(json.dumps(table["verifiers"][case["verifier"]]))
        call = "attestation" if action == "register" else "assertion"
        (folder / "object").write_bytes(text_of(case, call))
        (folder / "data").write_bytes(text_of(case, "clientData"))
        if record is not None:
            kept.write_text(json.dumps(record))
        command = [program, config, action, kept, folder / "object", folder / "data"]
        command.append(key_id_text(case) if action == "register"
                       else record["keyId"] if key_id is None else key_id)
        command += ["--at", case["now"], *(["--hash"] if case["clientDataKind"] == 2 else [])]
        result = run(*command, env=environment, errors="replace")
        after = json.loads(kept.read_text()) if kept.exists() else None
        return result.returncode, result.stdout.splitlines(), after


def key_id_text(case):
    """Return a key id as a program argument: 32 raw bytes become base64."""
    octets = text_of(case, "keyId")
    return base64.b64encode(octets).decode() if len(octets) == 32 else octets.decode()


def attest_cases(table, call):
    """Return accepted cases of a call, and one case of each refusal that the program can reach."""
    chosen = {}
    for case in table["cases"]:
        if case["call"] != call or case["clientDataKind"] not in (1, 2):
            continue
        object_ = text_of(case, call.partition("_")[2])
        if object_ is None or text_of(case, "clientData") is None:
            continue
        if case["expect"]["status"].startswith(("misuse.call", "malformed.attest.key-id")):
            continue  # the program has no arguments for the case
        chosen.setdefault(case["expect"]["status"], case)
    return chosen


def key_record(case):
    key = text_of(case, "publicKey")
    return {"keyId": base64.b64encode(hashlib.sha256(key).digest()).decode(),
            "publicKey": base64.b64encode(key).decode(), "counter": case["counter"]}


def check_attest(suite, program, environment, cases):
    """Check that attest.c registers a key once, accepts a request once, and keeps its record on
    refusals."""
    table = json.loads(pathlib.Path(cases).read_text())
    registered = attest_cases(table, "verify_attestation")
    requested = attest_cases(table, "verify_assertion")
    suite.expect(len(registered) > 1 and "ok" in registered
                 and len(requested) > 1 and "ok" in requested, "the table has App Attest")
    for wanted, case in sorted(registered.items()):
        code, lines, record = run_attest(program, environment, table, case, "register", None)
        if wanted == "ok":
            good = (code == 0 and lines[0] == "verified: attestation" and record["counter"] == 0
                    and len(base64.b64decode(record["publicKey"])) == 65 and record["receipt"])
        else:
            good = code == 1 and lines[:1] == [f"refused:  {wanted}"] and record is None
        suite.expect(good, f"attest register: {case['name']}", f"{code}, {lines[:2]}")
    for wanted, case in sorted(requested.items()):
        before = key_record(case)
        code, lines, after = run_attest(program, environment, table, case, "request", before)
        if wanted == "ok":
            good = code == 0 and lines[0] == "verified: assertion" and \
                after["counter"] > before["counter"]
            again = run_attest(program, environment, table, case, "request", after)
            suite.expect(again[0] == 1 and again[1][0] == "refused:  rejected.assertion.counter"
                         and again[2] == after, "attest: the same assertion again", str(again))
            octets = base64.b64decode(before["keyId"])
            for form, answer in [
                    (base64.urlsafe_b64encode(octets).decode().rstrip("="), lines[0]),
                    (octets.hex(), lines[0]), (octets.hex().upper(), lines[0]),
                    (bytes(32).hex(), "refused:  the record is of another key"),
                    (before["keyId"] + "x", "refused:  malformed.attest.key-id")]:
                other = run_attest(program, environment, table, case, "request", before, form)
                suite.expect((other[0], other[1][0]) == (answer != lines[0], answer),
                             f"attest request with the key id {form}", str(other[:2]))
        else:
            good = code == 1 and lines[:1] == [f"refused:  {wanted}"] and after == before
        suite.expect(good, f"attest request: {case['name']}", f"{code}, {lines[:2]}")
    case = registered["ok"]
    code, _, record = run_attest(program, environment, table, case, "register", {"keyId": "x"})
    suite.expect(code == 2 and record == {"keyId": "x"}, "attest: a record is left alone")
    for arguments in ([], ["c", "register", "r", "o", "d"], ["c", "request", "r", "o", "d"],
                      ["c", "request", "r", "o", "d", "k", "x"], ["c", "other", "r", "o", "d", "k"]):
        result = run(program, *arguments, env=environment)
        suite.expect(result.returncode == 2, f"attest {' '.join(arguments)}", result.stderr)


def sent(program, environment, request, hosts, *more):
    """Run send.c on an HTTP step; return its reply and its log."""
    words = [word for name, url in hosts.items() for word in ("--host", f"{name}={url}")]
    result = run(program, *words, *more, env=environment, input=json.dumps(request))
    return json.loads(result.stdout or "{}"), result.stderr


def check_answers(suite, program, environment, bench):
    """Check the reply to each fault over libcurl (PLY-7), and the log lines (EXC-22)."""
    proxies = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), "http://127.0.0.1:1")
    hosts = {faults.HOST: bench.url}
    for test in bench.answers:
        bench.player.script(*test["rules"])
        began = time.monotonic()
        answer, log = sent(program, {**environment, **proxies}, test["request"], hosts)
        wanted = {each: test[each] for each in ("status", "headers", "body", "truncated")}
        if test["status"] == 0:
            wanted.pop("headers")
        found = {each: answer.get(each) for each in wanted}
        suite.expect(found == wanted and answer["id"] == 7, f"PLY-7: libcurl, {test['name']}",
                     str(answer)[:300])
        suite.expect(not test["late"] or time.monotonic() - began < 2,
                     f"libcurl, {test['name']}: in time")
        line = rf"POST {re.escape(faults.HOST)}/v1/own {test['status']} \d+ ms\n"
        suite.expect(re.fullmatch(line, log), f"libcurl, {test['name']}: one line", log[:300])
    bench.player.script(*bench.answers[0]["rules"])
    for secret, place in [(["url"], ""), (["body", "url"], ""), ([], "/v1/own")]:
        _, log = sent(program, environment, faults.asked(sensitivePaths=secret), hosts)
        line = rf"POST {re.escape(faults.HOST)}{place} 200 \d+ ms\n"
        suite.expect(re.fullmatch(line, log), f"libcurl: the log with secret {secret}", log[:300])
    answer, _ = sent(program, environment, faults.asked(), {faults.HOST: "http://127.0.0.1:1"})
    suite.expect(answer["status"] == 0, "libcurl: nobody listens", str(answer))


def check_certificates(suite, program, environment, bench):
    """Check that only a client that trusts the test authority accepts its certificate, until the
    certificate expires (PLY-4)."""
    request = faults.asked(method="GET", url="https://appleid.apple.com/auth/keys", body=None,
                           maxResponseBytes=1 << 16)
    for what, url, roots, status in [
            ("that is trusted", bench.url, ["--roots", bench.ca], 200),
            ("that is not", bench.url, [], 0),
            ("that has expired", bench.expiredUrl, ["--roots", bench.ca], 0)]:
        answer, _ = sent(program, environment, request, {"appleid.apple.com": url}, *roots)
        suite.expect(answer["status"] == status, f"PLY-4: libcurl, a certificate {what}",
                     str(answer)[:300])


def check_exchanges(suite, program, environment, bench, folder):
    """Run each exchange with each fault to its end (PLY-7); with --at a wait takes no time."""
    (folder / "config.json").write_text(json.dumps(bench.config))
    # The mock's shared secret is a prefix of its root's digest, which other documents contain: only
    # exchanges with a receipt are searched for it.
    shared = list(bench.config["receipts"]["sharedSecrets"].values())
    for test in bench.exchanges:
        bench.player.script(*test["rules"])
        before = len(bench.player.log())
        code, document, log = carried_out(program, environment, bench, folder, test["request"],
                                          "--at", faults.NOW, "--max-wait", 86_400)
        requests = len(bench.player.log()) - before
        status = document["status"]["name"]
        suite.expect((status, requests, code) == (test["status"], test["requests"], status != "ok"),
                     f"PLY-7: run_exchange, {test['name']}", f"{code}, {status} after {requests}")
        receipt = test["request"].get("receipt")
        secrets = ["Bearer ", "-----BEGIN", *([receipt, *shared] if receipt else [])]
        suite.expect(not any(each in log + json.dumps(document) for each in secrets),
                     f"run_exchange: nothing secret after {test['name']}")
    bench.player.script({"nth": 1, "fault": {"status": 503}})
    receipt = bench.exchanges[0]["request"]
    began = time.monotonic()
    code, document, log = carried_out(program, environment, bench, folder, receipt)
    suite.expect(code == 0 and time.monotonic() - began > 1 and log.count("\n") == 2,
                 "run_exchange waits and asks again", f"{code}, {log[:300]}")
    bench.player.script({"nth": 1, "fault": {"status": 503}})
    code, document, _ = carried_out(program, environment, bench, folder, receipt, "--max-wait", 0)
    suite.expect(code == 3 and document["exchange"]["step"] == "wait",
                 "run_exchange without waiting", f"{code}")


def carried_out(program, environment, bench, folder, request, *more):
    """Run run_exchange.c on an exchange; return its exit code, document and log."""
    (folder / "request.json").write_text(json.dumps(request))
    words = [word for name, url in bench.hosts.items() for word in ("--host", f"{name}={url}")]
    result = run(program, folder / "config.json", folder / "request.json", *words, *more,
                 env=environment)
    return result.returncode, json.loads(result.stdout or "{}"), result.stderr


def check_usage(suite, program, environment):
    for arguments in ([], ["c"], ["c", "r", "--host", "a=https://example.com"],
                      ["c", "r", "--host", "a=http://127.0.0.1.example.com"],
                      ["c", "r", "--host", "a=http://127.0.0.1/path"], ["/nonexistent", "r"]):
        result = run(program, *arguments, env=environment)
        suite.expect(result.returncode == 2, f"run_exchange {' '.join(arguments)}", result.stderr)


def check_expiry(suite, program, environment):
    now = 1767225600000
    for arguments, code, word in [
            ([now + 1, "-", "-", now], 0, "ok"), ([now, "-", "-", now], 1, "expired"),
            (["forever", "-", "-", now], 0, "ok"), (["-", now + 1, "-", now], 0, "ok"),
            (["forever", "-", now, now], 1, "revoked"), (["-", "-", "-", now], 1, "expired"),
            (["forever", "-", "-", 5], 1, "misuse.call.now"), ([], 2, "")]:
        result = run(program, *arguments, env=environment)
        suite.expect(result.returncode == code and word in result.stdout,
                     f"expiry {' '.join(map(str, arguments))}", result.stdout)


def check_product(suite, program, environment, cases, folder):
    """Check the manual's example: it refuses old minted evidence by a status name."""
    table = json.loads(pathlib.Path(cases).read_text())
    case = next(case for case in table["cases"] if case["call"] == "verify_jws"
                and case["expect"]["status"] == "rejected.chain.untrusted-root")
    config = folder / "product.json"
    config.write_text(json.dumps(table["verifiers"][case["verifier"]]))
    result = run(program, config, env=environment, input=text_of(case).decode())
    suite.expect(result.returncode == 1 and "rejected.chain" in result.stderr,
                 "product refuses with a name", result.stderr)
    result = run(program, "/nonexistent", env=environment)
    suite.expect(result.returncode == 2, "product without a configuration", result.stderr)
    config.write_text("{}x")
    result = run(program, config, env=environment)
    suite.expect(result.returncode == 2 and '"ok":false' in result.stderr,
                 "product with a configuration that is none", result.stderr)


def check_cmake(suite, prefix, folder, environment):
    if shutil.which("cmake") is None:
        suite.skip("the CMake package", "cmake is not installed")
        return
    build = folder / "cmake"
    result = run("cmake", "-S", EXAMPLES, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
    suite.expect(result.returncode == 0, "find_package(assay)", result.stderr[:1500])
    result = run("cmake", "--build", build)
    suite.expect(result.returncode == 0, "the examples build with CMake",
                 (result.stdout + result.stderr)[-1500:])
    result = run(build / "expiry", "forever", env=environment)
    suite.expect(result.returncode == 0, "the example built with CMake runs", result.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases")
    parser.add_argument("--cli", type=pathlib.Path, required=True)
    parser.add_argument("--suite", default="c")
    options = parser.parse_args()
    suite = Suite(options.suite)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prefix = folder / "prefix"
        environment = dict(os.environ, LD_LIBRARY_PATH=str(prefix / "lib"))
        check_install(suite, prefix)
        build_examples(suite, prefix, folder)
        check_verify(suite, folder / "verify", environment, options.cases)
        check_cpp(suite, folder, environment, options.cases)
        check_receipt(suite, folder / "receipt", environment, options.cases)
        check_usage(suite, folder / "run_exchange", environment)
        with faults.Bench(options.cli) as bench:
            check_answers(suite, folder / "send", environment, bench)
            check_exchanges(suite, folder / "run_exchange", environment, bench, folder)
        with faults.Bench(options.cli, "--tls") as bench:
            check_certificates(suite, folder / "send", environment, bench)
        check_attest(suite, folder / "attest", environment, options.cases)
        check_expiry(suite, folder / "expiry", environment)
        c_ledger.check(suite, folder / "ledger", environment, folder, options.cli)
        c_ledger.check_whole(suite, folder / "store", environment, folder / "whole.db")
        c_ledger.check_grants(suite, folder / "store", environment, folder / "grants.db")
        check_product(suite, folder / "product", environment, options.cases, folder)
        result = run(folder / "plus", env=environment)
        suite.expect(result.returncode == 0, "the C++ program agrees with the header")
        check_cmake(suite, prefix, folder, environment)
    suite.finish()


if __name__ == "__main__":
    main()
