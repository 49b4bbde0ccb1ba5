/// The plan of an account at one moment, and how far the evidence for it reaches
/// (docs/spec/receipts-decisions.md §3.3; docs/decisions.md explains every member).
///
/// The leading group supplies the members beside `plan`: the entitled group with the highest
/// plan, else an entitled one without a plan, else the one with the latest end.
struct Decision: Sendable {
  /// The plan in force; the default plan if no higher one is.
  var plan: Text
  /// Whether a plan above the default one is in force.
  var entitled: Bool
  /// The groups, the leading one first; empty in state `none`.
  var groups: [GroupDecision]
  /// How far the evidence of the leading group reaches; without groups, that of all evidence.
  var reach: EvidenceCoverage
  /// Transactions that had no influence (DCD-5, DCD-23).
  var excluded: [LeftOut]
  /// The warnings, sorted by location, each once.
  var warnings: [Warning]

  /// Whether Apple's evidence proves for every group that it belongs to the given account
  /// (DCD-20).
  var accountIsProven: Bool {
    !groups.isEmpty && groups.allSatisfy { $0.binding == .proven }
  }

  /// The hint that applies if no plan is in force: a product that the catalogue lacks (DCD-5);
  /// `nil` if all products are known.
  var explanation: Explanation? {
    excluded.contains { $0.reason == .unknownProduct } ? .unknownProduct : nil
  }

  /// Something in the evidence that had no influence but should be examined.
  struct Warning: Sendable, Equatable {
    var id: StaticString
    var at: Text

    static func == (left: Warning, right: Warning) -> Bool {
      Text(stringLiteral: left.id) == Text(stringLiteral: right.id) && left.at == right.at
    }
  }

  /// The earliest check that any group needs, since a host has one timer (FLW-7); `nil` if none.
  var nextCheckAtMs: Int64? {
    var earliest: Int64? = nil
    for group in groups {
      guard let look = group.outcome.nextCheckAtMs else { continue }
      earliest = min(earliest ?? look, look)
    }
    return earliest
  }

  /// Writes the value of the member `decision`.
  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("plan", plan)
    writer.member("entitled", boolean: entitled)
    GroupDecision.write(groups.first, nextCheckAtMs: nextCheckAtMs, reach: reach, &writer)
    writer.name("groups")
    writer.beginArray()
    for group in groups { group.write(&writer) }
    writer.endArray()
    writer.name("excluded")
    writer.beginArray()
    for transaction in excluded { transaction.write(&writer) }
    writer.endArray()
    writer.name("warnings")
    writer.beginArray()
    for warning in warnings {
      writer.beginObject()
      writer.member("id", warning.id)
      writer.member("at", warning.at)
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
  }
}
