import AssayAuthority

extension CaseFixture {
  /// Adds App Attest receipts without an attestation (docs/spec/app-attest.md §7).
  func addAttestReceiptCases() throws {
    try addGoodAttestReceipts()
    for variation in AttestVariation<AppReceiptTemplate>.all {
      try attestReceipt(
        variation.rule, variation.name, variation.status, check: variation.check, at: variation.at,
        facts: variation.facts.map { ("/" + $0.path, $0.value) }
      ) { try variation.apply(to: &$0, attest) }
    }
    try addAttestReceiptFields()
    try addAttestReceiptIdentity()
    try addAttestReceiptTimes()
    try addRefreshTimes()
    try addAttestReceiptForms()
  }

  private func addGoodAttestReceipts() throws {
    let first = try receiptFacts()
    try attestReceipt(
      "FRC-6", "ATTEST", of: first,
      facts: [
        ("/kind", "attest-receipt"), ("/ok", true), ("type", "ATTEST"),
        ("appId", .text(device.appId)), ("environment", "production"),
        ("keyId", .text(device.keyIdBase64)), ("bound", false),
        ("createdAtMs", .integer(first.created)), ("expiresAtMs", .integer(first.expires)),
        ("notBeforeMs", .null), ("risk", .null), ("token", .text(first.token)),
        ("clientHash", .text(AttestDigest.hex(first.clientHash))), ("unknownFields.0", .null),
        ("signer.sha256", .text(Authority.fingerprint(attest.receiptChain.leaf))),
      ])
    let second = try receiptFacts(.receipt, risk: 14)
    try attestReceipt(
      "FRC-6", "RECEIPT", of: second,
      facts: [
        ("type", "RECEIPT"), ("risk", 14), ("notBeforeMs", .integer(second.notBefore)),
        ("keyId", .text(device.keyIdBase64)),
        ("clientHash", .text(AttestDigest.hex(second.clientHash))),
      ])
    try attestReceipt(
      "FRC-1", "longer than other receipts may be", of: second, verifier: "small-input")
    try attestReceipt(
      "FRC-9", "about the key", of: first, subject: device.point, facts: [("bound", true)])
    try attestReceipt(
      "FRC-9", "about the key as SubjectPublicKeyInfo", of: second,
      subject: try device.key.publicKeyInfo(), facts: [("bound", true)])
    try attestReceipt(
      "FRC-9", "about another key", of: first, subject: try SigningKey.generate(.p256).publicKey(),
      "rejected.attest-receipt.key")
    for (name, subject) in [
      ("a subject of 32 bytes", device.keyId),
      ("a subject on no curve", KeyEncoding.offCurve(device.point)),
      ("a subject of 66 bytes", device.point + [0]),
    ] {
      try attestReceipt("ATT-3", name, of: first, subject: subject, "misuse.assertion.public-key")
    }
  }

  // MARK: fields

  /// Adds the fields that only a receipt of type RECEIPT has (FRC-7).
  private func addAttestReceiptFields() throws {
    func metric(_ name: String, _ text: String, _ value: Int64?) throws {
      var facts = try receiptFacts(.receipt)
      facts.risk = text
      try attestReceipt(
        "FRC-7", name, of: facts, value == nil ? "malformed.attest-receipt.metric" : "ok",
        facts: value.map { [("risk", .integer($0))] } ?? [])
    }
    try metric("a metric of 0", "0", 0)
    try metric("a metric of nine digits", "999999999", 999_999_999)
    try metric("a metric with zeros before it", "007", 7)
    for text in ["", "-1", "+1", "1.0", "1 ", " 1", "1000000000", "0x1", "one", "٣"] {
      try metric("a metric of \"\(text)\"", text, nil)
    }
    for type in [17, 19] {
      try attestReceipt(
        "FRC-7", "a RECEIPT without field \(type)", of: try receiptFacts(.receipt),
        "malformed.attest-receipt.type"
      ) { $0.attributes = $0.attributes.removing(type) }
    }
    try attestReceipt(
      "FRC-7", "a RECEIPT that says ATTEST", of: try receiptFacts(.receipt),
      "malformed.attest-receipt.type"
    ) { $0.attributes = $0.attributes.setting(AttributeTemplate(6, Array("ATTEST".utf8))) }
    try attestReceipt(
      "FRC-7", "a date of refresh that is none", of: try receiptFacts(.receipt),
      "malformed.attest-receipt.time"
    ) { $0.attributes = $0.attributes.setting(AttributeTemplate(19, Array("soon".utf8))) }
    try attestReceipt(
      "FRC-7", "a creation time that is none", "malformed.attest-receipt.time"
    ) { $0.attributes = $0.attributes.setting(AttributeTemplate(12, Array("now".utf8))) }
  }

  // MARK: identity

  /// Adds App Attest receipts of other apps and environments (FRC-8).
  private func addAttestReceiptIdentity() throws {
    var other = try receiptFacts()
    other.appId = "ABCDE12345.com.example.other"
    try attestReceipt("FRC-8", "another app", of: other, "rejected.attest-receipt.app-id")
    other.appId = "ABCDE12345.com.example.second"
    try attestReceipt(
      "FRC-8", "the second app", of: other, facts: [("appId", "ABCDE12345.com.example.second")])
    try attestReceipt(
      "FRC-8", "no App ID at all", verifier: "attest-nobody", "config.attest.app-ids")
    for (verifier, environment, status) in [
      ("attest-production", .production, "ok"),
      ("attest-production", .development, "rejected.attest-receipt.environment"),
      ("attest-development", .development, "ok"),
      ("attest-development", .production, "rejected.attest-receipt.environment"),
    ] as [(String, AuthenticatorDataTemplate.Environment, String)] {
      try attestReceipt(
        "FRC-8", "\(environment.name) at \(verifier)",
        of: try receiptFacts(of: device(.iOS27, environment)), verifier: verifier, status,
        facts: status == "ok" ? [("environment", .text(environment.receiptName))] : [])
    }
    try attestReceipt("FRC-8", "an unknown environment", "rejected.attest-receipt.environment") {
      $0.attributes = $0.attributes.setting(AttributeTemplate(7, Array("staging".utf8)))
    }
    try attestReceipt(
      "FRC-4", "Apple's own root", verifier: "attest-of-apple", "rejected.chain.untrusted-root")
  }

  // MARK: time

  /// Adds creation and expiration times (FRC-5, FRC-11, ATT-40, ATT-41).
  private func addAttestReceiptTimes() throws {
    let facts = try receiptFacts()
    let created = facts.created
    try attestReceipt("FRC-11", "of five minutes ago", of: facts, now: created + 300_000)
    try attestReceipt(
      "FRC-11", "of five minutes and a millisecond ago", of: facts, now: created + 300_001,
      "rejected.freshness.stale")
    try attestReceipt(
      "FRC-11", "of half an hour ago, an hour allowed", of: facts, verifier: "attest-hour",
      now: created + 1_800_000)
    try attestReceipt("ATT-40", "a clock a minute behind", of: facts, now: created - 60_000)
    try attestReceipt(
      "ATT-40", "a clock a minute and a millisecond behind", of: facts, now: created - 60_001,
      "rejected.date.future")
    try attestReceipt(
      "FRC-11", "kept for a month", of: facts, verifier: "attest-stored",
      now: created + 30 * Purchase.day, facts: [("expired", false)])
    try attestReceipt(
      "FRC-11", "kept for a year", of: facts, verifier: "attest-stored",
      now: created + 365 * Purchase.day, facts: [("expired", true)])
    var short = facts
    short.expires = created + 1000
    try attestReceipt(
      "FRC-11", "past its end", of: short, now: created + 60_000,
      "rejected.attest-receipt.expired")
    try attestReceipt(
      "FRC-11", "past its end and kept", of: short, verifier: "attest-stored",
      now: created + 60_000, facts: [("expired", true)])
    try attestReceipt(
      "FRC-5", "kept longer than its signer lives", of: facts, verifier: "attest-stored",
      now: created + 500 * Purchase.day)
    try attestReceipt(
      "FRC-5", "made before its signer", of: try receiptFacts(created: now - 300 * Purchase.day),
      verifier: "attest-stored", "rejected.chain.not-yet-valid")
    try attestReceipt(
      "FRC-5", "made after its signer", of: try receiptFacts(created: now + 300 * Purchase.day),
      verifier: "attest-stored", now: now + 301 * Purchase.day, "rejected.chain.expired")
    for (name, year) in [("1999", 930_000_000_000), ("2101", 4_140_000_000_000)]
      as [(String, Int64)]
    {
      var odd = facts
      odd.created = year
      try attestReceipt(
        "ATT-41", "of \(name)", of: odd, verifier: "attest-stored", "rejected.date.range")
    }
  }

  /// Adds times at which the next refresh is due (RFR-1, RFR-3).
  private func addRefreshTimes() throws {
    func refresh(
      _ name: String, _ kind: AttestReceiptFacts.Kind, after: Int64,
      verifier: String = "attest-stored", due: Bool, at: Int64?,
      _ change: (inout AttestReceiptFacts) -> Void = { _ in }
    ) throws {
      var facts = try receiptFacts(kind)
      change(&facts)
      try attestReceipt(
        "RFR-3", name, of: facts, verifier: verifier, now: facts.created + after,
        facts: [
          ("refreshDue", .flag(due)),
          ("refreshAtMs", at.map { .integer(facts.created + $0) } ?? .null),
        ])
    }
    let day = Purchase.day
    try refresh("an ATTEST of a minute ago", .attest, after: 60_000, due: true, at: 0)
    try refresh("an ATTEST of 29 days ago", .attest, after: 29 * day, due: true, at: 0)
    try refresh("an ATTEST of 31 days ago", .attest, after: 31 * day, due: false, at: nil)
    try refresh("a RECEIPT of a minute ago", .receipt, after: 60_000, due: false, at: day)
    try refresh("a RECEIPT of a day ago", .receipt, after: day, due: true, at: day)
    try refresh(
      "a RECEIPT a millisecond short of a day", .receipt, after: day - 1, due: false, at: day)
    try refresh("a RECEIPT of 31 days ago", .receipt, after: 31 * day, due: false, at: nil)
    try refresh(
      "a RECEIPT that may be refreshed in five days", .receipt, after: 2 * day, due: false,
      at: 5 * day
    ) { $0.notBefore = $0.created + 5 * day }
    try refresh("a RECEIPT past its end", .receipt, after: 3 * day, due: false, at: nil) {
      $0.expires = $0.created + 2 * day
    }
  }

  /// Adds transport encodings, and inputs that are no App Attest receipt (RCP-1, RCP-5).
  private func addAttestReceiptForms() throws {
    let raw = try attest.receipt(receiptFacts())
    for form in TransportForm.allCases where form != .tripled && form != .percentEscaped {
      receipt(
        "FRC-1", "App Attest receipt: sent \(form.rawValue)", form.encode(raw),
        kind: .attestReceipt)
    }
    receipt(
      "FRC-1", "App Attest receipt: nothing", [], kind: .attestReceipt,
      "malformed.attest-receipt.empty")
    receipt(
      "FRC-1", "App Attest receipt: 17,000 bytes",
      [0x30, 0x82, 0x42, 0x64] + [UInt8](repeating: 5, count: 16_996),
      kind: .attestReceipt, "too-large.attest-receipt.size")
    receipt(
      "FRC-1", "App Attest receipt: an app receipt",
      Base64Text.encode(try receipts.appTemplate(appFacts).signed()), kind: .attestReceipt,
      "rejected.kind.mismatch")
    receipt(
      "FRC-1", "App Attest receipt: taken for an app receipt", raw, kind: .appReceipt,
      "rejected.kind.mismatch")
    add(
      "DCD-1", "a decision by an App Attest receipt",
      .decide(
        verifier: "standard", evidence: [.init(.receipt(.attestReceipt, raw))], account: nil,
        now: now), .init("misuse.decision.evidence"))
  }
}
