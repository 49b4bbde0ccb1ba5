import AssayAuthority

extension CaseFixture {
  /// Adds app receipts: their facts, dates and app (APR-8 … APR-10, APR-15 … APR-21).
  func addAppReceiptCases() throws {
    try addGoodAppReceipts()
    try addAppReceiptDates()
    try addAppReceiptIdentity()
    try addDeviceCases()
    try addXcodeReceipts()
  }

  private func addGoodAppReceipts() throws {
    let chain = try receipts.chain(.current)
    try appReceipt(
      "APR-1", "a good receipt",
      facts: [
        ("/kind", "app-receipt"), ("/status.name", "ok"), ("/error", .null),
        ("type", "ProductionSandbox"), ("environment", "Sandbox"), ("bundleId", "com.example.app"),
        ("applicationVersion", "142"), ("originalApplicationVersion", "1.0"),
        ("creationDate", .integer(purchase.signedDate)),
        ("originalPurchaseDate", 1_375_340_400_000), ("expirationDate", .null), ("appAppleId", 0),
        ("deviceBound", false), ("digest", "sha256"),
        ("purchases.0.productId", .text(purchase.productId)),
        ("purchases.0.transactionId", .text(purchase.transactionId)),
        ("purchases.0.originalTransactionId", .text(purchase.originalTransactionId)),
        ("purchases.0.webOrderLineItemId", "2000000090000001"), ("purchases.0.quantity", 1),
        ("purchases.0.purchaseDate", .integer(purchase.purchaseDate)),
        ("purchases.0.expiresDate", .integer(purchase.expiresDate ?? 0)),
        ("purchases.0.cancellationDate", .null), ("purchases.0.isTrialPeriod", false),
        ("purchases.0.isInIntroOfferPeriod", false), ("purchases.0.promotionalOfferId", .null),
        ("purchases.0.known", true), ("purchases.0.environment", "Sandbox"),
        ("purchases.0.idConflict", false),
        ("purchases.0.keys.transaction", "Sandbox/2000000900000001"),
        ("purchases.0.keys.purchase", "Sandbox/2000000900000001/2000000090000001"),
        ("purchases.0.keys.subscription", "Sandbox/2000000900000001"),
        ("purchases.1.productId", .null),
        ("chain.leaf.sha256", .text(Authority.fingerprint(chain.leaf))),
        ("chain.intermediate.sha256", .text(Authority.fingerprint(chain.intermediate))),
        ("chain.root.sha256", .text(Authority.fingerprint(chain.root))),
        ("/checks.0.id", "transport"), ("/checks.1.id", "receipt.container"),
        ("/checks.2.id", "chain.certificates"), ("/checks.3.id", "chain.shape"),
        ("/checks.4.id", "chain.signatures"), ("/checks.5.id", "receipt.signature"),
        ("/checks.6.id", "receipt.attributes"), ("/checks.7.id", "chain.validity"),
        ("/checks.8.id", "identity.bundle"), ("/checks.9.id", "identity.app"),
        ("/checks.10.id", "identity.environment"), ("/checks.11.id", "device"),
        ("/checks.11.ok", .null), ("/checks.12.id", "freshness"), ("/checks.13.id", .null),
      ])
    try appReceipt(
      "APR-12", "integers past 2^53 of Production",
      of: AppReceiptFacts([production], like: production),
      facts: [
        ("environment", "Production"), ("appAppleId", 1_234_567_890),
        ("downloadId", "500000000000000123"),
      ])
    try appReceipt(
      "APR-14", "an empty list of purchases", of: appFacts.with { $0.purchases = [] },
      facts: [("purchases.0.productId", .null)])
    let many = (0..<300).map { number in
      purchase.with {
        $0.transactionId = String(2_000_000_900_000_001 + number)
        $0.webOrderLineItemId = String(2_000_000_090_000_001 + number)
        $0.purchaseDate -= Int64(number) * 7 * Purchase.day
        $0.expiresDate = $0.purchaseDate + 7 * Purchase.day
      }
    }
    try appReceipt(
      "APR-14", "three hundred purchases", of: appFacts.with { $0.purchases = many },
      facts: [
        ("purchases.299.transactionId", "2000000900000300"), ("purchases.300.transactionId", .null),
      ])
    for (count, status) in [(2, "ok"), (3, "too-large.app-receipt.purchases")] {
      try appReceipt(
        "APR-14", "\(count) purchases where two are allowed",
        of: appFacts.with { $0.purchases = Array(many.prefix(count)) }, verifier: "few-purchases",
        status)
    }
    try appReceipt(
      "APR-1", "a receipt past a lower cap", verifier: "small-app-receipt",
      "too-large.app-receipt.size")
    try appReceipt(
      "APR-1", "a good receipt, the intermediate from its bag",
      verifier: "receipts-without-intermediates", facts: [("chain.intermediate.source", "embedded")]
    )
    try appReceipt(
      "PTH-2", "a bag without its intermediate",
      facts: [("chain.intermediate.source", "configured")]
    ) { $0.certificates.remove(at: 1) }
    try appReceipt(
      "PTH-2", "a bag without its intermediate, and none configured",
      verifier: "receipts-without-intermediates", "rejected.chain.issuer-unknown",
      check: "chain.certificates"
    ) { $0.certificates.remove(at: 1) }
    try appReceipt(
      "PTH-2", "a bag without the root", verifier: "receipts-without-intermediates"
    ) { $0.certificates.removeLast() }
  }

  /// Adds creation dates, at which the chain must be valid (APR-9).
  private func addAppReceiptDates() throws {
    func made(_ seconds: Int64) -> AppReceiptFacts {
      appFacts.with { $0.creationDate = seconds * 1000 }
    }
    let source = "chain.intermediate.sha256"
    let early = Authority.fingerprint(try receipts.chain(.first).intermediate)
    let late = Authority.fingerprint(try receipts.chain(.second).intermediate)
    let verifiers = ["standard", "receipts-without-intermediates"]
    for verifier in verifiers {
      try appReceipt(
        "PTH-3", "made in 2012, \(verifier)", of: made(1_340_000_000), verifier: verifier,
        facts: [(source, .text(early)), ("digest", "sha1")])
      try appReceipt(
        "PTH-3", "made in 2018, \(verifier)", of: made(1_530_000_000), verifier: verifier,
        facts: [(source, .text(late)), ("digest", "sha1")])
    }
    // The leaf is of 2010, but the only intermediate is valid from 2013 on.
    try appReceipt(
      "PTH-3", "made in 2012, the later intermediate embedded", of: made(1_340_000_000),
      facts: [(source, .text(early)), ("chain.intermediate.source", "configured")]
    ) { $0.certificates[1] = try receipts.chain(.second).intermediate }
    try appReceipt(
      "PTH-11", "made in 2012, the later intermediate alone", of: made(1_340_000_000),
      verifier: "receipts-without-intermediates", "rejected.chain.not-yet-valid",
      check: "chain.validity", at: "intermediate"
    ) { $0.certificates[1] = try receipts.chain(.second).intermediate }
    try appReceipt(
      "PTH-11", "made in 2018, the earlier intermediate alone", of: made(1_530_000_000),
      verifier: "receipts-without-intermediates", "rejected.chain.expired",
      check: "chain.validity", at: "intermediate"
    ) { $0.certificates[1] = try receipts.chain(.first).intermediate }
    try appReceipt(
      "PTH-3", "made in 2018, both intermediates embedded", of: made(1_530_000_000),
      verifier: "receipts-without-intermediates", facts: [(source, .text(late))]
    ) { $0.certificates.insert(try receipts.chain(.first).intermediate, at: 1) }
    for (name, seconds, status) in [
      ("the second in which the leaf begins", 1_447_380_909, "ok"),
      ("the second before", 1_447_380_908, "rejected.chain.not-yet-valid"),
      ("the second in which the leaf ends", 1_675_806_527, "ok"),
      ("the second after", 1_675_806_528, "rejected.chain.expired"),
    ] as [(String, Int64, String)] {
      try appReceipt(
        "APR-9", "made \(name)", of: made(seconds), generation: .second, digest: .sha1, status,
        check: status == "ok" ? nil : "chain.validity", at: status == "ok" ? nil : "leaf")
    }
    let second = now / 1000
    try appReceipt("APR-9", "made as far ahead as the skew", of: made(second + 60))
    try appReceipt(
      "APR-9", "made a second further ahead", of: made(second + 61), "rejected.date.future",
      check: "chain.validity")
    try appReceipt(
      "APR-9", "made a second ahead, without skew", of: made(second + 1), verifier: "no-skew",
      "rejected.date.future")
    let month = 30 * Purchase.day / 1000
    try appReceipt(
      "APR-19", "as old as is allowed", of: made(second - month),
      verifier: "receipts-of-a-month")
    try appReceipt(
      "APR-19", "a second older than is allowed", of: made(second - month - 1),
      verifier: "receipts-of-a-month", "rejected.freshness.stale", check: "freshness")
    for now in [1_199_145_599_999, 4_102_444_800_000] as [Int64] {
      try appReceipt("APR-9", "now is \(now)", now: now, "misuse.call.now")
    }
  }

  /// Adds app receipts of other apps, types and environments (APR-10, APR-15 … APR-17).
  private func addAppReceiptIdentity() throws {
    for bundle in ["com.example.other", "com.example.App", "com.example.ap"] {
      try appReceipt(
        "APR-15", "bundle \(bundle)", of: appFacts.with { $0.bundleId = bundle },
        "rejected.app.bundle-id", check: "identity.bundle")
    }
    let store = AppReceiptFacts([production], like: production)
    try appReceipt(
      "APR-15", "the number of another app in Production",
      of: store.with { $0.appAppleId = 1_234_567_891 }, "rejected.app.app-apple-id",
      check: "identity.app")
    try attributes(
      "APR-15", "no number of an app in Production", "rejected.app.app-apple-id",
      check: "identity.app"
    ) { $0.setting(.text(0, "Production")).removing(1) }
    try appReceipt(
      "APR-15", "number 0 in Production", of: store.with { $0.appAppleId = 0 },
      "rejected.app.app-apple-id", check: "identity.app")
    try appReceipt(
      "APR-15", "any number in Sandbox", of: appFacts.with { $0.appAppleId = 7 })
    try appReceipt(
      "APR-15", "a purchase of an unknown product",
      of: appFacts.with {
        $0.purchases = [purchase.with { $0.productId = "com.example.app.unknown" }, purchase]
      }, facts: [("purchases.0.known", false), ("purchases.1.known", true)])
    for (type, sample, environment) in [
      ("Production", production, "Production"), ("ProductionVPP", production, "Production"),
      ("ProductionSandbox", purchase, "Sandbox"), ("ProductionVPPSandbox", purchase, "Sandbox"),
    ] {
      let facts = AppReceiptFacts([sample], like: sample).with { $0.type = type }
      try appReceipt(
        "APR-16", "type \(type)", of: facts,
        facts: [("environment", .text(environment)), ("type", .text(type))])
      let other = environment == "Production" ? "sandbox-only" : "production-only"
      try appReceipt(
        "APR-16", "type \(type) where it is not accepted", of: facts, verifier: other,
        "rejected.environment.not-accepted", check: "identity.environment")
    }
    for type in ["production", "Development", "ProductionX", ""] {
      try appReceipt(
        "APR-16", "type '\(type)'", of: appFacts.with { $0.type = type },
        "unsupported.app-receipt.type", check: "identity.environment")
    }
    try appReceipt(
      "APR-10", "type Xcode under the store's signer, where Xcode is accepted",
      of: appFacts.with { $0.type = "Xcode" }, verifier: "xcode",
      "rejected.environment.signer-mismatch", check: "identity.environment")
    try appReceipt(
      "APR-10", "a receipt of Sandbox where Xcode is accepted too", verifier: "xcode")
    try appReceipt(
      "APR-17", "a purchase whose id is of another environment",
      of: appFacts.with { $0.purchases = [production, purchase] },
      facts: [
        ("purchases.0.idConflict", true), ("purchases.1.idConflict", false),
        ("purchases.0.environment", "Sandbox"),
      ])
  }

  /// Adds device hashes (APR-18).
  private func addDeviceCases() throws {
    for (name, device) in [
      ("a vendor id", AppReceiptFacts.vendor), ("an address", AppReceiptFacts.address),
    ] {
      let facts = appFacts.with { $0.device = device }
      try appReceipt(
        "APR-18", "the receipt of \(name)", of: facts, subject: device,
        facts: [("deviceBound", true), ("/checks.11.ok", true)])
      for place in [0, device.count - 1] {
        var other = device
        other[place] ^= 1
        try appReceipt(
          "APR-18", "\(name), octet \(place) changed", of: facts, subject: other,
          "rejected.account.device", check: "device")
      }
    }
    try appReceipt(
      "APR-18", "a device hash of another bundle id", subject: AppReceiptFacts.vendor,
      "rejected.account.device", check: "device"
    ) {
      $0.attributes = $0.attributes.setting(
        AttributeTemplate(5, appFacts.with { $0.bundleId = "com.example.other" }.deviceHash))
    }
    try appReceipt(
      "APR-18", "another opaque value", subject: AppReceiptFacts.vendor,
      "rejected.account.device", check: "device"
    ) {
      $0.attributes = $0.attributes.setting(
        AttributeTemplate(4, version: 2, Array(repeating: 9, count: 16)))
    }
    for length in [1, 5, 7, 15, 17, 36] {
      try appReceipt(
        "APR-18", "a subject of \(length) octets",
        subject: Array(repeating: 1, count: length), "misuse.receipt.subject")
    }
    receipt(
      "APR-18", "a subject with a transaction receipt",
      try receipts.transactionReceipt(purchase), subject: AppReceiptFacts.vendor,
      "misuse.receipt.subject")
  }

  /// Adds receipts signed by Xcode (APR-20 … APR-24).
  private func addXcodeReceipts() throws {
    let facts = appFacts.with { $0.bundleId = purchase.bundleId }
    func xcode(
      _ rule: String, _ name: String, verifier: String = "xcode", subject: [UInt8]? = nil,
      _ status: String = "ok", check: String? = nil, facts expected: Facts = [],
      _ change: (inout AppReceiptTemplate) throws -> Void = { _ in }
    ) throws {
      var template = receipts.xcodeTemplate(facts)
      try change(&template)
      receipt(
        rule, name, Base64Text.encode(try template.signed()), kind: .appReceipt,
        verifier: verifier, subject: subject, status, check: check, facts: expected)
    }
    try xcode(
      "APR-20", "a receipt of Xcode",
      facts: [
        ("type", "Xcode"), ("environment", "Xcode"),
        ("creationDate", .integer(purchase.signedDate)), ("purchases.0.transactionId", "0"),
        ("purchases.0.keys.transaction", .null), ("purchases.0.keys.purchase", .null),
        ("purchases.0.keys.subscription", .null), ("purchases.0.originalTransactionId", .null),
      ])
    try xcode(
      "APR-18", "a receipt of Xcode with its device", subject: AppReceiptFacts.vendor,
      facts: [("deviceBound", true)])
    try xcode("APR-1", "a receipt of Xcode with definite lengths") { $0.form = .definite }
    try xcode(
      "APR-21", "a receipt of Xcode whose certificate is not listed",
      verifier: "xcode-of-others", "rejected.chain.unpinned")
    try xcode(
      "APR-21", "a receipt of Xcode where Xcode is not accepted", verifier: "sandbox-only",
      "rejected.chain.unpinned")
    try xcode(
      "APR-21", "a receipt of Xcode by another key", "rejected.app-receipt.signature",
      check: "receipt.signature"
    ) { $0.signature = .by(receipts.keys.leaf) }
    try xcode(
      "APR-21", "a damaged receipt of Xcode", "rejected.app-receipt.signature",
      check: "receipt.signature"
    ) { $0.signature = .damaged }
    try xcode(
      "APR-16", "type Production under Xcode's signer, where Production cannot be accepted",
      "rejected.environment.not-accepted", check: "identity.environment"
    ) {
      $0.attributes = $0.attributes.setting(.text(0, "Production"))
        .setting(.integer(1, 1_234_567_890))
    }
    try xcode(
      "APR-16", "type ProductionSandbox under Xcode's signer",
      "rejected.environment.signer-mismatch", check: "identity.environment"
    ) { $0.attributes = $0.attributes.setting(.text(0, "ProductionSandbox")) }
    try xcode(
      "APR-21", "a receipt of Xcode made before its certificate",
      "rejected.chain.not-yet-valid", check: "chain.validity"
    ) { $0.attributes = $0.attributes.setting(.ascii(12, "2020-04-01T17:52:34Z")) }
    try xcode(
      "APR-21", "a receipt of Xcode made as its certificate begins"
    ) { $0.attributes = $0.attributes.setting(.ascii(12, "2020-04-01T17:52:35Z")) }
    try xcode(
      "APR-21", "another self-signed certificate", "rejected.chain.unpinned"
    ) {
      var other = receipts.xcode
      other.serial = [2]
      let certificate = try other.signed(by: receipts.keys.xcode)
      $0.certificates = [certificate]
      $0.chain.leaf = certificate
    }
  }
}
