"""The index: every status, function, Swift symbol and heading, A to Z."""
import html

TARGET = "terms.html"
# Narrows the list as one types; without scripts the whole list is there to read.
SCRIPT = """<script>
var field = document.createElement("input");
field.id = "find"; field.type = "search"; field.placeholder = "Find in the index";
field.setAttribute("aria-label", "Find in the index");
document.getElementById("finder").appendChild(field);
field.addEventListener("input", function () {
  var words = field.value.toLowerCase().split(" ");
  document.querySelectorAll(".terms li").forEach(function (item) {
    var text = item.textContent.toLowerCase();
    item.hidden = !words.every(function (word) { return text.indexOf(word) >= 0; });
  });
  document.querySelectorAll(".letter").forEach(function (part) {
    part.hidden = !part.querySelector("li:not([hidden])");
  });
});
</script>
"""


def letter(word):
    first = word[:1].upper()
    return first if "A" <= first <= "Z" else "…"


def body(entries):
    """entries: (words, where, address, is code). Gives the page's text."""
    unique = {(words, where): (address, code) for words, where, address, code in entries}
    parts = {}
    for (words, where), (address, code) in unique.items():
        shown = f"<code>{html.escape(words)}</code>" if code else html.escape(words)
        item = (f'<li><a href="{html.escape(address)}">{shown}</a> '
                f'<span class="soft">{html.escape(where)}</span></li>')
        parts.setdefault(letter(words), []).append((words.lower(), where, item))
    out = ['<h1>Index</h1>\n<div id="finder"></div>\n<p>']
    out.append(" ".join(f'<a href="#{name_of(first)}">{first}</a>' for first in sorted(parts)))
    out.append("</p>\n")
    for first, items in sorted(parts.items()):
        out.append(f'<div class="letter"><h2 id="{name_of(first)}">{first}</h2>\n'
                   '<ul class="terms">\n')
        out += [item + "\n" for _, _, item in sorted(items)]
        out.append("</ul></div>\n")
    return "".join(out) + SCRIPT


def name_of(first):
    return "letter-" + (first if first.isalpha() else "other")
