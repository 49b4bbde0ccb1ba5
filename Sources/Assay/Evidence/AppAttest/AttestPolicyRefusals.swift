/// The three refusals of the policy, by the kind of object (ATT-45, ATT-46, ASR-8).
struct AttestPolicyRefusals: Sendable {
  let category: Status
  let categoryMissing: Status
  let bundleVersion: Status

  static let attestation = AttestPolicyRefusals(
    category: .rejectedAttestCategory, categoryMissing: .rejectedAttestCategoryMissing,
    bundleVersion: .rejectedAttestBundleVersion)
  static let assertion = AttestPolicyRefusals(
    category: .rejectedAssertionCategory, categoryMissing: .rejectedAssertionCategoryMissing,
    bundleVersion: .rejectedAssertionBundleVersion)
}
