import AssayAuthority
import Testing

@testable import Assay

/// One test authority, and verifiers that trust it. `now` is 2026-11-21 UTC.
enum Minted {
  static let now: Int64 = 1_795_219_200_000
  private static let made = Result { try Authority(now: now) }

  static func authority() throws -> Authority { try made.get() }

  /// A good subscription in Sandbox.
  static let purchase = Purchase(now: now)

  /// Returns a configuration with one app, Production and Sandbox, and its own root; `changes` by
  /// dotted path.
  static func config(_ changes: [(String, JSONText)] = []) throws -> JSONText {
    let standard: JSONText = [
      "apps": [["bundleId": "com.example.app", "appAppleId": 1_234_567_890]],
      "environments": ["Production", "Sandbox"],
      "storekit": ["anchors": [.string(try authority().anchor)]],
    ]
    return standard.setting(changes)
  }

  static func verifier(_ changes: [(String, JSONText)] = []) throws -> Verifier {
    let (verifier, document) = Verifier.alone(try config(changes).bytes)
    return try require(verifier, "\(document.text("error.message") ?? "")")
  }

  static func xcodeChanges() throws -> [(String, JSONText)] {
    [
      ("environments", ["Xcode", "Sandbox"]),
      ("storekit.xcodeCertificates", [.string(try authority().xcodeFingerprint)]),
    ]
  }

  /// Returns the document about a payload that the authority signed.
  static func verify(
    _ payload: JSONText, _ kind: StoreKitKind, _ changes: [(String, JSONText)] = [],
    now: Int64 = Minted.now
  ) throws -> Document {
    try verifier(changes).verifyJWS(try authority().mint(payload), kind: kind, nowMs: now)
  }

  /// Returns a proven chain of minted certificates, made without a verification.
  static func provenChain() throws -> ProvenChain {
    let certificates = try authority().chain.certificates.map { try require(Certificate($0)) }
    let anchor = try require(Anchor(certificates[2].der, .elliptic))
    let profiled = try certificates.prefix(2).map {
      ProfiledCertificate(certificate: $0, key: try require($0.publicKey()))
    }
    return ProvenChain(
      .appStore, profiled[0], [ProvenIntermediate(profiled[1], anchor, .fixedPosition)])
  }

  /// Returns the state that all calls of a verifier share, for tests of its cache.
  static func trust(_ changes: [(String, JSONText)] = []) throws -> StoreKitTrust {
    let configuration = try ConfigurationReader.read(try config(changes).bytes)
    return StoreKitTrust(
      configuration: configuration,
      anchors: AnchorSet(.storekit, configuration.storekit.anchors),
      configuration.ownProofs)
  }

  /// Runs one verification with that trust.
  static func run(
    _ trust: StoreKitTrust, _ jws: [UInt8], _ kind: StoreKitKind = .transaction,
    now: Int64 = Minted.now
  ) throws(Refusal) -> SignedPayload {
    var verification = StoreKitVerification(trust, kind, nowMs: now)
    return try verification.run(jws)
  }
}

/// Tests run in parallel: each verifier has its own proofs, unless a test is about sharing them.
extension Verifier {
  static func alone(_ config: [UInt8]) -> (verifier: Verifier?, document: Document) {
    make(config, sharing: ProofTable(capacity: 1))
  }
}

extension Configuration {
  /// Proofs that no other verifier shares.
  var ownProofs: Proofs { Proofs(capacity: storekit.cacheChains) }
}

extension ReceiptTrust {
  static func make(_ configuration: Configuration) throws(Refusal) -> ReceiptTrust {
    try make(configuration, configuration.ownProofs)
  }
}

extension AttestTrust {
  static func make(_ configuration: Configuration) throws(Refusal) -> AttestTrust {
    try make(configuration, configuration.ownProofs)
  }
}
