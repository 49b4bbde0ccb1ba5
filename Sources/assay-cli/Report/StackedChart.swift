/// The classes over time as SVG, with one stacked column an interval.
struct StackedChart {
  private let series: TimeGrid.Series
  private let tally: DayTally
  private let source: String
  private let layout: Layout

  enum Layout: String {
    /// A file of its own, which has a headline and a ground.
    case standalone
    /// In a page on a wide screen, with the names of the classes beside the columns.
    case wide
    /// In a page on a phone; the page names the classes.
    case narrow
  }

  private var width: Double { layout == .narrow ? 340 : 1080 }
  private var left: Double { layout == .narrow ? 48 : 68 }
  private var right: Double { layout == .narrow ? 4 : 176 }
  private var plotHeight: Double { layout == .narrow ? 220 : 320 }
  private var isStandalone: Bool { layout == .standalone }

  init(_ series: TimeGrid.Series, _ tally: DayTally, source: String, _ layout: Layout) {
    self.series = series
    self.tally = tally
    self.source = source
    self.layout = layout
  }

  private var top: Double { isStandalone ? 106 : 30 }
  private var height: Double { top + plotHeight + (isStandalone ? 66 : 40) }
  private var bottom: Double { top + plotHeight }
  private var plotWidth: Double { width - left - right }
  private var step: Double { plotWidth / Double(series.intervals.count) }
  /// The space between columns, larger if there are few, to limit their width.
  private var gap: Double { max(min(4, step * 0.16), step - 120) }

  var svg: String {
    var out =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(text(width)) \(text(height))\""
      + " role=\"img\" class=\"\(layout)\""
      + " aria-labelledby=\"\(layout)-title \(layout)-summary\""
    if isStandalone { out += " width=\"\(text(width))\" height=\"\(text(height))\"" }
    out += " font-family=\"\(Palette.fonts)\" font-size=\"13\">\n"
    out += "<title id=\"\(layout)-title\">\(Markup.escaped(title))</title>\n"
    out += "<desc id=\"\(layout)-summary\">\(Markup.escaped(summary))</desc>\n"
    if isStandalone { out += headline }
    return out + axis + columns + "<path class=\"base\" d=\"M\(text(left)) \(text(bottom))"
      + "H\(text(width - right))\"/>\n" + clock + (layout == .narrow ? "" : labels) + "</svg>\n"
  }

  // MARK: words

  private var title: String {
    "Requests by \(Figures.interval(series.widthMs)) and class, " + period
  }

  private var period: String {
    Figures.period(tally.firstMs ?? series.startMs, tally.lastMs ?? series.startMs)
  }

  private var summary: String {
    let parts = shown.map { "\($0.name) \(Figures.share(tally[$0].requests, of: tally.requests))" }
    return "\(Figures.requests(tally.requests)): " + parts.joined(separator: ", ") + "."
  }

  private var headline: String {
    let done = Figures.share(tally[.nothing].requests, of: tally.requests)
    var out = "<style>\(Palette.chartStyle())</style>\n"
    out += "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n"
    out += words(
      "\(done) of \(Figures.requests(tally.requests)) answered by triage alone",
      x: 24, y: 42, "ink", " font-size=\"22\" font-weight=\"650\"")
    out += words(
      "Requests by \(Figures.interval(series.widthMs)) and class, \(period)", x: 24, y: 66,
      "quiet", " font-size=\"14\"")
    let note =
      series.outside == 0
      ? "" : "; \(Figures.requests(series.outside)) far off in time left out"
    return out
      + words("Source: \(source)\(note)", x: 24, y: height - 16, "quiet", " font-size=\"12\"")
  }

  private func words(
    _ content: String, x: Double, y: Double, _ style: String, _ more: String = ""
  ) -> String {
    "<text class=\"\(style)\" x=\"\(text(x))\" y=\"\(text(y))\"\(more)>"
      + "\(Markup.escaped(content))</text>\n"
  }

  private func text(_ length: Double) -> String { Markup.length(length) }

  // MARK: axes

  private var greatest: Int { series.intervals.map { $0.reduce(0, +) }.max() ?? 0 }

  /// The distance of grid lines: a round number, so that three to six lines fit.
  private var tick: Int {
    var scale = 1
    while true {
      for factor in [1, 2, 5] where greatest <= factor * scale * 5 { return factor * scale }
      scale *= 10
    }
  }

  /// The end of the axis: the grid line above the highest column, so that no column touches the
  /// top.
  private var ceiling: Int { (greatest / tick + 1) * tick }

  private func place(_ value: Int) -> Double {
    bottom - plotHeight * Double(value) / Double(ceiling)
  }

  private var axis: String {
    var out = words(
      "requests per \(Figures.interval(series.widthMs))", x: left, y: top - 12, "quiet",
      " font-size=\"12\"")
    for value in stride(from: tick, through: ceiling, by: tick) {
      let y = place(value)
      out += "<path class=\"rule\" d=\"M\(text(left)) \(text(y))H\(text(width - right))\"/>\n"
      out += words(
        Figures.grouped(value), x: left - 10, y: y + 4.5, "quiet", " text-anchor=\"end\"")
    }
    return out
      + words("0", x: left - 10, y: bottom + 4.5, "quiet", " text-anchor=\"end\"")
  }

  /// The times below the columns, as many as have room.
  private var clock: String {
    let count = series.intervals.count
    let room = max(1, Int((58 / step).rounded(.up)))
    let usual = [1, 2, 3, 4, 6, 8, 12, 24, 48].first { $0 >= room } ?? room
    let startOfDay = Int(series.startMs % 86_400_000 / series.widthMs)
    var out = ""
    for place in 0..<count where (startOfDay + place) % usual == 0 {
      let moment = Figures.Moment(ms: series.start(place))
      let isDate = series.widthMs >= 86_400_000
      let label = isDate || isDayStart(moment, place) ? moment.shortDate : moment.clock
      let x = left + Double(place) * step
      out += "<path class=\"base\" d=\"M\(text(x + gap / 2)) \(text(bottom))v5\"/>\n"
      out += words(label, x: x + gap / 2, y: bottom + 21, "quiet")
    }
    return out
  }

  /// Whether to write a midnight as a date, as in a chart of several days.
  private func isDayStart(_ moment: Figures.Moment, _ place: Int) -> Bool {
    let span = series.widthMs * Int64(series.intervals.count)
    return span > 90_000_000 && moment.hour == 0 && moment.minute == 0
  }

  // MARK: columns

  private var shown: [RequestClass] {
    RequestClass.allCases.filter { tally[$0].requests > 0 }
  }

  private var columns: String {
    var out = ""
    for (number, counts) in series.intervals.enumerated() {
      let total = counts.reduce(0, +)
      let x = left + Double(number) * step
      out += "<g class=\"column\"><title>\(Markup.escaped(tip(number, counts, total)))</title>"
      out += bar("hit", x, place(ceiling), step, plotHeight)
      var below = 0
      for category in shown where counts[category.rawValue] > 0 {
        let above = below + counts[category.rawValue]
        let (y, base) = (place(above), place(below))
        out += bar("fill-\(category.name)", x + gap / 2, y, step - gap, base - y)
        below = above
      }
      out += "</g>\n"
    }
    return out
  }

  private func bar(
    _ style: String, _ x: Double, _ y: Double, _ width: Double, _ height: Double
  ) -> String {
    "<rect class=\"\(style)\" x=\"\(text(x))\" y=\"\(text(y))\" width=\"\(text(width))\""
      + " height=\"\(text(height))\"/>"
  }

  private func tip(_ number: Int, _ counts: TimeGrid.Counts, _ total: Int) -> String {
    let lines = shown.reversed().compactMap { category -> String? in
      let count = counts[category.rawValue]
      if count == 0 { return nil }
      return "\(category.name)  \(Figures.grouped(count))  (\(Figures.share(count, of: total)))"
    }
    return ([series.label(number) + ": \(Figures.requests(total))"] + lines)
      .joined(separator: "\n")
  }

  // MARK: labels

  /// The names and shares beside the last column, in the order of the stack, moved apart if they
  /// would touch.
  private var labels: String {
    let distance = 34.0
    let counts = series.intervals[series.intervals.count - 1]
    var below = 0
    var wanted: [(category: RequestClass, at: Double)] = []
    for category in shown {
      let middle = Double(below) + Double(counts[category.rawValue]) / 2
      wanted.append((category, bottom - plotHeight * middle / Double(ceiling)))
      below += counts[category.rawValue]
    }
    let places = StackedChart.spread(
      wanted.map(\.at), distance: distance, from: top + 6, to: bottom - 12)
    var out = ""
    for (entry, y) in zip(wanted, places) {
      let share = Figures.share(tally[entry.category].requests, of: tally.requests)
      let edge = width - right
      out += "<path class=\"lead\" d=\"M\(text(edge + 1)) \(text(entry.at))L\(text(edge + 18)) "
      out += "\(text(y))h6\"/>"
      out += "<rect class=\"fill-\(entry.category.name)\" x=\"\(text(edge + 28))\""
      out += " y=\"\(text(y - 6))\" width=\"12\" height=\"12\" rx=\"2.5\"/>"
      out += words(
        entry.category.name, x: edge + 48, y: y + 1, "ink", " font-weight=\"600\"")
      out += words(
        "\(share)  ·  \(Figures.grouped(tally[entry.category].requests))", x: edge + 48,
        y: y + 16, "quiet", " font-size=\"12\"")
    }
    return out
  }

  /// Returns positions near the wanted ones (descending) with a distance between them and inside
  /// the range; the distance shrinks if there is no room.
  private static func spread(
    _ wanted: [Double], distance: Double, from top: Double, to bottom: Double
  ) -> [Double] {
    guard wanted.count > 1 else { return wanted.map { min(max($0, top), bottom) } }
    let distance = min(distance, (bottom - top) / Double(wanted.count - 1))
    var places = wanted
    var limit = bottom
    for place in places.indices {
      places[place] = min(places[place], limit)
      limit = places[place] - distance
    }
    limit = top
    for place in places.indices.reversed() {
      places[place] = max(places[place], limit)
      limit = places[place] + distance
    }
    return places
  }
}

extension TimeGrid.Series {
  /// Returns "20 Nov, 13:00–14:00".
  func label(_ place: Int) -> String {
    let (from, to) = (Figures.Moment(ms: start(place)), Figures.Moment(ms: start(place + 1)))
    if widthMs < 86_400_000 { return "\(from.shortDate), \(from.clock)–\(to.clock)" }
    if widthMs == 86_400_000 { return from.date }
    return "\(Figures.interval(widthMs)) from \(from.date)"
  }
}
