"""Frame of README.md: a purchase of one app."""
import contextlib
import io

import minted

jws = minted.mint("transaction", "--product", "premium.monthly")
printed = io.StringIO()
with contextlib.redirect_stdout(printed):
    # SNIPPET
assert printed.getvalue().startswith("premium active "), printed.getvalue()
