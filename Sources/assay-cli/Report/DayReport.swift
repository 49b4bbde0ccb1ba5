import AssayAuthority

/// The report on a day of requests, as text, JSON, chart or page, all from the same counts.
struct DayReport {
  let tally: DayTally
  /// The file with the prices and what the day is worth by it; `nil` without prices.
  let worth: (value: DayWorth, source: String)?
  /// `nil` if there is nothing to compare with.
  let earlier: EarlierDay?
  /// The name of the file, for headings.
  let source: String

  static let oddityLimit = 10

  init(_ tally: DayTally, source: String, prices: PriceList?, earlier: EarlierDay?) {
    self.tally = tally
    worth = prices.map { (value: DayWorth(tally, $0), source: $0.source) }
    self.earlier = earlier
    self.source = source
  }

  var series: TimeGrid.Series? { tally.grid.series(limit: 48) }

  func chart(_ layout: StackedChart.Layout) -> String {
    guard let series else {
      return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 80\" width=\"640\""
        + " height=\"80\" role=\"img\"><title>No chart</title>"
        + "<text x=\"20\" y=\"46\" font-family=\"\(Palette.fonts)\" font-size=\"16\">"
        + "No request tells its time: there is nothing to draw.</text></svg>\n"
    }
    return StackedChart(series, tally, source: source, layout).svg
  }

  var page: String { ReportPage(self).html }

  func share(_ part: Int) -> String { Figures.share(part, of: tally.requests) }

  /// The period, "20 November 2026, 00:00 to 23:59 UTC"; `nil` if no request has a time.
  var period: String? {
    guard let first = tally.firstMs, let last = tally.lastMs else { return nil }
    return Figures.period(first, last)
  }

  /// The method that detects repeats, and its error rate.
  var repeatNote: String {
    "Repeats are found in \(Figures.bytes(tally.repeats.byteCount)) of memory by a filter "
      + "that never misses one; at the end of the file it took a new purchase for a repeat "
      + "with a probability of \(Figures.odds(tally.repeats.errorRate)), less before."
  }

  /// The lines that are not requests, as text; empty if there are none.
  var lineNotes: [String] {
    var notes: [String] = []
    func note(_ sample: LineSample, _ one: String, _ many: String) {
      guard sample.count > 0 else { return }
      notes.append(
        "\(Figures.grouped(sample.count)) \(sample.count == 1 ? one : many): "
          + DayReport.lines(sample))
    }
    note(tally.unreadable, "unreadable line", "unreadable lines")
    note(tally.tooLong, "line too long to be looked at", "lines too long to be looked at")
    if tally.withoutTime > 0 {
      let count = tally.withoutTime
      notes.append(
        "\(Figures.requests(count)) without a time: "
          + "counted, but not in the chart")
    }
    if let outside = series?.outside, outside > 0 {
      notes.append(
        "\(Figures.requests(outside)) far off in time: "
          + "counted, but not in the chart")
    }
    return notes
  }

  /// Returns "lines 3, 17, 20 …".
  static func lines(_ sample: LineSample) -> String {
    (sample.count == 1 ? "line " : "lines ")
      + sample.first.map(String.init).joined(separator: ", ")
      + (sample.count > sample.first.count ? " …" : "")
  }

  /// The classes that requests of this day, or of the earlier one, have.
  var present: [RequestClass] {
    RequestClass.allCases.filter { tally[$0].requests > 0 || (earlier?[$0] ?? 0) > 0 }
  }

  /// What the money is, and is not.
  static let moneyNote =
    "What the requests say was bought, one of each, at your list prices: before taxes, discounts "
    + "and Apple's share. Nothing of it is verified. Currencies are not added together."

  /// What the money leaves out, as text; empty if that is nothing.
  var moneyNotes: [String] {
    var notes: [String] = []
    if tally.withoutPrice > 0 {
      notes.append("\(Figures.requests(tally.withoutPrice)) with a product that has no price")
    }
    if tally.severalPurchases > 0 {
      notes.append(
        "\(Figures.requests(tally.severalPurchases)) with a receipt of several purchases, which "
          + "does not say what is new")
    }
    return notes
  }

  // MARK: JSON

  var json: JSONText {
    guard case .object(var members) = counts else { return counts }
    if let worth {
      members.append(
        .init(
          "money",
          [
            "prices": .string(worth.source), "claimed": worth.value.json,
            "withoutPrice": .integer(Int64(tally.withoutPrice)),
            "severalPurchases": .integer(Int64(tally.severalPurchases)),
          ]))
    }
    if let earlier { members.append(.init("comparedWith", compared(earlier))) }
    return .object(members)
  }

  private func compared(_ earlier: EarlierDay) -> JSONText {
    [
      "source": .string(earlier.source),
      "requests": .integer(Int64(earlier.requests)),
      "firstMs": earlier.firstMs.map { .integer($0) } ?? .null,
      "lastMs": earlier.lastMs.map { .integer($0) } ?? .null,
      "classes": .array(
        RequestClass.allCases.map { category in
          [
            "name": .string(category.name), "requests": .integer(Int64(earlier[category])),
            "change": .integer(Int64(tally[category].requests - earlier[category])),
          ]
        }),
      "claimed": earlier.worth?.json ?? .null,
    ]
  }

  private var counts: JSONText {
    [
      "report": 1,
      "source": .string(source),
      "lines": .integer(Int64(tally.lines)),
      "requests": .integer(Int64(tally.requests)),
      "bytes": .integer(Int64(tally.bytes)),
      "firstMs": tally.firstMs.map { .integer($0) } ?? .null,
      "lastMs": tally.lastMs.map { .integer($0) } ?? .null,
      "classes": .array(
        RequestClass.allCases.map { category in
          [
            "name": .string(category.name),
            "requests": .integer(Int64(tally[category].requests)),
            "bytes": .integer(Int64(tally[category].bytes)),
          ]
        }),
      "work": .object(
        [("nothing", .nothing), ("lookup", .lookup), ("verification", .verification)].map {
          (name: String, work: RequestClass.Work) in
          JSONText.Member(name, .integer(Int64(tally[work].requests)))
        }),
      "callsAvoided": [
        "requests": .integer(Int64(tally.callsAvoided.requests)),
        "bytes": .integer(Int64(tally.callsAvoided.bytes)),
      ],
      "statuses": features(tally.statusesByCount),
      "forms": features(tally.formsByCount),
      "oddities": features(tally.oddities(limit: DayReport.oddityLimit)),
      "largest": .array(
        tally.largest.elements.map { input in
          [
            "line": .integer(Int64(input.line)), "bytes": .integer(Int64(input.bytes)),
            "class": .string(input.category.name), "format": .string(input.form),
          ]
        }),
      "unreadable": sample(tally.unreadable),
      "tooLong": sample(tally.tooLong),
      "withoutTime": .integer(Int64(tally.withoutTime)),
      "repeatFilter": [
        "bytes": .integer(Int64(tally.repeats.byteCount)),
        "errorRate": .text("\(tally.repeats.errorRate)"),
      ],
      "series": seriesJSON,
    ]
  }

  private func sample(_ sample: LineSample) -> JSONText {
    [
      "count": .integer(Int64(sample.count)),
      "lines": .array(sample.first.map { .integer(Int64($0)) }),
    ]
  }

  private func features(_ features: [DayTally.Feature]) -> JSONText {
    .array(
      features.map { feature in
        [
          "kind": .string(feature.kind.rawValue),
          "name": .string(feature.name),
          "requests": .integer(Int64(feature.lines.count)),
          "lines": .array(feature.lines.first.map { .integer(Int64($0)) }),
        ]
      })
  }

  private var seriesJSON: JSONText {
    guard let series else { return .null }
    return [
      "startMs": .integer(series.startMs), "widthMs": .integer(series.widthMs),
      "classes": .array(RequestClass.allCases.map { .string($0.name) }),
      "intervals": .array(
        series.intervals.map { .array($0.map { .integer(Int64($0)) }) }),
      "outside": .integer(Int64(series.outside)),
    ]
  }
}
