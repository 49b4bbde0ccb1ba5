import AssayAuthority

extension CaseFixture {
  /// Adds evidence signed by Xcode (JWS-72, JWS-80, JWS-81).
  func addXcodeCases() throws {
    try addGoodXcode()
    try addXcodeRefusals()
    try addXcodeDates()
  }

  private func addGoodXcode() throws {
    for (verifier, environment) in [("xcode", "Xcode"), ("local-testing", "LocalTesting")] {
      let shape = purchase.with { $0.environment = environment }
      verify(
        "JWS-81", "a transaction of \(environment)",
        try authority.mintXcode(shape.xcodeTransactionPayload), verifier: verifier,
        facts: [
          ("environment", .text(environment)), ("transactionId", "0"),
          ("signedDate", .integer(purchase.signedDate)),
          ("effectiveDate.ms", .integer(purchase.signedDate)),
          ("expiresDate", .integer(purchase.expiresDate ?? 0)), ("keys.transaction", .null),
          ("keys.purchase", .null), ("chain.leaf.sha256", .text(authority.xcodeFingerprint)),
          ("chain.root", .null), ("/warnings.0.id", .null),
          // No rule about chains and validity applies, and the checks are reported skipped
          // (JWS-80).
          ("/checks.6.id", "chain.signatures"), ("/checks.6.ok", .null),
          ("/checks.10.id", "chain.validity"), ("/checks.10.ok", .null),
        ])
      verify(
        "JWS-81", "a renewal info of \(environment)",
        try authority.mintXcode(shape.xcodeRenewalPayload), kind: .renewalInfo, verifier: verifier,
        facts: [
          ("environment", .text(environment)), ("effectiveDate.ms", .integer(purchase.signedDate)),
          ("/warnings.0.id", "date-out-of-range"),
          ("/warnings.0.at", "recentSubscriptionStartDate"),
        ])
      verify(
        "JWS-81", "an app transaction of \(environment)",
        try authority.mintXcode(shape.xcodeAppTransactionPayload), kind: .appTransaction,
        verifier: verifier,
        facts: [
          ("environment", .text(environment)), ("effectiveDate.ms", .integer(purchase.signedDate)),
          ("appAppleId", .null), ("originalPurchaseDate", .null),
          ("/warnings.0.id", "date-out-of-range"), ("/warnings.0.at", "originalPurchaseDate"),
        ])
    }
    try verify(
      "JWS-80", "an App Store chain beside Xcode", payload: purchase.transactionPayload,
      verifier: "xcode")
    let year = 366 * 86_400 as Int64
    let old = try Authority.xcodeTemplate(
      authority.xcodeKey, window: (now / 1000 - 3 * year)...(now / 1000 - 2 * year)
    ).signed(by: authority.xcodeKey)
    pin("xcode-ended", old)
    verify(
      "JWS-80", "a pinned certificate that has ended",
      try JWSTemplate(
        xcodePayload: xcodePayload.bytes, certificate: old, key: authority.xcodeKey
      ).signed(), verifier: "xcode-ended")
  }

  private var xcodePayload: JSONText {
    purchase.with { $0.environment = "Xcode" }.xcodeTransactionPayload
  }

  private func addXcodeRefusals() throws {
    let good = JWSTemplate(
      xcodePayload: xcodePayload.bytes, certificate: authority.xcodeCertificate,
      key: authority.xcodeKey)
    verify(
      "JWS-13", "Xcode's one certificate at a verifier of the App Store", try good.signed(),
      "rejected.chain.length", check: "chain.root")
    let other = try Authority(now: now)
    verify(
      "JWS-80", "a certificate that is not pinned", try other.mintXcode(xcodePayload),
      verifier: "xcode", "rejected.chain.unpinned", check: "chain.root", at: "x5c[0]")
    verify(
      "JWS-80", "the App Store's leaf alone",
      try JWSTemplate(
        xcodePayload: xcodePayload.bytes, certificate: authority.chain.leaf,
        key: authority.leafKey
      ).signed(), verifier: "xcode", "rejected.chain.unpinned", check: "chain.root",
      at: "x5c[0]")
    var foreign = good
    foreign.key = other.xcodeKey
    verify(
      "JWS-80", "the pinned certificate over another key's signature",
      try foreign.signed(), verifier: "xcode", "rejected.jws.signature",
      check: "jws.signature")
    var changed = good
    changed.text = .swapped(
      payload: Base64Text.encodeURL(
        xcodePayload.setting("productId", "com.example.app.lifetime").bytes))
    verify(
      "JWS-80", "a payload changed after Xcode signed it", try changed.signed(),
      verifier: "xcode", "rejected.jws.signature", check: "jws.signature")
    for (name, kind) in [
      ("P-384", SigningKey.Kind.p384), ("RSA", .rsa(bits: 2048)),
    ] {
      let key = try SigningKey.generate(kind)
      let template = try Authority.xcodeTemplate(key, window: authority.windows.leaf)
      let certificate = try template.signed(by: authority.xcodeKey)
      pin("xcode-" + name, certificate)
      verify(
        "JWS-80", "a pinned certificate with a key of \(name)",
        try JWSTemplate(
          xcodePayload: xcodePayload.bytes, certificate: certificate, key: authority.xcodeKey
        ).signed(), verifier: "xcode-" + name, "rejected.chain.key", at: "x5c[0]")
    }
    var two = good
    two.header = two.header.setting(
      "x5c",
      .array([
        JWSTemplate.entry(authority.xcodeCertificate), JWSTemplate.entry(authority.chain.root),
      ]))
    verify(
      "JWS-13", "two entries at a verifier for Xcode", try two.signed(), verifier: "xcode",
      "rejected.chain.length", check: "chain.root")
    for environment in ["Xcode", "Sandbox"] {
      let isXcode = environment == "Xcode"
      let payload = purchase.with { $0.environment = environment }.transactionPayload
      let jws = isXcode ? try authority.mint(payload) : try authority.mintXcode(payload)
      verify(
        "JWS-72",
        isXcode
          ? "an App Store chain that claims Xcode" : "Xcode's certificate that claims Sandbox",
        jws, verifier: "xcode", "rejected.environment.signer-mismatch",
        check: "identity.environment")
    }
    verify(
      "JWS-70", "LocalTesting where only Xcode is accepted",
      try authority.mintXcode(
        purchase.with { $0.environment = "LocalTesting" }.xcodeTransactionPayload),
      verifier: "xcode", "rejected.environment.not-accepted", check: "identity.environment")
    verify(
      "JWS-73", "another bundle id from Xcode",
      try authority.mintXcode(xcodePayload.setting("bundleId", "com.other.app")),
      verifier: "xcode", "rejected.app.bundle-id", check: "identity.bundle")
  }

  private func addXcodeDates() throws {
    let signed = purchase.signedDate
    let spellings: [(String, JSONText, Int64)] = [
      ("a whole number", .integer(signed), signed),
      ("a fraction of nines", .text("\(signed).999999999999"), signed),
      ("an exponent of zero", .text("\(signed)e0"), signed),
      ("an exponent", .text("\(signed / 10).\(signed % 10)e1"), signed),
      ("a negative exponent", .text("\(signed)500E-3"), signed),
    ]
    for (name, value, expected) in spellings {
      verify(
        "JWS-81", "signedDate with \(name)",
        try authority.mintXcode(xcodePayload.setting("signedDate", value)), verifier: "xcode",
        facts: [("effectiveDate.ms", .integer(expected))])
    }
    for member in ["expiresDate", "revocationDate"] {
      verify(
        "JWS-81", "the distant past as \(member)",
        try authority.mintXcode(xcodePayload.setting(member, Purchase.distantPast)),
        verifier: "xcode",
        facts: [
          ("\(member)", .null), ("/warnings.0.id", "date-out-of-range"),
          ("/warnings.0.at", .text(member)),
        ])
    }
    for (name, value) in [
      ("the distant past", Purchase.distantPast), ("1e30", .text("1e30")),
      ("1e308", .text("1e308")), ("1e999999999", .text("1e999999999")),
      ("1e-999999999", .text("1e-999999999")),
      ("the year 10000", .text("253402300800000.5")),
    ] as [(String, JSONText)] {
      verify(
        "JWS-81", "signedDate of \(name) from Xcode",
        try authority.mintXcode(xcodePayload.setting("signedDate", value)),
        verifier: "xcode", "rejected.date.range", check: "chain.validity", at: "signedDate")
    }
    verify(
      "JWS-42", "a date ahead of now from Xcode",
      try authority.mintXcode(
        xcodePayload.setting("signedDate", .text("\(now + 60_001).5"))),
      verifier: "xcode", "rejected.date.future", check: "chain.validity", at: "signedDate")
    verify(
      "JWS-40", "signedDate as a text from Xcode",
      try authority.mintXcode(xcodePayload.setting("signedDate", .string("\(signed)"))),
      verifier: "xcode", "malformed.payload.type", check: "chain.validity", at: "signedDate")
  }

  /// Adds a verifier for Xcode that pins one more certificate.
  private func pin(_ name: String, _ certificate: [UInt8]) {
    configure(
      name,
      standardConfig.setting([
        ("environments", ["Xcode"]), ("attest.environments", ["development"]),
        ("storekit.xcodeCertificates", [.string(Authority.fingerprint(certificate))]),
      ]))
  }
}
