"""A hook of mkdocs: mends the search of the built site.

lunr 2.3.9, which is inside the theme's search worker, compares the nodes of its set of words by a
text that joins labels and ids without anything between them. Where words have digits, two
different nodes may have one text: then a prefix leads to words that there are not, and a query
such as "StoreKit 2" ends in an error and finds nothing.
"""
import pathlib

JOINED, APART = "e=e+s+o.id}return e}", 'e=e+s+o.id+" "}return e}'


def on_post_build(config):
    workers = pathlib.Path(config.site_dir) / "assets/javascripts/workers"
    worker, = workers.glob("search.*.min.js")
    text = worker.read_text()
    if text.count(JOINED) != 1:
        raise SystemExit(f"docs/search_hook.py: {worker.name} has another lunr: look at it")
    worker.write_text(text.replace(JOINED, APART))
