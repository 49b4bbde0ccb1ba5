/// What a conversation is about (docs/spec/documents-and-exchanges.md §2).
enum ExchangeKind: Sendable, CaseIterable {
  /// docs/spec/device-check.md §4.
  case riskAssess
  /// An answer of Apple's DeviceCheck endpoint, which the host fetched (§2.1).
  case deviceCheckRead
  /// The form of a device token (DVC-4).
  case deviceCheckToken
  /// The one text of an App Attest key identifier (ATT-2).
  case attestKeyId

  /// nil: there is no such kind.
  init?(_ name: Text) {
    guard let kind = Self.allCases.first(where: { name.utf8[...].elementsEqual($0.name) }) else {
      return nil
    }
    self = kind
  }

  var name: StaticString {
    switch self {
    case .riskAssess: return "risk.assess"
    case .deviceCheckRead: return "deviceCheck.read"
    case .deviceCheckToken: return "deviceCheck.token"
    case .attestKeyId: return "attest.key-id"
    }
  }

  /// All members that a request of this kind may have.
  var members: [StaticString] {
    switch self {
    case .riskAssess: return ["kind", "observations"]
    case .deviceCheckRead: return ["kind", "call", "status", "body", "offer"]
    case .deviceCheckToken: return ["kind", "deviceToken"]
    case .attestKeyId: return ["kind", "keyId"]
    }
  }

  /// EXC-2: whether a conversation of this kind is about such evidence.
  func takes(_ evidence: VerifiedEvidence) -> Bool {
    switch self {
    case .riskAssess, .deviceCheckRead, .deviceCheckToken, .attestKeyId: return false
    }
  }
}
