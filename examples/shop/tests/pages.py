#!/usr/bin/env python3
"""The shop's pages in headless Chromium, at 1280 and 390 pixels, light and dark.

  pages.py PROGRAM             check them
  pages.py PROGRAM --pictures  and write docs/pictures/shop-….png
"""
import argparse
import datetime
import json
import pathlib
import re
import shutil
import sqlite3
import sys

import browser
from shop_server import ROOT, ShopServer

sys.path.append(str(ROOT / "Tests/Gates"))

from report import Suite

FOLDER = ROOT / "build/shop-pages"
PICTURES = ROOT / "docs/pictures"
DAY = 700
ACCOUNT = "customer-1"
PRICES = {"com.example.app.coins100": {"currency": "EUR", "minor": 99}}
PAGES = {"dashboard": "/dashboard", "week": "/dashboard?span=week",
         "support": f"/support?account={ACCOUNT}", "events": "/events?span=month"}
# The pictures that the documentation uses: page, width, scheme.
SHOWN = {("dashboard", 1280, "light"): "shop-dashboard",
         ("dashboard", 390, "dark"): "shop-dashboard-phone",
         ("support", 1280, "dark"): "shop-support",
         ("support", 390, "dark"): "shop-support-phone"}
# The size of every text, and its contrast with its background.
MEASURE = """(() => {
  const light = (text) => {
    const [r, g, b] = text.match(/[\\d.]+/g).map(Number).slice(0, 3).map((v) => {
      v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = (node) => { for (; node; node = node.parentElement) {
      const colour = getComputedStyle(node).backgroundColor;
      if (!/, 0\\)$/.test(colour)) return colour; }
    return getComputedStyle(document.body).backgroundColor; };
  const tables = (isOpen) => document.querySelectorAll('details').forEach((e) => e.open = isOpen);
  tables(true);
  let contrast = 21, size = 100, worst = '';
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !node.getClientRects().length) continue;
    const style = getComputedStyle(node), a = light(style.color), b = light(behind(node));
    const here = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (here < contrast) { contrast = here; worst = node.outerHTML.slice(0, 80); }
    size = Math.min(size, parseFloat(style.fontSize)); }
  const bars = [...document.querySelectorAll('svg rect')].map((r) => r.getBoundingClientRect());
  const wide = [...document.querySelectorAll('body *')].filter((e) =>
    e.getBoundingClientRect().right > innerWidth + 0.5).map((e) => e.outerHTML.slice(0, 80));
  const found = { width: document.documentElement.scrollWidth,
    contrast, worst, size, wide: wide.slice(0, 3),
    narrow: Math.min(...[...document.querySelectorAll('.cards td, dd, input')].filter(
      (e) => e.type !== 'hidden').map((e) => e.getBoundingClientRect().width)),
    bars: bars.filter((r) => r.width > 0.5 && r.height > 0).length,
    scripts: document.scripts.length,
    unnamed: [...document.querySelectorAll('input:not([type=hidden]), select, textarea')].filter(
      (e) => !e.labels.length).length + [...document.querySelectorAll('svg')].filter(
      (e) => !e.getAttribute('aria-label') && e.getAttribute('aria-hidden') !== 'true').length,
    unscoped: [...document.querySelectorAll('table')].filter((t) => !t.caption
      || !t.querySelector('th[scope=col]')
      || t.querySelectorAll('th[scope=row]').length < t.querySelectorAll('tbody tr').length).length,
    charts: document.querySelectorAll('svg[role=img]').length,
    beside: document.querySelectorAll('svg[role=img] ~ details table').length,
    headings: [...document.querySelectorAll('h1, h2, h3')].map((e) => e.tagName[1]).join(''),
    background: getComputedStyle(document.body).backgroundColor };
  tables(false);
  found.height = document.documentElement.scrollHeight;
  return JSON.stringify(found);
})()"""


def a_day(shop):
    """Send the requests of a day, each counted in the hour of its line."""
    shop.minted("mint", "--day", str(DAY), "--out", str(FOLDER / "day.ndjson"))
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT")
    by_hour = {}
    for line in (FOLDER / "day.ndjson").read_text().splitlines():
        found = json.loads(line)
        by_hour.setdefault(found["timeMs"] // 3_600_000 % 24, []).append(found["blob"])
    number = 800_000_000_000_000
    for hour, blobs in sorted(by_hour.items()):
        for blob in blobs:
            shop.send(blob, ACCOUNT)
        number += 1
        bought = shop.coins(number)
        for account in [ACCOUNT, "customer-2", ACCOUNT][:1 + number % 3]:
            shop.send(bought, account)
        shop.run("sweep")  # writes the counts
        with sqlite3.connect(shop.database, timeout=10) as connection:
            connection.execute("UPDATE shop_tally SET hour = ? WHERE hour NOT LIKE 'd%'",
                               (f"d{hour:02d}",))
    with sqlite3.connect(shop.database, timeout=10) as connection:
        connection.execute("UPDATE shop_tally SET hour = ? || substr(hour, 2)", (now,))


def check(suite, shop, driver, write):
    backgrounds = {}
    for page, path in PAGES.items():
        for width in (1280, 390):
            for scheme in ("light", "dark"):
                name = f"{page} {width} {scheme}"
                asked, complaints = driver.open(
                    shop.url + path, f"operator:{shop.password}", width, scheme)
                found = json.loads(driver.evaluate(MEASURE))
                # The icon of a date field is Chromium's own.
                elsewhere = [url for url in asked
                             if not url.startswith((shop.url, "data:image/svg"))]
                holds = {
                    "nothing from elsewhere": not elsewhere,
                    "no complaint": not complaints,
                    "fits": found["width"] <= width,
                    "contrast": found["contrast"] >= 4.5,
                    "size of text": found["size"] >= 12,
                    "no column is squeezed": found["narrow"] >= 90,
                    "every field and drawing has a name": found["unnamed"] == 0,
                    "tables have captions and heads": found["unscoped"] == 0,
                    "a table beside each chart": found["charts"] == found["beside"],
                    "order of headings": re.fullmatch("12+", found["headings"]) is not None,
                    "no script": found["scripts"] == 0,
                    "charts": page != "dashboard" or found["bars"] > 40,
                }
                for what, is_so in holds.items():
                    suite.expect(is_so, f"{name}: {what}", f"{found} {elsewhere} {complaints}")
                backgrounds.setdefault(page, set()).add((scheme, found["background"]))
                picture = driver.picture(width, min(found["height"], 1200 if width > 500 else 1000))
                (FOLDER / f"{name.replace(' ', '-')}.png").write_bytes(picture)
                if write and (page, width, scheme) in SHOWN:
                    (PICTURES / f"{SHOWN[page, width, scheme]}.png").write_bytes(picture)
    for page, found in backgrounds.items():
        suite.expect(len(found) == 2, f"{page}: light and dark differ", str(found))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--pictures", action="store_true")
    options = parser.parse_args()
    suite = Suite("shop-pages")
    if browser.program() is None:
        suite.skip("shop-pages", "chromium is not installed")
        return suite.finish(may_be_empty=True)
    shutil.rmtree(FOLDER, ignore_errors=True)
    settings = {"testers": [ACCOUNT], "prices": PRICES}
    with ShopServer(FOLDER, options.program.resolve(), settings=settings) as shop:
        a_day(shop)
        with browser.Browser() as driver:
            check(suite, shop, driver, options.pictures)
    return suite.finish()


if __name__ == "__main__":
    main()
