import AssayAuthority

extension CaseFixture {
  /// Adds receipts of other apps and environments (RCP-24 … RCP-30).
  func addReceiptIdentityCases() throws {
    try addReceiptBundles()
    try addReceiptAges()
    try addReceiptEnvironments()
  }

  private func addReceiptBundles() throws {
    for (name, bundle) in [
      ("another app", "com.example.other"), ("other case", "com.example.App"),
      ("a prefix", "com.example.ap"), ("a longer one", "com.example.app.more"),
      ("a trailing blank", "com.example.app "),
    ] {
      try transactionReceipt(
        "RCP-24", "bundle id: \(name)", of: purchase.with { $0.bundleId = bundle },
        "rejected.app.bundle-id", check: "identity.bundle")
    }
    try transactionReceipt(
      "RCP-24", "the second configured app",
      of: purchase.with { $0.bundleId = "com.example.second" })
    try transactionReceipt(
      "RCP-30", "the number of another app in Production",
      of: production.with { $0.appAppleId = 1_234_567_891 }, "rejected.app.app-apple-id",
      check: "identity.app")
    try transactionReceipt(
      "RCP-30", "no number of an app in Production",
      of: production.with { $0.appAppleId = nil })
    try purchaseInfo("RCP-30", "the number of another app in Sandbox") {
      $0.appending("app-item-id", "7")
    }
    for product in ["com.example.app.unknown", "COM.example.app.lifetime"] {
      try transactionReceipt(
        "RCP-25", "product \(product)", of: purchase.with { $0.productId = product },
        "rejected.product.unknown", check: "identity.product",
        facts: [("/error.retryClass", "after-config")])
    }
  }

  /// Adds dates ahead of the clock, and the oldest accepted (RCP-26).
  private func addReceiptAges() throws {
    func bought(_ offset: Int64) -> Purchase { purchase.moved(by: 10 * Purchase.day + offset) }
    let month = 30 * Purchase.day
    try transactionReceipt(
      "RCP-26", "as old as is allowed", of: bought(-month), verifier: "receipts-of-a-month")
    try transactionReceipt(
      "RCP-26", "a second older than is allowed", of: bought(-month - 1000),
      verifier: "receipts-of-a-month", "rejected.freshness.stale", check: "freshness")
    try transactionReceipt(
      "RCP-26", "years old where no age is configured",
      of: bought(-2 * 365 * Purchase.day))
    let ahead = 2 * Purchase.day + 60_000
    try transactionReceipt("RCP-26", "48 hours and the skew ahead", of: bought(ahead))
    try transactionReceipt(
      "RCP-26", "a second more ahead", of: bought(ahead + 1000), "rejected.date.future")
    try transactionReceipt(
      "RCP-26", "a second more than 48 hours ahead, without skew",
      of: bought(2 * Purchase.day + 1000), verifier: "no-skew", "rejected.date.future")
    for now in [1_199_145_599_999, 4_102_444_800_000, -1, Int64.min, Int64.max] as [Int64] {
      try transactionReceipt("RCP-26", "now is \(now)", now: now, "misuse.call.now")
    }
  }

  /// Adds environments, which follow from the transaction id (RCP-27 … RCP-29).
  private func addReceiptEnvironments() throws {
    func id(_ prefix: String) -> (inout Purchase) -> Void {
      {
        $0.transactionId = prefix + "0000900000001"
        $0.originalTransactionId = prefix + "0000900000001"
      }
    }
    for (prefix, environment) in [
      ("100", "Sandbox"), ("200", "Sandbox"), ("1", "Production"), ("11", "Production"),
      ("73", "Production"), ("99", "Production"),
    ] {
      let shape = (environment == "Sandbox" ? purchase : production).with(id(prefix))
      try transactionReceipt(
        "RCP-27", "an id of pod \(prefix)", of: shape,
        facts: [("environment", .text(environment)), ("outerAltered", false)])
    }
    for prefix in ["101", "199", "201", "300", "1000"] {
      let shape = purchase.with(id(prefix)).with { $0.environment = "Production" }
      try transactionReceipt(
        "RCP-27", "an id of pod \(prefix)", of: shape,
        "rejected.environment.missing", check: "identity.environment")
      try transactionReceipt(
        "RCP-29", "an id of pod \(prefix), where that is allowed",
        of: shape, verifier: "unknown-environment")
    }
    let short = purchase.with {
      $0.transactionId = "1234567890123"
      $0.originalTransactionId = "1234567890123"
      $0.environment = "Production"
    }
    try transactionReceipt(
      "RCP-27", "an id of thirteen digits", of: short, "rejected.environment.missing",
      check: "identity.environment")
    try transactionReceipt(
      "RCP-28", "an id of thirteen digits, environment Sandbox", of: short,
      facts: [("environment", .null), ("keys.transaction", .null)]
    ) { $0.environment = "Sandbox" }
    try transactionReceipt(
      "RCP-29", "Sandbox where Production alone is accepted", verifier: "production-only",
      "rejected.environment.not-accepted", check: "identity.environment")
    try transactionReceipt(
      "RCP-29", "Production where Production alone is accepted", of: production,
      verifier: "production-only")
    try transactionReceipt(
      "RCP-29", "Production where Sandbox alone is accepted", of: production,
      verifier: "sandbox-only", "rejected.environment.not-accepted", check: "identity.environment")
    try transactionReceipt(
      "RCP-29", "Sandbox where Sandbox alone is accepted", verifier: "sandbox-only")
  }
}
