// A search field for pages that are read as files. The texts are a script of their own,
// loaded when the field is first used: see search.py.
(function () {
  "use strict";
  var own = document.currentScript;
  var texts = own.getAttribute("data-texts");
  var root = texts.slice(0, texts.lastIndexOf("/") + 1);
  var MOST = 20, AROUND = 60;

  function make(tag, attributes, words) {
    var element = document.createElement(tag);
    Object.keys(attributes).forEach(function (name) {
      element.setAttribute(name, attributes[name]);
    });
    if (words) { element.textContent = words; }
    return element;
  }

  // The words with each place that matches marked.
  function marked(words, wanted) {
    var out = document.createDocumentFragment(), low = words.toLowerCase(), at = 0;
    while (at < words.length) {
      var next = -1, length = 0;
      wanted.forEach(function (word) {
        var place = low.indexOf(word, at);
        if (place >= 0 && (next < 0 || place < next)) { next = place; length = word.length; }
      });
      if (next < 0) { break; }
      out.appendChild(document.createTextNode(words.slice(at, next)));
      out.appendChild(make("mark", {}, words.slice(next, next + length)));
      at = next + length;
    }
    out.appendChild(document.createTextNode(words.slice(at)));
    return out;
  }

  // The part of a text around its first match.
  function extract(text, wanted) {
    var low = text.toLowerCase(), first = -1;
    wanted.forEach(function (word) {
      var place = low.indexOf(word);
      if (place >= 0 && (first < 0 || place < first)) { first = place; }
    });
    var begin = Math.max(0, first - AROUND), end = Math.min(text.length, begin + 3 * AROUND);
    return (begin ? "…" : "") + text.slice(begin, end) + (end < text.length ? "…" : "");
  }

  // Every word must stand in a part; in its heading it counts most.
  function worth(entry, wanted) {
    var page = entry[0].toLowerCase(), heading = entry[1].toLowerCase();
    var text = entry[3].toLowerCase(), sum = 0;
    for (var index = 0; index < wanted.length; index += 1) {
      var word = wanted[index];
      if (heading === word || (!heading && page === word)) { sum += 40; }
      else if (heading.indexOf(word) >= 0) { sum += 12; }
      else if (page.indexOf(word) >= 0) { sum += heading ? 4 : 12; }
      else if (text.indexOf(word) >= 0) { sum += 1; }
      else { return 0; }
    }
    return sum;
  }

  function find(query) {
    var wanted = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (!wanted.length) { return null; }
    var found = [];
    window.assayTexts.forEach(function (entry, place) {
      var sum = worth(entry, wanted);
      if (sum) { found.push([sum, place, entry]); }
    });
    found.sort(function (a, b) { return b[0] - a[0] || a[1] - b[1]; });
    return { wanted: wanted, count: found.length,
             entries: found.slice(0, MOST).map(function (one) { return one[2]; }) };
  }

  function attach(place, number) {
    var box = make("div", { "class": "search", role: "search" });
    var field = make("input", { type: "search", placeholder: "Search  ( / )",
      "aria-label": "Search all pages", "aria-controls": "found-" + number,
      autocomplete: "off", spellcheck: "false" });
    var list = make("ol", { id: "found-" + number, "aria-label": "Results" });
    var count = make("p", { "class": "soft", "aria-live": "polite" });
    count.hidden = list.hidden = true;
    box.appendChild(field);
    box.appendChild(count);
    box.appendChild(list);
    place.parentNode.insertBefore(box, place.nextSibling);

    function show() {
      if (!window.assayTexts) { return; }
      var found = find(field.value);
      count.hidden = list.hidden = !found;
      list.textContent = "";
      if (!found) { return; }
      count.textContent = found.count === 0 ? "Nothing found." :
        found.count > MOST ? "The best " + MOST + " of " + found.count :
        found.count + (found.count === 1 ? " place" : " places");
      found.entries.forEach(function (entry) {
        var item = make("li", {}), link = make("a", { href: root + entry[2] });
        var head = make("b", {});
        head.appendChild(marked(entry[1] || entry[0], found.wanted));
        link.appendChild(head);
        if (entry[1]) { link.appendChild(make("span", { "class": "soft" }, entry[0])); }
        var words = make("span", { "class": "words" });
        words.appendChild(marked(extract(entry[3], found.wanted), found.wanted));
        link.appendChild(words);
        item.appendChild(link);
        list.appendChild(item);
      });
    }

    function load() {
      if (window.assayTexts || document.getElementById("search-texts")) { return; }
      var script = make("script", { src: texts, id: "search-texts" });
      script.addEventListener("load", function () {
        document.dispatchEvent(new Event("assay-texts"));
      });
      document.head.appendChild(script);
    }

    document.addEventListener("assay-texts", show);
    field.addEventListener("focus", load);
    field.addEventListener("input", function () { load(); show(); });
    box.addEventListener("keydown", function (event) {
      var links = Array.prototype.slice.call(list.querySelectorAll("a"));
      var at = links.indexOf(document.activeElement);
      if (event.key === "Escape") { field.value = ""; show(); field.focus(); }
      else if (event.key === "ArrowDown" && links.length) {
        links[Math.min(at + 1, links.length - 1)].focus(); event.preventDefault();
      } else if (event.key === "ArrowUp" && at >= 0) {
        (at ? links[at - 1] : field).focus(); event.preventDefault();
      } else if (event.key === "Enter" && event.target === field && links.length) {
        window.location.href = links[0].href;
      }
    });
    return field;
  }

  var places = document.querySelectorAll(".side .version");
  var fields = Array.prototype.map.call(places, attach);
  document.addEventListener("keydown", function (event) {
    var typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) { return; }
    var seen = fields.filter(function (field) { return field.offsetParent; })[0];
    if (seen) { seen.focus(); event.preventDefault(); }
  });
}());
