"""Frame of a page that verifies a transaction and decides from it."""
import minted

jws = minted.mint("transaction", "--product", "premium.monthly", "--account", minted.ACCOUNT)
# SNIPPET
assert decision.plan == "premium" and transaction.product_id == "premium.monthly"
