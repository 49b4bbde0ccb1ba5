/// `receipts.sharedSecrets`: the `password` of verifyReceipt for each app.
struct SharedSecrets: Sendable {
  /// In the order of the document.
  var all: [(bundleId: Text, secret: SecretBytes)] = []

  /// VRR-22: that of the app, else that of `*`; nil: there is none.
  func password(_ bundleId: Text?) -> SecretBytes? {
    let own = all.first { $0.bundleId == bundleId }
    return (own ?? all.first { $0.bundleId == "*" })?.secret
  }
}
