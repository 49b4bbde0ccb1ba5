/// What verifiers have proven that trust the same (JWS-66): chains and intermediates
/// of Apple's, and nothing of any customer's. A pure function of certificates and of
/// what is trusted, so it never grows old; dates are judged at every use anew.
final class Proofs: Sendable {
  /// Chains of StoreKit JWS (JWS-60 … JWS-64).
  let chains: ChainCache
  /// Leaves of receipts with their intermediates (PTH-13).
  let receiptPaths: PathCache
  /// Intermediates of attestations (ATT-36).
  let attestIntermediates: BytesCache<AttestIntermediate>
  /// Chains of App Attest receipts (FRC-4).
  let attestReceiptChains: ChainCache

  /// - Parameter capacity: entries of each level; 0 keeps nothing.
  init(capacity: Int) {
    chains = ChainCache(capacity: capacity)
    receiptPaths = PathCache(capacity: capacity)
    attestIntermediates = BytesCache(capacity: capacity)
    attestReceiptChains = ChainCache(capacity: capacity)
  }
}

/// The proofs of a process, which outlive the verifiers that made them: where each
/// request has a verifier of its own, the second one begins warm (JWS-66).
///
/// Found by `TrustDigest`, so that two verifiers share only where they trust the same.
/// The set that was not asked for longest goes first, and lives on in the verifiers
/// that have it. A busy lock is a miss: that verifier then begins with nothing.
final class ProofTable: Sendable {
  /// That of this process.
  static let process = ProofTable(capacity: 4)

  private let sets: BytesCache<Proofs>

  /// - Parameter capacity: how many trusts are remembered.
  init(capacity: Int) { sets = BytesCache(capacity: capacity) }

  /// The proofs of everybody in the process who trusts the same. Under `cache.chains`
  /// 0 nothing is kept, and nothing of others looked at.
  func proofs(of configuration: Configuration) -> Proofs {
    let capacity = configuration.storekit.cacheChains
    guard capacity > 0 else { return Proofs(capacity: 0) }
    let digest = TrustDigest.of(configuration)
    if let known = sets.find(digest[...]) { return known }
    let fresh = Proofs(capacity: capacity)
    sets.remember(digest[...], fresh)
    return fresh
  }
}

/// SHA-256 over everything that a proof depends on: every certificate that is trusted,
/// in its order, and the words of the configuration that say what counts as proven.
enum TrustDigest {
  static func of(_ configuration: Configuration) -> [UInt8] {
    let storekit = configuration.storekit
    let acceptsXcode = configuration.environments.contains { $0 == .xcode || $0 == .localTesting }
    return ChainBuilder.fingerprint([
      // How much is kept is a part of it: a set has one bound.
      [
        UInt8(truncatingIfNeeded: storekit.cacheChains), storekit.rootEntryIgnored ? 1 : 0,
        acceptsXcode ? 1 : 0, configuration.receipts.v2Refused ? 1 : 0,
      ],
      // None of its own: Apple's, compiled in.
      list(storekit.anchors.map { $0.certificate.der }),
      list(storekit.xcodeCertificates),
      list(configuration.receipts.anchors.map { $0.certificate.der }),
      list(configuration.receipts.intermediates.map { $0.der }),
      list(configuration.attest.anchors.map { $0.certificate.der }),
      list(configuration.attest.receiptAnchors.map { $0.certificate.der }),
    ])
  }

  private static func list(_ entries: [[UInt8]]) -> [UInt8] { ChainBuilder.fingerprint(entries) }
}
