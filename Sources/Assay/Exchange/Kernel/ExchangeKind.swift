/// What a conversation is about (docs/spec/documents-and-exchanges.md §3).
enum ExchangeKind: Sendable, CaseIterable {
  /// docs/spec/device-check.md §4.
  case riskAssess
  /// An answer from Apple's DeviceCheck endpoint, fetched by the host (§2.1).
  case deviceCheckRead
  /// The form of a device token (DVC-4).
  case deviceCheckToken
  /// The one text of an App Attest key identifier (ATT-2).
  case attestKeyId
  /// Apple's answer about a receipt (docs/spec/receipts-triage.md §2).
  case verifyReceipt

  /// nil: there is no such kind.
  init?(_ name: Text) {
    guard let kind = Self.allCases.first(where: { name.utf8[...].elementsEqual($0.name) }) else {
      return nil
    }
    self = kind
  }

  var name: StaticString { row.name }

  /// EXC-25: everything about a kind except its code.
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
