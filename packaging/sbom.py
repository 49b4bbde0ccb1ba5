"""Write a CycloneDX 1.5 bill of materials: the components linked into the library and, if there is
one, the command line, with licences, digests and package URLs."""
import ctypes
import datetime
import hashlib
import json
import os
import pathlib
import uuid

import linked
from release import ROOT, run, soname, version

SPEC = "1.5"
OURS = "Apache-2.0"
# Names of this project's own parts in the bill.
WHOLE, LIBRARY, PROGRAM, ADDON = "assay", "libassay", "assay-command-line", "assay.node"


def sha256(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def build_info(library):
    """Return the library's description of its own build."""
    loaded = ctypes.CDLL(str(pathlib.Path(library).resolve()))
    loaded.assay_build_info.restype = ctypes.c_char_p
    return json.loads(loaded.assay_build_info())


def needs(path):
    """Return the shared libraries that a file needs."""
    words = run("readelf", "-dW", path, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"})
    return sorted(line.split("[")[1].rstrip("]") for line in words.splitlines()
                  if "(NEEDED)" in line)


def licences(expression):
    return [{"expression": expression}]


def properties(pairs):
    return [{"name": name, "value": value} for name, value in pairs]


def own(ref, name, kind, path, place, pairs):
    """Return a component of this project, with the digest of its file."""
    return {"type": kind, "bom-ref": ref, "name": name, "version": version(),
            "hashes": [{"alg": "SHA-256", "content": sha256(path)}],
            "licenses": licences(OURS), "purl": f"pkg:generic/assay@{version()}#{place}",
            "properties": properties(pairs)}


def shown(path):
    """Return a file's path, relative to the repository if the file is inside."""
    below = os.path.relpath(path, ROOT)
    return path if below.startswith("..") else below


def foreign(one):
    """Return a third-party component with its files and their digests."""
    found = {"type": "library", "bom-ref": one.purl, "name": one.name, "version": one.version,
             "licenses": licences(one.licence), "purl": one.purl}
    digests = {path: sha256(path) for path in sorted(one.files)}
    if len(digests) == 1:
        found["hashes"] = [{"alg": "SHA-256", "content": next(iter(digests.values()))}]
    else:
        whole = "".join(f"{digest}  {path}\n" for path, digest in digests.items())
        found["hashes"] = [{"alg": "SHA-256",
                            "content": hashlib.sha256(whole.encode()).hexdigest()}]
        found["pedigree"] = {"notes": "The digest is that of the list of files below as "
                                      "sha256sum prints it."}
    pairs = [(f"assay:sha256:{shown(path)}", digest) for path, digest in digests.items()]
    if pairs:
        found["properties"] = properties(pairs)
    return found


def merged(*parts):
    """Merge the component that two files have in common."""
    first, *others = [one for one in parts if one]
    for one in others:
        first.files |= one.files
    return first


def document(library, library_map, program, program_map, info, epoch, addon=None):
    """Return the bill as a text. `info` is the library's description of its build; the program may
    be None, and so may the addon of Node.js, into which no archive is linked."""
    in_library = linked.components(library_map)
    in_program = linked.components(program_map) if program else {}
    check_agreement(info, in_library)
    everything = {purl: merged(in_library.get(purl), in_program.get(purl))
                  for purl in {**in_program, **in_library}}
    parts = [
        own(LIBRARY, "libassay", "library", library, f"lib/{soname()}",
            [("assay:commit", info["commit"]),
             ("assay:shape", info["shape"]), ("assay:compiler", info["compiler"]),
             ("assay:libcrypto", info["libcrypto"]),
             *(("assay:needs", name) for name in needs(library))])]
    uses = [(LIBRARY, sorted(in_library))]
    if program:
        parts.append(own(PROGRAM, "assay", "application", program, "bin/assay",
                         [("assay:needs", name) for name in needs(program)]))
        uses.append((PROGRAM, sorted(in_program)))
    if addon:
        parts.append(own(ADDON, ADDON, "library", addon, ADDON,
                         [("assay:needs", name) for name in needs(addon)]))
        uses.append((ADDON, []))
    uses = [(WHOLE, [ref for ref, _ in uses]), *uses, *((purl, []) for purl in sorted(everything))]
    files = "".join(sha256(path) for path in (library, program, addon) if path)
    moment = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc)
    bill = {
        "$schema": f"http://cyclonedx.org/schema/bom-{SPEC}.schema.json",
        "bomFormat": "CycloneDX", "specVersion": SPEC,
        "serialNumber": uuid.uuid5(uuid.NAMESPACE_OID, files).urn,
        "version": 1,
        "metadata": {
            "timestamp": moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "tools": {"components": [{"type": "application", "name": "packaging/sbom.py",
                                      "version": version()}]},
            "component": {"type": "library", "bom-ref": WHOLE, "name": "assay",
                          "version": version(), "licenses": licences(OURS),
                          "purl": f"pkg:generic/assay@{version()}"}},
        "components": parts + [foreign(everything[purl]) for purl in sorted(everything)],
        "dependencies": [{"ref": ref, **({"dependsOn": on} if on else {})} for ref, on in uses],
    }
    return json.dumps(bill, indent=2, ensure_ascii=False) + "\n"


def check_agreement(info, in_library):
    """Check that the linked components agree with the library's description of itself."""
    crypto = [one for one in in_library.values() if "libcrypto" in one.name]
    if [f"OpenSSL {one.version}" for one in crypto] != [info["libcrypto"]]:
        raise SystemExit(f"the library says libcrypto {info['libcrypto']}, the linker's report "
                         f"{[one.version for one in crypto]}")
    swift = [one.version for one in in_library.values() if one.name == "swift"]
    if [f"Swift {number}" for number in swift] != [info["compiler"]]:
        raise SystemExit(f"the library says {info['compiler']}, the linker's report {swift}")
