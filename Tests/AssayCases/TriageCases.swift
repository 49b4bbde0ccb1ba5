import AssayAuthority

extension CaseFixture {
  /// Adds the classification of input without cryptography (TRI-1 … TRI-13).
  func addTriageCases() throws {
    try addMalformedBlobs()
    try addCrackers()
    try addOtherForms()
    try addTriagedReceipts()
    try addTriagedAppReceipts()
    try addTraits()
    try addTolerance()
    try addClaimedKeys()
    try addPlaceholders()
    try addTriageRemains()
  }

  private var pending: String { "pending.triage.verify-next" }

  private func triage(
    _ rule: String, _ name: String, _ blob: [UInt8], verifier: String = "standard",
    _ status: String, category: String? = nil, form: String? = nil, disposition: String? = nil,
    traits: [String]? = nil, facts: Facts = []
  ) {
    var facts = facts
    if let category { facts.append(("category", .text(category))) }
    if let form { facts.append(("format", .text(form))) }
    if let disposition { facts.append(("disposition", .text(disposition))) }
    for (place, trait) in (traits ?? []).enumerated() {
      facts.append(("anomalies.\(place)", .text(trait)))
    }
    if let traits { facts.append(("anomalies.\(traits.count)", .null)) }
    facts.append(("/kind", "triage"))
    add(
      rule, name, .triage(verifier: verifier, blob: .bytes(blob), now: now),
      .init(status, facts: facts))
  }

  private func template(
    _ purchase: Purchase, _ change: (inout TransactionReceiptTemplate) throws -> Void
  ) throws -> [UInt8] {
    var template = try receipts.transactionTemplate(purchase)
    try change(&template)
    return Base64Text.encode(try template.signed())
  }

  /// Adds malformed input (TRI-1, TRI-4).
  private func addMalformedBlobs() throws {
    let good = try receipts.transactionTemplate(purchase).signed()
    let text = Base64Text.encode(good)
    for (name, blob, status) in [
      ("nothing", [], "malformed.transport.empty"),
      ("blanks", [0x20, 0x0a], "malformed.transport.empty"),
      (
        "a character of no alphabet in a receipt",
        Array(text.dropLast(400)) + [0xff] + text.suffix(399),
        "malformed.transport.base64"
      ),
      ("base64 three times", TransportForm.tripled.encode(good), "malformed.transport.levels"),
    ] as [(String, [UInt8], String)] {
      triage("TRI-1", name, blob, status, category: "malformed", disposition: "resend")
    }
    triage(
      "TRI-1", "a text past the limit", text, verifier: "small-input",
      "too-large.transport.input", category: "malformed")
    for (name, list, status) in [
      (
        "a receipt cut in the middle", Array(good.prefix(good.count / 2 / 3 * 3)),
        "malformed.plist.syntax"
      ),
      ("a receipt without its closing brace", Array(good.dropLast()), "malformed.plist.syntax"),
      ("a receipt with text after it", good + [0x78], "malformed.plist.syntax"),
      (
        "a receipt with a comment",
        PropertyListCasesText.appending("/* note */", to: good), "malformed.plist.construct"
      ),
      (
        "a receipt with a key twice",
        PropertyListCasesText.appending("\"pod\" = \"200\";", to: good),
        "malformed.plist.duplicate-key"
      ),
      (
        "a receipt with a byte that is no UTF-8",
        PropertyListCasesText.appending("\"x\" = \"\\Ud800\";", to: good),
        "malformed.plist.encoding"
      ),
    ] as [(String, [UInt8], String)] {
      triage(
        "TRI-4", name, Base64Text.encode(list), status, category: "malformed",
        form: "transaction-receipt", disposition: "resend")
    }
    for key in ["signature", "purchase-info"] {
      triage(
        "TRI-4", "a receipt without \(key)",
        try template(purchase) { $0.outer = { $0.removing(key) } },
        "rejected.triage.incomplete", category: "unconfirmed", form: "transaction-receipt",
        disposition: "resend")
    }
  }

  /// Adds output of cracking tools (TRI-2).
  private func addCrackers() throws {
    let rejected = "rejected.triage.cracking-tool"
    let text = ForgedReceipt.cracker(59_412_391)
    var blobs: [(String, [UInt8])] = [
      ("the text of a cracking program", text),
      ("the text of a cracking program in base64", Base64Text.encode(text)),
      (
        "the text of a cracking program in base64 twice",
        Base64Text.encode(Base64Text.encode(text))
      ),
      ("a list with neither key", Base64Text.encode(ForgedReceipt.emptyList(purchase))),
      ("an empty list", Base64Text.encode(Array("{}".utf8))),
      ("256 printable bytes", Base64Text.encode(Array(repeating: 0x2e, count: 256))),
    ]
    for phrase in ForgedReceipt.phrases {
      blobs.append(("'\(phrase)' in base64", Base64Text.encode(Array(phrase.utf8))))
    }
    for (name, blob) in blobs {
      triage(
        "TRI-2", name, blob, rejected, category: "cracking-tool", form: "cracking-tool",
        disposition: "drop")
    }
    triage(
      "TRI-3", "257 printable bytes",
      Base64Text.encode(Array(repeating: 0x2e, count: 257)), "unsupported.triage.format",
      form: "unknown")
  }

  /// Adds input in other formats (TRI-3).
  private func addOtherForms() throws {
    let jws = try authority.mint(purchase.transactionPayload)
    triage(
      "TRI-3", "a transaction", jws, pending, category: "jws", form: "jws",
      facts: [
        ("/unverified.bundleId", "com.example.app"),
        ("/unverified.productId", .text(purchase.productId)),
        ("/unverified.environment", "Sandbox"),
        ("/unverified.transactionId", .text(purchase.transactionId)),
        ("/unverified.originalTransactionId", .text(purchase.originalTransactionId)),
      ])
    triage(
      "TRI-3", "a notification",
      try authority.mint(try authority.notification("SUBSCRIBED", "INITIAL_BUY", purchase)),
      pending, category: "jws", form: "jws", facts: [("/unverified.bundleId", "com.example.app")])
    triage(
      "TRI-6", "a transaction of another app",
      try authority.mint(purchase.with { $0.bundleId = "com.example.other" }.transactionPayload),
      "rejected.triage.foreign-bundle", category: "foreign", form: "jws", disposition: "drop",
      facts: [("/unverified.bundleId", "com.example.other")])
    triage(
      "TRI-7", "a transaction of an unknown product",
      try authority.mint(
        purchase.with { $0.productId = "com.example.app.unknown" }.transactionPayload),
      "rejected.triage.foreign-product", category: "foreign", form: "jws", disposition: "keep")
    triage(
      "TRI-3", "an access token",
      try JWSTemplate(
        header: ["alg": "ES256", "kid": "key-1"],
        payload: Array("{\"iss\":\"https://issuer.example\",\"sub\":\"u1\"}".utf8),
        key: authority.leafKey
      ).signed(), pending, category: "jws", form: "jws",
      facts: [("/unverified.issuer", "https://issuer.example")])
    let attestation: [UInt8] =
      [0xa3, 0x63] + Array("fmt".utf8) + [0x6e] + Array("apple-appattest".utf8)
    let assertion: [UInt8] = [0xa2, 0x69] + Array("signature".utf8) + [0x41, 1]
    let others: [(String, String, [UInt8])] = [
      ("an attestation", "attestation", attestation), ("an assertion", "assertion", assertion),
      ("an XML list", "xml-plist", Array("<?xml version=\"1.0\"?><plist></plist>".utf8)),
      ("a binary list", "binary-plist", Array("bplist00".utf8) + [0xd1, 1, 2, 0, 8]),
      ("a request body", "json", Array("{\"receipt-data\":\"AA==\",\"password\":\"x\"}".utf8)),
      ("random octets", "unknown", [0x81, 0x02, 0xfe, 0x99, 0x00, 0x41]),
    ]
    for (name, form, bytes) in others {
      triage(
        "TRI-3", name, Base64Text.encode(bytes), "unsupported.triage.format", form: form)
    }
    triage(
      "TRI-3", "a raw request body", Array("{\"receipt-data\":\"AA==\"}".utf8),
      "unsupported.triage.format", form: "json")
  }

  /// Adds receipts of every kind and app (TRI-5 … TRI-9).
  private func addTriagedReceipts() throws {
    for (name, version, shape) in [
      ("3", 3, purchase), ("2", 2, old),
    ] as [(String, UInt8, Purchase)] {
      triage(
        "TRI-9", "a good receipt of version \(name)",
        try receipts.transactionReceipt(shape, version: version), pending, category: "candidate",
        form: "transaction-receipt", disposition: "keep", traits: [],
        facts: [
          ("/ok", false), ("nextStep", "lookup"), ("transport.form", "base64"),
          ("/unverified.bundleId", "com.example.app"),
          ("/unverified.productId", .text(shape.productId)),
          ("/unverified.transactionId", .text(shape.transactionId)),
          ("/unverified.originalTransactionId", .text(shape.originalTransactionId)),
          ("/unverified.webOrderLineItemId", "2000000090000001"),
          ("/unverified.purchaseDate", .integer(shape.purchaseDate)),
          ("/unverified.environment", "Sandbox"),
          ("/unverified.keys.0", "Sandbox/2000000900000001"),
          ("/unverified.keys.1", "Sandbox/2000000900000001/2000000090000001"),
        ])
    }
    triage(
      "TRI-9", "a forged receipt looks like a good one",
      try template(purchase) { $0.signature = .damaged }, pending, category: "candidate")
    for bundle in ["com.example.other", "com.example.App"] {
      triage(
        "TRI-6", "a receipt of \(bundle)",
        try receipts.transactionReceipt(purchase.with { $0.bundleId = bundle }),
        "rejected.triage.foreign-bundle", category: "foreign", form: "transaction-receipt",
        disposition: "drop", facts: [("/unverified.bundleId", .text(bundle))])
    }
    triage(
      "TRI-7", "a receipt of an unknown product",
      try receipts.transactionReceipt(purchase.with { $0.productId = "com.example.app.unknown" }),
      "rejected.triage.foreign-product", category: "foreign", form: "transaction-receipt",
      disposition: "keep",
      facts: [
        ("/unverified.productId", "com.example.app.unknown"),
        ("/unverified.bundleId", "com.example.app"),
      ])
    triage(
      "TRI-6", "another app and an unknown product",
      try receipts.transactionReceipt(
        purchase.with {
          $0.bundleId = "com.example.other"
          $0.productId = "com.example.other.gems"
        }), "rejected.triage.foreign-bundle", category: "foreign", disposition: "drop")
    for verifier in ["production-only", "sandbox-only"] {
      let shape = verifier == "production-only" ? purchase : production
      triage(
        "TRI-8", "a receipt of an environment that \(verifier) refuses",
        try receipts.transactionReceipt(shape), verifier: verifier, pending,
        form: "transaction-receipt", disposition: "keep", traits: ["environment"])
    }
  }

  private func addTriagedAppReceipts() throws {
    let claims: Facts = [
      ("/unverified.bundleId", "com.example.app"), ("/unverified.environment", "Sandbox"),
    ]
    triage(
      "TRI-3", "a good app receipt", try receipts.appReceipt(appFacts), pending,
      category: "candidate", form: "app-receipt", disposition: "keep", facts: claims)
    var ber = try receipts.appTemplate(appFacts)
    ber.form = .indefinite(chunk: 100)
    triage(
      "TRI-3", "an app receipt with indefinite lengths", Base64Text.encode(try ber.signed()),
      pending, category: "candidate", form: "app-receipt", facts: claims)
    triage(
      "TRI-3", "a raw app receipt", try receipts.appTemplate(appFacts).signed(), pending,
      category: "candidate", form: "app-receipt", facts: claims)
    triage(
      "TRI-6", "an app receipt of another app",
      try receipts.appReceipt(appFacts.with { $0.bundleId = "com.example.other" }),
      "rejected.triage.foreign-bundle", category: "foreign", form: "app-receipt",
      disposition: "drop", facts: [("/unverified.bundleId", "com.example.other")])
    triage(
      "TRI-7", "an app receipt with an unknown product",
      try receipts.appReceipt(
        appFacts.with {
          $0.purchases = [purchase.with { $0.productId = "com.example.app.unknown" }]
        }), pending, category: "candidate", form: "app-receipt")
    triage(
      "TRI-9", "an app receipt without purchases",
      try receipts.appReceipt(appFacts.with { $0.purchases = [] }), pending,
      category: "candidate", form: "app-receipt")
    triage(
      "TRI-8", "an app receipt of an environment that is refused",
      try receipts.appReceipt(appFacts), verifier: "production-only", pending,
      form: "app-receipt", disposition: "keep", traits: ["environment"])
    func attest(_ bundle: String, _ type: String) throws -> [UInt8] {
      try receipts.attestLookalike("ABCDE12345." + bundle, type)
    }
    for type in ["ATTEST", "RECEIPT"] {
      triage(
        "TRI-3", "an App Attest receipt, \(type)", try attest("com.example.app", type), pending,
        form: "attest-receipt")
    }
    triage(
      "TRI-6", "an App Attest receipt of another app",
      try attest("com.example.other", "ATTEST"), "rejected.triage.foreign-bundle",
      category: "foreign", form: "attest-receipt", disposition: "drop")
  }

  /// Adds anomalies (TRI-5, section 1.4).
  private func addTraits() throws {
    func trait(
      _ expected: [String], _ name: String, of shape: Purchase? = nil,
      _ change: (inout TransactionReceiptTemplate) throws -> Void
    ) throws {
      triage(
        "TRI-9", name, try template(shape ?? purchase, change), pending, category: "unconfirmed",
        form: "transaction-receipt", disposition: "keep", traits: expected)
    }
    for key in ["quantity", "transaction-id", "original-transaction-id", "purchase-date"] {
      try trait(["missing:\(key)"], "no \(key)") { $0.info = $0.info.removing(key) }
    }
    for key in ["quantity", "transaction-id", "item-id"] {
      try trait(["bare:\(key)", "info-compact"], "\(key) without quotes") {
        $0.info = $0.info.changing(key) { $0.valueQuote = .bare }
      }
    }
    try trait(["format:quantity"], "a quantity of words") {
      $0.info = $0.info.setting("quantity", "many")
    }
    try trait(["format:purchase-date-ms"], "purchase-date-ms of 11 digits") {
      $0.info = $0.info.setting("purchase-date-ms", "17943552000")
    }
    try trait(["date-mismatch"], "dates that contradict each other") {
      $0.info = $0.info.setting("purchase-date-ms", String(purchase.purchaseDate + 5000))
    }
    try trait(["info-compact"], "a purchase-info whose white space was saved") {
      $0.info.style = .compact
    }
    try trait(["blob-version"], "a blob of version 4") { $0.version = 4 }
    try trait(["blob-layout"], "a blob cut short") { $0.blob = .prefix(600) }
    try trait(["blob-version", "placeholder"], "a signature of words") {
      $0.blob = .octets(Array("free coins for everybody".utf8))
    }
    try trait(["pod"], "another pod") { $0.pod = "18" }
    try trait(
      ["id-prefix"], "an id of no environment",
      of: purchase.with {
        $0.transactionId = "3000000900000001"
        $0.originalTransactionId = "3000000900000001"
      }
    ) { $0.pod = nil }
    try trait(["nested"], "a purchase-info that holds a signature") {
      $0.info = $0.info.appending("signature", "AA==")
    }
  }

  /// Adds keys that triage reports, with unverified ids (APR-25, RCP-28).
  private func addClaimedKeys() throws {
    for (type, key) in [(1703, "transaction-id"), (1705, "original-transaction-id")] {
      for (name, id) in CaseFixture.oddIds {
        let own = purchase.receiptAttributes.setting(.text(type, id))
        var template = try receipts.appTemplate(appFacts)
        template.attributes = template.attributes.setting(
          AttributeTemplate(17, AttributeTemplate.set(own)))
        triage(
          "APR-25", "triage: attribute \(type) \(name)", Base64Text.encode(try template.signed()),
          pending, category: "unconfirmed", form: "app-receipt", disposition: "keep",
          traits: ["format:\(key)"], facts: [("nextStep", "verify"), ("/unverified.keys.0", .null)])
      }
    }
    for key in ["transaction-id", "original-transaction-id", "web-order-line-item-id"] {
      triage(
        "APR-25", "triage: \(key) of 21 digits",
        try template(purchase) { $0.info = $0.info.setting(key, "100000000000000000000") }, pending,
        category: "unconfirmed", facts: [("nextStep", "verify"), ("/unverified.keys.0", .null)])
    }
    for id in ["2000000900000001/2", String(repeating: "9", count: 60)] {
      triage(
        "APR-25", "triage: a JWS with the web order line item \(id.prefix(20))",
        try authority.mint(purchase.with { $0.webOrderLineItemId = id }.transactionPayload),
        pending, category: "jws", traits: ["format:web-order-line-item-id"],
        facts: [("nextStep", "verify"), ("/unverified.keys.0", .null)])
    }
    for word in [nil, "Sandbox", "Production"] as [String?] {
      triage(
        "RCP-28", "triage: an id of pod 300, environment \(word ?? "absent")",
        try template(
          purchase.with {
            $0.transactionId = "3000000900000001"
            $0.originalTransactionId = "3000000900000001"
          }
        ) { $0.environment = word }, pending, category: "unconfirmed", traits: ["id-prefix"],
        facts: [
          ("/unverified.environment", .null), ("/unverified.keys.0", "unknown/3000000900000001"),
        ])
      triage(
        "RCP-28", "triage: an id of Production, environment \(word ?? "absent")",
        try template(production) { $0.environment = word }, pending, category: "candidate",
        facts: [
          ("/unverified.environment", "Production"),
          ("/unverified.keys.0", .text("Production/\(production.transactionId)")),
        ])
    }
  }

  /// Adds placeholders in place of a signature: unlike customers who paid (TRI-7), the client does
  /// not keep them and retry daily (LST-2).
  private func addPlaceholders() throws {
    let facts: Facts = [("/error.retryClass", "never"), ("nextStep", "lookup")]
    let unknown = purchase.with { $0.productId = "com.example.app.unknown" }
    let words = Array("free coins for everybody".utf8)
    for (name, octets) in [("words", words), ("two octets", [0x7f, 0x9e])] {
      triage(
        "LST-2", "\(name) for a signature, a product that nobody knows",
        try template(unknown) { $0.blob = .octets(octets) }, pending, category: "unconfirmed",
        facts: facts)
    }
    triage(
      "LST-2", "no base64 for a signature, a product that nobody knows",
      try template(unknown) { $0.signatureText = Array("signature!".utf8) }, pending,
      category: "unconfirmed", facts: facts)
    var jws = JWSTemplate(payload: unknown.transactionPayload.bytes, chain: authority.chain)
    jws.signature = .octets(words)
    triage(
      "LST-2", "a JWS with words for a signature, a product that nobody knows",
      try jws.signed(), pending, category: "jws", traits: ["placeholder"], facts: facts)
    jws.signature = .prefix(3)
    triage(
      "LST-2", "a JWS with three octets of its signature, a product that nobody knows",
      try jws.signed(), pending, category: "jws", traits: [], facts: facts)
  }

  /// Adds input that triage must not reject (section 1.5).
  private func addTolerance() throws {
    let good = try receipts.transactionTemplate(purchase).signed()
    for form in [
      TransportForm.raw, .wrapped, .wrappedLF, .urlSafe, .unpadded, .doubled, .spaceForPlus,
    ] {
      triage(
        "TRI-9", "a good receipt, \(form.rawValue)", form.encode(good), pending,
        category: "candidate", form: "transaction-receipt", traits: [])
    }
    for (name, style) in PropertyListText.Style.all {
      triage(
        "TRI-9", "a good receipt, \(name) outside",
        try template(purchase) { $0.outer = { PropertyListText($0.entries, style: style) } },
        pending, category: "candidate", traits: [])
    }
    triage(
      "TRI-9", "an app receipt, plus turned into a space",
      TransportForm.spaceForPlus.encode(try receipts.appTemplate(appFacts).signed()), pending,
      category: "candidate", form: "app-receipt", facts: [("transport.spaceAsPlus", true)])
    triage(
      "TRI-9", "a good receipt, keys reversed, pid for pod",
      try template(purchase) {
        $0.outer = {
          PropertyListText($0.removing("pod").appending("pid", "200").entries.reversed())
        }
      }, pending, category: "candidate", traits: [])
    triage(
      "TRI-9", "a good receipt, the two keys alone",
      try template(purchase) {
        $0.environment = nil
        $0.pod = nil
        $0.signingStatus = nil
      }, pending, category: "candidate", traits: [])
    triage(
      "TRI-9", "a good receipt of 2011",
      try template(old) { template in
        template.info = PropertyListText(
          template.info.entries.filter {
            let key = String(decoding: $0.key, as: UTF8.self)
            return !key.hasSuffix("-ms") && !key.hasSuffix("-pst") && !key.hasPrefix("unique-")
          })
      }, pending, category: "candidate", traits: [])
    triage(
      "TRI-9", "bought first after it was bought",
      try receipts.transactionReceipt(
        purchase.with { $0.originalPurchaseDate += 60 * Purchase.day }), pending,
      category: "candidate", traits: [])
    let many = (0..<200).map { number in
      purchase.with { $0.transactionId = String(2_000_000_900_000_001 + number) }
    }
    triage(
      "TRI-9", "an app receipt of two hundred purchases",
      try receipts.appReceipt(appFacts.with { $0.purchases = many }), pending,
      category: "candidate", form: "app-receipt")
  }
}

extension ReceiptAuthority {
  /// Returns a container with the attributes by which triage recognizes an App Attest receipt, and
  /// an invalid signature.
  func attestLookalike(_ appId: String, _ type: String) throws -> [UInt8] {
    let attributes = [
      AttributeTemplate(2, Array(appId.utf8)), AttributeTemplate(3, [1, 2, 3]),
      AttributeTemplate(6, Array(type.utf8)),
      AttributeTemplate(12, Array("2026-11-20T00:00:00Z".utf8)),
    ]
    return Base64Text.encode(
      try AppReceiptTemplate(
        attributes: attributes, chain: chain(.current), digest: .sha256
      ).signed())
  }
}
