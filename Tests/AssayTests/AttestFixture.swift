import AssayAuthority
import Testing

@testable import Assay

/// Makes attestations and assertions of an invented device, and verifiers that trust their
/// authority.
enum AttestFixture {
  static let now = Minted.now
  static let appId = "ABCDE12345.com.example.app"
  static let clientData = utf8("{\"challenge\":\"bm90IHJhbmRvbSBhdCBhbGw\",\"amount\":12}")
  private static let made = Result { try AttestAuthority(now: now) }
  private static let key = Result { try SigningKey.generate(.p256) }

  static func authority() throws -> AttestAuthority { try made.get() }

  static func device() throws -> AttestedDevice {
    try AttestedDevice(
      key: try key.get(), appId: appId, environment: .production, system: .iOS27)
  }

  /// Returns a configuration with one app in Production and its own roots; `changes` by dotted
  /// path.
  static func config(_ changes: [(String, JSONText)] = []) throws -> JSONText {
    let app: JSONText = [
      "bundleId": "com.example.app", "appAppleId": 1_234_567_890, "teamId": "ABCDE12345",
    ]
    let standard: JSONText = [
      "apps": [app],
      "attest": [
        "anchors": [.string(utf8: Base64Text.encode(try authority().rootCertificate))],
        "receiptAnchors": [
          .string(utf8: Base64Text.encode(try authority().receiptChain.root))
        ],
      ],
    ]
    return standard.setting(changes)
  }

  static func verifier(_ changes: [(String, JSONText)] = []) throws -> Verifier {
    let (verifier, document) = Verifier.alone(try config(changes).bytes)
    return try require(verifier, "\(document.text("error.at") ?? "") \(document.name)")
  }

  /// Returns an attestation that is good but for `change`.
  static func attestation(
    madeMs: Int64 = now, _ change: (inout AttestationTemplate) throws -> Void = { _ in }
  ) throws -> [UInt8] {
    var template = try authority().attestation(
      of: try device(), clientDataHash: Digest.sha256.of(clientData),
      madeMs: madeMs)
    try change(&template)
    return try template.signed()
  }

  /// Returns a verifier's document about an attestation.
  static func attest(
    _ object: [UInt8], _ verifier: Verifier? = nil, keyId: [UInt8]? = nil,
    clientData: ClientDataInput = .data(clientData), now: Int64 = now
  ) throws -> Document {
    try (verifier ?? self.verifier()).verifyAttestation(
      object, keyId: try keyId ?? device().keyId, clientData: clientData, nowMs: now)
  }

  /// Returns an assertion that is good but for `change`.
  static func assertion(
    _ device: AttestedDevice? = nil, counter: UInt32 = 7, clientData: [UInt8] = clientData,
    _ change: (inout AssertionTemplate) throws -> Void = { _ in }
  ) throws -> [UInt8] {
    var template = AssertionTemplate(
      of: try device ?? self.device(), clientDataHash: Digest.sha256.of(clientData),
      counter: counter)
    try change(&template)
    return try template.signed()
  }

  /// Returns a verifier's document about an assertion; the stored counter is 6.
  static func assert(
    _ object: [UInt8], _ verifier: Verifier? = nil, publicKey: [UInt8]? = nil,
    counter: UInt32 = 6, clientData: ClientDataInput = .data(clientData)
  ) throws -> Document {
    try (verifier ?? self.verifier()).verifyAssertion(
      object, publicKey: try publicKey ?? device().point, counter: counter,
      clientData: clientData, nowMs: now)
  }
}

extension Document {
  /// The status and the location of the refusal.
  var refusal: String { name + " " + (text("error.at") ?? "") }

  /// Returns the outcome of a check: "true", "false" or "null".
  func outcome(_ check: String) -> String? {
    let entry = tree?.member("checks")?.children.first { $0.string("id") == check }
    return entry?.member("ok").map { String(decoding: $0.source, as: UTF8.self) }
  }

  var warningIds: [String] {
    tree?.member("warnings")?.children.map { $0.string("id") } ?? []
  }
}
