/// The statuses for what the policy refuses in an attestation or an assertion (ATT-45, ATT-46,
/// ASR-8).
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
