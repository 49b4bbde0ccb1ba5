#!/usr/bin/env python3
"""Check that a built library touches nothing of its host but memory.

  guest.py PROGRAM CASES LIBRARY_FOLDER [--suite NAME]

Runs Tests/ABI/guest.c (or a similar program, where the host has no libcrypto) over the whole case
table, and again under strace. Variables are set that would change the Swift runtime and libcrypto
if they read them. From start to end the program opens only libraries and the case table, installs
no signal handler, connects to nothing, and starts no program or thread. Where tracing is not
permitted, this part is skipped by name.

libcrypto's configuration file has no effect if libcrypto is inside the library. The host's OpenSSL
3 reads it, and a file that removes algorithms that Assay needs leads to a status of its own.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from project import soname
from hardening import readelf
from report import Suite

# Variables with a visible effect if read: output, signal handlers, opened files.
TEMPTING = {
    "SWIFT_BACKTRACE": "enable=yes,color=yes,swift-backtrace=/bin/true",
    "SWIFT_DEBUG_HELP": "1",
    "SWIFT_ROOT": "/nowhere",
    "OPENSSL_ia32cap": "0",
    "OPENSSL_MODULES": "/nowhere",
    "OPENSSL_ENGINES": "/nowhere",
}
# Configurations of libcrypto: without effect; with preferred properties only; and two that remove
# algorithms that Assay needs.
HARMLESS, PREFERRED, FOREIGN, BARE = [
    f"openssl_conf = all\n[all]\n{text}\n" for text in (
        "", "alg_section = wish\n[wish]\ndefault_properties = ?fips=yes",
        "alg_section = demand\n[demand]\ndefault_properties = fips=yes",
        "providers = active\n[active]\nnull = one\n[one]\nactivate = 1")]
LACKS = "config.libcrypto.algorithms"
# Prints the status with which a verifier without a configuration is refused.
REFUSED = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
library.assay_status_name.restype = ctypes.c_char_p
made, document = ctypes.c_void_p(), ctypes.c_void_p()
status = library.assay_verifier_new(b"{}", ctypes.c_size_t(2), ctypes.byref(made),
                                    ctypes.byref(document))
print(library.assay_status_name(status).decode(), bool(made))
"""
CALL = re.compile(r"^(?:\[pid +\d+\] |\d+ +)?(\w+)\((.*)")
PATH = re.compile(r'"((?:[^"\\]|\\.)*)"')
LIBRARIES = re.compile(r"^/etc/ld(\.so\.(cache|preload)|-musl-\w+\.path)$|\.so(\.[0-9]+)*$|/glibc-hwcaps(/|$)")
# Calls by which the loader also searches folders of libraries.
LOOKS = {"open", "openat", "openat2", "creat", "stat", "lstat", "newfstatat", "statx", "access",
         "faccessat", "faccessat2", "readlink", "readlinkat"}
HANDLERS = {"rt_sigaction", "sigaltstack", "signalfd", "signalfd4"}
STARTS = {"fork", "vfork", "clone", "clone3", "execveat", "socket", "connect", "bind"}


def environment(folder, config):
    return {**os.environ, **TEMPTING, "LD_LIBRARY_PATH": str(folder), "OPENSSL_CONF": str(config)}


def foreign_path(arguments, allowed):
    """Return the path in a call's arguments; None if it is a library or allowed."""
    found = PATH.search(arguments)
    if not found or not found[1]:  # the call uses an open descriptor
        return None
    path = found[1]
    if LIBRARIES.search(path) or any(path == own or path.startswith(own + "/")
                                     for own in allowed):
        return None
    return path


def offences(lines, allowed):
    """Yield the traced calls that the library must not make."""
    started = False
    for line in lines:
        found = CALL.match(line)
        if not found:
            continue
        name, arguments = found.groups()
        if name == "execve" and not started:
            started = True
        elif name in HANDLERS or name in STARTS or name == "execve":
            yield line.strip()[:160]
        elif name in LOOKS and (path := foreign_path(arguments, allowed)):
            yield f"{name} {path}"


def is_configured(folder):
    """Return whether the library links to the host's OpenSSL 3."""
    return "[libcrypto.so.3]" in readelf("-d", folder / soname())


def check_configuration(suite, options, config):
    """Check the effect of libcrypto's configuration file."""
    configured = is_configured(options.folder)
    for text in (HARMLESS, PREFERRED, FOREIGN, BARE):
        config.write_text(text)
        lacks = configured and text in (FOREIGN, BARE)
        if lacks:
            said = subprocess.run([sys.executable, "-c", REFUSED, options.folder / soname()],
                                  capture_output=True, text=True,
                                  env=environment(options.folder, config))
            suite.expect(said.stdout.strip() == f"{LACKS} False",
                         f"a libcrypto without algorithms is told of: {text!r}",
                         said.stdout + said.stderr[-300:])
        else:
            # If the file is not read, a sample of the calls proves as much (Tests/ABI/cases.h).
            few = {} if configured or text is HARMLESS else {"ASSAY_EVERY": "50"}
            run = subprocess.run([options.program, options.cases], capture_output=True,
                                 text=True, env={**environment(options.folder, config), **few})
            suite.expect(run.returncode == 0, "all calls; the host's error queue stands; under "
                         f"{text!r}", run.stdout[-300:])
    config.write_text(HARMLESS)


def check_trace(suite, options, config, trace):
    command = ["strace", "-f", "-o", str(trace), "-e",
               "trace=%file,%process,%network,rt_sigaction,sigaltstack,signalfd,signalfd4"]
    try:
        subprocess.run([*command, "true"], check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        why = (getattr(error, "stderr", "") or str(error)).strip().splitlines()[-1:]
        suite.skip("what the system is asked for", f"strace: {' '.join(why)}")
        return
    run = subprocess.run([*command, options.program, options.cases], capture_output=True,
                         text=True, env=environment(options.folder, config))
    suite.expect(run.returncode == 0, "all calls under strace", run.stdout[-300:])
    suite.expect("runtime" not in run.stderr, "nothing is printed", run.stderr[:300])
    text = trace.read_text(errors="replace")
    allowed = [options.program, options.cases, str(options.folder)]
    if is_configured(options.folder):
        allowed.append(str(config))
        suite.expect(str(config) in text, "the host's libcrypto reads its configuration")
    found = list(offences(text.splitlines(), allowed))
    for call in sorted(set(found)):
        suite.expect(False, "asks the system for memory alone", call)
    suite.expect(not found, "asks the system for memory alone")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("cases")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--suite", default="guest")
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    suite = Suite(options.suite)
    with tempfile.TemporaryDirectory() as scratch:
        config = pathlib.Path(scratch, "openssl.cnf")
        check_configuration(suite, options, config)
        check_trace(suite, options, config, pathlib.Path(scratch, "trace"))
    suite.finish()


if __name__ == "__main__":
    sys.exit(main())
