"""Generate two manual pages from the header and the table of statuses: assay(3), every function
with arguments, result, ownership and threads, and assay-statuses(7), every status with its cause
and remedy."""
import re
import sys

import mdoc
from contract.reader import ROOT, Contract

EXAMPLE = "bindings/c/examples/product.c"
# Parameters that the header describes once, under Inputs, Outputs and Time.
PARAMETERS = {
    "verifier": "A verifier. Many threads may use it at once.",
    "doc": "A document. Many threads may read it at once.",
    "exchange": "An exchange. One thread at a time.",
    "status": "What a call returned.",
    "path": "Dotted path of a member, like transaction.productId.",
    "fallback": "What is returned when there is no such integer.",
    "config": "The configuration, JSON.",
    "jws": "The compact JWS.",
    "kind": "What the evidence must turn out to be.",
    "receipt": "The receipt, raw or base64.",
    "blob": "Any bytes that a client sent.",
    "body": "The answer of the endpoint, JSON.",
    "attestation": "The attestation object: CBOR, or its base64.",
    "assertion": "The assertion object: CBOR, or its base64.",
    "client_data": "What the app signed, or the hash of it.",
    "client_data_kind": "How client_data is handed in: ASSAY_CLIENT_DATA or "
                        "ASSAY_CLIENT_DATA_HASH.",
    "evidence": "Verified documents, as many as evidence_count says.",
    "jwks": "The JSON Web Key Set, as the issuer publishes it.",
    "keys": "The key set of the issuer whose tokens are verified.",
    "request": "What the exchange is about, JSON.",
    "reply": "What the last step brought, JSON.",
    "now_ms": "The current time: milliseconds since 1970-01-01 UTC.",
    "expires_ms": "End of the paid period, or ASSAY_NO_DATE.",
    "grace_ms": "End of the grace period, or ASSAY_NO_DATE.",
    "revoked_ms": "Date of a refund or revocation, or ASSAY_NO_DATE.",
    "status": "A status, of any call.",
    "len": "Receives the length without the terminator; may be NULL.",
}
LENGTH = "Length of {} in bytes."
COUNT = "Number of documents."
RESULTS = {
    "assay_status": "ASSAY_OK: verified, every check passed. Anything else: do not trust; "
                    "status & 0xff is the family.",
    "const char*": "Text that is not to be freed; {owner}.",
    "assay_status_next": "Another status.",
    "int32_t": "The number.",
    "uint32_t": "The number, major * 10000 + minor * 100 + patch.",
    "int64_t": "The integer, or the fallback.",
}


# ---- prose of the header -------------------------------------------------------


def conventions(text):
    """Return the list under CONVENTIONS in the header: (name, sentences)."""
    block = text[text.index("CONVENTIONS"):text.index("*/")]
    found = []
    for line in block.splitlines()[1:]:
        line = line.strip().lstrip("*")
        named = re.match(r"   ([A-Z]\w+|fork)\s{2,}(.*)", line)
        if named:
            found.append([named[1], named[2]])
        elif found and line.strip():
            found[-1][1] += " " + line.strip()
    if not found:
        sys.exit("assay.h: no conventions")
    return found


def types(text):
    """Return (name, description) of each typedef."""
    found = re.findall(r"/\*\* ([^*]*(?:\*(?!/)[^*]*)*) \*/\ntypedef [^;]*?(\w+);", text)
    return [(name, what) for what, name in found]


def enumerations(text):
    """Yield (description, [(name, value, description)]) of each enum."""
    for head, body in re.findall(r"/\*\* ([^/]*?) \*/\nenum \{\n(.*?)\n\};", text, re.S):
        yield head, re.findall(r"(ASSAY_\w+) = (\d+),?(?:\s*/\*\*< (.*?) \*/)?", body)


def spoken(doc):
    """Split the comment of a function into sentences, {parameter: text} and the text of @return."""
    parts = re.split(r"@(param\s+\w+|return)\s+", doc)
    said = dict(zip(parts[1::2], parts[2::2]))
    named = {key.split()[1]: text for key, text in said.items() if key != "return"}
    return parts[0].strip(), named, said.get("return", "").strip()


# ---- assay(3) ------------------------------------------------------------------


def parameter_text(parameter, function, documented):
    """Return the description of one parameter."""
    name = parameter.name
    if name in documented:
        return documented[name].strip()
    if parameter.type.endswith("**") and not parameter.type.startswith("const"):
        handle = parameter.type[:-2]
        if handle == "assay_doc":
            return ("Receives the document, on success and on refusal. It is the caller's, "
                    "to be freed with assay_doc_free.")
        return (f"Receives the object, or NULL. It is the caller's, to be freed with "
                f"{handle}_free.")
    if function.name.endswith("_free"):
        return "The object, or NULL. It must not be used afterwards."
    if name.endswith("_len"):
        return LENGTH.format(name[:-4])
    if name == "evidence_count":
        return COUNT
    if name in PARAMETERS:
        return PARAMETERS[name]
    return sys.exit(f"assay(3): nothing is known of {name} in {function.name}")


def result_text(function, returned):
    owner = "it is static"
    if function.parameters and function.parameters[0].type == "const assay_doc*":
        owner = "it lives as long as doc"
    text = (RESULTS.get(function.name) or RESULTS.get(function.result, "")).format(owner=owner)
    if function.result != "void" and not text:
        sys.exit(f"assay(3): nothing is known of the result {function.result}")
    return " ".join(part for part in (text, returned) if part)


def c_type(parameter):
    """Return a type as the header writes it: `const assay_doc *const *`."""
    return re.sub(r"\s*(\*.*)", r" \1", parameter.type, count=1).replace("*const*", "*const *")


def declared(parameter):
    type_ = c_type(parameter)
    return type_ + ("" if type_.endswith("*") else " ") + parameter.name


def synopsis(function):
    out = [f".Ft {mdoc.argument(re.sub(r'[*]', ' *', function.result))}"]
    if not function.parameters:
        return out + [f".Fn {function.name} void"]
    return [*out, f".Fo {function.name}",
            *[f'.Fa "{declared(parameter)}"' for parameter in function.parameters], ".Fc"]


def function_text(function):
    said, documented, returned = spoken(function.doc)
    out = [f".Ss {function.name}", *mdoc.prose(said)]
    if function.parameters:
        out.append(".Bl -tag -width Ds")
        for parameter in function.parameters:
            out += [f".It Fa {parameter.name}",
                    *mdoc.prose(parameter_text(parameter, function, documented))]
        out.append(".El")
    result = result_text(function, returned)
    if result:
        out += [".Pp", "Returns:", *mdoc.prose(result)]
    return out


def constants_text(text):
    out = [".Sh CONSTANTS"]
    for number, (head, members) in enumerate(enumerations(text)):
        out += ([".Pp"] if number else []) + mdoc.prose(head)
        out.append(".Bl -tag -width Ds")
        for name, value, what in members:
            out += [f".It Dv {name} Pq {value}"]
            out += mdoc.prose(what) if what else []
        out.append(".El")
    return out


def functions_page():
    text = (ROOT / "include/assay.h").read_text()
    functions = Contract().header.functions
    names = [function.name for function in functions]
    out = [".Sh LIBRARY", "libassay", ".Pq libassay, \\-lassay", ".Sh SYNOPSIS",
           ".In assay.h"]
    for function in functions:
        out += synopsis(function)
    out += [".Sh DESCRIPTION", *mdoc.prose(
        "libassay verifies what Apple signs (StoreKit 2 JWS, receipts, App Attest) against "
        "pinned roots and decides entitlements from it. It opens no socket and no file, "
        "starts no thread, installs no signal handler, reads no clock and no environment "
        "variable."), ".Pp", "These hold for every function:", ".Bl -tag -width Ds"]
    for name, what in conventions(text):
        out += [f".It {name}", *mdoc.prose(what)]
    out += [".El", ".Pp", "The types:", ".Bl -tag -width Ds"]
    for name, what in types(text):
        out += [f".It Vt {name}", *mdoc.prose(what)]
    out += [".El"]
    for function in functions:
        out += function_text(function)
    out += constants_text(text)
    out += [".Sh RETURN VALUES", *mdoc.prose(
        "Status 0 says that everything was verified. Everything else says that nothing is "
        "to be trusted; the document has the reason, the place and what to do."),
        "All statuses are in", ".Xr assay-statuses 7 .",
        ".Sh EXAMPLES", "Verify a transaction and print its product; compiled by",
        ".Dl cc product.c -o product $(pkg-config --cflags --libs assay)",
        *mdoc.literal((ROOT / EXAMPLE).read_text().rstrip("\n").split("\n")),
        ".Sh SEE ALSO", ".Xr assay 1 ,", ".Xr assay-statuses 7"]
    return mdoc.page("assay", 3, ["libassay", *names], "verify what Apple signs", out)


# ---- assay-statuses(7) ---------------------------------------------------------


def status_text(row, words):
    facts = [f"Code {row.code}, retry {row.retry}, HTTP {row.http}, rule "
             + row.rules.replace(",", ", ") + "."]
    out = [f".It {mdoc.argument(row.name)}", *mdoc.prose(row.message + ".")]
    if row.hint:
        out += mdoc.prose(f"What to do: {row.hint}.")
    for kinds, hint in row.hints:
        out += mdoc.prose(f"For {words.for_whom(kinds)}: {hint}.")
    return out + mdoc.prose(facts[0])


def statuses_page():
    contract = Contract()
    out = [".Sh DESCRIPTION", *mdoc.prose(
        "A call of libassay returns a status: status & 0xff is the family, and all "
        "that code should branch on; the rest is detail. The sentences below are those of a "
        "document's error.message and error.hint; where several kinds of evidence give a "
        "status, the hint is that of the document's kind. HTTP is what a back end would answer its "
        "own client; give clients one text for all 400s and 403s. Retry says whether the "
        "same question may be asked again. A rule is an id that is in the "
        "documentation and beside the check in the sources.")]
    for family in contract.words.families:
        out += [f".Ss {family.number} {family.name}", *mdoc.prose(family.meaning)]
        mine = [row for row in contract.statuses if row.family == family.number]
        if mine:
            out.append(".Bl -tag -width Ds")
            for row in mine:
                out += status_text(row, contract.words)
            out.append(".El")
    out += [".Sh SEE ALSO", ".Xr assay 1 ,", ".Xr assay 3"]
    return mdoc.page("assay-statuses", 7, ["assay-statuses"],
                     "what the answers of libassay mean", out)
