/// The proofs of a process, which outlive the verifiers that made them: where each
/// request has a verifier of its own, the second one begins warm (JWS-66).
///
/// Found by a digest of what is trusted, so that two verifiers share only where they
/// trust the same. The least recently used set goes first, and lives on in the verifiers
/// that have it. A busy lock is a miss: that verifier then begins with nothing.
final class ProofTable: Sendable {
  /// That of this process.
  static let process = ProofTable(capacity: 4)

  private let sets: BytesCache<Proofs>

  /// - Parameter capacity: for how many trusts proofs are remembered.
  init(capacity: Int) { sets = BytesCache(capacity: capacity) }

  /// The proofs shared by all verifiers in the process whose trust has this digest.
  func proofs(of digest: [UInt8], capacity: Int) -> Proofs {
    if let known = sets.find(digest[...]) { return known }
    let fresh = Proofs(capacity: capacity)
    sets.remember(digest[...], fresh)
    return fresh
  }
}
