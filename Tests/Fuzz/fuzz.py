#!/usr/bin/env python3
"""Run the fuzz targets (see Makefile).

  fuzz.py link                    one name for each target beside the program
  fuzz.py replay                  every corpus once; a suite line at the end
  fuzz.py run TARGET --runs N     one target
  fuzz.py fuzz --seconds N        every target for N seconds
  fuzz.py million [--runs N]      all targets, N executions together (10 million)
  fuzz.py merge [TARGET]          add what runs found, minimised
  fuzz.py add TARGET FILE...      add these inputs unchanged

The corpus of a target is corpus/TARGET.tar: each input under the first 16 digits of its
SHA-1, in that order, without times and owners, so that the same inputs are the same bytes.
`tar -xf` unpacks it; the commands here do so below OUT/corpus, each time again.

Finds are in OUT/finds/TARGET; the table at the end has the number of executions
of each target.
"""
import argparse
import hashlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

HERE = pathlib.Path(__file__).resolve().parent
OUT = pathlib.Path(os.environ.get("ASSAY_FUZZ_OUT", HERE.parent.parent / "build" / "fuzz"))
PROGRAM = OUT / "assay-fuzz"
CORPUS = HERE / "corpus"
DICTIONARIES = HERE / "dictionaries.txt"

# Maps each name to (longest input, dictionary, share of a long run).
TARGETS = {
    "verify-jws": (4096, "jws", 6),
    "signed-payload": (3072, "payload", 12),
    "signed-notification": (4096, "payload", 6),
    "header": (1024, "header", 6),
    "certificate": (2048, "der", 12),
    "verifier-new": (4096, "config", 6),
    "decide": (4096, "payload", 6),
    "transaction-receipt": (2048, "receipt", 6),
    "app-receipt": (2048, "attributes", 4),
    "receipt-response": (8192, "answer", 12),
    "receipt-answer": (4096, "answer", 6),
    "triage": (8192, "receipt", 6),
    "receipts-config": (4096, "config", 2),
    "attestation": (2048, "attest", 3),
    "assertion": (4096, "attest", 8),
    "attest-receipt": (2048, "attest", 8),
    "keyset-new": (4096, "token", 6),
    "verify-token": (3072, "token", 10),
    "exchange": (2048, "exchange", 14),
    "refund-answer": (2048, "refund", 6),
    "exchange-steps": (8192, "answer", 4),
    "ledger-operation": (2048, "store", 6),
    "ocsp-response": (4096, "der", 6),
    "attest-config": (4096, "config", 1),
    "check-expiry": (48, None, 10),
    "document-path": (160, "path", 14),
    "json": (8192, "payload", 14),
    "base64": (256, None, 14),
    "der": (1024, "der", 14),
    "transport": (512, "receipt", 14),
    "property-list": (1024, "receipt", 20),
    "purchase-info": (1536, "receipt", 14),
    "signature-blob": (512, None, 6),
    "ber": (512, "attributes", 20),
    "receipt-attributes": (1024, "attributes", 14),
    "cbor": (512, "attest", 20),
    "auth-data": (512, "attest", 20),
}
# Maps the words of a line of dictionaries.txt to their forms.
FORMS = {"word": ["{}"], "name": ['"{}":'], "text": ['"{}"'], "both": ['"{}":', '"{}"']}
TOTAL = 10_000_000
# The most inputs of a corpus. All corpora together must stay below 750 kB, with inputs of all
# sizes.
CORPUS_INPUTS = 100
CORPUS_BYTES = 24_000
# A trap raises SIGILL, which is a find, as is an input that takes longer than the time-out.
OPTIONS = ["-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1", "-handle_ill=1",
           "-verbosity=1"]


def environment():
    leaks = "detect_leaks=1" if can_look_for_leaks() else "detect_leaks=0"
    options = os.environ.get("ASAN_OPTIONS", "allocator_may_return_null=1")
    return dict(os.environ, SWIFT_BACKTRACE="enable=no", ASAN_OPTIONS=options + ":" + leaks,
                LSAN_OPTIONS=f"print_suppressions=0:suppressions={HERE / 'leaks.supp'}")


def can_look_for_leaks():
    """Return whether this container permits LeakSanitizer to stop the process."""
    flag = OUT / "leaks"
    if not flag.exists():
        run = subprocess.run(
            [str(OUT / "base64"), "-runs=1"], capture_output=True, text=True,
            env=dict(os.environ, ASAN_OPTIONS="detect_leaks=1", SWIFT_BACKTRACE="enable=no",
                     LSAN_OPTIONS=f"suppressions={HERE / 'leaks.supp'}"))
        flag.write_text("yes" if run.returncode == 0 else "no")
    return flag.read_text() == "yes"


def link():
    for name in [*TARGETS, "replay"]:
        place = OUT / name
        if not place.exists() or place.stat().st_ino != PROGRAM.stat().st_ino:
            place.unlink(missing_ok=True)
            os.link(PROGRAM, place)
    (OUT / "leaks").unlink(missing_ok=True)


def digest(octets):
    return hashlib.sha1(octets).hexdigest()[:16]


def packed(name):
    """Return the inputs of a target's corpus by their names."""
    path = CORPUS / f"{name}.tar"
    if not path.exists():
        return {}
    with tarfile.open(path) as archive:
        found = {entry.name: archive.extractfile(entry).read() for entry in archive}
    if any(digest(octets) != key for key, octets in found.items()):
        sys.exit(f"{path}: an input is not what its name says")
    return found


def unpack(name):
    """Unpack a target's corpus into a new folder, and return the folder."""
    folder = OUT / "corpus" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for key, octets in packed(name).items():
        (folder / key).write_bytes(octets)
    return folder


def pack(name, inputs):
    """Write a target's corpus; the inputs are bytes, in any order."""
    with tarfile.open(CORPUS / f"{name}.tar", "w", format=tarfile.USTAR_FORMAT) as archive:
        for key, octets in sorted({digest(octets): octets for octets in inputs}.items()):
            entry = tarfile.TarInfo(key)
            entry.size = len(octets)
            archive.addfile(entry, io.BytesIO(octets))


def replay():
    """Run each corpus once, all in one process; every input counts."""
    passed = failed = 0
    wanted = []
    for name in TARGETS:
        inputs = sorted(unpack(name).iterdir())
        if not inputs:
            print(f"FAILED {name}: its corpus is empty")
            failed += 1
        wanted += [f"{name} {path}" for path in inputs]
    run = subprocess.run([str(OUT / "replay")], input="\n".join(wanted) + "\n",
                         capture_output=True, text=True, errors="replace", env=environment())
    executed = set(re.findall(r"^executed (.*) in \d+ ms$", run.stdout, re.M))
    passed = sum(line in executed for line in wanted)
    if run.returncode != 0 or passed != len(wanted):
        failed += 1
        begun = re.findall(r"^begin (.*)$", run.stdout, re.M)
        print(f"FAILED fuzz-replay: {passed} of {len(wanted)} inputs, status {run.returncode}; "
              f"the last that began: {begun[-1] if begun else 'none'}")
        print("\n".join("  " + line for line in run.stderr.splitlines()[-40:]))
    print(f"suite fuzz-replay: {passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


def words(name):
    """Return the words of a dictionary as libFuzzer writes them."""
    found = []
    for line in DICTIONARIES.read_text().splitlines():
        if not line.startswith(name + " "):
            continue
        kind, *rest = line.split()[1:]
        if kind == "with":
            found += words(rest[0])
        else:
            found += [form.format(word).replace('"', r"\x22")
                      for form in FORMS[kind] for word in rest]
    return found


def dictionary(name):
    """Write the words to a new file, and return its path."""
    path = OUT / "dictionaries" / f"{name}.dict"
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f'"{word}"\n' for word in words(name)))
    return path


def run_target(name, limits):
    """Fuzz one target; return executions, finds, seconds."""
    longest, own_words, _ = TARGETS[name]
    grown = OUT / "grown" / name
    finds = OUT / "finds" / name
    logs = OUT / "logs"
    for folder in (grown, finds, logs):
        folder.mkdir(parents=True, exist_ok=True)
    known = set(finds.iterdir())
    command = [str(OUT / name), *OPTIONS, f"-max_len={longest}",
               f"-artifact_prefix={finds}/", *limits]
    if own_words:
        command.append(f"-dict={dictionary(own_words)}")
    command += [str(grown), str(unpack(name))]
    log = logs / f"{name}.log"
    with log.open("w") as out:
        code = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT,
                              env=environment()).returncode
    text = log.read_text(errors="replace")
    numbers = re.findall(r"stat::number_of_executed_units:\s*(\d+)", text)
    if not numbers:
        numbers = re.findall(r"^#(\d+)\s", text, re.M)[-1:]
    covered = re.findall(r"cov: (\d+)", text)
    answers = "".join(f"{int(each):,} answers, "
                      for each in re.findall(r"^answers given: (\d+)", text, re.M)[-1:])
    new = sorted(set(finds.iterdir()) - known)
    print(f"{name:20} {int(numbers[-1]) if numbers else 0:>12,} executions, {answers}"
          f"{covered[-1] if covered else '?':>6} edges, {len(new)} finds, status {code}",
          flush=True)
    for path in new:
        print(f"  find: {path}; its trace: {log}", flush=True)
    return int(numbers[-1]) if numbers else 0, len(new) + (code != 0 and not new)


def run_all(limits):
    total = found = 0
    for name in TARGETS:
        executed, finds = run_target(name, limits(name))
        total += executed
        found += finds
    print(f"{'all':20} {total:>12,} executions, {found} finds")
    return 1 if found else 0


def million(runs):
    shares = sum(share for _, _, share in TARGETS.values())
    # Rounded up, so that the total is reached.
    return run_all(lambda name: [f"-runs={-(-runs * TARGETS[name][2] // shares)}"])


def merge(names):
    """Grow the committed corpora by what adds coverage, small inputs first."""
    for name in names:
        small = OUT / "merged" / name
        shutil.rmtree(small, ignore_errors=True)
        small.mkdir(parents=True)
        sources = [unpack(name), OUT / "grown" / name]
        sources = [str(folder) for folder in sources if folder.is_dir()]
        subprocess.run([str(OUT / name), "-set_cover_merge=1", "-timeout=10", "-rss_limit_mb=2048",
                        f"-max_len={TARGETS[name][0]}", str(small), *sources],
                       check=True, capture_output=True, env=environment())
        taken, size = [], 0
        inputs = sorted(small.iterdir(), key=lambda each: (each.stat().st_size, each.name))
        step = max(1, -(-len(inputs) // CORPUS_INPUTS))
        for path in inputs[::step]:
            if size + path.stat().st_size <= CORPUS_BYTES:
                taken.append(path.read_bytes())
                size += path.stat().st_size
        pack(name, taken)
        print(f"{name:20} {len(taken):>5} inputs, {size:>8,} bytes", flush=True)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command",
                        choices=["link", "replay", "run", "fuzz", "million", "merge", "add"])
    parser.add_argument("target", nargs="?", choices=list(TARGETS))
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--runs", type=int)
    parser.add_argument("--seconds", type=int, default=60)
    options = parser.parse_args()
    if options.command == "link":
        return link()
    if options.command == "replay":
        return replay()
    if options.command == "merge":
        return merge([options.target] if options.target else list(TARGETS))
    if options.command in ("run", "add") and not options.target:
        parser.error(f"{options.command} needs a target: " + " ".join(TARGETS))
    if options.command == "add":
        return pack(options.target, [*packed(options.target).values(),
                                     *(path.read_bytes() for path in options.files)])
    if options.command == "run":
        _, finds = run_target(options.target, [f"-runs={options.runs or 100_000}"])
        return 1 if finds else 0
    if options.command == "fuzz":
        return run_all(lambda name: [f"-max_total_time={options.seconds}"])
    return million(options.runs or TOTAL)


if __name__ == "__main__":
    sys.exit(main())
