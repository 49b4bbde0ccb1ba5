import AssayAuthority
import Testing

@testable import Assay

/// Tests the app and environment of a response (docs/spec/receipts-triage.md §2.6).
@Suite("verifyReceipt: identity")
struct ReceiptResponseIdentityTests {
  private let sandboxId = "2000000000000001"

  private func expect(
    _ answer: JSONText, _ status: Status, at place: String, check: String,
    accepting environments: [Assay.Environment] = [.production, .sandbox],
    _ location: SourceLocation = #_sourceLocation
  ) {
    let outcome = AnswerSample.read(
      answer, AnswerSample.configuration { $0.environments = environments })
    checkEqual(outcome.status, status, sourceLocation: location)
    checkEqual(outcome.place, place, sourceLocation: location)
    checkEqual(outcome.document.text("error.check"), check, sourceLocation: location)
    checkEqual(
      outcome.document.tree?.member("verifyReceipt")?.isNull, true, sourceLocation: location)
  }

  @Test("VRR-16 the bundle must be a configured one, byte for byte")
  func bundle() {
    for value in ["com.example.App", "com.example.ap", "com.example.app\u{301}", ""] {
      expect(
        AnswerSample.ios7().setting("receipt.bundle_id", .string(value)),
        .rejectedAppBundleId, at: "receipt.bundle_id", check: "identity.bundle")
      expect(
        AnswerSample.ios6().setting("receipt.bid", .string(value)), .rejectedAppBundleId,
        at: "receipt.bid", check: "identity.bundle")
    }
    // The response names no app.
    for answer in [
      AnswerSample.ios7().removing("receipt.bundle_id"), AnswerSample.ios7().removing("receipt"),
      AnswerSample.ios7().setting("receipt", .null), ["status": 0],
    ] {
      expect(
        answer, .rejectedAppBundleId, at: "receipt.bundle_id", check: "identity.bundle")
    }
  }

  @Test("VRR-16 in the iOS 6 style every purchase names the app of the receipt")
  func flatBundle() {
    expect(
      AnswerSample.ios6().setting("latest_receipt_info.bid", "com.example.other").setting(
        "latest_receipt_info.transaction_id", .string(AnswerSample.second)),
      .rejectedVerifyReceiptMismatch, at: "latest_receipt_info.bid", check: "identity.bundle")
    let silent = AnswerSample.ios6().removing("latest_receipt_info.bid")
    checkEqual(AnswerSample.read(silent).status, .ok)
  }

  @Test("VRR-16 in Production the number of the app must be the configured one")
  func app() {
    for member in ["adam_id", "app_item_id"] {
      expect(
        AnswerSample.ios7().setting("receipt." + member, .integer(77)), .rejectedAppAppAppleId,
        at: "receipt." + member, check: "identity.app")
    }
    let unnamed = AnswerSample.read(
      AnswerSample.ios7().removing(["receipt.adam_id", "receipt.app_item_id"]))
    checkEqual(unnamed.status, .ok)
    checkEqual(unnamed.document.tree?.at("checks.7.ok")?.isNull, true)
    // The App Store id is not checked in the sandbox.
    let sandbox = AnswerSample.ios7(inApp: [], latest: nil, renewals: nil).setting([
      ("environment", "Sandbox"), ("receipt.receipt_type", "ProductionSandbox"),
      ("receipt.adam_id", 77),
    ])
    checkEqual(AnswerSample.read(sandbox).status, .ok)
  }

  @Test("VRR-17 an environment of another name is none that is accepted")
  func environment() {
    for value in ["Xcode", "sandbox", "PRODUCTION", ""] {
      expect(
        AnswerSample.ios7().setting("environment", .string(value)),
        .rejectedEnvironmentNotAccepted, at: "environment", check: "identity.environment",
        accepting: [.production, .sandbox, .xcode])
    }
    checkEqual(
      AnswerSample.read(
        AnswerSample.ios7(), AnswerSample.configuration { $0.environments = [.production] }
      ).text("environmentSource"), "answer")
  }

  @Test("VRR-17 environment, receipt type and transaction ids must agree")
  func agreement() {
    for type in ["ProductionSandbox", "ProductionVPPSandbox"] {
      expect(
        AnswerSample.ios7().setting("receipt.receipt_type", .string(type)),
        .rejectedEnvironmentSignerMismatch, at: "receipt.receipt_type",
        check: "identity.environment")
    }
    checkEqual(
      AnswerSample.read(AnswerSample.ios7().setting("receipt.receipt_type", "ProductionVPP"))
        .status, .ok)
    for id in [sandboxId, "1000000000000001"] {
      expect(
        AnswerSample.ios7(inApp: [AnswerSample.entry(id)], latest: nil),
        .rejectedEnvironmentSignerMismatch, at: "receipt.in_app[0].transaction_id",
        check: "identity.environment")
      expect(
        AnswerSample.ios7(latest: [AnswerSample.entry(), AnswerSample.entry(id)]),
        .rejectedEnvironmentSignerMismatch, at: "latest_receipt_info[1].transaction_id",
        check: "identity.environment")
    }
    // An id without a known prefix contradicts nothing.
    for id in ["3000000000000001", "123", "100000000000000001"] {
      checkEqual(
        AnswerSample.read(AnswerSample.ios7(latest: [AnswerSample.entry(id)])).status, .ok)
    }
    expect(
      AnswerSample.ios6().setting("latest_receipt_info.transaction_id", .string(sandboxId)),
      .rejectedEnvironmentSignerMismatch, at: "latest_receipt_info.transaction_id",
      check: "identity.environment")
    expect(
      AnswerSample.ios6().appending("environment", "Sandbox"),
      .rejectedEnvironmentSignerMismatch, at: "latest_receipt_info.transaction_id",
      check: "identity.environment")
  }

  @Test("VRR-17 without the member the receipt type shows it, then the ids, then nothing")
  func derived() {
    let silent = AnswerSample.ios7().removing("environment")
    checkEqual(AnswerSample.read(silent).text("environmentSource"), "receipt-type")
    let byId = silent.setting("receipt.receipt_type", "Unheard")
    checkEqual(AnswerSample.read(byId).text("environmentSource"), "transaction-id")
    checkEqual(AnswerSample.read(byId).text("environment"), "Production")
    let flat = AnswerSample.flat(sandboxId).setting("original_transaction_id", .string(sandboxId))
    checkEqual(AnswerSample.read(AnswerSample.ios6(flat)).text("environment"), "Sandbox")
    let unknown = AnswerSample.ios6(AnswerSample.flat("77").setting("app_item_id", "0"))
    expect(
      unknown, .rejectedEnvironmentMissing, at: "environment",
      check: "identity.environment")
    // If allowed, the response is reported without an environment, and is no evidence for a
    // decision.
    let allowed = AnswerSample.read(
      unknown, AnswerSample.configuration { $0.receipts.unknownEnvironmentAllowed = true })
    checkEqual(allowed.status, .ok)
    checkEqual(allowed.source("environment"), "null")
    checkEqual(allowed.source("environmentSource"), "null")
    checkEqual(allowed.source("transactions.0.keys.transaction"), "null")
    #expect(throws: Refusal(.rejectedPayloadIncomplete, "DCD-1")) {
      try allowed.response?.purchaseEvidence(Catalogue())
    }
  }

  @Test("VRR-18 a latest_receipt that does not verify is reported and refuses nothing")
  func latestReceipt() {
    let text = "bm8gcmVjZWlwdA=="
    let outcome = AnswerSample.read(AnswerSample.ios7().appending("latest_receipt", .string(text)))
    checkEqual(outcome.status, .ok)
    checkEqual(outcome.source("latestReceipt.verified"), "false")
    checkEqual(outcome.text("latestReceipt.status")?.isEmpty, false)
    check(outcome.text("latestReceipt.status") != "ok")
    checkEqual(
      outcome.text("latestReceipt.sha256"), Text(Hex.encode(Digest.sha256.of(utf8(text)))).string)
    checkEqual(outcome.warnings, ["latest-receipt-not-verified latest_receipt"])
    let broken = AnswerSample.read(AnswerSample.ios7().appending("latest_receipt", 7))
    checkEqual(broken.status, .malformedVerifyReceiptField)
    checkEqual(broken.place, "latest_receipt")
    for absent in ["", .null] as [JSONText] {
      let none = AnswerSample.read(AnswerSample.ios7().appending("latest_receipt", absent))
      checkEqual(none.source("latestReceipt"), "null")
      check(none.warnings.isEmpty)
    }
  }
}
