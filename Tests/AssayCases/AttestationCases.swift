import AssayAuthority

extension CaseFixture {
  /// Adds attestations (docs/spec/app-attest.md §1 to §5, §10).
  func addAttestationCases() throws {
    try addGoodAttestations()
    for variation in AttestVariation<AttestationTemplate>.all {
      try attestation(
        variation.rule, variation.name, variation.status, check: variation.check, at: variation.at,
        hint: variation.hint, facts: variation.facts.map { ("/" + $0.path, $0.value) }
      ) { try variation.apply(to: &$0, attest) }
    }
    try addAttestationInputs()
    try addAttestationIdentity()
    try addAttestationTimes()
    try addAttestationPolicies()
    try addAttestationDiagnoses()
    try addAttestationChallenges()
  }

  private func addGoodAttestations() throws {
    let hex = AttestDigest.hex
    try attestation(
      "ATT-10", "iOS 27, production",
      facts: [
        ("/kind", "attestation"), ("/ok", true), ("keyId", .text(device.keyIdBase64)),
        ("publicKey.x963", .text(device.point.base64Text)),
        ("publicKey.spki", .text((try device.key.publicKeyInfo()).base64Text)),
        ("appId", .text(device.appId)), ("environment", "production"), ("flags", 0xc0),
        ("counter", 0), ("category", 4), ("bundleVersion", "1314"),
        ("nonce", .text(hex(AttestDigest.sha256(device.attestationData.bytes + clientDataHash)))),
        ("os.version", "27.0.1"), ("os.build", "24A446"), ("os.platform", "iphoneos"),
        ("acl", .text(hex(AttestLeafExtensions.phoneAccessControl))), ("challenge", "unchecked"),
        ("revocation", "not-available"), ("receipt.type", "ATTEST"), ("receipt.bound", true),
        ("receipt.appId", .text(device.appId)), ("receipt.environment", "production"),
        ("receipt.createdAtMs", .integer(madeMs)),
        ("receipt.expiresAtMs", .integer(madeMs + 90 * Purchase.day)), ("receipt.risk", .null),
        ("receipt.notBeforeMs", .null), ("/warnings.0.id", .null),
      ])
    try attestation(
      "ATT-10", "iOS 18, production", of: device(.iOS18),
      facts: [
        ("flags", 0x40), ("category", .null), ("bundleVersion", .null), ("acl", .null),
        ("os.version", "18.5"),
      ])
    try attestation(
      "ATT-10", "iOS 27, development", of: device(.iOS27, .development),
      facts: [("environment", "development"), ("receipt.environment", "sandbox")])
    try attestation(
      "ATT-10", "iOS 18, development", of: device(.iOS18, .development),
      facts: [("environment", "development")])
    try attestation("ATT-47", "macOS", of: device(.macOS), facts: [("os.platform", "macosx")])
    try attestation(
      "ATT-10", "the same again, its intermediate known", facts: [("appId", .text(device.appId))])
  }

  // MARK: §1

  /// Adds sizes and encodings of the inputs (ATT-1, ATT-2, ATT-4).
  private func addAttestationInputs() throws {
    let good = try attest.attestation(
      of: device, clientDataHash: clientDataHash, madeMs: madeMs
    ).signed()
    func object(_ name: String, _ text: EvidenceText, _ status: String) {
      attestation("ATT-1", name, object: text, keyId: device.keyId, .init(status))
    }
    object("nothing", .bytes([]), "malformed.attest.empty")
    object("16,384 bytes", .text("a", times: 16_384), "malformed.attest.cbor")
    object("16,385 bytes", .text("a", times: 16_385), "too-large.attest.object")
    object("three million bytes", .text("a", times: 3_000_000), "too-large.attest.object")
    func keyId(_ name: String, _ id: [UInt8], _ status: String = "ok") {
      attestation("ATT-2", name, object: .bytes(good), keyId: id, .init(status))
    }
    let id = device.keyId
    let hex = Array(device.keyIdHex.utf8)
    keyId("base64 as iOS gives it", Base64Text.encode(id))
    keyId("base64url", Base64Text.encodeURL(id))
    keyId("hex", hex)
    keyId("hex in upper case", Array(device.keyIdHex.uppercased().utf8))
    keyId("raw", id)
    let bad = "malformed.attest.key-id"
    keyId("nothing", [], bad)
    keyId("31 bytes", Array(id.dropLast()), bad)
    keyId("33 bytes", id + [0], bad)
    keyId("hex with a letter past f", hex.dropLast() + [0x67], bad)
    keyId(
      "base64 without its padding and with a sign", Base64Text.encode(id).dropLast() + [0x21], bad)
    keyId("base64 with a line feed", Base64Text.encode(id) + [0x0a], bad)
    keyId("base64 with a space in it", Base64Text.encode(id).dropLast(2) + [0x20, 0x3d], bad)
    keyId("base64url with padding inside", Array(repeating: 0x3d, count: 43), bad)
    keyId("63 hex digits", Array(hex.dropLast()), bad)
    keyId("50,000 bytes", Array(repeating: 0x41, count: 50_000), bad)
    try attestation(
      "ATT-2", "the id of another key", keyId: AttestDigest.sha256([7]),
      "rejected.attest.key-id", check: "attest.key-id", hint: "other-key")
    try attestation(
      "ATT-2", "the id of another key in base64",
      keyId: Base64Text.encode(AttestDigest.sha256([7])), "rejected.attest.key-id",
      check: "attest.key-id", hint: "other-key")
    func given(_ name: String, _ given: ClientDataGiven, _ status: String) {
      attestation(
        "ATT-4", name, object: .bytes(good), keyId: device.keyId, given: given, .init(status))
    }
    let misuse = "misuse.attest.client-data"
    given("no client data", .data([]), misuse)
    given("no hash", .hash([]), misuse)
    given("a hash of 15 bytes", .hash(Array(clientDataHash.prefix(15))), misuse)
    given("a hash of 65 bytes", .hash(Array(repeating: 1, count: 65)), misuse)
    given("kind 0", .kind(0, .bytes(clientData)), misuse)
    given("kind 3", .kind(3, .bytes(clientData)), misuse)
    given("kind -1", .kind(-1, .bytes(clientData)), misuse)
    given("the hash", .hash(clientDataHash), "ok")
    given(
      "a megabyte of client data and a byte", .kind(1, .text("x", times: (1 << 20) + 1)),
      "too-large.attest.client-data")
    for count in [16, 21, 24, 31, 33, 64] {
      let hash = Array(clientData.prefix(count))
      try attestation(
        "ATT-4", "\(count) bytes in the place of the hash", given: .hash(hash),
        clientDataHash: hash, facts: [("/warnings.0.id", "client-data-hash-length")])
    }
    let megabyte = [UInt8](repeating: 0x78, count: 1 << 20)
    try attestation(
      "ATT-4", "a megabyte of client data", given: .kind(1, .text("x", times: 1 << 20)),
      clientDataHash: AttestDigest.sha256(megabyte))
    for (name, now) in [("before 2008", 1_199_145_599_999), ("after 2100", 4_102_444_800_001)]
      as [(String, Int64)]
    {
      attestation(
        "JWS-41", "a present \(name)", object: .bytes(good), keyId: device.keyId, now: now,
        .init("misuse.call.now"))
    }
  }

  // MARK: §4

  /// Adds attestations of other apps and environments (ATT-23, ATT-26).
  private func addAttestationIdentity() throws {
    try attestation(
      "ATT-23", "the second app", of: device.with { $0.appId = "ABCDE12345.com.example.second" },
      facts: [("appId", "ABCDE12345.com.example.second")])
    try attestation(
      "ATT-23", "an app that is not configured", verifier: "attest-other-app",
      "rejected.attest.app-id", check: "attest.app-id", hint: "configured-app-id")
    try attestation("ATT-23", "an App ID of team and bundle", verifier: "attest-derived")
    try attestation(
      "ATT-23", "an App ID that was not derived",
      of: device.with { $0.appId = "ABCDE12345.com.example.second" },
      verifier: "attest-derived", "rejected.attest.app-id")
    try attestation(
      "ATT-23", "no App ID at all", verifier: "attest-nobody", "config.attest.app-ids")
    try attestation(
      "ATT-30", "Apple's own root", verifier: "attest-of-apple", "rejected.chain.untrusted-root")
    let environments: [(String, AuthenticatorDataTemplate.Environment, String)] = [
      ("attest-production", .production, "ok"),
      ("attest-production", .development, "rejected.attest.environment"),
      ("attest-development", .development, "ok"),
      ("attest-development", .production, "rejected.attest.environment"),
      ("production-only", .development, "rejected.attest.environment"),
      ("production-only", .production, "ok"),
      ("sandbox-only", .production, "rejected.attest.environment"),
      ("sandbox-only", .development, "ok"),
    ]
    for (verifier, environment, status) in environments {
      try attestation(
        "ATT-26", "\(environment.name) at \(verifier)", of: device(.iOS27, environment),
        verifier: verifier, status, check: status == "ok" ? nil : "attest.environment")
    }
    try attestation(
      "ATT-26", "the sandbox aaguid in production", of: device(.iOS27, .development),
      verifier: "attest-production", "rejected.attest.environment"
    ) { $0.authData.credential?.aaguid = Array("appattestsandbox".utf8) }
  }

  /// Adds times of attestations and of their receipts (ATT-40, ATT-41, FRC-5, FRC-11).
  private func addAttestationTimes() throws {
    let old = now - 400 * Purchase.day
    let week = now + 7 * Purchase.day
    try attestation(
      "ATT-40", "a week later", now: week, "rejected.chain.expired", check: "chain", at: "x5c[0]",
      hint: "an attestation's certificate expires three days after it was issued")
    try attestation(
      "ATT-40", "a week before", now: now - 7 * Purchase.day, "rejected.chain.not-yet-valid",
      check: "chain", at: "x5c[0]")
    try attestation(
      "ATT-40", "five minutes after it was made", now: madeMs + 300_000)
    try attestation(
      "ATT-40", "five minutes and a millisecond", now: madeMs + 300_001,
      "rejected.freshness.stale", check: "attest.receipt")
    try attestation(
      "ATT-40", "half an hour, an hour allowed", verifier: "attest-hour",
      now: madeMs + 1_800_000)
    try attestation("ATT-40", "a clock a minute behind", now: madeMs - 60_000)
    try attestation(
      "ATT-40", "a clock a minute and a millisecond behind", now: madeMs - 60_001,
      "rejected.date.future", check: "attest.receipt")
    try attestation(
      "ATT-40", "a clock a millisecond behind without leeway", verifier: "attest-no-skew",
      now: madeMs - 1, "rejected.date.future")
    try attestation("ATT-40", "stored, a week later", verifier: "attest-stored", now: week)
    try attestation(
      "ATT-40", "stored, three years later", verifier: "attest-stored",
      now: now + 1100 * Purchase.day)
    try attestation(
      "ATT-40", "stored, a leaf that had ended", verifier: "attest-stored", now: week,
      "rejected.chain.expired", check: "chain", at: "x5c[0]",
      hint: "the receipt is from a time when the certificate was not valid"
    ) { template in
      guard case .utc(let begin) = template.leaf.notBefore else { return }
      template.leaf.notAfter = .utc(begin + 80_000)
    }
    try attestation(
      "ATT-40", "stored, a receipt made after the leaf", verifier: "attest-stored", now: week,
      "rejected.chain.expired"
    ) { $0.changeReceiptFacts = { $0.created += 3 * 86_400_000 } }
    try attestation(
      "ATT-40", "stored, a receipt of another key", verifier: "attest-stored", now: week,
      "rejected.attest-receipt.key"
    ) { template in
      let other = try AttestedDevice(key: .generate(.p256), appId: device.appId)
      let leaf = try attest.attestation(
        of: other, clientDataHash: clientDataHash, madeMs: madeMs
      ).leafCertificate()
      template.changeReceiptFacts = { $0.certificate = leaf }
    }
    try attestation(
      "ATT-40", "stored, a receipt signed by nobody", verifier: "attest-stored", now: week,
      "rejected.attest-receipt.signature"
    ) { $0.changeReceipt = { $0.signature = .by(try .generate(.p256)) } }
    try attestation(
      "FRC-5", "stored, a receipt from before its signer", verifier: "attest-stored",
      madeMs: old, now: now, "rejected.chain.not-yet-valid")
    try attestation(
      "ATT-41", "stored, a receipt of 1999", verifier: "attest-stored", "rejected.date.range"
    ) { $0.changeReceiptFacts = { $0.created = 930_000_000_000 } }
    try attestation(
      "ATT-12", "receipt ignored, and empty", verifier: "attest-receipt-ignored",
      facts: [("appId", .text(device.appId))]
    ) { $0.receipt = [] }
    try attestation("ATT-12", "receipt ignored, and junk", verifier: "attest-receipt-ignored") {
      $0.receipt = [1, 2, 3]
    }
    try attestation(
      "FRC-3", "receipt ignored, with signed attributes", verifier: "attest-receipt-ignored"
    ) { template in
      template.changeReceipt = { receipt in
        receipt.signedAttributes = DER.value(0xa0, DER.sequence(DER.oid(OID.data), DER.set()))
      }
    }
    try attestation(
      "ATT-12", "receipt ignored, a week later", verifier: "attest-receipt-ignored", now: week,
      "rejected.chain.expired")
    try attestation(
      "ATT-10", "receipt ignored, and missing", verifier: "attest-receipt-ignored",
      "malformed.attest.statement"
    ) { $0.statement = { $0.removing("receipt") } }
  }

  // MARK: §4.3, §4.4

  private func addAttestationPolicies() throws {
    func category(
      _ number: UInt32?, _ verifier: String, _ status: String = "ok"
    ) throws {
      let system = AttestedDevice.System.iOS27.sending(
        number.map { AuthenticatorDataTemplate.extensions(bundleVersion: "1", category: $0) })
      try attestation(
        "ATT-45", "\(number.map { "category \($0)" } ?? "no category") at \(verifier)",
        of: device(system), verifier: verifier, status,
        check: status == "ok" ? nil : "attest.category",
        facts: status == "ok" ? [("category", number.map { .integer(Int64($0)) } ?? .null)] : [])
    }
    let refused = "rejected.attest.category"
    for number: UInt32 in [1, 2, 3, 4, 5, 6, 10] { try category(number, "standard") }
    for number: UInt32 in [0, 7, 8, 9, 11, 256, 1 << 24, .max] {
      try category(number, "standard", refused)
    }
    try category(4, "attest-store-alone")
    try category(2, "attest-store-alone", refused)
    try category(nil, "attest-store-alone")
    try category(10, "attest-category-ten")
    try category(4, "attest-category-ten", refused)
    try category(nil, "attest-category-required", "rejected.attest.category-missing")
    try category(4, "attest-category-required")
    try category(0, "attest-category-required", refused)
    try attestation(
      "ATT-45", "an iPhone of iOS 18 where the category is required", of: device(.iOS18),
      verifier: "attest-category-required", "rejected.attest.category-missing",
      check: "attest.category")

    let builds: [(String, String, String)] = [
      ("1314", "attest-exact-build", "ok"), ("1400.2", "attest-exact-build", "ok"),
      ("1315", "attest-exact-build", "bad"), ("1314.0", "attest-exact-build", "bad"),
      ("01314", "attest-exact-build", "bad"), ("", "attest-exact-build", "bad"),
      ("1314.0.2", "attest-least-build", "ok"), ("1314.0.10", "attest-least-build", "ok"),
      ("1314.1", "attest-least-build", "ok"), ("1315", "attest-least-build", "ok"),
      ("2000.0.0.1", "attest-least-build", "ok"), ("1314.0.1", "attest-least-build", "bad"),
      ("1314", "attest-least-build", "bad"), ("1313.9.9", "attest-least-build", "bad"),
      ("9", "attest-least-build", "bad"), ("abc", "attest-least-build", "bad"),
      ("1314.x", "attest-least-build", "bad"),
    ]
    for (build, verifier, outcome) in builds {
      let system = AttestedDevice.System.iOS27.sending(
        AuthenticatorDataTemplate.extensions(bundleVersion: build, category: 4))
      try attestation(
        "ATT-46", "build \"\(build)\" at \(verifier)", of: device(system), verifier: verifier,
        outcome == "ok" ? "ok" : "rejected.attest.bundle-version",
        check: outcome == "ok" ? nil : "attest.bundle-version")
    }

    func acl(
      _ name: String, _ system: AttestedDevice.System, _ verifier: String, _ octets: [UInt8]?,
      _ status: String = "ok"
    ) throws {
      var system = system
      system.accessControl = octets
      try attestation(
        "ATT-47", "\(name) at \(verifier)", of: device(system), verifier: verifier, status,
        check: status == "ok" ? nil : "attest.acl")
    }
    let bad = "rejected.attest.acl"
    let mac = AttestLeafExtensions.macAccessControl
    let phone = AttestLeafExtensions.phoneAccessControl
    try acl("a Mac with other octets", .macOS, "standard", phone, bad)
    try acl("a Mac with one bit other", .macOS, "standard", mac.dropLast() + [0], bad)
    try acl("a Mac with no octets", .macOS, "standard", nil, bad)
    try acl("a Mac with empty octets", .macOS, "standard", [], bad)
    try acl("a phone with no octets", .iOS18, "standard", nil)
    try acl("a phone with the octets of a Mac", .iOS27, "standard", mac)
    try acl("a phone", .iOS27, "attest-macos", phone, bad)
    try acl("a phone with the octets of a Mac", .iOS27, "attest-macos", mac)
    try acl("a Mac", .macOS, "attest-macos", mac)
    try acl("a phone", .iOS27, "attest-ios", phone)
    try attestation(
      "ATT-47", "a Mac with octets outside their form", of: device(.macOS), bad,
      check: "attest.acl"
    ) {
      $0.leaf = $0.leaf.replacing(
        AttestLeafExtensions.accessControlOID,
        with: CertificateExtension(
          AttestLeafExtensions.accessControlOID, DER.sequence(DER.octetString(mac))))
    }
  }

  // MARK: §10

  /// Adds hints for a host that passes other client data than the app signed (DIA-1 … DIA-4).
  private func addAttestationDiagnoses() throws {
    for mistake in ClientDataMistake.all(clientData) {
      try attestation(
        "DIA-1", mistake.name, given: mistake.given, clientDataHash: mistake.signed,
        "rejected.attest.nonce", check: "attest.nonce", hint: mistake.hint)
    }
    try attestation(
      "DIA-2", "another challenge", given: .data(Array("another challenge".utf8)),
      "rejected.attest.nonce", check: "attest.nonce", hint: "other-challenge")
    try attestation(
      "DIA-2", "authenticator data of another app", "rejected.attest.nonce",
      check: "attest.nonce", hint: "object-altered"
    ) {
      var other = $0.authData
      other.rpIdHash = AttestDigest.sha256([1])
      $0.sentAuthData = other.bytes
    }
    try attestation(
      "DIA-4", "no hint for a forged object",
      given: .data(Array("another challenge".utf8)), "rejected.chain.untrusted-root"
    ) { try $0.use(AttestAuthority(now: now)) }
  }

  /// Adds client data with and without a challenge (ASR-10).
  private func addAttestationChallenges() throws {
    for challenge in ChallengePlace.all {
      try attestation(
        "ASR-10", challenge.name, verifier: challenge.verifier,
        given: challenge.isHash ? .hash(challenge.hash) : .data(challenge.clientData),
        clientDataHash: challenge.hash, challenge.isFound ? "ok" : "malformed.attest.client-data",
        facts: challenge.facts)
    }
  }
}
