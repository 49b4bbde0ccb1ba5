/// `receipts.sharedSecrets`: the `password` of each app in calls of verifyReceipt.
struct SharedSecrets: Sendable {
  /// The secrets in the order of the document.
  var all: [(bundleId: Text, secret: SecretBytes)] = []

  /// Returns the secret of the app, else that of `*`; `nil` if there is neither (VRR-22).
  func password(_ bundleId: Text?) -> SecretBytes? {
    let own = all.first { $0.bundleId == bundleId }
    return (own ?? all.first { $0.bundleId == "*" })?.secret
  }
}
