import AssayAuthority
import Testing

@testable import Assay

/// Tests that every transaction receipt of the vectors' manifest gives the expected result under
/// Apple's own root.
@Suite("Genuine transaction receipts", .enabled(if: Vectors.arePresent, Vectors.absent))
struct GenuineReceiptsTests {
  struct Entry {
    let value: JSONValue
    let text: [UInt8]

    var name: String { value.string("name") }
    var isGenuine: Bool { value.member("genuine")?.boolean == true }
    var config: JSONValue { value.member("config") ?? value }
    var facts: JSONValue { value.member("facts") ?? value }
    var families: [String] { value.member("expect")?.texts("families") ?? [] }
    var now: Int64 { config.member("now_ms")?.integer ?? 0 }
    var decoded: [UInt8] { TolerantBase64.decode(text[...]) ?? [] }
  }

  static func entries(for suite: String) -> [Entry] {
    guard let manifest = Vectors.json("receipts/manifest.json", for: suite) else { return [] }
    return manifest.children.compactMap { value in
      guard value.string("kind") == "transaction-receipt" else { return nil }
      return Vectors.file("vectors/receipts/" + value.string("file"))
        .map { Entry(value: value, text: $0) }
    }
  }

  private func verifier(
    _ entry: Entry, _ changes: [(String, JSONText)] = []
  ) throws -> Verifier {
    // Product ids have dots, which `setting` would read as steps of a path.
    let products: [JSONText.Member] = entry.config.texts("product_ids").map {
      .init($0, ["type": "consumable"])
    }
    let config: JSONText = [
      "apps": .array(
        entry.config.texts("bundle_ids").map {
          ["bundleId": .string($0), "appAppleId": 1] as JSONText
        }),
      "environments": .array(entry.config.texts("environments").map { .string($0) }),
      "products": .object(products),
    ]
    let (verifier, document) = Verifier.alone(config.setting(changes).bytes)
    return try require(verifier, "\(document.text("error.message") ?? "")")
  }

  private func verify(
    _ entry: Entry, _ text: [UInt8]? = nil, _ changes: [(String, JSONText)] = [],
    now: Int64? = nil
  ) throws -> Document {
    try verifier(entry, changes).verifyReceipt(
      text ?? entry.text, kind: .transaction, nowMs: now ?? entry.now)
  }

  private func family(_ status: Status) -> String {
    status == .ok ? "ok" : String("\(status.name)".prefix { $0 != "." })
  }

  @Test("RCP-18 genuine receipts verify, derived and forged ones get their own status")
  func manifest() throws {
    let expected: [String: Status] = [
      "transaction-forged-01": .rejectedChainIssuerUnknown,
      "cracker-01": .malformedPlistSyntax, "cracker-02": .malformedPlistSyntax,
      "derived-purchase-info-changed": .rejectedTransactionReceiptSignature,
      "derived-version-1": .unsupportedTransactionReceiptVersion,
      "derived-cert-length-overrun": .malformedTransactionReceiptSignatureLayout,
    ]
    let entries = Self.entries(for: "transaction receipts")
    for entry in entries {
      let answer = try verify(entry)
      check(entry.families.contains(family(answer.status)), "\(entry.name): \(answer.name)")
      checkEqual(answer.status, expected[entry.name] ?? .ok, "\(entry.name): \(answer.name)")
      guard answer.status == .ok, entry.facts.member("version") != nil else { continue }
      func text(_ member: String) -> String? { answer.text("transactionReceipt." + member) }
      checkEqual(
        answer.integer("transactionReceipt.version"), entry.facts.member("version")?.integer)
      checkEqual(text("bundleId"), entry.facts.string("bundle_id"))
      checkEqual(text("productId"), entry.facts.string("product_id"))
      checkEqual(text("transactionId"), entry.facts.string("transaction_id"))
      checkEqual(text("environment"), entry.facts.string("environment"))
      let ms = try require(entry.facts.member("purchase_date_ms")?.integer)
      let date = try require(answer.integer("transactionReceipt.purchaseDate"))
      checkEqual(date / 1000, ms / 1000)
      checkEqual(text("chain.intermediate.source"), "shipped")
    }
    check(entries.isEmpty || entries.contains { $0.isGenuine })
  }

  @Test("RCP-3 RCP-4 genuine receipts survive every way of travelling")
  func transport() throws {
    for entry in Self.entries(for: "ways of transaction receipts") where entry.isGenuine {
      for way in TransportForm.allCases where way != .tripled && way != .percentEscaped {
        let answer = try verify(entry, way.encode(entry.decoded))
        checkEqual(answer.status, .ok, "\(entry.name) \(way)")
        let used = answer.tree?.at("transactionReceipt.transport.spaceAsPlus")?.boolean
        let hasPlus = entry.text.contains(0x2b)
        checkEqual(used, (way == .spaceForPlus && hasPlus))
      }
    }
  }

  @Test("TRI-9 a genuine purchase-info has no trait, and Apple's layout")
  func layout() throws {
    for entry in Self.entries(for: "purchase-info") where entry.isGenuine {
      let outer = try PropertyList(entry.decoded, limits: .outer)
      check(outer.hasAppleLayout)
      let text = try require(outer.value("purchase-info"))
      let list = try PropertyList(try require(TolerantBase64.decode(text)), limits: .info)
      check(list.hasAppleLayout)
      check(PurchaseInfo(list).faults.isEmpty)
    }
  }

  @Test("RCP-28 genuine sandbox receipts stay in the sandbox whatever surrounds them")
  func environment() throws {
    for entry in Self.entries(for: "environments") where entry.isGenuine {
      let outer = String(decoding: entry.decoded, as: UTF8.self)
      let raised = outer.replacing("\"environment\" = \"Sandbox\";", with: "")
        .replacing("\"pod\" = \"100\"", with: "\"pod\" = \"11\"")
      let answer = try verify(entry, utf8(raised))
      checkEqual(answer.status, .ok)
      checkEqual(answer.text("transactionReceipt.environment"), "Sandbox")
      checkEqual(answer.tree?.at("transactionReceipt.outerAltered")?.boolean, true)
      try checkEqual(
        verify(entry, nil, [("environments", ["Production"])]).status,
        .rejectedEnvironmentNotAccepted)
    }
  }

  @Test("RCP-21 RCP-24 RCP-25 RCP-26 policy and identity of genuine receipts")
  func policy() throws {
    for entry in Self.entries(for: "policy") where entry.isGenuine {
      func status(_ path: String, _ value: JSONText) throws -> Status {
        try verify(entry, nil, [(path, value)]).status
      }
      try checkEqual(status("receipts.version2", "refuse"), .rejectedTransactionReceiptV2Disabled)
      try checkEqual(
        status("apps", [["bundleId": "com.example.app", "appAppleId": 1]]), .rejectedAppBundleId)
      try checkEqual(
        status("products", ["com.example.other": ["type": "consumable"]]), .rejectedProductUnknown)
      try checkEqual(status("receipts.maxAgeMs", 1), .rejectedFreshnessStale)
      let early = entry.now - 3 * 86_400_000
      try checkEqual(verify(entry, now: early).status, .rejectedDateFuture)
      // The receipt is still valid years later, although the leaf has expired since.
      try checkEqual(verify(entry, now: entry.now + 10 * 365 * 86_400_000).status, .ok)
    }
  }

  @Test("RCP-20 under another root nothing genuine verifies")
  func otherRoot() throws {
    let anchor = try AppReceiptFixture.authority().anchor
    for entry in Self.entries(for: "roots") where entry.isGenuine {
      let answer = try verify(entry, nil, [("receipts.anchors", [.string(anchor)])])
      checkEqual(answer.status, .rejectedChainUntrustedRoot)
      // With Apple's root configured too, the built-in intermediates apply (PTH-2).
      let apple = String(decoding: Base64Text.encode(AppleRoots.rootCA), as: UTF8.self)
      let both = try verify(
        entry, nil, [("receipts.anchors", [.string(anchor), .string(apple)])])
      checkEqual(both.status, .ok)
    }
  }

  @Test("RCP-5 app receipts are none of these")
  func otherKinds() throws {
    for entry in GenuineAppReceiptsTests.entries(for: "kinds") {
      let (verifier, _) = Verifier.alone(
        (["apps": [["bundleId": "a", "appAppleId": 1]]] as JSONText).bytes)
      let answer = try require(verifier).verifyReceipt(
        entry.text, kind: .transaction, nowMs: entry.now)
      checkEqual(answer.status, .rejectedKindMismatch, "\(entry.name)")
    }
  }
}
