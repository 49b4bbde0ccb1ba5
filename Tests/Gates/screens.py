#!/usr/bin/env python3
"""Look at pages as people do: one headless Chromium, 1280 and 390 pixels, light and dark.

  screens.py FOLDER < PAGES   writes a picture of each, NAME-WIDTH-SCHEME.png, and prints findings

Gates call `look`, which runs this file with the tools' Python. PAGES is a JSON array of objects:
name; address, of a file or a server on this machine; login, a name and a password; fill, a selector
and the text to type there, and shown, what to wait for afterwards; expect, expressions that must
be true, by what they are; at, the only width and scheme, WIDTH SCHEME; tall, whether the picture has the whole page; pictures, copies of a
picture by "WIDTH SCHEME".

Every page, at each width, in each scheme: axe-core has no serious or critical finding, the page is
not wider than the screen, each chart has words and a table, and its text can be read; nothing comes
from elsewhere, and the browser does not complain. All of it is asked with every <details> open.
"""
import json
import pathlib
import shutil
import subprocess
import sys

WIDTHS = {1280: 900, 390: 844}
SCHEMES = ("light", "dark")
SECONDS = 900
BROWSERS = ("chromium", "chromium-browser")
# The smallest text of a chart as it is drawn, in CSS pixels.
LEGIBLE = 9.5
# What axe-core does not ask. A chart is a picture drawn in the page; marks inside a table are part
# of that table. Its table is in the same section, or the one that aria-details names.
MEASURE = """() => {
  const seen = [...document.querySelectorAll('svg[role=img]')].filter(one => {
    const box = one.getBoundingClientRect();
    return box.width > 1 && box.height > 1 && !one.closest('table'); });
  const named = one => [one.getAttribute('aria-label') || '', ...(
    one.getAttribute('aria-labelledby') || '').split(' ').filter(Boolean).map(
    id => (document.getElementById(id) || {}).textContent || ''), ...[...one.children].filter(
    each => ['title', 'desc'].includes(each.tagName)).map(each => each.textContent)].join(' ').trim();
  const tabled = one => {
    const section = one.closest('section, figure, article');
    const other = document.getElementById(one.getAttribute('aria-details') || ' ');
    return Boolean((section && section.querySelector('table')) || (
      section && section.tagName == 'FIGURE' && section.parentElement.querySelector('table'))
      || (other && (other.matches('table') || other.querySelector('table')))); };
  const size = text => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().d;
  const texts = seen.flatMap(one => [...one.querySelectorAll('text')]).filter(
    text => text.getClientRects().length);
  const start = one => one.outerHTML.slice(0, 100);
  return {
    width: document.documentElement.scrollWidth,
    wide: [...document.querySelectorAll('body *')].filter(one =>
      one.getBoundingClientRect().right > innerWidth + 0.5).map(start).slice(0, 3),
    nameless: seen.filter(one => named(one).length < 10).map(start),
    tableless: seen.filter(one => !tabled(one)).map(start),
    small: texts.filter(text => size(text) < LIMIT).map(
      text => `${text.textContent.slice(0, 30)}: ${size(text).toFixed(1)} px`).slice(0, 5),
  };
}""".replace("LIMIT", str(LEGIBLE))

OPENED = """document.querySelectorAll('details:not([open])').forEach(one => {
  one.open = true; one.className += ' was-closed'; })"""
CLOSED = "document.querySelectorAll('details.was-closed').forEach(one => { one.open = false; })"


def look(suite, pages, folder):
    """Check pages, and count each expectation in `suite`. Pictures are written into `folder`."""
    import python_tools
    if not any(map(shutil.which, BROWSERS)):
        return suite.skip("pages", "chromium is not installed")
    tools, reason = python_tools.installed()
    if tools is None:
        return suite.skip("pages", reason)
    done = subprocess.run([tools / "python", __file__, folder], input=json.dumps(pages), text=True,
                          capture_output=True, timeout=SECONDS)
    for line in done.stdout.splitlines():
        suite.expect(*json.loads(line))
    return suite.expect(done.returncode == 0, "the browser has opened every page",
                        done.stderr.strip()[-600:])


def tell(met, what, detail=""):
    print(json.dumps([bool(met), what, detail]))


def inspect(tab, axe, one, name, width):
    """Tell what is right and wrong with an opened page."""
    tab.evaluate(OPENED)
    found = tab.evaluate(MEASURE)
    tell(found["width"] <= width, f"{name}: not wider than the screen",
         f"{found['width']} px: {found['wide']}")
    tell(not found["nameless"], f"{name}: each chart has words", str(found["nameless"]))
    tell(not found["tableless"], f"{name}: each chart has a table", str(found["tableless"]))
    tell(not found["small"], f"{name}: the text of charts can be read", str(found["small"]))
    for what, expression in one.get("expect", {}).items():
        tell(tab.evaluate(expression), f"{name}: {what}")
    bad = [each for each in axe.run(tab, options={"resultTypes": ["violations"], "preload": False}).response[
        "violations"] if each["impact"] in ("serious", "critical")]
    details = [f"{each['id']} ({each['impact']}): {' '.join(map(str, node['target']))}"
               f"  {node['html'][:120]}" for each in bad for node in each["nodes"][:5]]
    tell(not bad, f"{name}: axe-core has no serious finding", "\n  ".join(["", *details]))
    tab.evaluate(CLOSED)


def open_page(context, axe, one, width, scheme, folder):
    name = f"{one['name']} {width} {scheme}"
    tab = context.new_page()
    asked, complaints = [], []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("console", lambda message: message.type == "error" and complaints.append(message.text))
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.goto(one["address"], wait_until="load")
    if "fill" in one:
        selector, text = one["fill"]
        tab.evaluate("place => document.querySelector(place).focus()", selector)
        tab.keyboard.type(text)
        tab.wait_for_selector(one["shown"])
    # What still fades in has the contrast of nothing.
    tab.evaluate("Promise.allSettled(document.getAnimations().map(one => one.finished))")
    inspect(tab, axe, one, name, width)
    here = one["address"].split("/")[:3]
    elsewhere = [url for url in asked if url.split("/")[:3] != here and url[:5] != "data:"]
    tell(not elsewhere, f"{name}: nothing comes from elsewhere", str(elsewhere))
    tell(not complaints, f"{name}: the browser does not complain", str(complaints))
    picture = folder / f"{name.replace(' ', '-')}.png"
    tab.screenshot(path=picture, full_page=one.get("tall", False))
    if copy := one.get("pictures", {}).get(f"{width} {scheme}"):
        shutil.copy(picture, copy)
    tab.close()


def main():
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    pages, axe = json.load(sys.stdin), Axe()
    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=next(filter(None, map(shutil.which, BROWSERS))),
            args=["--no-sandbox", "--disable-gpu", "--force-color-profile=srgb"])
        for width, height in WIDTHS.items():
            for scheme in SCHEMES:
                for one in pages:
                    if one.get("at", f"{width} {scheme}") != f"{width} {scheme}":
                        continue
                    user, password = one.get("login", [None, None])
                    context = browser.new_context(
                        viewport={"width": width, "height": height}, color_scheme=scheme,
                        http_credentials=user and {"username": user, "password": password})
                    open_page(context, axe, one, width, scheme, folder)
                    context.close()
        browser.close()


if __name__ == "__main__":
    main()
