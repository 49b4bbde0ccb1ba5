"""Values of a request member, derived from its row in contract/kind-members.tsv.

Each value comes with None if the library must accept it, else with the word (WORDS of
tools/contract/reader.py) for the refusal that it must get.
"""
import base64
import re

import case_table
from tools.contract.reader import Contract

CONTRACT = Contract()

UUID, KEY, SHA256 = "0F8FAD5B-D9CB-469F-A165-70867728950E", bytes(range(32)), "0a" * 32
KEYS = [base64.b64encode(KEY).decode(), base64.urlsafe_b64encode(KEY).decode()[:43], KEY.hex()]
# A file with a header of 3840 by 160 pixels in colour, and no pixels.
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(
    len(data).to_bytes(4, "big") + name + data + bytes(4) for name, data in (
        (b"IHDR", (3840).to_bytes(4, "big") + (160).to_bytes(4, "big") + b"\x08\x02\0\0\0"),
        (b"IDAT", b"")))).decode()
# Type -> (accepted values, refused values).
VALUES = {
    "boolean": ([True, False], []), "ticket": ([], ["a"]), "url": ([], ["a"]),
    "uuid": ([UUID, UUID.lower()], [UUID[1:], ""]), "uuid-or-empty": ([UUID, ""], [UUID[1:]]),
    "key-id": (KEYS, [KEY.hex()[2:], ""]), "digits": ([], ["1a"]), "order-id": ([], ["A-"]),
    "locale": (["en-US"], ["en US", "a/b"]), "https": (["https://a.example/x"], [
        "http://a.example", "https://", "https://u@a.example/", "https://a.example/#x"]),
    "png": ([PNG], ["", "AA==", "*"]),
    "jws": (["eyJ9.e30.c2ln", "a-_.b.c"], ["", "a.b", "a..c", "a.b.c.d", "a.b.c="]),
    "account": ([], [" a", "a "]), "device-token": ([], ["*"]),
}
# Objects inside requests, with all their members.
SAMPLES = {"uuid": UUID, "text": "a", "boolean": True, "integer": 1, "time": 1_200_000_000_000}
# Values that fit together: an amount goes with this type of a refund only (ACA-10); a line item has
# one currency, and its amounts add up (EXP-4).
FITTING = {"refundType": "CUSTOM", "pricingCurrency": "CLP", "taxCountry": "CHL",
           "amountTaxInclusive": 2}
# Members that do not go together with the others.
UNFIT = {"ExternalPurchaseLineItem": ["exchangeRate", "subscriptionEvent", "subscriptionStartDate",
                                      "subscriptionEndDate", "subscriptionDaysOfPaidService",
                                      "referenceLineItemId"]}
OBJECTS = {}


def sample(member):
    """Return a value of a member of an object."""
    kind = member.type.strip("[]")
    value = FITTING.get(member.name) or OBJECTS.get(kind) or \
        (member.known[0] if member.known else SAMPLES[kind])
    return [value] if member.is_list else value


for _name, _schema in CONTRACT.schemas.items():
    OBJECTS[_name] = {each.name: sample(each) for each in _schema.members
                      if each.name not in UNFIT.get(_name, [])}
VALUES.update({name: ([value], []) for name, value in OBJECTS.items()})
# Type -> values of another JSON type.
OTHERS = {"integer": ["1", 1.5, True], "time": ["1", 1.5], "boolean": ["true", 1]}
# Type or bound -> function that returns a text of a given length.
TEXTS = {
    "digits": lambda count: "1" * count,
    "url": lambda count: "https://example.com/".ljust(count, "a")[:count],
    "https": lambda count: "https://a.example/".ljust(count, "a")[:count],
    "device-token": lambda count: base64.b64encode(b"1" * count).decode(),
    "of a page": lambda count: f"-{SHA256}".rjust(count, "1")[-count:],
    "of a report": lambda count: "1-".ljust(count, "a")[:count],
    "of a document": lambda count: "ok" if count == 2 else "pending.".ljust(count, "a")[:count],
    "of a take-back": lambda count: f"{SHA256}-".ljust(count, "1")[:count],
}
ITEMS = {**OBJECTS, "integer": 1, "sha256": SHA256, "kept-response": {"sha256": SHA256, "der": "MAA="}}
# (words of a bound, a value that violates it, the word for its refusal).
CONTROL = "a\x01a"
WORDS = [
    ("no control character", CONTROL, "character"), ("no U+2063", "a\u2063a", "character"),
    ("no space", "a a", ""), ("ASCII", "é" * 16, ""), ("visible ASCII", "a " * 16, ""),
]
# Bounds that the configuration or the table defines -> the accepted values.
NAMED = {
    "a name of kinds.tsv": lambda base: [base.request["operation"]],
    "an app of `apps`": lambda base: [app["bundleId"] for app in base.settings["apps"]],
    "one of `appleId.clientIds`": lambda base: base.settings["appleId"]["clientIds"],
    "one of `plans`": lambda base: base.settings["plans"],
    "a meter of `quotas`": lambda base: [base.request["meter"]],
    "an issuer of `tokens`": lambda base: [base.request["issuer"]],
    "ledger.signup.username": lambda base: [base.request["username"]],
    "one of the App Store Server API":
        lambda _: [kind.name for kind in CONTRACT.kinds if kind.is_app_store],
}
UNITS = "ms|of them|bytes|bytes decoded|characters|digits|letters and digits|visible ASCII"
RANGE = re.compile(rf"(?:(.+?) ?… ?)?(\S+|.+ [+−] \S+)(?: ({UNITS}))?")
YEARS = {"2008": 1_199_145_600_000, "2100": 4_102_444_800_000 - 1}


def point(text, member, base):
    """Return a bound's number: a literal, a year, or a member of request or configuration."""
    word, sign, more = re.fullmatch(r"(\S+)(?: ([+−]) ([\d,]+))?", text).groups()
    known = {"now": base.now, "2^53": 2**53, **base.request,
             **(YEARS if member.type == "time" else {})}
    if word in known:
        number = known[word]
    elif word[0].isdigit():
        number = int(word.replace(",", ""))
    else:
        number = case_table.member(base.settings, word)
    more = int((more or "0").replace(",", ""))
    return number - more if sign == "−" else number + more


def texts(member, low, high, unit):
    """Yield texts of the least and the greatest length, and one beyond each."""
    make = TEXTS.get(member.bound.split(", ")[-1]) or TEXTS.get(member.type, "a".__mul__)
    yield make(high + 1), "long"
    if low:
        yield make(low - 1), "short"
    if member.type != "ticket":  # a valid ticket has a format of its own
        yield from ((make(count), None) for count in {high, high if member.type in ("url", "https") else low})
    if member.type in ("text", "account", "label", "name") and \
            not re.search(r"ASCII|of |\[", member.bound.replace("of them", "")):
        wide = "é" * (high // 2) + "a" * (high % 2) if unit == "bytes" else "é" * high
        yield from ((wide, None), (wide + "é", "long"))


def of_one(member, base, choices):
    """Yield the values to try for a member, or for an element of its list."""
    kind, bound = member.type.strip("[]"), member.bound
    yield from ((value, "type") for value in [*OTHERS.get(kind, [1]), []])
    good, bad = VALUES.get(kind, ([], []))
    if kind == "choice":
        good, bad = member.choices, [*sorted(choices - set(member.choices)), ""]
    elif bound in NAMED:
        good, bad = NAMED[bound](base), ["another"]
        yield "", "short"
    elif bound == "true alone":
        good, bad = [True], [False]
    yield from ((value, None) for value in good)
    yield from ((value, "") for value in bad)
    for part in map(RANGE.fullmatch, re.split("[,;] ", bound)):
        low, high, unit = part.groups() if part else (None, None, None)
        if not (low or unit) or unit == "of them" or (member.is_list and "of them" not in bound):
            continue
        high = point(high, member, base)
        low = point(low, member, base) if low else high
        if kind in ("integer", "time"):
            yield from ((low, None), (high, None), (low - 1, "short"), (high + 1, "long"))
        else:
            yield from texts(member, low, high, unit)
    is_told = kind == "account" or "character" in member.refusals
    for word, value, what in WORDS:
        if word in bound or (is_told and value == CONTROL):
            yield value, what
    yield from ((base.request[name], "same") for name in re.findall("not `(.+?)`", bound))


def items(member, count):
    """Return a list of so many good elements; the ids of line items differ."""
    item = ITEMS.get(member.type.strip("[]"), "1")
    if isinstance(item, dict) and "lineItemId" in item:
        return [{**item, "lineItemId": str(number)} for number in range(count)]
    return [item] * count


def values(member, base, choices):
    """Yield the values to try for a member; for a list, each element value and several lengths."""
    if not member.is_list:
        yield from of_one(member, base, choices)
        return
    yield from (([value], what) for value, what in of_one(member, base, choices))
    yield from ((value, "type") for value in (1, {}))
    for part in re.findall(r"(\d+)…(\d+)(?=$| of them)", member.bound):
        low, high = map(int, part)
        yield from ((items(member, low), None), (items(member, high), None),
                    (items(member, high + 1), "long"))
        if low:
            yield items(member, low - 1), "short"
