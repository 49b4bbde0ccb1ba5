import AssayAuthority
import Testing

@testable import Assay

/// Tests that every app receipt of the vectors' manifest gives the expected result.
@Suite("Genuine app receipts", .enabled(if: Vectors.arePresent, Vectors.absent))
struct GenuineAppReceiptsTests {
  private static let tenYears: Int64 = 10 * 365 * 86_400_000

  struct Entry {
    let value: JSONValue
    let text: [UInt8]

    var name: String { value.string("name") }
    var config: JSONValue { value.member("config") ?? value }
    var facts: JSONValue { value.member("facts") ?? value }
    var families: [String] { value.member("expect")?.texts("families") ?? [] }
    var now: Int64 { config.member("now_ms")?.integer ?? 0 }
    var device: [UInt8]? {
      let hex = config.string("device_guid_hex")
      return hex.isEmpty ? nil : Hex.decode(utf8(hex))
    }
    var decoded: [UInt8] {
      Base64.decodeStandard(text.filter { $0 > 0x20 }[...]) ?? []
    }
  }

  static func entries(for suite: String) -> [Entry] {
    guard let manifest = Vectors.json("receipts/manifest.json", for: suite) else { return [] }
    return manifest.children.compactMap { value in
      guard value.string("kind") == "app-receipt" else { return nil }
      return Vectors.file("vectors/receipts/" + value.string("file"))
        .map { Entry(value: value, text: $0) }
    }
  }

  /// Returns the trust that the entry needs; with Apple's built-in root.
  private func trust(
    _ entry: Entry, pinned: Bool = true, _ changes: [(String, JSONText)] = []
  ) throws -> ReceiptTrust {
    var config: JSONText = [
      "apps": .array(
        entry.config.texts("bundle_ids").map { ["bundleId": .string($0)] as JSONText }),
      "environments": .array(entry.config.texts("environments").map { .string($0) }),
    ]
    let pin = entry.config.string("pinned_certificate")
    if !pin.isEmpty {
      let other = [UInt8](repeating: 7, count: 32)
      let der = try require(Vectors.file("vectors/receipts/" + pin))
      let fingerprint = pinned ? Digest.sha256.of(der) : other
      config = config.setting(
        "storekit.xcodeCertificates", [.string(utf8: Hex.encode(fingerprint))])
    }
    return try ReceiptTrust.make(ConfigurationReader.read(config.setting(changes).bytes))
  }

  private func family(_ status: Status) -> String {
    status == .ok ? "ok" : String("\(status.name)".prefix { $0 != "." })
  }

  @Test("APR-5 APR-6 APR-9 APR-13 every entry gives its family and facts, then and years later")
  func manifest() throws {
    var counts = (accepted: 0, refused: 0)
    for entry in Self.entries(for: "genuine app receipts") {
      let trust = try trust(entry)
      for moment in [entry.now, entry.now + Self.tenYears, entry.now] {
        let answer = AppReceiptFixture.verify(trust, entry.text, now: moment)
        check(
          entry.families.contains(family(answer.status)),
          "\(entry.name): \(answer.status.name) \(answer.refusal?.place ?? "")")
        guard let receipt = answer.receipt else {
          counts.refused += 1
          continue
        }
        counts.accepted += 1
        try expectFacts(entry, AppReceiptFixture.document(receipt))
        expectSoundPurchases(receipt, entry.name)
      }
    }
    check(counts.accepted == 27 && counts.refused == 3)
  }

  private func expectFacts(_ entry: Entry, _ document: JSONValue) throws {
    let facts = entry.facts
    for (name, path) in [
      ("receipt_type", "type"), ("bundle_id", "bundleId"),
      ("application_version", "applicationVersion"), ("digest", "digest"),
    ] as [(StaticString, String)] {
      guard let expected = facts.member(name)?.text else { continue }
      checkEqual(document.at(path)?.text, expected, "\(entry.name): \(path)")
    }
    let created = try require(facts.member("creation_date_ms")?.integer)
    checkEqual(document.at("creationDate")?.integer, created)
    checkEqual(document.at("asOfMs")?.integer, created)
    let count = try require(facts.member("purchases")?.integer)
    checkEqual(document.at("purchases")?.count, Int(count), "\(entry.name)")
    if let serial = facts.member("leaf_serial")?.text?.string.dropFirst(2) {
      let found = document.at("chain.leaf.serial")?.text?.string.lowercased() ?? ""
      checkEqual(found.drop { $0 == "0" }, serial.drop { $0 == "0" }, "\(entry.name)")
    }
  }

  /// Checks that RCP-27 holds for every genuine purchase.
  private func expectSoundPurchases(_ receipt: AppReceipt, _ name: String) {
    let document = AppReceiptFixture.document(receipt)
    let isXcode = receipt.environment == .xcode
    for purchase in document.at("purchases")?.children.map({ $0 }) ?? [] {
      checkEqual(purchase.at("idConflict")?.boolean, false, "\(name)")
      checkEqual(purchase.at("keys.transaction")?.text == nil, isXcode, "\(name)")
      checkEqual(purchase.at("environment")?.text, Text(stringLiteral: receipt.environment.name))
    }
  }

  @Test("APR-18 a known device matches its receipt, every other does not")
  func device() throws {
    var seen = 0
    for entry in Self.entries(for: "genuine app receipts") where entry.families == ["ok"] {
      guard let device = entry.device else { continue }
      seen += 1
      let trust = try trust(entry)
      let answer = AppReceiptFixture.verify(trust, entry.text, subject: device, now: entry.now)
      checkEqual(answer.receipt?.isDeviceBound, true)
      for bit in 0..<device.count * 8 {
        var other = device
        other[bit / 8] ^= 1 << UInt8(bit % 8)
        let answer = AppReceiptFixture.verify(trust, entry.text, subject: other, now: entry.now)
        checkEqual(answer.status, .rejectedAccountDevice)
      }
    }
    checkEqual(seen, 1)
  }

  @Test("APR-21 without the pin, or without the environment, Xcode's receipt is refused")
  func pin() throws {
    var seen = 0
    for entry in Self.entries(for: "genuine app receipts")
    where !entry.config.string("pinned_certificate").isEmpty {
      seen += 1
      for trust in [
        try trust(entry, pinned: false),
        try trust(entry, [("environments", ["Sandbox"])]),
      ] {
        let answer = AppReceiptFixture.verify(trust, entry.text, now: entry.now)
        checkEqual(answer.status, .rejectedChainUnpinned)
      }
    }
    checkEqual(seen, 1)
  }

  @Test("APR-6 libcrypto's CMS judges every entry the same")
  func libcrypto() throws {
    var seen = 0
    for entry in Self.entries(for: "genuine app receipts") {
      seen += 1
      let answer = AppReceiptFixture.verify(try trust(entry), entry.text, now: entry.now)
      checkEqual(LibcryptoCMS.verifies(entry.decoded), (answer.status == .ok), "\(entry.name)")
    }
    checkEqual(seen, 10)
  }

  @Test("APR-6 libcrypto's CMS agrees about receipts with one bit changed")
  func libcryptoAltered() throws {
    for entry in Self.entries(for: "genuine app receipts").prefix(2) {
      let trust = try trust(entry)
      let good = entry.decoded
      let message = try SignedMessage(good, AppReceiptFixture.limits, AppReceiptFixture.refusals)
      let ranges = [message.payload.range, message.signer.signature.range]
      for range in ranges {
        for place in stride(from: range.lowerBound, to: range.upperBound, by: 61) {
          var bytes = good
          bytes[place] ^= 1
          let answer = AppReceiptFixture.verify(trust, bytes, now: entry.now)
          checkEqual(answer.status, .rejectedAppReceiptSignature)
          check(!LibcryptoCMS.verifies(bytes))
        }
      }
    }
  }

  @Test("APR-10 TRI-3 claims are those of the verified receipt")
  func claims() throws {
    for entry in Self.entries(for: "genuine app receipts") {
      let claims = try require(AppReceiptClaims.claims(entry.decoded))
      checkEqual(claims.form, .appReceipt)
      checkEqual(claims.text(claims.bundleId)?.string, entry.config.texts("bundle_ids").first)
      let answer = AppReceiptFixture.verify(try trust(entry), entry.text, now: entry.now)
      guard let receipt = answer.receipt else { continue }
      checkEqual(claims.text(claims.type)?.string, entry.facts.string("receipt_type"))
      checkEqual(claims.creationDate, receipt.creationDate)
      let attributes = receipt.attributes
      checkEqual(claims.purchases.count, attributes.purchases.count)
      for (claimed, proven) in zip(claims.purchases, attributes.purchases) {
        checkEqual(claims.text(claimed.productId), attributes.text(proven.productId))
        checkEqual(claims.text(claimed.transactionId), attributes.text(proven.transactionId))
        checkEqual(
          claims.text(claimed.originalTransactionId), attributes.text(proven.originalTransactionId))
        checkEqual(claimed.webOrderLineItemId, proven.webOrderLineItemId)
        checkEqual(claimed.purchaseDate, proven.purchaseDate)
        checkEqual(claimed.type, proven.type)
      }
    }
  }

  @Test("FRC-1 the same reader takes App Attest receipts apart; RCP-5 they are no app receipts")
  func attest() throws {
    let paths = Vectors.paths(under: "vectors/attest").filter { $0.hasSuffix(".p7") }
    let first = try require(Self.entries(for: "genuine app receipts").first)
    let trust = try trust(first)
    for path in paths {
      let bytes = try require(Vectors.file(path))
      let message = try SignedMessage(bytes, AppReceiptFixture.limits, AppReceiptFixture.refusals)
      checkEqual(message.certificates.count, 3)
      check(message.elements <= 4096)
      checkEqual(message.payload.slice.first, 0x31)
      let claims = try require(AppReceiptClaims.claims(bytes))
      checkEqual(claims.form, .attestReceipt)
      check(["ATTEST", "RECEIPT"].contains(claims.text(claims.type)))
      checkEqual(claims.text(claims.bundleId)?.string.contains("."), true)
      check(claims.creationDate != nil && claims.purchases.isEmpty)
      let answer = AppReceiptFixture.verify(trust, bytes, now: first.now)
      checkEqual(answer.status, .rejectedKindMismatch)
    }
    checkEqual(paths.count, 9)
  }

  @Test("APR-1 a receipt cut anywhere is refused and never traps")
  func truncated() throws {
    let entries = Self.entries(for: "genuine app receipts")
    for entry in entries where ["xcode-01", "app-sha1-mac-01"].contains(entry.name) {
      let trust = try trust(entry)
      let good = entry.decoded
      for end in 0..<good.count {
        let answer = AppReceiptFixture.verify(trust, Array(good[..<end]), now: entry.now)
        check(answer.status != .ok)
      }
      let answer = AppReceiptFixture.verify(trust, good + [0], now: entry.now)
      checkEqual(answer.status, .malformedAppReceiptTrailing)
    }
  }
}
