"""Frame of the table of customers' texts: each client result of a claim has one in each
language."""
import itertools

# SNIPPET
ANSWERS = ("granted", "already-granted", "refused-final", "refused-keep", "resend", "deferred")
seen = {told(answer, language)
        for answer, language in itertools.product(ANSWERS, ("en", "de", "fr"))}
assert len(seen) == 18, seen
assert told("another word", "it") == told("deferred", "en")
