"""What the library writes has a property, and the property gives just that."""
from assay import _members, facts


def descriptors(kind):
    """Name of the property -> its descriptor, of a class and its bases."""
    return {
        name: value
        for base in kind.__mro__
        for name, value in vars(base).items()
        if isinstance(value, _members.Member)
    }


def concluded(kind):
    """Name of the member in the JSON -> the plain property of that name, if there is one."""
    return {
        first + "".join(map(str.capitalize, rest)): name
        for base in kind.__mro__
        for name, value in vars(base).items() if isinstance(value, property)
        for first, *rest in [name.split("_")]
    }


# Those of the facts are in the document's own list, which `document.warnings` gives; and what
# this version does not know has no property.
OPAQUE = frozenset({"warnings", "unknown", "unknownInReceipt"})


def check_members(test, found, where, is_signed=False):
    """One object of facts, and the objects inside it. What Apple signed may have members that
    this version does not know."""
    known, others = descriptors(type(found)), concluded(type(found))
    if isinstance(found, facts.Facts):
        # Asked of the library one by one, as long as nothing is parsed.
        found.document._asked = -len(known)
    asked = {name: getattr(found, name) for name in known}
    values = found._members()
    named = {member.name for member in known.values()} | set(others)
    test.assertLessEqual(set() if is_signed else set(values) - OPAQUE, named, where)
    # What is in the signed JSON alone is read from there.
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
