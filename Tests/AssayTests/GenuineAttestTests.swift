import AssayAuthority
import Testing

@testable import Assay

/// Tests attestations and assertions of real devices, including Apple's two published samples
/// (`../shared/vectors/attest`): each gives the result in its manifest, and is refused after a
/// change of any byte.
@Suite(
  "Genuine attestations and assertions",
  .enabled(if: Vectors.arePresent, Vectors.absent))
struct GenuineAttestTests {
  /// One object with its expected result.
  struct Entry: CustomTestStringConvertible {
    let value: JSONValue
    let bytes: [UInt8]

    var testDescription: String { value.string("name") }
    var config: JSONValue { value.member("config") ?? value }
    var facts: JSONValue { value.member("facts") ?? value }

    func octets(_ name: StaticString) -> [UInt8]? {
      guard let text = config.member(name)?.text else { return nil }
      return Base64.decodeStandard(text.utf8[...])
    }

    /// The client data as the app hashed them; the published samples have only the hash.
    var clientData: ClientDataInput {
      if let data = octets("client_data_b64") { return .data(data) }
      return .hash(octets("client_data_hash_b64") ?? [])
    }

    var now: Int64 { config.member("now_ms")?.integer ?? 0 }

    var isProduction: Bool { config.string("environment") == "production" }

    func verifier(_ changes: [(String, JSONText)] = []) throws -> Verifier {
      let app: JSONText = [
        "bundleId": .string(config.string("bundle_id")),
        "teamId": .string(config.string("team_id")), "appAppleId": 1,
      ]
      let standard: JSONText = [
        "apps": [app], "environments": [isProduction ? "Production" : "Sandbox"],
      ]
      let (verifier, document) = Verifier.alone(standard.setting(changes).bytes)
      return try require(verifier, "\(document.text("error.message") ?? "")")
    }

    func attest(_ verifier: Verifier, _ bytes: [UInt8]? = nil, now: Int64? = nil) -> Document {
      verifier.verifyAttestation(
        bytes ?? self.bytes, keyId: octets("key_id_b64") ?? [], clientData: clientData,
        nowMs: now ?? self.now)
    }

    func assert(_ verifier: Verifier, _ bytes: [UInt8]? = nil, counter: UInt32 = 0) -> Document {
      verifier.verifyAssertion(
        bytes ?? self.bytes, publicKey: octets("public_key_x963_b64") ?? [], counter: counter,
        clientData: clientData, nowMs: now)
    }
  }

  static func entries(_ kind: String) -> [Entry] {
    guard let manifest = Vectors.json("attest/manifest.json", for: "genuine attestations") else {
      return []
    }
    return manifest.children.compactMap { value in
      guard value.string("kind") == kind else { return nil }
      return Vectors.file("vectors/attest/" + value.string("file")).map {
        Entry(value: value, bytes: $0)
      }
    }
  }

  static let attestations = entries("attestation")
  static let assertions = entries("assertion")

  @Test("every kind is there")
  func present() {
    check(GenuineAttestTests.attestations.count >= 7)
    check(GenuineAttestTests.assertions.count >= 4)
  }

  @Test("each attestation gives its expected outcome and facts", arguments: attestations)
  func attestation(_ entry: Entry) throws {
    let verifier = try entry.verifier()
    // The second run has the intermediate cached.
    for _ in 0..<2 {
      let document = entry.attest(verifier)
      let families = entry.value.member("expect")?.texts("families") ?? []
      checkEqual(families, ["ok"])
      checkEqual(
        document.refusal, "ok ", "\(document.text("error.message") ?? "")")
      checkEqual(
        document.text("attestation.environment"), entry.facts.string("environment"))
      checkEqual(
        document.text("attestation.publicKey.x963"), entry.facts.string("public_key_x963_b64"))
      checkEqual(document.text("attestation.keyId"), entry.config.string("key_id_b64"))
      checkEqual(document.text("attestation.appId"), entry.config.string("app_id"))
      checkEqual(document.integer("attestation.counter"), 0)
      checkEqual(document.integer("attestation.flags"), 0x40)
      checkEqual(document.text("attestation.receipt.type"), "ATTEST")
      checkEqual(
        document.text("attestation.receipt.environment"),
        entry.facts.member("receipt")?.string("environment"))
      checkEqual(document.tree?.at("attestation.receipt.bound")?.boolean, true)
      let warnings = document.tree?.member("warnings")?.children.map { $0.string("id") }
      let hasText = entry.config.member("client_data_b64")?.isNull == true
      checkEqual(warnings, (hasText ? ["client-data-hash-length"] : []))
    }
  }

  @Test("ATT-15 Apple's sample of 2026 carries extensions under flags 0x40")
  func extensions() throws {
    let entry = try require(
      GenuineAttestTests.attestations.first { $0.testDescription == "guide-2026-attestation" })
    let document = entry.attest(try entry.verifier())
    checkEqual(document.text("attestation.bundleVersion"), "1")
    checkEqual(document.integer("attestation.category"), 1)
    checkEqual(document.text("attestation.categoryName"), "operating-system")
    checkEqual(document.text("attestation.os.version"), "27.0")
    checkEqual(document.text("attestation.os.platform"), "iphoneos")
    // The bytes of a phone are reported and not checked (ATT-48).
    checkEqual(document.text("attestation.acl")?.hasPrefix("30430c02"), true)
  }

  @Test("ATT-40 kept attestations are judged at their receipt's date", arguments: attestations)
  func stored(_ entry: Entry) throws {
    let later = entry.now + 5 * 365 * 86_400_000
    checkEqual(entry.attest(try entry.verifier(), now: later).name, "rejected.chain.expired")
    let stored = try entry.verifier([("attest.time", "stored")])
    checkEqual(entry.attest(stored, now: later).name, "ok")
  }

  @Test("DIA-1 the guide's challenge passed as client data is explained")
  func guide() throws {
    for entry in GenuineAttestTests.attestations where entry.octets("client_data_b64") == nil {
      let document = try entry.verifier().verifyAttestation(
        entry.bytes, keyId: entry.octets("key_id_b64") ?? [],
        clientData: .data(entry.octets("client_data_hash_b64") ?? []), nowMs: entry.now)
      checkEqual(document.name, "rejected.attest.nonce")
      checkEqual(document.text("error.hint")?.hasPrefix("data-is-hash: "), true)
    }
  }

  @Test("DIA-2 another challenge is told from an altered object", arguments: attestations)
  func otherChallenge(_ entry: Entry) throws {
    let verifier = try entry.verifier()
    func hint(_ bytes: [UInt8]) -> String? {
      let document = verifier.verifyAttestation(
        bytes, keyId: entry.octets("key_id_b64") ?? [], clientData: .data(utf8("other")),
        nowMs: entry.now)
      checkEqual(document.name, "rejected.attest.nonce")
      return document.text("error.hint")
    }
    checkEqual(hint(entry.bytes)?.hasPrefix("other-challenge: "), true)
    var altered = entry.bytes
    let authData = try AttestationObject(entry.bytes, verifier.attest).authData
    altered[authData.bytes.startIndex + 36] ^= 1
    checkEqual(hint(altered)?.hasPrefix("object-altered: "), true)
  }

  @Test("ATT-26 a development object at a production server, and the reverse")
  func environments() throws {
    for entry in GenuineAttestTests.attestations {
      let other = entry.isProduction ? "Sandbox" : "Production"
      let document = entry.attest(
        try entry.verifier([("environments", [.string(other)])]))
      checkEqual(document.name, "rejected.attest.environment")
      checkEqual(
        document.text("error.message")?.hasSuffix(
          entry.isProduction ? "made for production" : "made for development"), true)
    }
  }

  @Test("DIA-3 another app's attestation names both App IDs")
  func otherApp() throws {
    for entry in GenuineAttestTests.attestations {
      let document = entry.attest(
        try entry.verifier([("attest.appIds", ["ABCDE12345.com.example.app"])]))
      checkEqual(document.name, "rejected.attest.app-id")
      let message = document.text("error.message") ?? ""
      check(message.contains("made for '" + entry.config.string("app_id") + "'"))
      check(message.contains("configured 'ABCDE12345.com.example.app'"))
      checkEqual(document.text("error.hint")?.hasPrefix("configured-app-id: "), true)
    }
  }

  /// The nonce does not cover the receipt (FRC-9).
  @Test("a receipt of another key is refused")
  func exchangedReceipts() throws {
    let sameApp = GenuineAttestTests.attestations.filter {
      $0.testDescription.hasPrefix("device-ios14")
    }
    check(sameApp.count >= 2)
    for entry in sameApp {
      for other in sameApp where other.testDescription != entry.testDescription {
        let trust = try entry.verifier().attest
        let mine = try AttestationObject(entry.bytes, trust).receipt
        let theirs = try AttestationObject(other.bytes, trust).receipt
        var head = Array(entry.bytes[..<(mine.startIndex - 3)])
        head += CBORText.bytes(Array(theirs)).encoded + entry.bytes[mine.endIndex...]
        let verifier = try entry.verifier([("attest.maxAgeMs", 1_000_000_000_000)])
        let document = entry.attest(verifier, head, now: Swift.max(entry.now, other.now))
        // The older receipt's certificates may have expired by then.
        check(
          ["rejected.attest-receipt.key", "rejected.chain.expired"].contains(document.name))
        let stored = try entry.verifier([("attest.time", "stored")])
        check(
          ["rejected.attest-receipt.key", "rejected.chain.expired", "rejected.chain.not-yet-valid"]
            .contains(entry.attest(stored, head).name))
      }
    }
  }

  @Test("no flipped byte is accepted, and none ends the process", arguments: attestations)
  func flipped(_ entry: Entry) throws {
    let verifier = try entry.verifier()
    checkEqual(entry.attest(verifier).name, "ok")
    // The receipt's copy of its root is ignored (FRC-4).
    let copy = try require(entry.bytes.firstRange(of: AppleRoots.rootCAG3))
    for place in stride(from: 0, to: entry.bytes.count, by: 37) where !copy.contains(place) {
      var bytes = entry.bytes
      bytes[place] ^= 0x01
      check(entry.attest(verifier, bytes).status != .ok, "byte \(place)")
    }
    for length in stride(from: 0, to: entry.bytes.count, by: 101) {
      check(entry.attest(verifier, Array(entry.bytes[..<length])).status != .ok)
    }
    checkEqual(entry.attest(verifier, entry.bytes + [0]).name, "malformed.attest.cbor")
  }

  @Test("each assertion gives its expected outcome and facts", arguments: assertions)
  func assertion(_ entry: Entry) throws {
    let document = entry.assert(try entry.verifier())
    checkEqual(
      document.refusal, "ok ", "\(document.text("error.message") ?? "")")
    checkEqual(document.integer("assertion.counter"), entry.facts.member("counter")?.integer)
    checkEqual(document.integer("assertion.previousCounter"), 0)
    checkEqual(document.text("assertion.appId"), entry.config.string("app_id"))
    checkEqual(document.integer("assertion.flags"), 0x40)
  }

  @Test("ASR-6 an equal counter is a replay", arguments: assertions)
  func replay(_ entry: Entry) throws {
    let counter = UInt32(entry.facts.member("counter")?.integer ?? 0)
    let document = entry.assert(try entry.verifier(), counter: counter)
    checkEqual(document.name, "rejected.assertion.counter")
    checkEqual(
      document.text("error.message")?.hasSuffix("sent \(counter), stored \(counter)"), true)
  }

  @Test("no assertion with a flipped bit is accepted", arguments: assertions)
  func flippedAssertion(_ entry: Entry) throws {
    let verifier = try entry.verifier()
    for place in entry.bytes.indices {
      for bit in [0x01, 0x80] as [UInt8] {
        var bytes = entry.bytes
        bytes[place] ^= bit
        check(entry.assert(verifier, bytes).status != .ok, "byte \(place)")
      }
    }
  }

  @Test("DIA-1 common mistakes with client data are named", arguments: assertions)
  func mistakes(_ entry: Entry) throws {
    let verifier = try entry.verifier()
    let data = entry.octets("client_data_b64") ?? []
    let hash = Digest.sha256.of(data)
    let mistakes: [(ClientDataInput, String)] = [
      (.hash(data + [UInt8](repeating: 0, count: data.count < 16 ? 16 : 0)), ""),
      (.data(hash), "data-is-hash"),
      (.data(Base64.encodeStandard(data)), "decode-base64"),
      (.data(Hex.encode(data)), "decode-hex"),
      (.data([0x22] + data + [0x22, 0x0a]), "trim"),
      (.data(data + [0]), "trim"),
      (.hash(Hex.encode(hash)), "decode-hex"),
      (.hash(Base64.encodeStandard(hash)), "decode-base64"),
      (.data(utf8("quite another text")), ""),
    ]
    for (input, hint) in mistakes {
      guard input.bytes.count <= 64 || input.kind == 1 else { continue }
      let document = verifier.verifyAssertion(
        entry.bytes, publicKey: entry.octets("public_key_x963_b64") ?? [], counter: 0,
        clientData: input, nowMs: entry.now)
      checkEqual(document.name, "rejected.assertion.signature")
      if hint.isEmpty {
        checkEqual(document.text("error.hint")?.hasPrefix("the key record"), true)
      } else {
        checkEqual(document.text("error.hint")?.hasPrefix(hint + ": "), true, "\(hint)")
      }
    }
  }
}
