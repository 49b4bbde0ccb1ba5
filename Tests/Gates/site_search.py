"""Ask the search of a built site by the script that the site's theme runs in a browser.

The script is the theme's search worker, with lunr inside, and the index is the one that mkdocs has
built. Node runs it, or a headless chromium.
"""
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import urllib.parse

QUESTIONS = pathlib.Path(__file__).resolve().parent / "questions.tsv"
FIRST = 3  # results that a reader looks at
# What a browser gives a worker. Messages: 0 sets the index up, 2 is a query, answered with pages,
# each a list of its sections.
AROUND = """
const replies = [];
let receive;
globalThis.self = globalThis;
globalThis.addEventListener = (name, handler) => { receive = handler; };
globalThis.postMessage = reply => replies.shift()(reply);
const ask = data => new Promise(done => { replies.push(done); receive({data}); });
"""
ASKED = """
(async () => {
  await ask({type: 0, data: {config: index.config, docs: index.docs, options: {suggest: true}}});
  const found = [];
  for (const query of queries) {
    const {items} = (await ask({type: 2, data: query})).data;
    found.push(items.map(page => page.map(section => [section.location, section.title])));
  }
  finish(JSON.stringify(found));
})();
"""


def questions():
    """Return (query, heading, words of a path or None) of each row of questions.tsv."""
    rows = [line.split("\t") for line in QUESTIONS.read_text().splitlines()
            if line and line[0] != "#"]
    return [(query, heading, None if words == "-" else words) for query, heading, words in rows]


def program(folder, queries, finish):
    worker = next((folder / "assets/javascripts/workers").glob("search.*.min.js")).read_text()
    index = (folder / "search/search_index.json").read_text()
    return (f"{AROUND}\n{worker}\nconst index = {index};\nconst queries = {json.dumps(queries)};\n"
            f"const finish = {finish};\n{ASKED}")


def results(folder, queries):
    """Return the pages found for each query, best first, each a list of (address, title) of its
    sections; None where no program can run the search."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    with tempfile.TemporaryDirectory() as name:
        script = pathlib.Path(name) / "search.js"
        if shutil.which("node"):
            script.write_text(program(folder, queries, "text => console.log(text)"))
            said = subprocess.run(["node", script], text=True, capture_output=True).stdout
        elif browser:
            script.write_text(program(
                folder, queries, "text => { document.title = encodeURIComponent(text); }"))
            page = pathlib.Path(name) / "search.html"
            page.write_text('<meta charset="utf-8"><script src="search.js"></script>')
            shown = subprocess.run(
                [browser, "--headless=new", "--no-sandbox", "--disable-gpu",
                 f"--user-data-dir={name}/profile", "--virtual-time-budget=60000", "--dump-dom",
                 page.as_uri()], text=True, capture_output=True).stdout
            title = re.search("<title>(.*?)</title>", shown, re.S)
            said = title and urllib.parse.unquote(title[1])
        else:
            return None
    return [[[(address, re.sub("<[^>]*>", "", title)) for address, title in page]
             for page in pages] for pages in json.loads(said)]


def wrong(query, heading, words, pages):
    """Return what is wrong with the first pages found; None if nothing is."""
    first = pages[:FIRST]
    places = [page[0][0].partition("#")[0] for page in first]
    titles = [title for page in first for address, title in page
              if address.startswith("questions.html#")]
    if heading not in titles:
        return f"{query}: no {heading!r} in {places}"
    others = [place for place in places if place != "questions.html"]
    if words and not any(re.search(words, place) for place in others):
        return f"{query}: no page of {words} in {places}"
    return None
