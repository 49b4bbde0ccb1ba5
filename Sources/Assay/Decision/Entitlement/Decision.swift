/// What an account may have now, and how far the evidence for it reaches (§3.3
/// of receipts-decisions.md; docs/decisions.md explains every member).
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

  var state: EntitlementState { groups.first?.ruling.state ?? .none }

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

/// What one group of transactions gives.
struct GroupDecision: Sendable {
  /// The product's plan while entitled, else the default plan.
  var plan: Text
  /// Place of `plan` in the configured order; nil: the product has no plan.
  var rank: Int?
  /// The subscription group, as signed or configured, else the product id.
  var group: Text
  /// The transaction that was chosen (DCD-6).
  var chosen: Candidate
  var ruling: Ruling
  var reach: EvidenceReach
  /// nil: no account was given, or none is compared (DCD-20).
  var binding: AccountBinding?
  /// Consumables alone: every purchase of the product that the evidence shows.
  var purchases: [Candidate]

  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("plan", plan)
    writer.member("entitled", boolean: ruling.entitled)
    GroupDecision.write(self, nextCheck: ruling.nextCheck, reach: reach, &writer)
    writer.member("group", group)
    writer.member("type", chosen.product.type.name)
    writer.name("purchases")
    writer.beginArray()
    for purchase in purchases { purchase.write(&writer) }
    writer.endArray()
    writer.endObject()
  }

  /// The members that a decision and each of its groups have in common.
  static func write(
    _ group: GroupDecision?, nextCheck: Int64?, reach: EvidenceReach,
    _ writer: inout JSONWriter
  ) {
    let ruling = group?.ruling ?? Ruling(.none, "DEC-2")
    writer.member("state", ruling.state.name)
    writer.member("row", ruling.row)
    writer.name("flags")
    writer.beginArray()
    for flag in ruling.flags { writer.string(flag.name) }
    writer.endArray()
    writer.member("reason", integer: ruling.reason)
    writer.member("until", integer: ruling.until)
    writer.member("wouldBeUntil", integer: ruling.wouldBeUntil)
    writer.member("bookedUntil", integer: ruling.bookedUntil)
    writer.member("graceUntil", integer: ruling.graceUntil)
    writer.member("productId", group?.chosen.facts.productId)
    writer.member("originalTransactionId", group?.chosen.facts.originalTransactionId)
    writer.member("transactionId", group?.chosen.facts.transactionId)
    writer.name("environment")
    if let group { writer.string(group.chosen.facts.environment.name) } else { writer.null() }
    writer.member("account", (group?.binding?.name).map { Text(stringLiteral: $0) })
    writer.member("stale", boolean: ruling.stale)
    writer.member("nextCheck", integer: nextCheck)
    writer.name("evidence")
    reach.write(&writer)
  }
}

extension Candidate {
  /// One delivery: the purchase key and how many (DEC-24), or what to take back
  /// when it was refunded (RFD-4).
  fileprivate func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("key", purchaseKey)
    writer.member("transactionId", facts.transactionId)
    writer.member("quantity", integer: facts.quantity)
    writer.member("revokedAt", integer: facts.revokedAt)
    writer.member("revocationPercentage", integer: facts.revocationPercentage)
    writer.endObject()
  }
}

/// How far evidence reaches (DCD-18).
struct EvidenceReach: Sendable {
  var evidenceClass: EvidenceClass
  /// Kinds of the documents, sorted, each once.
  var kinds: [Text]
  /// As of when the chosen transaction was shown: what happened to it later is
  /// invisible. nil: there is no dated evidence.
  var asOf: Int64?
  var missing: [Gap]

  enum Gap: Sendable {
    case transaction, renewal, revocation

    var name: StaticString {
      switch self {
      case .transaction: return "transaction"
      case .renewal: return "renewal"
      case .revocation: return "revocation"
      }
    }
  }

  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("class", evidenceClass.name)
    writer.name("kinds")
    writer.beginArray()
    for kind in kinds { writer.string(kind) }
    writer.endArray()
    writer.member("asOf", integer: asOf)
    writer.member("complete", boolean: missing.isEmpty)
    writer.name("missing")
    writer.beginArray()
    for gap in missing { writer.string(gap.name) }
    writer.endArray()
    writer.endObject()
  }
}
