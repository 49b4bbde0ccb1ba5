/// What a conversation is about (documents-and-exchanges.md §3).
enum ExchangeKind: Sendable, CaseIterable {
  /// device-check.md §4.
  case riskAssess
  /// An answer of Apple's DeviceCheck endpoint, which the host fetched (§2.1).
  case deviceCheckRead
  /// The form of a device token (DVC-4).
  case deviceCheckToken
  /// The one text of an App Attest key identifier (ATT-2).
  case attestKeyId
  /// Apple's answer about a receipt (receipts-triage.md §2).
  case verifyReceipt

  /// nil: there is no such kind.
  init?(_ name: Text) {
    guard let kind = Self.allCases.first(where: { name.utf8[...].elementsEqual($0.name) }) else {
      return nil
    }
    self = kind
  }

  var name: StaticString { row.name }

  /// EXC-25: everything about a kind that is no code of its own.
  var row: ExchangeRow {
    switch self {
    case .riskAssess: return ExchangeRow("risk.assess", ["observations"])
    case .deviceCheckRead:
      return ExchangeRow("deviceCheck.read", ["call", "status", "body", "offer"])
    case .deviceCheckToken: return ExchangeRow("deviceCheck.token", ["deviceToken"])
    case .attestKeyId: return ExchangeRow("attest.key-id", ["keyId"])
    case .verifyReceipt:
      return ExchangeRow(
        "verifyReceipt", ["receipt", "excludeOldTransactions", "start"], withheld: ["receipt"],
        evidence: 1, maxSteps: 8, isRepeatable: true, hints: .verifyReceipt)
    }
  }

  /// EXC-2: whether a conversation of this kind is about such evidence.
  func takes(_ evidence: VerifiedEvidence) -> Bool {
    switch (self, evidence) {
    case (.verifyReceipt, .transactionReceipt), (.verifyReceipt, .appReceipt): return true
    default: return false
    }
  }
}

/// One row of the table of kinds.
struct ExchangeRow: Sendable {
  let name: StaticString
  /// All members that a request of this kind may have (EXC-1).
  let members: [StaticString]
  /// Those that a deferred request leaves out, marked ⊖ in the table (EXC-18).
  let withheld: [StaticString]
  /// At most so many documents (EXC-2).
  let evidence: Int
  /// EXC-15; 0: done at once.
  let maxSteps: Int
  /// Marked ⊕: may be asked again after an unclear end (EXC-18).
  let isRepeatable: Bool
  /// Whose hints its refusals take; nil: those of exchanges.
  let hints: HintKind?

  init(
    _ name: StaticString, _ members: [StaticString], withheld: [StaticString] = [],
    evidence: Int = 0, maxSteps: Int = 0, isRepeatable: Bool = false, hints: HintKind? = nil
  ) {
    self.name = name
    let steps: [StaticString] = maxSteps > 0 ? ["deadlineMs", "attempt"] : []
    self.members = ["kind"] + members + steps
    self.withheld = withheld
    self.evidence = evidence
    self.maxSteps = maxSteps
    self.isRepeatable = isRepeatable
    self.hints = hints
  }
}
