/// The proofs of a process by the digest of the trusted certificates and settings (JWS-66): two
/// verifiers share proofs only if they trust the same. An evicted set lives on in the verifiers
/// that have it. If the lock is busy, a new verifier begins with an empty set.
typealias ProofTable = BytesCache<Proofs>
