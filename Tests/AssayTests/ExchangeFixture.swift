import AssayAuthority
import Testing

@testable import Assay

/// A verifier with the blocks that exchanges need, and calls of it. `now` is 2026-11-21 UTC.
enum Exchanges {
  static let now = Minted.now
  private static let key = Result { try SigningKey.generate(.p256).pem() }

  /// Returns a `.p8` file as text for a configuration.
  static func privateKey() throws -> JSONText { .string(utf8: try key.get()) }

  static func deviceCheck() throws -> JSONText {
    [
      "teamId": "ABCDE12345", "keyId": "KEYID12345", "privateKey": try privateKey(),
      "bits": [
        "bit0": ["name": "promo-used", "resetAfterMonths": 12],
        "bit1": ["name": "abuse", "resetAfterMonths": 24],
      ],
    ]
  }

  private static let standard = Result {
    try Minted.verifier([("deviceCheck", try deviceCheck())])
  }

  static func verifier(_ changes: [(String, JSONText)] = []) throws -> Verifier {
    if changes.isEmpty { return try standard.get() }
    return try Minted.verifier([("deviceCheck", try deviceCheck())] + changes)
  }

  /// Returns the document of an operation without steps.
  static func run(
    _ request: JSONText, _ changes: [(String, JSONText)] = [], now: Int64 = Exchanges.now
  ) throws -> Document {
    let (exchange, document) = try verifier(changes).startExchange(request.bytes, nowMs: now)
    check(exchange == nil)
    return document
  }

  /// Returns a verifyReceipt exchange with its first step.
  static func verifyReceipt(
    _ members: [(String, JSONText)] = [], _ changes: [(String, JSONText)] = [],
    now: Int64 = Exchanges.now
  ) throws -> (Exchange?, Document) {
    let request: JSONText = [
      "operation": "call-verify-receipt", "receipt": "MIAGCSqGSIb3DQEHAqCAMIAAAAAA",
    ]
    return try verifier(changes).startExchange(request.setting(members).bytes, nowMs: now)
  }

  static func expect(
    _ document: Document, _ status: String, at place: String? = nil, rule: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    checkEqual(
      document.name, status, "\(document.text("error.at") ?? "")",
      sourceLocation: sourceLocation)
    if let place {
      checkEqual(document.text("error.at"), place, sourceLocation: sourceLocation)
    }
    if let rule {
      checkEqual(document.text("error.rule"), rule, sourceLocation: sourceLocation)
    }
  }
}
