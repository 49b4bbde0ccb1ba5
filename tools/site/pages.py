"""Which pages the documentation has: their sources, titles and order.

A page that is `optional` belongs to a binding or to the packages: where its source is
not there, the page is left out and links to it become plain words.
"""
import dataclasses
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


@dataclasses.dataclass(frozen=True)
class Page:
    """One page: `source` below the repository, `target` below the site."""

    source: str
    target: str
    title: str
    about: str = ""
    optional: bool = False
    generated: bool = False

    @property
    def exists(self):
        return self.generated or not self.optional or (ROOT / self.source).exists()


def guide(name, title, about="", optional=False):
    """docs/NAME.md becomes NAME.html."""
    return Page(f"docs/{name}.md", f"{name}.html", title, about, optional)


def generated(target, title, about="", source=""):
    """A page that a module of tools/site makes, not Markdown."""
    return Page(source, target, title, about, generated=True)


def binding(name, title, about):
    return Page(f"bindings/{name}/README.md", f"bindings/{name}.html", title, about,
                optional=True)


HOME = guide("index", "Assay")

SECTIONS = [
    ("Start in five minutes", [
        guide("start/command-line", "Command line", "mint, verify, decide: nothing to write"),
        guide("start/python", "Python", "one wheel, no other package"),
        guide("start/c", "C and C++", "one header, one library"),
        guide("start/php", "PHP", "FFI, or a compiled extension"),
        guide("start/go", "Go", "cgo over pkg-config"),
        guide("start/swift", "Swift", "typed facts, one import"),
    ]),
    ("Purchases", [
        guide("tasks/transaction", "Verify a transaction, grant a plan",
              "from the JWS that the app posts to what the account may have"),
        guide("stores", "Stores", "engines, what each promises and costs, the tables"),
        guide("tasks/ledger-python", "A ledger in one line (Python)",
              "each purchase granted once, plans and quotas, in the database that you have"),
        guide("tasks/ledger-python-transaction", "Grant in the ledger's database (Python)",
              "claim and grant in one transaction, by the client or by an ORM"),
        guide("tasks/shop-with-receipts", "A shop with receipts (PHP)",
              "a whole back end: claims, notifications, sweep, support, dashboard"),
        guide("tasks/notifications", "App Store notifications",
              "take each one once, with everything nested in it"),
        guide("tasks/renewals", "Renewals and expiry",
              "will it renew, grace, retry, and when to look again"),
        guide("receipts", "Old receipts and triage",
              "transaction and app receipts: triage, ledger, verification"),
        guide("tasks/app-store-server-api", "Ask the App Store Server API",
              "history, statuses, refunds, missed notifications: verified, as conversations"),
        guide("tasks/verify-receipt", "Ask Apple about a receipt",
              "the old endpoint, with its hop and its waits, in one conversation"),
        guide("tasks/from-verify-receipt", "Moving from verifyReceipt to StoreKit 2",
              "in which order, so that nothing is lost and nothing is paid twice"),
        guide("tasks/ocsp", "Ask whether a certificate is revoked",
              "Apple's word of today, and the device of a purchase"),
        guide("tasks/sign", "Sign tokens and offers",
              "for the App Store Server API, DeviceCheck, Sign in with Apple, and the app"),
        guide("decisions", "Decide what an account may have",
              "states, rows, plans, when to look again"),
    ]),
    ("Devices", [
        guide("app-attest", "App Attest", "attest, assert, receipts: app and server"),
        guide("risk", "Devices that cannot attest", "observations, rules, verdicts"),
        guide("tasks/sessions", "Sessions", "one assertion, then cheap requests"),
        guide("tasks/device-check", "DeviceCheck bits", "two bits a device, read right"),
        guide("tasks/attest-refresh", "Refresh an App Attest receipt",
              "a new receipt with a risk metric, once a day"),
        guide("tasks/tokens", "Who is calling", "access tokens and their key sets"),
        guide("tasks/keys", "Keys of a token issuer", "fetched, cooled down, replaced"),
        guide("tasks/sign-in-with-apple", "Sign in with Apple",
              "identity, notifications, code, revocation"),
        guide("exchanges", "Exchanges", "conversations without I/O"),
        guide("tasks/carrying-out", "Carry a conversation out",
              "drivers for each language: limits, waits, key sets, tests"),
    ]),
    ("In production", [
        guide("tasks/errors", "Errors, and what to answer a client",
              "six kinds of no, and who is told what"),
        guide("tasks/minting", "Test without a device", "evidence of your own authority"),
        guide("tasks/testing-your-server", "Test your server with pytest",
              "a fixture that mints what Apple would sign"),
        guide("tasks/playing-apple", "Play Apple on your machine",
              "its servers on loopback, with refunds, faults and rotations on request"),
        guide("tasks/lambda", "AWS Lambda", "one wheel or layer, one verifier a process"),
        guide("tasks/freemium-lambda", "A freemium app on Lambda",
              "accounts, plans, daily limits: a whole back end to copy"),
        guide("tasks/app-side", "The app's side",
              "StoreKit, resend queue, keychain, sign-in: Swift for the app"),
        guide("tasks/frameworks", "In your framework",
              "FastAPI, Django, Gin, Laravel: two routes each"),
        Page("examples/README.md", "examples/index.html", "Examples",
             "back ends and an app's side that run as they stand"),
        Page("examples/freemium/README.md", "examples/freemium.html", "The freemium back end",
             "its files"),
        Page("examples/shop/README.md", "examples/shop.html", "The shop for receipts", "its files"),
        guide("tasks/php-fpm", "PHP-FPM", "preload, workers, one verifier each"),
        guide("tasks/from-app-store-server-library", "Coming from app-store-server-library",
              "call by call, with both sides' code"),
        guide("tasks/threads", "Threads and fork", "what may be shared, and what not"),
        guide("installing", "Install", "make, tarball, Debian packages, wheel", optional=True),
        guide("tasks/deployment", "Deploy and upgrade",
              "versions, roots, what to watch, how to go back"),
    ]),
    ("Reference", [
        generated("statuses.html", "Every refusal", "cause and remedy of each status",
                  "docs/statuses.md"),
        guide("config", "Configuration", "every member of it"),
        guide("documents", "Documents", "what every call answers"),
        Page("docs/spec/README.md", "spec/index.html", "Specification",
             "the rules of every format, file by file"),
        generated("spec/rules.html", "All rules", "each by its id, with what it is",
                  "docs/spec/rules.tsv"),
        generated("c/assay_8h.html", "C header", "assay.h, by doxygen", "include/assay.h"),
        generated("swift/index.html", "Swift reference", "every public symbol of AssaySwift"),
        generated("swift-core/index.html", "Swift core", "bytes and documents: module Assay"),
        generated("python/index.html", "Python reference", "every class and function of assay"),
        generated("php/index.html", "PHP reference", "every class of Assay\\"),
        generated("go/index.html", "Go reference", "every type and function of assay"),
        binding("python", "Python package", "calls, errors, examples"),
        binding("c", "C library", "install, pkg-config, CMake, examples"),
        binding("php", "PHP package", "FFI and extension"),
        binding("go", "Go module", "calls, errors, build tags"),
        generated("terms.html", "Index", "every status, function, member and heading"),
    ]),
    ("The house", [
        guide("architecture", "Architecture", "the floors, and the way of a JWS"),
        guide("building", "Building", "builds, flags, gates"),
        guide("benchmarks", "Benchmarks", "measured ratios"),
        guide("snippets", "Code in these pages", "how each block is tested"),
        Page("CHANGELOG.md", "changes.html", "Changes", "version by version"),
        Page("CONTRIBUTING.md", "contributing.html", "Contributing", "rules of the house"),
        Page("SECURITY.md", "security.html", "Security", "what to report, what is relied on"),
    ]),
]

# The files of the specification: its first page leads to them, not the list of all pages.
SPECIFICATION = [Page(f"docs/spec/{path.name}", f"spec/{path.stem}.html",
                      path.read_text().partition("\n")[0].removeprefix("# "))
                 for path in sorted((ROOT / "docs/spec").glob("*.md"))
                 if path.name != "README.md"]

# Files that pages link to and that are shown as they stand.
COPIED = {"docs/config.schema.json": "config.schema.json",
          "docs/architecture.svg": "architecture.svg",
          "docs/architecture-narrow.svg": "architecture-narrow.svg",
          "docs/benchmarks.svg": "benchmarks.svg",
          "docs/pictures/refusal.svg": "pictures/refusal.svg",
          "docs/pictures/day.svg": "pictures/day.svg",
          "docs/pictures/carrying-out.svg": "pictures/carrying-out.svg",
          "docs/pictures/ocsp.svg": "pictures/ocsp.svg",
          "docs/pictures/attest-refresh.svg": "pictures/attest-refresh.svg",
          "docs/pictures/keys.svg": "pictures/keys.svg",
          "docs/pictures/sign-in-with-apple.svg": "pictures/sign-in-with-apple.svg",
          "docs/pictures/schema.svg": "pictures/schema.svg",
          "docs/pictures/shop.svg": "pictures/shop.svg",
          "docs/pictures/shop-dashboard.png": "pictures/shop-dashboard.png",
          "docs/pictures/shop-dashboard-phone.png": "pictures/shop-dashboard-phone.png",
          "docs/pictures/shop-support.png": "pictures/shop-support.png",
          "docs/pictures/shop-support-phone.png": "pictures/shop-support-phone.png",
          "docs/pictures/freemium-parts.svg": "pictures/freemium-parts.svg",
          "docs/pictures/app-account.svg": "pictures/app-account.svg",
          "docs/pictures/app-purchase.svg": "pictures/app-purchase.svg",
          "docs/pictures/app-upgrade.svg": "pictures/app-upgrade.svg"}


def all_pages():
    """Home first, then the sections in their order; those that exist. At the end the
    files of the specification."""
    return [HOME] + [page for _, pages in SECTIONS for page in pages if page.exists] \
        + SPECIFICATION


def targets():
    """Repository path to site path, of pages and copied files."""
    found = {page.source: page.target for page in all_pages() if page.source}
    found["README.md"] = HOME.target
    found.update(COPIED)
    return found


def unlisted():
    """Guides below docs/ that no page has: a new one needs a line above."""
    listed = {page.source for page in all_pages()}
    return sorted(name for path in (ROOT / "docs").rglob("*.md")
                  if (name := str(path.relative_to(ROOT))) not in listed)


def missing_optional():
    """Sources of optional pages that are not there."""
    return {page.source for _, pages in SECTIONS for page in pages if not page.exists}
