/// What an account may have now, and how far the evidence for it reaches (§3.3
/// of docs/spec/receipts-decisions.md; docs/decisions.md explains every member).
///
/// The group that leads gives the facts beside `plan`: the entitled one with the
/// highest plan, else an entitled one without a plan, else the one with the
/// latest end.
struct Decision: Sendable {
  /// The plan in force, the default one when nothing above it is.
  var plan: Text
  /// Whether a plan above the default one is in force.
  var entitled: Bool
  /// The leading group first. Empty: state `none`.
  var groups: [GroupDecision]
  /// How far the evidence of the leading group reaches, or all of it if there is no group.
  var reach: EvidenceReach
  /// Transactions that decided nothing (DCD-5, DCD-23).
  var leftOut: [LeftOut]
  /// Sorted by place, each once.
  var warnings: [Warning]

  /// Whether all that was decided from is the given account's by Apple's own
  /// evidence (DCD-20).
  var accountIsProven: Bool {
    !groups.isEmpty && groups.allSatisfy { $0.binding == .proven }
  }

  /// Something in the evidence that decided nothing, but should be looked at.
  struct Warning: Sendable, Equatable {
    var id: StaticString
    var at: Text

    static func == (left: Warning, right: Warning) -> Bool {
      Text(stringLiteral: left.id) == Text(stringLiteral: right.id) && left.at == right.at
    }
  }

  /// The earliest look that any group asks for (FLW-7): the host has one timer.
  var nextCheck: Int64? {
    var earliest: Int64? = nil
    for group in groups {
      guard let look = group.ruling.nextCheck else { continue }
      earliest = min(earliest ?? look, look)
    }
    return earliest
  }

  /// Writes the value of the member `decision`.
  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("plan", plan)
    writer.member("entitled", boolean: entitled)
    GroupDecision.write(groups.first, nextCheck: nextCheck, reach: reach, &writer)
    writer.name("groups")
    writer.beginArray()
    for group in groups { group.write(&writer) }
    writer.endArray()
    writer.name("leftOut")
    writer.beginArray()
    for transaction in leftOut { transaction.write(&writer) }
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
