import AssayAuthority

/// Signs what Apple would sign, or with a fault what must be refused.
struct MockSigner {
  let authority: MockAuthority
  let fault: MockFault

  static let otherBundle = "com.example.another"

  /// Returns the purchase, with a fault that of another app or environment.
  func told(_ purchase: Purchase) -> Purchase {
    purchase.with {
      if fault.isOtherApp { $0.bundleId = MockSigner.otherBundle }
      if fault.isOtherEnvironment { $0.environment = MockSigner.other($0.environment) }
    }
  }

  static func other(_ environment: String) -> String {
    environment == "Sandbox" ? "Production" : "Sandbox"
  }

  func transaction(_ purchase: Purchase) throws -> JSONText {
    try text(told(purchase).transactionPayload)
  }

  func renewal(_ purchase: Purchase) throws -> JSONText {
    try text(told(purchase).renewalPayload)
  }

  func appTransaction(_ purchase: Purchase) throws -> JSONText {
    try text(told(purchase).appTransactionPayload)
  }

  /// Returns the JWS over a payload, as JSON.
  func text(_ payload: JSONText) throws -> JSONText { .string(utf8: try jws(payload)) }

  func jws(_ payload: JSONText) throws -> [UInt8] {
    var template = JWSTemplate(payload: payload.bytes, chain: authority.store.chain)
    if fault.hasBadSignature { template.signature = .octets([UInt8](repeating: 1, count: 64)) }
    return try template.signed()
  }
}
