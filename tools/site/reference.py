"""What the references of the bindings share: types and their members, as plain pages.

A binding's module (python_reference, php_reference, go_reference) reads its sources
into `Type` and `Entry`; here they become one page a type and one that lists them.
"""
import dataclasses
import html
import re

import markup


@dataclasses.dataclass
class Entry:
    """One function, method, property or constant: its name, its code, its comment."""

    name: str
    code: str
    comment: str = ""


@dataclasses.dataclass
class Type:
    """One class, struct or interface. `groups`: heading to entries, in reading order."""

    name: str
    code: str
    comment: str = ""
    groups: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Reference:
    """One binding: where its pages stand, its types, and what belongs to no type."""

    folder: str
    title: str
    language: str
    introduction: str
    types: list
    loose: dict


def first_sentence(comment):
    paragraph = comment.strip().partition("\n\n")[0]
    return re.split(r"(?<=[.:])\s", paragraph.replace("\n", " "), maxsplit=1)[0]


def code_block(language, text):
    code = markup.highlighted(language, html.escape(text, quote=False))
    return f'<pre class="code"><code>{code}</code></pre>'


def words(comment, names):
    return markup.convert(comment, lambda address: None, names).text if comment.strip() else ""


def entry_card(entry, slug, language, names):
    place = html.escape(slug)
    return (f'<div class="symbol" id="{place}">\n<h3><code>{html.escape(entry.name)}</code>'
            f'<a class="anchor" href="#{place}" aria-label="link to here">#</a></h3>\n'
            f"{code_block(language, entry.code)}\n{words(entry.comment, names)}</div>\n")


def free_slugs():
    """Anchors of a page, whose own text has one already."""
    slugs = markup.Slugs()
    slugs.of("text")
    return slugs


def grouped(groups, language, names, slugs):
    """(text, headings, [(entry's name, slug)]) of entries under their headings."""
    out, headings, found = [], [], []
    for heading, entries in groups.items():
        if not entries:
            continue
        slug = slugs.of(heading)
        headings.append((2, slug, heading))
        out.append(f'<h2 id="{slug}">{html.escape(heading)}</h2>\n')
        for entry in entries:
            place = slugs.of(entry.name)
            found.append((entry.name, place))
            out.append(entry_card(entry, place, language, names))
    return "".join(out), headings, found


def pages(reference, names_for):
    """[(target, title, text, headings)], and {symbol: address} for the index."""
    made, terms, rows = [], {}, []
    index = f"{reference.folder}/index.html"
    for each in reference.types:
        target = f"{reference.folder}/{each.name.replace(chr(92), '.')}.html"
        names, slugs = names_for(target), free_slugs()
        text, headings, found = grouped(each.groups, reference.language, names, slugs)
        made.append((target, each.name,
                     f"<h1><code>{html.escape(each.name)}</code></h1>\n"
                     f"{code_block(reference.language, each.code)}\n"
                     f"{words(each.comment, names)}\n{text}", headings))
        terms[each.name] = target
        terms.update({f"{each.name}.{name}": f"{target}#{slug}" for name, slug in found})
        about = markup.commonmark(first_sentence(each.comment)).strip()
        about = about.removeprefix("<p>").removesuffix("</p>")
        rows.append(f'<tr><td><a href="{target.partition("/")[2]}"><code>'
                    f"{html.escape(each.name)}</code></a></td><td>{about}</td></tr>\n")
    text, headings, found = grouped(reference.loose, reference.language, names_for(index),
                                    free_slugs())
    terms.update({name: f"{index}#{slug}" for name, slug in found})
    listed = ('<div class="wide"><table><thead><tr><th>type</th><th>what it is</th></tr></thead>'
              f"\n<tbody>{''.join(rows)}</tbody></table></div>\n")
    made.insert(0, (index, reference.title,
                    f"<h1>{html.escape(reference.title)}</h1>\n"
                    f"{words(reference.introduction, {})}\n"
                    f'<h2 id="types">Types</h2>\n{listed}{text}',
                    [(2, "types", "Types"), *headings]))
    return made, terms
