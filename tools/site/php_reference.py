"""The PHP package's reference, by PHP's own reflection (php_reference.php)."""
import json
import pathlib
import re
import subprocess

from pages import ROOT
from reference import Entry, Reference, Type

SCRIPT = pathlib.Path(__file__).resolve().parent / "php_reference.php"
FIRST = ["Assay\\Verifier", "Assay\\Exchange", "Assay\\Document", "Assay\\Facts\\Transaction",
         "Assay\\Facts\\Renewal", "Assay\\Facts\\Notification", "Assay\\Facts\\Decision"]


def as_markdown(comment):
    """Tags of a docblock as sentences."""
    text = re.sub(r"\{@inheritdoc\}", "", comment, flags=re.I)
    text = re.sub(r"^@(?:psalm|phpstan)-\S+.*$\n?", "", text, flags=re.M)
    text = re.sub(r"^@param\s+(?:(?:[^\s$<({]|<[^>]*>|\([^)]*\)|\{[^}]*\}|, )+\s+)?(\$\w+)\s*",
                  r"- `\1`: ", text, flags=re.M)
    text = re.sub(r"^@return\s+((?:[^\s<({]|<[^>]*>|\([^)]*\)|\{[^}]*\})+)\s*", r"- returns `\1` ",
                  text, flags=re.M)
    return re.sub(r"^@throws\s+(\S+)\s*", r"- throws `\1` ", text, flags=re.M)


def reference():
    found = subprocess.run(["php", "-d", "error_reporting=E_ALL", SCRIPT,
                            ROOT / "bindings/php/src"], capture_output=True, text=True)
    if found.returncode or found.stderr:
        raise SystemExit(f"{SCRIPT.name}: {found.stdout[-2000:]}{found.stderr[-2000:]}")
    types = [Type(each["name"], each["code"], as_markdown(each["comment"]),
                  {heading: [Entry(name, code, as_markdown(comment))
                             for name, code, comment in each[member]]
                   for heading, member in (("Constants", "constants"), ("Members", "properties"),
                                           ("Methods", "methods"))})
             for each in json.loads(found.stdout)]
    order = {name: place for place, name in enumerate(FIRST)}
    types.sort(key=lambda each: (order.get(each.name, len(order)), each.name))
    introduction = ("Every public class of the package, for FFI and the extension alike. "
                    "Examples: the package's own page.")
    return Reference("php", "PHP reference", "php", introduction, types, {})
