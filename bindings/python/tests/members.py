"""A check that every member that the library writes has a property with the same value."""
from assay import _members, facts


def descriptors(kind):
    """Return the descriptors of a class and its bases by the name of the property."""
    return {
        name: value
        for base in kind.__mro__
        for name, value in vars(base).items()
        if isinstance(value, _members.Member)
    }


def concluded(kind):
    """Return the plain properties, by the name of the JSON member with their name."""
    return {
        first + "".join(map(str.capitalize, rest)): name
        for base in kind.__mro__
        for name, value in vars(base).items() if isinstance(value, property)
        for first, *rest in [name.split("_")]
    }


# The warnings of facts are in the document's own list, `document.warnings`; members that this
# version does not know have no property.
OPAQUE = frozenset({"warnings", "unknown", "unknownInReceipt", "failures",
                     "externalPurchaseReport"})


def check_members(test, found, where, is_signed=False):
    """Check one object of facts, and the objects inside it. What Apple signed may have members that
    this version does not know."""
    known, others = descriptors(type(found)), concluded(type(found))
    if isinstance(found, facts.Facts):
        # The library reads each member singly, as long as nothing is parsed.
        found.document._asked = -len(known)
    asked = {name: getattr(found, name) for name in known}
    values = found._members()
    named = {member.name for member in known.values()} | set(others)
    test.assertLessEqual(set() if is_signed else set(values) - OPAQUE, named, where)
    # Members that only the signed JSON has are read from there.
    signed = {name for name, member in known.items()
              if isinstance(member, _members.SignedMember)}
    test.assertLessEqual(named & set(found.payload) - set(values),
                         {known[name].name for name in signed}, where)
    for name, member in known.items():
        source = found.payload if name in signed else values
        value = getattr(found, name)
        test.assertEqual(value, member.convert(source.get(member.name)), f"{where}.{name}")
        test.assertEqual(asked[name], value, f"{where}.{name}")
    for name in {*known, *(others[name] for name in set(values) & set(others))} - {"payload"}:
        value = getattr(found, name)
        for entry in value if isinstance(value, tuple) else (value,):
            if isinstance(entry, facts.Members):
                check_members(test, entry, f"{where}.{name}", is_signed or name in signed)
