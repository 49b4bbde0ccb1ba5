/// The report as one HTML page without scripts and external resources.
struct ReportPage {
  private let report: DayReport
  private var tally: DayTally { report.tally }

  init(_ report: DayReport) {
    self.report = report
  }

  var html: String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>\(Markup.escaped(heading)) – \(Markup.escaped(report.source))</title>
    <style>
    \(ReportPage.style)
    </style>
    </head>
    <body>
    <main>
    \(header)
    \(headlines)
    \(chart)
    \(classTable)
    \(comparison)
    \(money)
    <div class="pair">
    \(features("Statuses", "Status", tally.statusesByCount.prefix(12)))
    \(features("Forms", "Form", tally.formsByCount.prefix(12)))
    </div>
    <div class="pair">
    \(oddest)
    \(largest)
    </div>
    \(notes)
    </main>
    </body>
    </html>

    """
  }

  // MARK: top

  private var heading: String {
    let done = report.share(tally[.nothing].requests)
    return "\(done) of the requests were answered by triage alone"
  }

  private var header: String {
    var facts = "<strong>\(Figures.requests(tally.requests))</strong>"
    if let period = report.period { facts += ", \(Markup.escaped(period))" }
    return """
      <header>
      <p class="eyebrow">Assay report · \(Markup.escaped(report.source))</p>
      <h1>\(Markup.escaped(heading))</h1>
      <p class="lead">\(facts). Triage looks at what a client sent and verifies nothing: \
      what it drops cannot be a purchase of ours, what it keeps still has to be verified.</p>
      \(strip)
      </header>
      """
  }

  /// The bar of all requests.
  private var strip: String {
    guard tally.requests > 0 else { return "" }
    var x = 0.0
    var bars = ""
    for category in RequestClass.allCases.reversed() where tally[category].requests > 0 {
      let width = 1000 * Double(tally[category].requests) / Double(tally.requests)
      let title = "\(category.name): \(report.share(tally[category].requests))"
      bars += "<g><title>\(title)</title><rect class=\"fill-\(category.name)\""
      bars += " x=\"\(Markup.length(x))\" width=\"\(Markup.length(width))\" height=\"10\"/></g>"
      x += width
    }
    return "<svg class=\"strip\" viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\""
      + " role=\"img\" aria-label=\"Shares of the classes; the table below has the figures\""
      + " aria-details=\"classes\">"
      + bars + "</svg>"
  }

  private var headlines: String {
    let avoided = tally.callsAvoided
    let cards: [(number: String, name: String, words: String)] = [
      (
        Figures.grouped(tally[.nothing].requests), "answered at once",
        "no lookup, no cryptography, no traffic"
      ),
      (
        Figures.grouped(tally[.lookup].requests), "repeats",
        "answered by one read of the ledger"
      ),
      (
        Figures.grouped(tally[.verification].requests), "to be verified",
        "offline, \(report.share(tally[.verification].requests)) of all"
      ),
      (
        Figures.grouped(avoided.requests), "calls to Apple avoided",
        "\(Figures.bytes(avoided.bytes)) of receipts not sent"
      ),
    ]
    let items = cards.map { card in
      "<div><dt>\(card.name)</dt><dd><b>\(card.number)</b><span>\(card.words)</span></dd></div>"
    }
    return "<dl class=\"figures\">" + items.joined() + "</dl>"
  }

  // MARK: chart

  private var chart: String {
    guard let series = report.series else {
      return "<section><h2>Over time</h2><p>No request tells its time: there is nothing to "
        + "draw.</p></section>"
    }
    return """
      <section>
      <h2>By \(Figures.interval(series.widthMs))</h2>
      <figure>\(report.chart(.wide))\(report.chart(.narrow))\(keys)</figure>
      <details><summary>The same as a table</summary>
      \(region("Requests over time", seriesTable(series)))</details>
      </section>
      """
  }

  /// The names of the classes, for the narrow chart.
  private var keys: String {
    let names = RequestClass.allCases.reversed().filter { tally[$0].requests > 0 }
    let items = names.map { "<li>\(swatch($0)) \($0.name)</li>" }
    return "<ul class=\"keys\">" + items.joined() + "</ul>"
  }

  /// Returns content that a narrow screen scrolls sideways, which the keyboard can reach.
  private func region(_ label: String, _ content: String) -> String {
    "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"\(label)\">"
      + content + "</div>"
  }

  private func seriesTable(_ series: TimeGrid.Series) -> String {
    let shown = RequestClass.allCases.filter { tally[$0].requests > 0 }
    var out = "<table><thead><tr><th scope=\"col\">UTC</th>"
    for category in shown { out += "<th scope=\"col\" class=\"n\">\(category.name)</th>" }
    out += "<th scope=\"col\" class=\"n\">all</th></tr></thead><tbody>\n"
    for (place, counts) in series.intervals.enumerated() {
      out += "<tr><th scope=\"row\">\(series.label(place))</th>"
      for category in shown { out += number(counts[category.rawValue]) }
      out += number(counts.reduce(0, +)) + "</tr>\n"
    }
    return out + "</tbody></table>"
  }

  private func number(_ count: Int) -> String {
    "<td class=\"n\(count == 0 ? " zero" : "")\">\(Figures.grouped(count))</td>"
  }

  // MARK: tables

  private var classTable: String {
    let series = report.series
    var out = """
      <table id="classes" class="classes"><thead><tr><th scope="col">Class</th>
      <th scope="col" class="n">Requests</th><th scope="col" class="n">Share</th>
      <th scope="col" class="n">Bytes</th>
      """
    if series != nil {
      out += "<th scope=\"col\" class=\"over\">Over time, each to its own scale</th>"
    }
    out += "</tr></thead><tbody>\n"
    for category in RequestClass.allCases.reversed() where tally[category].requests > 0 {
      out += "<tr><th scope=\"row\"><b>\(swatch(category))\(category.name)</b>"
      out += "<small>\(Markup.escaped(category.meaning))</small></th>"
      out += number(tally[category].requests)
      out += "<td class=\"n\">\(Markup.escaped(report.share(tally[category].requests)))</td>"
      out += "<td class=\"n\">\(Figures.bytes(tally[category].bytes))</td>"
      if let series { out += "<td class=\"over\">\(spark(series, category))</td>" }
      out += "</tr>\n"
    }
    out += "</tbody><tfoot><tr><th scope=\"row\">all</th>" + number(tally.requests)
    out += "<td class=\"n\">\(report.share(tally.requests))</td>"
    out += "<td class=\"n\">\(Figures.bytes(tally.bytes))</td>"
    out += (series == nil ? "" : "<td class=\"over\"></td>") + "</tr></tfoot></table>"
    return "<section><h2>Classes</h2>" + region("Requests by class", out) + words + "</section>"
  }

  /// What the classes are, for a reader who knows neither receipts nor signatures.
  private var words: String {
    let items = report.present.reversed().map { category in
      "<div><dt>\(swatch(category)) \(category.name)</dt>"
        + "<dd>\(Markup.escaped(category.explanation))</dd></div>"
    }
    return "<h3>What the classes are</h3><dl class=\"words\">" + items.joined() + "</dl>"
  }

  /// Returns the head of a table; numbers are what follows the first column.
  private func head(_ first: String, _ numbers: [String], _ last: String = "") -> String {
    "<table><thead><tr><th scope=\"col\">\(first)</th>"
      + numbers.map { "<th scope=\"col\" class=\"n\">\($0)</th>" }.joined()
      + (last.isEmpty ? "" : "<th scope=\"col\">\(last)</th>") + "</tr></thead><tbody>\n"
  }

  private func figure(_ text: String) -> String {
    "<td class=\"n\">\(Markup.escaped(text))</td>"
  }

  private var comparison: String {
    guard let earlier = report.earlier else { return "" }
    func row(_ name: String, _ before: Int, _ now: Int) -> String {
      "<tr><th scope=\"row\">\(name)</th>" + number(before)
        + figure(Figures.share(before, of: earlier.requests)) + number(now)
        + figure(report.share(now)) + figure(Figures.change(from: before, to: now)) + "</tr>\n"
    }
    var out = head("Class", ["Before", "Share", "Now", "Share", "Change"])
    for category in report.present.reversed() {
      out += row(
        swatch(category) + " " + category.name, earlier[category], tally[category].requests)
    }
    out += "</tbody><tfoot>" + row("all", earlier.requests, tally.requests) + "</tfoot></table>"
    return "<section><h2>Compared with the day before</h2><p class=\"note\">"
      + "\(Markup.escaped(earlier.heading)): \(Figures.requests(earlier.requests)).</p>"
      + region("Compared with the day before", out) + "</section>"
  }

  private var money: String {
    guard let worth = report.worth else { return "" }
    let before = report.earlier?.worth
    var out = head(
      "Class", ["Requests"] + (before == nil ? ["Amount"] : ["Before", "Now"]), "What it is")
    for entry in worth.value.entries {
      out += "<tr><th scope=\"row\">\(swatch(entry.category)) \(entry.category.name)</th>"
      out += number(entry.requests)
      if let before { out += figure(before.entry(like: entry).map(amount) ?? "–") }
      out += figure(amount(entry)) + "<td>\(entry.category.work.worth)</td></tr>\n"
    }
    let notes = report.moneyNotes.map { "<li>Not counted: \(Markup.escaped($0))</li>" }
    return "<section><h2>In money</h2><p class=\"note\">\(DayReport.moneyNote) Prices: "
      + "\(Markup.escaped(worth.source)).</p>"
      + (worth.value.entries.isEmpty
        ? "<p>No request names a product that has a price.</p>"
        : region("In money", out + "</tbody></table>"))
      + (notes.isEmpty ? "" : "<ul class=\"left\">" + notes.joined() + "</ul>") + "</section>"
  }

  private func amount(_ entry: DayWorth.Entry) -> String {
    "\(entry.amount.grouped) \(entry.amount.currency)"
  }

  private func swatch(_ category: RequestClass) -> String {
    "<svg class=\"swatch\" viewBox=\"0 0 12 12\" aria-hidden=\"true\">"
      + "<rect class=\"fill-\(category.name)\" width=\"12\" height=\"12\" rx=\"2.5\"/></svg>"
  }

  /// Returns the curve of one class, scaled to its own largest interval.
  private func spark(_ series: TimeGrid.Series, _ category: RequestClass) -> String {
    let counts = series.intervals.map { $0[category.rawValue] }
    guard let greatest = counts.max(), greatest > 0 else { return "" }
    let step = 240.0 / Double(counts.count)
    let gap = min(2, step * 0.2)
    var path = ""
    for (place, count) in counts.enumerated() where count > 0 {
      let height = max(1, 28 * Double(count) / Double(greatest))
      path += "M\(Markup.length(Double(place) * step)) 29v-\(Markup.length(height))"
      path += "h\(Markup.length(step - gap))v\(Markup.length(height))z"
    }
    let peak = counts.firstIndex(of: greatest) ?? 0
    let title =
      "\(category.name): at most \(Figures.grouped(greatest)), \(series.label(peak))"
    return "<svg class=\"spark\" viewBox=\"0 0 240 30\" preserveAspectRatio=\"none\" role=\"img\">"
      + "<title>\(title)</title>"
      + "<path class=\"base\" d=\"M0 29.5H240\"/>"
      + "<path class=\"fill-\(category.name)\" d=\"\(path)\"/></svg>"
  }

  private func features(
    _ title: String, _ column: String, _ features: ArraySlice<DayTally.Feature>
  ) -> String {
    guard !features.isEmpty else { return "" }
    var out = "<table><thead><tr>"
    out += "<th scope=\"col\">\(column)</th><th scope=\"col\" class=\"n\">Requests</th>"
    out += "<th scope=\"col\" class=\"n\">Share</th></tr></thead><tbody>\n"
    for feature in features {
      out += "<tr><td class=\"name\">\(Markup.escaped(feature.name))</td>"
      out += number(feature.lines.count)
      out += "<td class=\"n\">\(Markup.escaped(report.share(feature.lines.count)))</td></tr>\n"
    }
    return "<section><h2>\(title)</h2>" + region(title, out + "</tbody></table>") + "</section>"
  }

  private var oddest: String {
    let oddities = tally.oddities(limit: DayReport.oddityLimit)
    guard !oddities.isEmpty else { return "" }
    var out = "<table><thead><tr>"
    out += "<th scope=\"col\">What</th><th scope=\"col\" class=\"n\">Requests</th>"
    out += "<th scope=\"col\">In</th></tr></thead><tbody>\n"
    for feature in oddities {
      out += "<tr><td class=\"name\"><i>\(feature.kind.rawValue)</i> "
      out += "\(Markup.escaped(feature.name))</td>" + number(feature.lines.count)
      out += "<td class=\"where\">\(DayReport.lines(feature.lines))</td></tr>\n"
    }
    return "<section><h2>Oddest</h2><p class=\"note\">What fewer than one request in a "
      + "hundred has, the rarest first.</p>" + region("Oddest", out + "</tbody></table>")
      + "</section>"
  }

  private var largest: String {
    guard !tally.largest.elements.isEmpty else { return "" }
    var out = "<table><thead><tr><th scope=\"col\">Line</th>"
    out += "<th scope=\"col\" class=\"n\">Size</th><th scope=\"col\">Class</th>"
    out += "<th scope=\"col\">Form</th></tr></thead><tbody>\n"
    for input in tally.largest.elements {
      out += "<tr><td>\(input.line)</td><td class=\"n\">\(Figures.bytes(input.bytes))</td>"
      out += "<td>\(swatch(input.category)) \(input.category.name)</td>"
      out += "<td>\(Markup.escaped(input.form))</td></tr>\n"
    }
    return "<section><h2>Largest</h2><p class=\"note\">The longest blobs, as the clients sent "
      + "them.</p>" + region("Largest", out + "</tbody></table>") + "</section>"
  }

  private var notes: String {
    var out = "<footer>"
    if !report.lineNotes.isEmpty {
      out += "<h2>Not in the picture</h2><ul>"
      out += report.lineNotes.map { "<li>\(Markup.escaped($0))</li>" }.joined() + "</ul>"
    }
    out += "<h2>How it was counted</h2><p>Of \(Figures.grouped(tally.lines)) lines, each "
    out += "request was given to <code>assay_triage</code> as the client sent it. Bytes are "
    out += "those of the blobs alone, without what HTTP adds to them. A call is avoided when "
    out += "triage or the ledger has the answer; what goes on to verification is verified "
    return out + "offline and needs no call either. \(Markup.escaped(report.repeatNote)) Times "
      + "are UTC.</p></footer>"
  }

  // MARK: style

  private static let style = """
    :root{color-scheme:light dark;--ground:\(Palette.light.ground);--text:\(Palette.light.text);\
    --quiet:\(Palette.light.quiet);--line:\(Palette.light.line);--wash:#f6f7f9}
    @media (prefers-color-scheme:dark){:root{--ground:\(Palette.dark.ground);\
    --text:\(Palette.dark.text);--quiet:\(Palette.dark.quiet);--line:\(Palette.dark.line);\
    --wash:#191d24}}
    *{box-sizing:border-box}
    body{margin:0;background:var(--ground);color:var(--text);\
    font:16px/1.55 \(Palette.fonts);-webkit-text-size-adjust:100%}
    main{max-width:1128px;margin:0 auto;padding:clamp(24px,5vw,64px) 24px 72px}
    .eyebrow{margin:0 0 12px;color:var(--quiet);font-size:14px;letter-spacing:.01em}
    h1{margin:0;max-width:24ch;font-size:clamp(30px,4.6vw,50px);line-height:1.1;\
    font-weight:680;letter-spacing:-.022em;text-wrap:balance}
    .lead{max-width:62ch;margin:20px 0 32px;font-size:18px;color:var(--quiet)}
    .lead strong{color:var(--text);font-weight:620}
    .strip{display:block;width:100%;height:14px;border-radius:4px}
    .figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(200px,1fr));\
    gap:28px 32px;margin:36px 0 0}
    .figures dt{color:var(--quiet);font-size:14px}
    .figures dd{margin:0}
    .figures b{display:block;font-size:34px;line-height:1.2;font-weight:640;\
    letter-spacing:-.02em;font-variant-numeric:tabular-nums}
    .figures span{display:block;color:var(--quiet);font-size:14px}
    section,footer{margin-top:64px}
    h2{margin:0 0 14px;font-size:21px;line-height:1.25;font-weight:650;letter-spacing:-.01em}
    .note{margin:-8px 0 12px;color:var(--quiet);font-size:14px}
    figure{margin:0}
    figure svg{display:block;width:100%;height:auto}
    .narrow,.keys{display:none}
    .keys{list-style:none;margin:12px 0 0;padding:0;gap:4px 18px;flex-wrap:wrap;font-size:14px}
    .scroll{overflow-x:auto}
    h3{margin:28px 0 10px;font-size:16px;font-weight:650}
    .words{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,320px),1fr));\
    gap:14px 40px;margin:0;font-size:15px}
    .words dt{font-weight:620}
    .words dd{margin:2px 0 0;color:var(--quiet)}
    .left{margin:12px 0 0;padding-left:18px;color:var(--quiet);font-size:14px}
    @media (max-width:900px){figure .wide{display:none}figure .narrow{display:block;\
    max-width:560px}figure .keys{display:flex}}
    table{width:100%;border-collapse:collapse;font-size:15px;line-height:1.4}
    th,td{padding:9px 14px 9px 0;text-align:left;vertical-align:middle;\
    border-bottom:1px solid var(--line);font-weight:400}
    th:last-child,td:last-child{padding-right:0}
    thead th{color:var(--quiet);font-size:13px;padding-top:0;vertical-align:bottom}
    tfoot th,tfoot td{border-bottom:0;font-weight:620}
    .n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
    .n+:not(.n){padding-left:18px}
    .zero{color:var(--quiet)}
    .name{overflow-wrap:anywhere}
    .name i{font-style:normal;color:var(--quiet);font-size:13px;margin-right:4px}
    .where{color:var(--quiet);font-size:13px;font-variant-numeric:tabular-nums}
    .classes tbody th{min-width:270px;padding-left:24px}
    .classes tbody .swatch{margin:0 12px 0 -24px}
    .classes b{display:block;font-weight:620}
    .classes small{display:block;color:var(--quiet);font-size:13px}
    .classes td:last-child{width:30%;min-width:180px}
    .swatch{width:12px;height:12px;vertical-align:-1px}
    .spark{display:block;width:100%;height:30px}
    .pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,400px),1fr));\
    gap:0 56px;align-items:start}
    details{margin-top:16px}
    summary{cursor:pointer;color:var(--quiet);font-size:14px;width:max-content}
    details[open] summary{margin-bottom:14px}
    details table{font-size:13px}
    details tbody th{white-space:nowrap}
    footer{padding-top:32px;border-top:1px solid var(--line);color:var(--quiet);font-size:14px}
    footer h2{color:var(--text);font-size:16px;margin:20px 0 6px}
    footer h2:first-child{margin-top:0}
    footer p{max-width:80ch;margin:0}
    footer ul{margin:0;padding-left:18px}
    code{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
    \(Palette.chartStyle())
    @media (max-width:600px){.classes .over{display:none}.classes tbody th{min-width:0}\
    .classes td:nth-last-child(2){padding-right:0}}
    @media print{main{padding:0}section,footer{margin-top:32px;break-inside:avoid}}
    """
}
