/// Proofs by the digest of what is trusted (JWS-66), so that two verifiers share only where
/// they trust the same. The set that was not asked for longest goes first, and lives on in
/// the verifiers that have it. A busy lock is a miss: that verifier then begins with nothing.
typealias ProofTable = BytesCache<Proofs>
