import AssayAuthority
import Testing

@testable import Assay

/// Tests that every App Attest receipt of the vectors, by itself and inside attestations, gives the
/// expected result.
@Suite("Genuine App Attest receipts", .enabled(if: Vectors.arePresent, Vectors.absent))
struct GenuineAttestReceiptsTests {
  private static let tenYears: Int64 = 10 * 365 * 86_400_000

  private struct Entry {
    let name: String
    let appId: String
    let key: [UInt8]
    let now: Int64
    /// The facts that the manifest lists for the receipt.
    let facts: JSONValue
    let bytes: [UInt8]
  }

  /// Returns the receipts that are files, and those in attestations.
  private static func entries(for suite: String) -> [Entry] {
    guard let manifest = Vectors.json("attest/manifest.json", for: suite) else { return [] }
    return manifest.children.compactMap { value in
      guard let config = value.member("config"), let facts = value.member("facts"),
        let file = Vectors.file("vectors/attest/" + value.string("file"))
      else { return nil }
      let isAlone = value.string("kind") == "app-attest-receipt"
      guard isAlone || value.string("kind") == "attestation" else { return nil }
      let key = (isAlone ? config : facts).string("public_key_x963_b64")
      return Entry(
        name: value.string("name"), appId: config.string("app_id"),
        key: Base64.decodeStandard(utf8(key)[...]) ?? [],
        now: config.member("now_ms")?.integer ?? 0,
        facts: isAlone ? facts : facts.member("receipt") ?? facts,
        bytes: isAlone ? file : embedded(file))
    }
  }

  /// Returns the byte string after the text "receipt".
  private static func embedded(_ attestation: [UInt8]) -> [UInt8] {
    let name = utf8("greceipt\u{59}")
    for place in attestation.indices where attestation[place...].starts(with: name) {
      let start = place + name.count
      guard attestation.count > start + 2 else { return [] }
      let length = Int(attestation[start]) << 8 | Int(attestation[start + 1])
      return Array(attestation[(start + 2)...].prefix(length))
    }
    return []
  }

  private func trust(
    _ entry: Entry, _ changes: [(String, JSONText)] = []
  ) throws -> AttestReceiptTrust {
    let config: JSONText = [
      "apps": [["bundleId": "com.example.app", "appAppleId": 1_234_567_890]],
      "attest": [
        "appIds": [.string(entry.appId)], "environments": ["production", "development"],
      ],
    ]
    return try AttestReceiptFixture.trust(config.setting(changes))
  }

  @Test("FRC-1 … FRC-11 every receipt is accepted in its time, with its facts")
  func manifest() throws {
    var seen = 0
    for entry in Self.entries(for: "genuine App Attest receipts") {
      let trust = try trust(entry)
      for subject in [entry.key, nil, entry.key] {
        let answer = AttestReceiptFixture.verify(
          trust, entry.bytes, subject: subject, now: entry.now)
        let receipt = try require(
          answer.receipt,
          "\(entry.name): \(answer.status.name) \(answer.refusal?.place ?? "")")
        checkEqual(receipt.bound, (subject != nil))
        try expectFacts(entry, receipt)
      }
      seen += 1
    }
    checkEqual(seen, 16)
  }

  private func expectFacts(_ entry: Entry, _ receipt: AttestReceipt) throws {
    let document = AttestReceiptFixture.document(receipt)
    let facts = entry.facts
    checkEqual(document.at("type")?.text, facts.member("type")?.text)
    checkEqual(document.at("environment")?.text, facts.member("environment")?.text)
    checkEqual(document.at("appId")?.text?.string, entry.appId)
    checkEqual(receipt.fields.key, entry.key)
    checkEqual(document.at("risk")?.integer, facts.member("risk_metric")?.integer)
    for (member, path) in [
      ("creation_time", "createdAtMs"), ("expiration_time", "expiresAtMs"),
      ("not_before", "notBeforeMs"),
    ] as [(StaticString, String)] {
      let expected = facts.member(member)?.text.map { milliseconds($0.string) }
      checkEqual(document.at(path)?.integer, expected, "\(entry.name): \(path)")
    }
    checkEqual(document.at("token")?.text?.count, 88)
    checkEqual(document.at("signer.sha256")?.text?.count, 64)
    check((document.at("signer.notBefore")?.integer ?? .max) <= receipt.createdAtMs)
    check((document.at("signer.notAfter")?.integer ?? 0) >= receipt.createdAtMs)
    checkEqual(document.at("unknownFields")?.count, 0)
    checkEqual(document.at("refreshAtMs")?.integer, receipt.notBeforeMs ?? receipt.createdAtMs)
    checkEqual(document.at("refreshDue")?.boolean, (receipt.notBeforeMs == nil))
    checkEqual(document.at("expired")?.boolean, false)
  }

  /// Returns the milliseconds of a time whose fraction may lack trailing zeros.
  private func milliseconds(_ text: String) -> Int64 {
    let parts = text.dropLast().split(separator: ".")
    let seconds = AppReceiptDate.milliseconds(utf8(parts[0] + "Z")[...]) ?? 0
    let fraction = parts.count > 1 ? String(parts[1]) : ""
    return seconds + (Int64((fraction + "000").prefix(3)) ?? 0)
  }

  @Test("FRC-11 RFR-3 later they are stale, and as stored ones accepted and expired")
  func later() throws {
    for entry in Self.entries(for: "genuine App Attest receipts, later") {
      let live = AttestReceiptFixture.verify(
        try trust(entry), entry.bytes, now: entry.now + 300_001)
      check(live.status == .rejectedFreshnessStale && live.failed == "freshness")
      let old = AttestReceiptFixture.verify(
        try trust(entry, [("attest.maxAgeMs", .integer(1 << 52))]), entry.bytes,
        now: entry.now + Self.tenYears)
      check(old.status == .rejectedAttestReceiptExpired && old.failed == "receipt.expiry")
      let stored = AttestReceiptFixture.verify(
        try trust(entry, [("attest.time", "stored")]), entry.bytes, subject: entry.key,
        now: entry.now + Self.tenYears)
      let receipt = try require(stored.receipt)
      check(receipt.isExpired && receipt.refreshAtMs == nil && !receipt.refreshDue)
    }
  }

  @Test("FRC-8 FRC-9 another key, app or environment is refused by name")
  func identity() throws {
    for entry in Self.entries(for: "genuine App Attest receipts, identity") {
      var key = entry.key
      key[40] ^= 1
      var answer = AttestReceiptFixture.verify(
        try trust(entry), entry.bytes, subject: key, now: entry.now)
      check(answer.status == .rejectedAttestReceiptKey && answer.failed == "receipt.key")
      answer = AttestReceiptFixture.verify(
        try trust(entry, [("attest.appIds", ["ABCDE12345.com.example.app"])]), entry.bytes,
        now: entry.now)
      checkEqual(answer.status, .rejectedAttestReceiptAppId)
      checkEqual(answer.failed, "identity.app-id")
      let other = entry.facts.string("environment") == "sandbox" ? "production" : "development"
      answer = AttestReceiptFixture.verify(
        try trust(entry, [("attest.environments", [.string(other)])]), entry.bytes,
        now: entry.now)
      checkEqual(answer.status, .rejectedAttestReceiptEnvironment)
    }
  }

  @Test("FRC-4 the root of attestations is not one of receipts")
  func otherRoot() throws {
    let root = try require(
      Vectors.file("attest/certs/apple-app-attestation-root-ca.der", for: "other root"))
    for entry in Self.entries(for: "genuine App Attest receipts, other root") {
      let changes =
        [
          ("attest.receiptAnchors", [.string(utf8: Base64.encodeStandard(root))])
        ] as [(String, JSONText)]
      let answer = AttestReceiptFixture.verify(
        try trust(entry, changes), entry.bytes, now: entry.now)
      checkEqual(answer.status, .rejectedChainUntrustedRoot)
    }
  }

  @Test("FRC-3 libcrypto's CMS agrees about receipts as they are and with one bit changed")
  func libcrypto() throws {
    for entry in Self.entries(for: "genuine App Attest receipts, libcrypto") {
      let trust = try trust(entry)
      check(LibcryptoCMS.verifies(entry.bytes))
      for place in stride(from: 1, to: entry.bytes.count, by: 97) {
        var bytes = entry.bytes
        bytes[place] ^= 0x10
        let answer = AttestReceiptFixture.verify(trust, bytes, now: entry.now)
        // An unsigned byte may differ, for example in the copy of the root.
        if answer.receipt != nil { check(LibcryptoCMS.verifies(bytes)) }
      }
    }
  }

  @Test("FRC-1 a receipt cut anywhere is refused and never traps")
  func truncated() throws {
    for entry in Self.entries(for: "genuine App Attest receipts, truncated").prefix(2) {
      let trust = try trust(entry)
      for end in entry.bytes.indices {
        let answer = AttestReceiptFixture.verify(
          trust, Array(entry.bytes[..<end]), now: entry.now)
        check(answer.status != .ok)
        _ = AttestReceiptVerification.unverified(entry.bytes[..<end])
      }
      let answer = AttestReceiptFixture.verify(trust, entry.bytes + [0], now: entry.now)
      checkEqual(answer.status, .malformedAttestReceiptTrailing)
    }
  }

  @Test("DIA-2 ATT-40 what is read without a signature is what a verification proves")
  func unverified() throws {
    for entry in Self.entries(for: "genuine App Attest receipts, unverified") {
      let receipt = try require(
        AttestReceiptFixture.verify(try trust(entry), entry.bytes, now: entry.now).receipt)
      let claimed = try require(AttestReceiptVerification.unverified(entry.bytes[...]))
      checkEqual(claimed.createdAtMs, receipt.createdAtMs)
      checkEqual(claimed.clientHash, receipt.fields.slice(receipt.fields.clientHash))
    }
  }
}
