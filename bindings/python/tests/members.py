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


# Those of the facts are in the document's own list, which `document.warnings` gives.
WARNINGS = frozenset({"warnings"})


def check_members(test, found, where, opaque=WARNINGS):
    """One object of facts, and the objects inside it; `opaque` members are passed on
    unchanged, without properties."""
    values = found._members()
    known = descriptors(type(found))
    named = {member.name for member in known.values()}
    test.assertLessEqual(set(values) - opaque, named, where)
    for name, member in known.items():
        value = getattr(found, name)
        test.assertEqual(value, member.convert(values.get(member.name)), f"{where}.{name}")
        inside = value if isinstance(value, tuple) else (value,)
        for entry in inside:
            if isinstance(entry, facts.Members):
                check_members(test, entry, f"{where}.{name}", opaque)
