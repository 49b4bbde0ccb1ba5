import AssayAuthority

extension CaseFixture {
  /// Adds assertions (docs/spec/app-attest.md §6, §10).
  func addAssertionCases() throws {
    try addGoodAssertions()
    for variation in AttestVariation<AssertionTemplate>.all {
      try assertion(
        variation.rule, variation.name, variation.status, check: variation.check, at: variation.at,
        hint: variation.hint, facts: variation.facts.map { ("/" + $0.path, $0.value) }
      ) { try variation.apply(to: &$0, attest) }
    }
    try addAssertionInputs()
    try addAssertionCounters()
    try addAssertionPolicies()
    try addAssertionDiagnoses()
  }

  private func addGoodAssertions() throws {
    let data = device.assertionData(counter: 7).bytes
    try assertion(
      "ASR-3", "iOS 27",
      facts: [
        ("/kind", "assertion"), ("/ok", true), ("appId", .text(device.appId)), ("counter", 7),
        ("previousCounter", 6), ("flags", 0xc0), ("category", 4), ("bundleVersion", "1314"),
        ("nonce", .text(AttestDigest.hex(AttestDigest.sha256(data + clientDataHash)))),
        ("challenge", "unchecked"), ("/warnings.0.id", .null),
      ])
    try assertion(
      "ASR-3", "iOS 18", of: device(.iOS18),
      facts: [("flags", 0x40), ("category", .null), ("bundleVersion", .null)])
    try assertion("ASR-3", "years later", now: now + 2000 * Purchase.day)
    try assertion(
      "ASR-5", "no App ID at all", verifier: "attest-nobody", "config.attest.app-ids")
    try assertion(
      "ASR-5", "an app that is not configured", verifier: "attest-other-app",
      "rejected.assertion.app-id")
  }

  /// Adds forms of the public key, client data and assertion (ATT-3, ATT-4, ASR-1).
  private func addAssertionInputs() throws {
    let good = try AssertionTemplate(of: device, clientDataHash: clientDataHash, counter: 7)
      .signed()
    func key(_ name: String, _ key: [UInt8], _ status: String = "misuse.assertion.public-key") {
      assertion("ATT-3", name, object: .bytes(good), publicKey: key, .init(status))
    }
    let info = try device.key.publicKeyInfo()
    let point = device.point
    key("SubjectPublicKeyInfo", info, "ok")
    key("the point", point, "ok")
    key("no key", [])
    key("64 octets", Array(point.dropFirst()))
    key("66 octets", point + [0])
    key("a compressed point", KeyEncoding.compressed(point))
    key("a hybrid point", KeyEncoding.hybrid(point))
    key("a point on no curve", KeyEncoding.offCurve(point))
    key("the point at infinity", [0])
    key("65 zeros", [UInt8](repeating: 0, count: 65))
    key("SubjectPublicKeyInfo with a byte after", info + [0])
    key("SubjectPublicKeyInfo without its last byte", Array(info.dropLast()))
    key("SubjectPublicKeyInfo of another curve", info.replacing(OID.p256, with: OID.p384))
    key("SubjectPublicKeyInfo on no curve", KeyEncoding.offCurve(info))
    key("base64 of the point", Base64Text.encode(point))
    key("a P-384 key", try SigningKey.generate(.p384).publicKeyInfo())
    try assertion(
      "ASR-3", "the public key of another device",
      publicKey: try SigningKey.generate(.p256).publicKey(), "rejected.assertion.signature")
    assertion(
      "ASR-1", "nothing", object: .bytes([]), publicKey: point, .init("malformed.assertion.cbor"))
    assertion(
      "ASR-1", "a million bytes", object: .text("a", times: 1_000_000), publicKey: point,
      .init("too-large.assertion.object"))
    let misuse = "misuse.attest.client-data"
    for (name, given, status) in [
      ("no client data", .data([]), misuse), ("a hash of 15 bytes", .hash(Array(1...15)), misuse),
      ("a hash of 65 bytes", .hash(Array(1...65)), misuse),
      ("kind 0", .kind(0, .bytes(clientData)), misuse),
      ("the hash", .hash(clientDataHash), "ok"),
      (
        "a megabyte and a byte", .kind(1, .text("x", times: (1 << 20) + 1)),
        "too-large.attest.client-data"
      ),
    ] as [(String, ClientDataGiven, String)] {
      assertion(
        "ATT-4", name, object: .bytes(good), publicKey: point, given: given, .init(status))
    }
    let short = Array(clientData.prefix(21))
    try assertion(
      "ATT-4", "21 bytes in the place of the hash", given: .hash(short), clientDataHash: short,
      facts: [("/warnings.0.id", "client-data-hash-length")])
    assertion(
      "JWS-41", "a present before 2008", object: .bytes(good), publicKey: point, now: 1,
      .init("misuse.call.now"))
    try attestationAsAssertion()
  }

  private func attestationAsAssertion() throws {
    let object = try attest.attestation(
      of: device, clientDataHash: clientDataHash, madeMs: madeMs
    ).signed()
    assertion(
      "ASR-1", "an attestation", object: .bytes(object), publicKey: device.point,
      .init("too-large.assertion.object"))
    let assertion = try AssertionTemplate(
      of: device, clientDataHash: clientDataHash, counter: 1
    ).signed()
    attestation(
      "ATT-10", "an assertion", object: .bytes(assertion), keyId: device.keyId,
      .init("malformed.attest.statement"))
  }

  /// Adds counters (ASR-6).
  private func addAssertionCounters() throws {
    let counters: [(sent: UInt32, stored: UInt32, passes: Bool)] = [
      (1, 0, true), (2, 1, true), (100, 1, true), (.max, 0, true), (.max, .max - 1, true),
      (1 << 31, (1 << 31) - 1, true), (0, 0, false), (1, 1, false), (1, 2, false),
      (.max, .max, false), (0, .max, false), ((1 << 31) - 1, 1 << 31, false), (0x100, 0x200, false),
    ]
    for (sent, stored, passes) in counters {
      try assertion(
        "ASR-6", "counter \(sent) after \(stored)", counter: sent, stored: stored,
        passes ? "ok" : "rejected.assertion.counter",
        facts: passes
          ? [("counter", .integer(Int64(sent))), ("previousCounter", .integer(Int64(stored)))] : [])
    }
  }

  /// Adds extensions and challenges (ASR-8, ASR-10).
  private func addAssertionPolicies() throws {
    try assertion(
      "ASR-8", "no category where it is required", of: device(.iOS18),
      verifier: "attest-category-required", "rejected.assertion.category-missing")
    try assertion(
      "ASR-8", "a category where it is required", verifier: "attest-category-required")
    let test = AttestedDevice.System.iOS27.sending(
      AuthenticatorDataTemplate.extensions(bundleVersion: "1313", category: 2))
    try assertion(
      "ASR-8", "TestFlight where the store alone is accepted", of: device(test),
      verifier: "attest-store-alone", "rejected.assertion.category")
    for verifier in ["attest-exact-build", "attest-least-build"] {
      try assertion(
        "ASR-8", "another build at \(verifier)", of: device(test), verifier: verifier,
        "rejected.assertion.bundle-version")
    }
    try assertion("ASR-8", "an exact build", verifier: "attest-exact-build")
    for challenge in ChallengePlace.all {
      try assertion(
        "ASR-10", challenge.name, verifier: challenge.verifier,
        given: challenge.isHash ? .hash(challenge.hash) : .data(challenge.clientData),
        clientDataHash: challenge.hash,
        challenge.isFound ? "ok" : "malformed.assertion.client-data", facts: challenge.facts)
    }
  }

  /// Adds hints for a host that passes other client data than the app signed (DIA-1).
  private func addAssertionDiagnoses() throws {
    for mistake in ClientDataMistake.all(clientData) {
      try assertion(
        "DIA-1", mistake.name, given: mistake.given, clientDataHash: mistake.signed,
        "rejected.assertion.signature", hint: mistake.hint)
    }
  }
}

extension [UInt8] {
  /// Returns a copy in which the DER of one object identifier is replaced by another, which may be
  /// shorter or longer; the lengths around it stay unchanged.
  fileprivate func replacing(_ oid: String, with other: String) -> [UInt8] {
    let wanted = DER.oid(oid)
    for place in 0...Swift.max(0, count - wanted.count)
    where self[place...].starts(with: wanted) {
      return Array(self[..<place]) + DER.oid(other) + Array(self[(place + wanted.count)...])
    }
    return self
  }
}
