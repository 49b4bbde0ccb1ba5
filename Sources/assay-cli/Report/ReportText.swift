/// The report for a terminal.
extension DayReport {
  var text: String {
    var out = "\n" + Terminal.styled(Terminal.safe(source), .strong)
    out += "  \(Figures.requests(tally.requests))"
    if let period { out += ", " + period }
    out += "\n\n" + classTable + "\n" + words + savings + "\n" + comparison + money
    out += featureTable("statuses", tally.statusesByCount.prefix(12))
    out += featureTable("forms", tally.formsByCount.prefix(12))
    out += featureTable("oddest: what fewer than one in a hundred has", oddities, isMixed: true)
    out += largestTable
    if !lineNotes.isEmpty {
      out += Terminal.styled("lines that are not in the picture", .strong) + "\n"
      out += lineNotes.map { "  " + $0 + "\n" }.joined() + "\n"
    }
    return out + Terminal.styled(wrapped(repeatNote), .quiet) + "\n"
  }

  /// Returns the text in lines of at most so many characters.
  private func wrapped(_ text: String, width: Int = 96) -> String {
    var lines = [""]
    for word in text.split(separator: " ") {
      let line = lines.removeLast()
      if line.isEmpty {
        lines.append(String(word))
      } else if line.count + word.count < width {
        lines.append(line + " " + word)
      } else {
        lines += [line, String(word)]
      }
    }
    return lines.joined(separator: "\n")
  }

  private var oddities: ArraySlice<DayTally.Feature> {
    tally.oddities(limit: DayReport.oddityLimit)[...]
  }

  private var classTable: String {
    var out = Terminal.styled(
      row("class", "requests", "share", "bytes", String(repeating: " ", count: 22) + "what it is"),
      .quiet)
    for category in RequestClass.allCases {
      let count = tally[category]
      guard count.requests > 0 else { continue }
      let bar = DayReport.bar(count.requests, of: tally.requests)
      out += row(
        category.name, Figures.grouped(count.requests), share(count.requests),
        Figures.bytes(count.bytes), Terminal.styled(bar, category.style) + category.meaning)
    }
    return out
      + Terminal.styled(
        row(
          "all", Figures.grouped(tally.requests), share(tally.requests),
          Figures.bytes(tally.bytes), ""), .strong)
  }

  /// What the classes are, for a reader who knows neither receipts nor signatures.
  private var words: String {
    var out = Terminal.styled("what the classes are", .strong) + "\n"
    for category in present {
      let lines = wrapped(category.explanation, width: 78).split(separator: "\n")
      for (place, line) in lines.enumerated() {
        out += "  " + (place == 0 ? category.name : "").padded(15) + line + "\n"
      }
    }
    return out + "\n"
  }

  private var comparison: String {
    guard let earlier else { return "" }
    func row(_ name: String, _ before: Int, _ now: Int) -> String {
      "  " + name.padded(13) + Figures.grouped(before).padded(-12)
        + Figures.share(before, of: earlier.requests).padded(-10)
        + Figures.grouped(now).padded(-12) + share(now).padded(-10)
        + Figures.change(from: before, to: now).padded(-22) + "\n"
    }
    let head =
      "  " + "class".padded(13) + "before".padded(-12) + "share".padded(-10)
      + "now".padded(-12) + "share".padded(-10) + "change".padded(-22) + "\n"
    return Terminal.styled("compared with \(Terminal.safe(earlier.heading))\n", .strong)
      + Terminal.styled(head, .quiet)
      + present.map { row($0.name, earlier[$0], tally[$0].requests) }.joined()
      + Terminal.styled(row("all", earlier.requests, tally.requests), .strong) + "\n"
  }

  private var money: String {
    guard let worth else { return "" }
    var out = Terminal.styled("in money, by \(Terminal.safe(worth.source))\n", .strong)
    let hasBefore = earlier?.worth != nil
    out += Terminal.styled(
      "  " + "class".padded(13) + "requests".padded(-12) + (hasBefore ? "before".padded(-20) : "")
        + (hasBefore ? "now" : "amount").padded(-20) + "\n", .quiet)
    for entry in worth.value.entries {
      let before = earlier?.worth?.entry(like: entry)?.amount.grouped ?? "–"
      out += "  " + entry.category.name.padded(13) + Figures.grouped(entry.requests).padded(-12)
      out += (hasBefore ? before.padded(-20) : "") + entry.amount.grouped.padded(-20)
      out += " \(entry.amount.currency)  \(entry.category.work.worth)\n"
    }
    if worth.value.entries.isEmpty { out += "  no request names a product that has a price\n" }
    out += moneyNotes.map { "  not counted: \($0)\n" }.joined()
    return out + Terminal.styled(wrapped(DayReport.moneyNote), .quiet) + "\n\n"
  }

  private func row(
    _ name: String, _ count: String, _ share: String, _ bytes: String, _ more: String
  ) -> String {
    "  " + name.padded(13) + count.padded(-12) + share.padded(-10) + bytes.padded(-10)
      + (more.isEmpty ? "" : "  " + more) + "\n"
  }

  /// Returns a bar of twenty cells in eighths, in which a part that is present is always visible.
  private static func bar(_ part: Int, of whole: Int) -> String {
    let cells = 20
    guard whole > 0 else { return String(repeating: " ", count: cells + 2) }
    let eighths = max(1, part * cells * 8 / whole)
    let parts = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
    let bar = String(repeating: "█", count: eighths / 8) + parts[eighths % 8]
    return bar.padded(cells + 2)
  }

  private var savings: String {
    let (nothing, lookup) = (tally[.nothing], tally[.lookup])
    let (verification, avoided) = (tally[.verification], tally.callsAvoided)
    func line(_ name: String, _ count: Int, _ words: String) -> String {
      "  " + name.padded(24) + Figures.grouped(count).padded(-12) + share(count).padded(-10)
        + "  " + words + "\n"
    }
    return Terminal.styled("what they cost\n", .strong)
      + line("answered by triage", nothing.requests, "no lookup, no cryptography, no traffic")
      + line("answered by the ledger", lookup.requests, "one read")
      + line("go on to verification", verification.requests, "offline")
      + line(
        "calls to Apple avoided", avoided.requests,
        "\(Figures.bytes(avoided.bytes)) of receipts not sent")
  }

  private func featureTable(
    _ title: String, _ features: ArraySlice<DayTally.Feature>, isMixed: Bool = false
  ) -> String {
    guard !features.isEmpty else { return "" }
    var out = Terminal.styled(title, .strong) + "\n"
    for feature in features {
      out += "  " + (isMixed ? feature.kind.rawValue.padded(8) : "")
      out += Terminal.safe(feature.name).padded(isMixed ? 34 : 42)
      out += Figures.grouped(feature.lines.count).padded(-12)
      out += share(feature.lines.count).padded(-10)
      out += Terminal.styled("  " + DayReport.lines(feature.lines), .quiet) + "\n"
    }
    return out + "\n"
  }

  private var largestTable: String {
    guard !tally.largest.elements.isEmpty else { return "" }
    var out = Terminal.styled("largest", .strong) + "\n"
    for input in tally.largest.elements {
      out += "  " + "line \(input.line)".padded(42) + Figures.bytes(input.bytes).padded(-12)
      out += "  \(input.category.name), \(Terminal.safe(input.form))\n"
    }
    return out + "\n"
  }
}

extension RequestClass {
  fileprivate var style: Terminal.Style {
    switch self {
    case .candidate, .jws, .repeated: return .good
    case .unconfirmed: return .caution
    case .cracker, .malformed: return .bad
    case .foreign, .unsupported: return .quiet
    }
  }
}

extension String {
  /// Returns the text padded with spaces: on the right, or on the left for a negative width.
  fileprivate func padded(_ width: Int) -> String {
    let space = String(repeating: " ", count: max(0, abs(width) - count))
    return width < 0 ? space + self : self + space
  }
}
