import AssayAuthority

extension CaseFixture {
  /// Adds signatures, signers and dates of transaction receipts (RCP-12, RCP-17 … RCP-23).
  func addTransactionReceiptCases() throws {
    try addGoodTransactionReceipts()
    try addOuterClaims()
    try addBlobLayouts()
    try addReceiptSignatures()
    try addReceiptGenerations()
    try addReceiptDates()
  }

  private func addGoodTransactionReceipts() throws {
    let chain = try receipts.chain(.current)
    try transactionReceipt(
      "RCP-18", "a good receipt of version 3",
      facts: [
        ("/kind", "transaction-receipt"), ("/status.name", "ok"), ("/error", .null), ("version", 3),
        ("bundleId", "com.example.app"), ("productId", .text(purchase.productId)), ("quantity", 1),
        ("transactionId", .text(purchase.transactionId)),
        ("originalTransactionId", .text(purchase.originalTransactionId)),
        ("webOrderLineItemId", "2000000090000001"),
        ("purchaseDate", .integer(purchase.purchaseDate)),
        ("originalPurchaseDate", .integer(purchase.originalPurchaseDate)),
        ("expiresDate", .integer(purchase.expiresDate ?? 0)), ("isTrialPeriod", false),
        ("isInIntroOfferPeriod", false), ("bundleVersion", "1.4.2"), ("itemId", "1400000001"),
        ("appItemId", .null), ("environment", "Sandbox"), ("environmentSource", "transaction-id"),
        ("outerAltered", false), ("signedAfterPurchase", false), ("weakKey", false),
        ("keys.transaction", "Sandbox/2000000900000001"),
        ("keys.purchase", "Sandbox/2000000900000001/2000000090000001"),
        ("keys.subscription", "Sandbox/2000000900000001"),
        ("chain.leaf.sha256", .text(Authority.fingerprint(chain.leaf))),
        ("chain.intermediate.sha256", .text(Authority.fingerprint(chain.intermediate))),
        ("chain.intermediate.source", "configured"),
        ("chain.root.sha256", .text(Authority.fingerprint(chain.root))),
        ("uniqueIdentifier", .null), ("/checks.0.id", "transport"), ("/checks.1.id", "plist.outer"),
        ("/checks.2.id", "receipt.layout"), ("/checks.3.id", "chain.certificates"),
        ("/checks.4.id", "chain.shape"), ("/checks.5.id", "chain.signatures"),
        ("/checks.6.id", "receipt.signature"), ("/checks.7.id", "plist.info"),
        ("/checks.8.id", "receipt.fields"), ("/checks.9.id", "chain.validity"),
        ("/checks.10.id", "identity.bundle"), ("/checks.11.id", "identity.app"),
        ("/checks.12.id", "identity.product"), ("/checks.13.id", "identity.environment"),
        ("/checks.14.id", "freshness"), ("/checks.15.id", .null),
      ])
    try transactionReceipt(
      "RCP-18", "a good receipt of Production", of: production,
      facts: [
        ("environment", "Production"), ("appItemId", "1234567890"),
        ("versionExternalIdentifier", "814000001"),
        ("keys.transaction", "Production/180000900000001"),
      ])
    try transactionReceipt(
      "RCP-21", "a good receipt of version 2", of: old, version: 2,
      facts: [("version", 2), ("weakKey", true), ("purchaseDate", .integer(old.purchaseDate))])
    let restored = purchase.with { $0.transactionId = "2000000900000777" }
    let types: [(String, Purchase, String)] = [
      (
        "a period under another transaction id", restored,
        "Sandbox/2000000900000001/2000000090000001"
      ),
      (
        "a period without a web order line item",
        restored.with { $0.webOrderLineItemId = nil },
        "Sandbox/2000000900000001/\(purchase.purchaseDate)"
      ),
      (
        "a period with web order line item 0", restored.with { $0.webOrderLineItemId = "0" },
        "Sandbox/2000000900000001/\(purchase.purchaseDate)"
      ),
      (
        "a restored non-consumable",
        restored.of("com.example.app.lifetime", .nonConsumable), "Sandbox/2000000900000001"
      ),
      (
        "a consumable", restored.of("com.example.app.coins100", .consumable),
        "Sandbox/2000000900000777"
      ),
      (
        "a non-renewing subscription", restored.of("com.example.app.season", .nonRenewing),
        "Sandbox/2000000900000777"
      ),
    ]
    for (name, shape, key) in types {
      try transactionReceipt(
        "RPL-3", "the keys of \(name)", of: shape,
        facts: [("keys.purchase", .text(key)), ("keys.transaction", "Sandbox/2000000900000777")])
    }
    for (trial, offer) in [
      ("FREE_TRIAL", "isTrialPeriod"), ("PAY_AS_YOU_GO", "isInIntroOfferPeriod"),
    ] {
      try transactionReceipt(
        "RCP-16", "a receipt with \(offer)",
        of: purchase.with {
          $0.offerType = 1
          $0.offerDiscountType = trial
        }, facts: [("\(offer)", true)])
    }
  }

  /// Adds changed outer lists, which are never believed (RCP-12).
  private func addOuterClaims() throws {
    let altered: Facts = [("environment", "Sandbox"), ("outerAltered", true)]
    try transactionReceipt("RCP-12", "environment deleted", facts: altered) { $0.environment = nil }
    try transactionReceipt("RCP-12", "environment Production", facts: altered) {
      $0.environment = "Production"
    }
    try transactionReceipt("RCP-12", "another pod", facts: altered) { $0.pod = "18" }
    try transactionReceipt("RCP-12", "another signing-status", facts: [("outerAltered", false)]) {
      $0.signingStatus = "1"
    }
    try transactionReceipt("RCP-12", "no pod", facts: [("outerAltered", false)]) { $0.pod = nil }
    // Only the signed id determines environment and keys; no unsigned member does.
    let lowered: Facts = [
      ("environment", "Production"), ("environmentSource", "transaction-id"),
      ("outerAltered", true), ("keys.transaction", .text("Production/\(production.transactionId)")),
      ("/warnings.0.id", "outer-altered"),
    ]
    for verifier in ["standard", "production-only"] {
      for key in ["environment Sandbox", "another pod"] {
        try transactionReceipt(
          "RCP-28", "\(key) on an id of Production, verifier \(verifier)", of: production,
          verifier: verifier, facts: lowered
        ) { if key == "another pod" { $0.pod = "19" } else { $0.environment = "Sandbox" } }
      }
    }
    try transactionReceipt(
      "RCP-28", "environment Sandbox on an id of Production, where Production is refused",
      of: production, verifier: "sandbox-only", "rejected.environment.not-accepted",
      check: "identity.environment"
    ) { $0.environment = "Sandbox" }
    try transactionReceipt(
      "RCP-30", "the number of another app in Production, environment Sandbox",
      of: production.with { $0.appAppleId = 7 }, "rejected.app.app-apple-id", check: "identity.app"
    ) { $0.environment = "Sandbox" }
    try transactionReceipt(
      "RCP-28", "environment deleted, where Sandbox is refused", verifier: "production-only",
      "rejected.environment.not-accepted", check: "identity.environment"
    ) { $0.environment = nil }
    try addIdsThatTellNothing()
  }

  /// Adds ids without an environment (RCP-28): an outer `Sandbox` counts only for the policy; keys
  /// are of the pool `unknown`.
  private func addIdsThatTellNothing() throws {
    let unknown = purchase.with {
      $0.environment = "Production"
      $0.transactionId = "3000000900000001"
      $0.originalTransactionId = "3000000900000001"
      $0.webOrderLineItemId = "3000000900000002"
    }
    let facts: Facts = [
      ("keys.transaction", "unknown/3000000900000001"),
      ("keys.purchase", "unknown/3000000900000001/3000000900000002"),
      ("keys.subscription", "unknown/3000000900000001"),
    ]
    for (name, word) in [("no environment", nil), ("environment Sandbox", "Sandbox")] {
      try transactionReceipt(
        "RCP-28", "\(name) on an id of pod 300, where that is allowed", of: unknown,
        verifier: "unknown-environment", facts: facts
      ) { $0.environment = word }
    }
    try transactionReceipt(
      "RCP-28", "no environment on an id of pod 300", of: unknown,
      "rejected.environment.missing", check: "identity.environment"
    ) { $0.environment = nil }
    try transactionReceipt(
      "RCP-28", "environment Sandbox on an id of pod 300", of: unknown, facts: facts
    ) { $0.environment = "Sandbox" }
    try transactionReceipt(
      "RCP-28", "environment Sandbox on an id of pod 300, where Production alone is accepted",
      of: unknown, verifier: "production-only", "rejected.environment.not-accepted",
      check: "identity.environment", at: "environment"
    ) { $0.environment = "Sandbox" }
    try transactionReceipt(
      "RCP-28", "no environment on an id of pod 300, where that is allowed in Production",
      of: unknown, verifier: "unknown-production", facts: facts)
    try transactionReceipt(
      "RCP-28", "environment Sandbox on an id of pod 300, where that is allowed in Production",
      of: unknown, verifier: "unknown-production", "rejected.environment.not-accepted",
      check: "identity.environment", at: "environment"
    ) { $0.environment = "Sandbox" }
  }

  /// Adds layouts of the signature blob (RCP-17).
  private func addBlobLayouts() throws {
    for version in [0, 1, 4, 5, 0x41, 0xff] as [UInt8] {
      try transactionReceipt(
        "RCP-17", "a blob of version \(version)", "unsupported.transaction-receipt.version",
        check: "receipt.layout"
      ) { $0.version = version }
    }
    let whole = try receipts.transactionTemplate(purchase).signatureBlob().count
    for cut in [1, 2, 128, 133, 256, 257, 260, 261, 262, whole - 1] {
      try transactionReceipt(
        "RCP-17", "a blob cut to \(cut) octets", "malformed.transaction-receipt.signature-layout",
        check: "receipt.layout"
      ) { $0.blob = .prefix(cut) }
    }
    try transactionReceipt(
      "RCP-17", "an octet after the certificate", "malformed.transaction-receipt.signature-layout",
      check: "receipt.layout"
    ) { $0.blob = .trailing([0]) }
    let length = UInt32(try receipts.chain(.current).leaf.count)
    for (name, other) in [
      ("one less", length - 1), ("one more", length + 1), ("0", 0), ("2^31", 1 << 31),
      ("2^32 - 1", UInt32.max),
    ] {
      try transactionReceipt(
        "RCP-17", "a certificate length of \(name)",
        "malformed.transaction-receipt.signature-layout",
        check: "receipt.layout"
      ) { $0.blob = .certificateLength(other) }
    }
    try transactionReceipt(
      "RCP-17", "version 3 with the signature of version 2", of: old, generation: .store,
      "malformed.transaction-receipt.signature-layout", check: "receipt.layout")
    try transactionReceipt(
      "RCP-17", "version 2 with the signature of version 3", version: 2, generation: .current,
      "malformed.transaction-receipt.signature-layout", check: "receipt.layout")
  }

  /// Adds signatures (RCP-18 … RCP-20).
  private func addReceiptSignatures() throws {
    func refuse(
      _ rule: String, _ name: String, _ change: (inout TransactionReceiptTemplate) throws -> Void
    ) throws {
      for version in [2, 3] as [UInt8] {
        try transactionReceipt(
          rule, "\(name), version \(version)", of: version == 2 ? old : nil, version: version,
          "rejected.transaction-receipt.signature", check: "receipt.signature", change)
      }
    }
    try refuse("RCP-18", "the list signed without the version") { $0.scope = .info }
    try refuse("RCP-18", "the list's base64 signed") { $0.scope = .infoText }
    try refuse("RCP-18", "a signature with one bit changed") { $0.signature = .damaged }
    try refuse("RCP-18", "a list with another product after signing") {
      $0.sentInfo = $0.info.setting("product-id", "com.example.app.lifetime").bytes
    }
    try refuse("RCP-18", "a list whose white space was saved after signing") {
      $0.sentInfo = PropertyListText($0.info.entries, style: .compact).bytes
    }
    try refuse("RCP-18", "a list with a line feed more after signing") {
      $0.sentInfo = $0.info.bytes + [0x0a]
    }
    try refuse("RCP-18", "an unreadable list under a wrong signature") {
      $0.sentInfo = Array("no list".utf8)
    }
    try refuse("RCP-18", "signed with SHA-384") { $0.digest = .sha384 }
    try refuse("RCP-18", "a signature of zeros") {
      $0.signature = .octets(Array(repeating: 0, count: $0.version == 2 ? 128 : 256))
    }
    try refuse("RCP-18", "a signature of ones") {
      $0.signature = .octets(Array(repeating: 0xff, count: $0.version == 2 ? 128 : 256))
    }
    try refuse("RCP-20", "a genuine leaf beside a signature by another key") {
      $0.signature = .by(try .generate(.rsa(bits: $0.version == 2 ? 1024 : 2048)))
    }
    for (name, octets) in [
      ("words", Array("free coins for everybody".utf8)),
      ("a page of words", Array(repeating: 0x2a, count: 1669)),
      ("two octets", [0x7f, 0x9e]), ("a version and nothing else", [4]),
      ("an octet less than a blob has", Array(repeating: 4, count: 132)),
    ] {
      try transactionReceipt(
        "RCP-18", "\(name) for a signature", "rejected.transaction-receipt.signature",
        check: "receipt.layout",
        facts: [("/error.retryClass", "never")]
      ) { $0.blob = .octets(octets) }
    }
    for version in [2, 3] as [UInt8] {
      try transactionReceipt(
        "RCP-19", "signed with SHA-256, version \(version)", of: version == 2 ? old : nil,
        version: version, "unsupported.transaction-receipt.digest", check: "receipt.signature"
      ) { $0.digest = .sha256 }
    }
    try transactionReceipt(
      "RCP-20", "a service that signs with its own certificate",
      "rejected.chain.signature-leaf", check: "chain.signatures", at: "leaf"
    ) {
      let key = try SigningKey.generate(.rsa(bits: 2048))
      $0.chain = try receipts.chain(.current, leafKey: key, leafSigner: key)
    }
    try transactionReceipt(
      "RCP-20", "a service that signs under names of its own", "rejected.chain.issuer-unknown",
      check: "chain.certificates"
    ) {
      $0.chain = try receipts.chain(
        .current, leaf: { $0.issuer = DistinguishedName.make([("CN", "Free Coins CA")]) })
    }
    try transactionReceipt(
      "PTH-5", "a good receipt, Apple's roots alone", verifier: "receipts-of-apple",
      "rejected.chain.issuer-unknown", check: "chain.certificates")
    try transactionReceipt(
      "PTH-2", "a good receipt, no intermediate configured",
      verifier: "receipts-without-intermediates", "rejected.chain.issuer-unknown",
      check: "chain.certificates")
    let forged = try ReceiptAuthority(keys: receipts.keys, names: .apple)
    for generation in [ReceiptAuthority.Generation.second, .current] {
      try transactionReceipt(
        "CER-1", "a receipt under Apple's names, generation \(generation.rawValue)",
        of: purchase.moved(by: generation == .second ? -8 * 365 * Purchase.day : 0),
        verifier: "receipts-of-apple", "rejected.chain.signature-leaf",
        check: "chain.signatures"
      ) { $0.chain = try forged.chain(generation) }
    }
    try transactionReceipt(
      "CER-1", "a version 2 receipt under Apple's names", of: old, version: 2,
      verifier: "receipts-of-apple", "rejected.chain.signature-leaf", check: "chain.signatures"
    ) { $0.chain = try forged.chain(.store) }
  }

  /// Adds receipts of version 2 (RCP-21, RCP-22).
  private func addReceiptGenerations() throws {
    try transactionReceipt(
      "RCP-21", "version 2 where it is refused", of: old, version: 2, verifier: "v2-refused",
      "rejected.transaction-receipt.v2-disabled")
    try transactionReceipt(
      "RCP-21", "version 3 where version 2 is refused", verifier: "v2-refused")
    try transactionReceipt(
      "RCP-22", "a version 2 leaf under developer relations", of: old, version: 2,
      "rejected.chain.intermediate-marker", check: "chain.shape"
    ) {
      let key = receipts.keys.storeLeaf
      $0.chain = try receipts.chain(
        .first, leaf: { $0 = $0.replacing(OID.leafMarker, with: .marker(OID.purchaseMarker)) },
        leafKey: key)
    }
    try transactionReceipt(
      "RCP-22", "a version 3 leaf under the store", of: old, "rejected.chain.intermediate-marker",
      check: "chain.shape"
    ) {
      $0.chain = try receipts.chain(
        .store, leaf: { $0 = $0.replacing(OID.purchaseMarker, with: .marker(OID.leafMarker)) },
        leafKey: receipts.keys.leaf)
    }
    try transactionReceipt(
      "PTH-8", "a developer's certificate", "rejected.chain.leaf-marker", check: "chain.shape",
      at: "leaf"
    ) { $0.chain = try receipts.chain(.developer) }
    try transactionReceipt(
      "PTH-8", "a version 2 leaf without its marker", of: old, version: 2,
      "rejected.chain.leaf-marker", check: "chain.shape", at: "leaf"
    ) {
      $0.chain = try receipts.chain(
        .store, leaf: { $0 = $0.replacing(OID.purchaseMarker, with: nil) })
    }
    try transactionReceipt(
      "PTH-9", "a version 2 leaf with 1,032 bits", of: old, version: 2,
      "rejected.chain.key", check: "chain.shape", at: "leaf"
    ) {
      let key = try SigningKey.generate(.rsa(bits: 1032))
      $0.chain = try receipts.chain(.store, leafKey: key)
      $0.chain.key = receipts.keys.storeLeaf
    }
    try transactionReceipt(
      "PTH-4", "an octet after the leaf, inside its length", "malformed.chain.der",
      check: "chain.certificates", at: "leaf"
    ) { $0.chain.leaf.append(0) }
    try transactionReceipt(
      "PTH-4", "a leaf of four octets", "malformed.chain.der", check: "chain.certificates",
      at: "leaf"
    ) { $0.chain.leaf = [0x30, 0x02, 0x05, 0x00] }
  }

  /// Adds purchase dates at the ends of certificates (RCP-23, PTH-3, PTH-11).
  private func addReceiptDates() throws {
    func bought(_ seconds: Int64) -> Purchase {
      purchase.moved(by: seconds * 1000 - purchase.purchaseDate)
    }
    let begin: Int64 = 1_447_380_909
    let end: Int64 = 1_675_806_527
    let source = "chain.intermediate.sha256"
    let early = Authority.fingerprint(try receipts.chain(.first).intermediate)
    let late = Authority.fingerprint(try receipts.chain(.second).intermediate)
    for (name, seconds, signedLater) in [
      ("the second in which the leaf begins", begin, false),
      ("the second before the leaf begins", begin - 1, true),
      ("years before the leaf begins", begin - 100_000_000, true),
      ("the second in which the leaf ends", end, false),
    ] {
      try transactionReceipt(
        "RCP-23", "bought \(name)", of: bought(seconds), generation: .second,
        facts: [("signedAfterPurchase", .flag(signedLater))])
    }
    try transactionReceipt(
      "RCP-23", "bought before the leaf begins, where that is refused", of: bought(begin - 1),
      generation: .second, verifier: "late-signed-refused",
      "rejected.transaction-receipt.signed-after-purchase",
      check: "chain.validity")
    try transactionReceipt(
      "RCP-23", "bought as the leaf begins, where later signing is refused", of: bought(begin),
      generation: .second, verifier: "late-signed-refused")
    try transactionReceipt(
      "RCP-23", "bought the second after the leaf ends", of: bought(end + 1),
      generation: .second, "rejected.chain.expired", check: "chain.validity", at: "leaf")
    try transactionReceipt(
      "PTH-3", "bought when the later of two intermediates with one key holds",
      of: bought(1_500_000_000), generation: .second, facts: [(source, .text(late))])
    try transactionReceipt(
      "PTH-3", "bought when the earlier of two intermediates with one key holds",
      of: bought(1_320_000_000), facts: [(source, .text(early))]
    ) { $0.chain = try receipts.chain(.first) }
    try transactionReceipt(
      "PTH-11", "bought after both intermediates ended", of: bought(1_680_000_000),
      generation: .second, "rejected.chain.expired", check: "chain.validity", at: "intermediate"
    ) {
      $0.chain = try receipts.chain(.second, leaf: { $0.notAfter = .standard(2_000_000_000) })
    }
    try transactionReceipt(
      "PTH-11", "bought before both intermediates begin", of: bought(1_203_015_394),
      generation: .second, "rejected.chain.not-yet-valid", check: "chain.validity",
      at: "intermediate"
    ) {
      $0.chain = try receipts.chain(.second, leaf: { $0.notBefore = .standard(1_150_000_000) })
    }
  }
}
