"""Where the project is at home: the one line of packaging/project.toml, and what follows."""
import re

from status_rows import ROOT

SETTING = "packaging/project.toml"
AUTHORS = "Assay maintainers"


def home():
    text = (ROOT / SETTING).read_text()
    found = re.findall(r'^home = "(.*)"$', text, re.M)
    label = r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"
    if len(found) != 1 or not re.fullmatch(rf"{label}(?:\.{label})+(?:/[A-Za-z0-9._~-]+)*", found[0]):
        raise SystemExit(f'{SETTING}: wanted one line home = "host.domain/path"')
    return found[0]


def address():
    return f"https://{home()}"


def mail():
    return f"maintainers@{home().partition('/')[0]}"


def go_module():
    """The folder of go.mod below the home, where every version of `go get` looks."""
    return f"{home()}/bindings/go"


def vendor():
    """The owner of the packages, in one word: the end of the path, else the host's first."""
    host, _, path = home().partition("/")
    return re.sub(r"[^a-z0-9-]", "-", (path.rpartition("/")[2] or host.partition(".")[0]).lower())
