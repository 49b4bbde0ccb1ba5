import AssayAuthority
import Testing

@testable import Assay

/// Tests published verifyReceipt responses, by the vectors' manifest.
@Suite("Published verifyReceipt answers", .enabled(if: Vectors.arePresent, Vectors.absent))
struct GenuineResponsesTests {
  private struct Entry {
    let value: JSONValue
    let body: [UInt8]
    let answer: JSONValue?

    var name: String { value.string("name") }
    var now: Int64 { value.at("config.now_ms")?.integer ?? 0 }
    var families: [String] { value.member("expect")?.texts("families") ?? [] }
    var status: Int64? { value.at("facts.status")?.integer }
  }

  private func entries(for suite: String) -> [Entry] {
    guard let manifest = Vectors.json("receipts/manifest.json", for: suite) else { return [] }
    return manifest.children.compactMap { value in
      guard value.string("kind") == "verify-receipt-response" else { return nil }
      return Vectors.file("vectors/receipts/" + value.string("file")).map {
        Entry(value: value, body: $0, answer: try? JSONReader.readObject($0, caps: .files).root)
      }
    }
  }

  private func configuration(
    _ entry: Entry, _ change: (inout Configuration) -> Void = { _ in }
  ) -> Configuration {
    var configuration = Configuration()
    configuration.apps = (entry.value.member("config")?.texts("bundle_ids") ?? []).map {
      .init(bundleId: Text($0), appAppleId: 1, teamId: nil)
    }
    configuration.environments = [.production, .sandbox]
    change(&configuration)
    return configuration
  }

  private func family(_ status: Status) -> String {
    status == .ok ? "ok" : "\(status.name)".prefix { $0 != "." }.description
  }

  @Test("VRR-6 VRR-9 VRR-19 every entry gives its family, status and style")
  func manifest() throws {
    let entries = entries(for: "published answers")
    var counts = (facts: 0, refused: 0)
    for entry in entries {
      let outcome = AnswerSample.read(entry.body, nowMs: entry.now, configuration(entry))
      if entry.status == 21005 {
        // The manifest has no family for the status: nothing is decided, nothing is lost.
        checkEqual(outcome.status, .unavailableVerifyReceiptNoResponse, "\(entry.name)")
      } else {
        check(
          entry.families.contains(family(outcome.status)),
          "\(entry.name): \(outcome.status.name) at \(outcome.place)")
      }
      guard outcome.status == .ok else {
        counts.refused += 1
        continue
      }
      counts.facts += 1
      checkEqual(outcome.integer("appleStatus"), entry.status, "\(entry.name)")
      checkEqual(outcome.text("style"), entry.value.at("facts.style")?.text?.string)
      checkEqual(outcome.text("environment"), "Sandbox", "\(entry.name)")
      try expectTransactions(entry, outcome)
    }
    if !entries.isEmpty {
      check(counts.facts > 0 && counts.refused > 0)
      print(
        "Published answers: \(entries.count), \(counts.facts) with facts and "
          + "\(counts.refused) refused as they must")
    }
  }

  /// Expects every transaction id of the response once, and each end in the manifest.
  private func expectTransactions(
    _ entry: Entry, _ outcome: AnswerSample.Outcome
  ) throws {
    let answer = try require(entry.answer)
    var ends: [String: [Int64]] = [:]
    var lists = [answer.at("receipt.in_app"), answer.member("latest_receipt_info")]
    lists += [answer.member("latest_expired_receipt_info")]
    if answer.at("receipt.in_app") == nil { lists.append(answer.member("receipt")) }
    for list in lists {
      guard let list else { continue }
      for value in list.kind == .array ? Array(list.children) : [list] {
        let end = Int64(value.string("expires_date_ms")) ?? Int64(value.string("expires_date"))
        ends[value.string("transaction_id"), default: []] += end.map { [$0] } ?? []
      }
    }
    let found = outcome.response?.transactions ?? []
    checkEqual(found.count, ends.count, "\(entry.name)")
    for transaction in found {
      let expected = try require(ends[transaction.transactionId.string], "\(entry.name)")
      if let end = transaction.end {
        check(expected.contains(end), "\(entry.name)")
      } else {
        check(expected.isEmpty, "\(entry.name)")
      }
    }
  }

  @Test("VRR-17 a production-only verifier refuses all of them, for all are of the sandbox")
  func productionOnly() {
    for entry in entries(for: "published answers in production") where entry.status == 0 {
      let outcome = AnswerSample.read(
        entry.body, nowMs: entry.now, configuration(entry) { $0.environments = [.production] })
      checkEqual(outcome.status, .rejectedEnvironmentNotAccepted, "\(entry.name)")
    }
  }

  @Test("VRR-16 a verifier of another app refuses all of them")
  func otherApp() {
    for entry in entries(for: "published answers for another app") where entry.status == 0 {
      let outcome = AnswerSample.read(
        entry.body, nowMs: entry.now,
        configuration(entry) {
          $0.apps = [.init(bundleId: "org.example.none", appAppleId: 1, teamId: nil)]
        })
      checkEqual(outcome.status, .rejectedAppBundleId, "\(entry.name)")
    }
  }

  @Test("VRR-4 the published answers cut off anywhere are no answers")
  func truncated() {
    for entry in entries(for: "truncated published answers") {
      // Only white space follows the closing brace.
      let end = (entry.body.lastIndex(of: 0x7d) ?? 0)
      for length in stride(from: 0, to: end, by: 7) {
        let outcome = AnswerSample.read(
          Array(entry.body[..<length]), nowMs: entry.now, configuration(entry))
        checkEqual(outcome.status, .unavailableVerifyReceiptNoResponse, "\(entry.name)")
      }
    }
  }

  @Test("DEC-5 DEC-14 the hints of the manifest: refunded, active")
  func hints() throws {
    func decided(_ name: String) throws -> Decision? {
      guard let entry = entries(for: "decisions").first(where: { $0.name == name }) else {
        return nil
      }
      var configuration = configuration(entry)
      configuration.plans = ["free", "pro"]
      let outcome = AnswerSample.read(entry.body, nowMs: entry.now, configuration)
      let evidence = try require(outcome.evidence)
      var ids: [Text] = []
      for purchase in evidence.purchases where !ids.contains(purchase.productId) {
        ids.append(purchase.productId)
        configuration.products.add(
          .init(id: purchase.productId, plan: 1, type: .autoRenewable, group: "g"))
      }
      return try configuration.decide([evidence], account: nil, nowMs: entry.now)
    }
    func row(_ decision: Decision) throws -> String {
      var writer = JSONWriter()
      decision.write(&writer)
      return try JSONReader.readObject(writer.bytes, caps: .files).root.string("rule")
    }
    for (name, entitled) in [
      ("response-ios7-03", false), ("response-ios7-04", true), ("response-ios7-02", false),
      ("response-ios6-03", true), ("response-ios6-04", false),
    ] {
      guard let decision = try decided(name) else { continue }
      let row = try row(decision)
      checkEqual(decision.entitled, entitled, "\(name): \(row)")
    }
  }

  @Test("VRR-18 genuine receipts as latest_receipt are verified, a forged one is not")
  func latestReceipts() throws {
    guard let manifest = Vectors.json("receipts/manifest.json", for: "latest_receipt") else {
      return
    }
    var counts = (verified: 0, refused: 0)
    for value in manifest.children {
      let kind = value.string("kind")
      guard ["transaction-receipt", "app-receipt"].contains(kind),
        let text = Vectors.file("vectors/receipts/" + value.string("file")),
        let bundle = value.member("config")?.texts("bundle_ids").first,
        value.at("facts.environment")?.text != "Xcode",
        value.at("facts.receipt_type")?.text != "Xcode"
      else { continue }
      var configuration = Configuration()
      configuration.apps = [.init(bundleId: Text(bundle), appAppleId: nil, teamId: nil)]
      configuration.environments = [.production, .sandbox]
      for id in value.member("config")?.texts("product_ids") ?? [] {
        configuration.products.add(.init(id: Text(id), plan: nil, type: .consumable, group: nil))
      }
      let answer: JSONText = [
        "status": 0, "environment": "Sandbox", "receipt": ["bundle_id": .string(bundle)],
        "latest_receipt": .string(String(decoding: text, as: UTF8.self)),
      ]
      let now = value.at("config.now_ms")?.integer ?? 0
      let outcome = AnswerSample.read(answer, nowMs: now, configuration)
      checkEqual(outcome.status, .ok, "\(value.string("name"))")
      let isGenuine = value.member("expect")?.texts("families") == ["ok"]
      checkEqual(
        outcome.source("latestReceipt.verified"), (isGenuine ? "true" : "false"),
        "\(value.string("name")): \(outcome.text("latestReceipt.status") ?? "")")
      if isGenuine { counts.verified += 1 } else { counts.refused += 1 }
    }
    check(counts.verified > 0 && counts.refused > 0)
    print("latest_receipt: \(counts.verified) verified, \(counts.refused) not, as they must")
  }
}
