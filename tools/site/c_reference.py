"""The header's reference: doxygen's HTML inside the site's own page, without scripts."""
import html
import re
import shutil
import subprocess
import xml.etree.ElementTree

import shell
from pages import ROOT

FOLDER = "c"
PAGE = f"{FOLDER}/assay_8h.html"
# What the site needs of doxygen beyond docs/Doxyfile.
SETTINGS = """
OUTPUT_DIRECTORY  = {out}
HTML_OUTPUT       = c
HTML_HEADER       = {work}/head.html
HTML_FOOTER       = {work}/foot.html
HTML_STYLESHEET   = {work}/none.css
GENERATE_TAGFILE  = {work}/assay.tag
DISABLE_INDEX     = YES
GENERATE_TREEVIEW = NO
SEARCHENGINE      = NO
VERBATIM_HEADERS  = YES
HTML_TIMESTAMP    = NO
"""
KEPT = ("assay_8h.html", "assay_8h_source.html")


def make(out, work):
    """Writes out/c; gives {name of a function, type or constant: address}."""
    work.mkdir(parents=True, exist_ok=True)
    head = shell.head(PAGE, "C header", " doxygen").replace("$", "&#36;") + '<div id="top">\n'
    (work / "head.html").write_text(head)
    (work / "foot.html").write_text(shell.foot(PAGE))
    (work / "none.css").write_text("")
    settings = (ROOT / "docs/Doxyfile").read_text() + SETTINGS.format(out=out, work=work)
    result = subprocess.run(["doxygen", "-"], input=settings, text=True, capture_output=True,
                            cwd=ROOT)
    if result.returncode:
        raise SystemExit(f"doxygen: {result.stderr[-2000:]}")
    folder = out / FOLDER
    for path in folder.iterdir():
        if path.name not in KEPT:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name in KEPT:
        mend(folder / name)
    return terms(work / "assay.tag")


def mend(page):
    """Takes away what leads nowhere once doxygen's other files are gone."""
    text = page.read_text()
    text = re.sub(r"<script.*?</script>", "", text, flags=re.S)
    text = re.sub(r'<a class="el" href="(?!assay_8h|#)[^"]*">(.*?)</a>', r"\1", text, flags=re.S)
    text = re.sub(r'<img [^>]*>', "", text)
    text = re.sub(r'<div id="nav-path".*?</div>', "", text, flags=re.S)
    text = text.replace('<div class="line"><a name=', '<div class="line"><a id=')
    text = re.sub(r'<a name="([^"]*)"></a>', r'<a id="\1"></a>', text)
    text = re.sub(r"<div class=\"ttc\".*?(?=\n)", "", text)
    text = re.sub(r"(<table class=\"memberdecls\">.*?</table>)", r'<div class="wide">\1</div>',
                  text, flags=re.S)
    page.write_text(text)


def terms(tagfile):
    found = {}
    for member in xml.etree.ElementTree.parse(tagfile).iter("member"):
        name, anchor = member.findtext("name"), member.findtext("anchor")
        if name and anchor and not name.startswith("@"):
            found[html.unescape(name)] = f"{FOLDER}/{member.findtext('anchorfile')}#{anchor}"
    return found
