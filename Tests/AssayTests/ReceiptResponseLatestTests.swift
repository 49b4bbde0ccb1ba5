import AssayAuthority
import Testing

@testable import Assay

/// Tests the only signed part of a response, verified offline in the same call (VRR-18).
@Suite("verifyReceipt: latest_receipt")
struct ReceiptResponseLatestTests {
  private static let authority = Result { try ReceiptAuthority() }
  private static let now = AnswerSample.now

  private func configuration(
    _ change: (inout Configuration) -> Void = { _ in }
  ) throws -> Configuration {
    let authority = try Self.authority.get()
    func der(_ text: String) throws -> [UInt8] {
      try require(Base64.decodeStandard(utf8(text)[...]))
    }
    var configuration = AnswerSample.configuration()
    configuration.receipts.anchors = [
      try require(Anchor(try der(authority.anchor), .rsa))
    ]
    configuration.receipts.intermediates = try authority.intermediates.map {
      try require(Certificate(try der($0)))
    }
    change(&configuration)
    return configuration
  }

  /// Returns the purchase that the sample responses are about.
  private func purchase(_ change: (inout Purchase) -> Void = { _ in }) -> Purchase {
    Purchase(now: Self.now).with {
      $0.environment = "Production"
      $0.bundleId = AnswerSample.bundle
      $0.appAppleId = AnswerSample.appId
      $0.productId = AnswerSample.product
      $0.transactionId = AnswerSample.first
      $0.originalTransactionId = AnswerSample.first
      $0.webOrderLineItemId = "700001000000091"
      change(&$0)
    }
  }

  private func transactionReceipt(_ purchase: Purchase) throws -> [UInt8] {
    try Self.authority.get().transactionReceipt(purchase)
  }

  private func appReceipt(_ purchase: Purchase) throws -> [UInt8] {
    try Self.authority.get().appReceipt(AppReceiptFacts([purchase], like: purchase))
  }

  private func read(
    _ answer: JSONText, _ receipt: [UInt8], _ configuration: Configuration
  ) -> AnswerSample.Outcome {
    AnswerSample.read(answer.setting("latest_receipt", .string(utf8: receipt)), configuration)
  }

  private func expectNot(
    _ outcome: AnswerSample.Outcome, _ status: Status,
    _ location: SourceLocation = #_sourceLocation
  ) {
    checkEqual(outcome.status, .ok, sourceLocation: location)
    checkEqual(outcome.source("latestReceipt.verified"), "false", sourceLocation: location)
    checkEqual(
      outcome.text("latestReceipt.status"), "\(status.name)", sourceLocation: location)
    checkEqual(
      outcome.warnings, ["latest-receipt-not-verified latest_receipt"],
      sourceLocation: location)
  }

  @Test("VRR-16 VRR-18 a genuine receipt of another app or environment is not this answer's")
  func foreign() throws {
    let configuration = try configuration()
    let other = purchase {
      $0.bundleId = "com.example.other"
      $0.appAppleId = 77
    }
    expectNot(
      read(AnswerSample.ios6(), try transactionReceipt(other), configuration),
      .rejectedVerifyReceiptMismatch)
    expectNot(
      read(AnswerSample.ios7(), try appReceipt(other), configuration),
      .rejectedVerifyReceiptMismatch)
    let sandbox = purchase {
      $0.environment = "Sandbox"
      $0.transactionId = "2000000000000001"
      $0.originalTransactionId = "2000000000000001"
      $0.webOrderLineItemId = "2000000000000002"
    }
    expectNot(
      read(AnswerSample.ios7(), try appReceipt(sandbox), configuration),
      .rejectedVerifyReceiptMismatch)
    expectNot(
      read(AnswerSample.ios6(), try transactionReceipt(sandbox), configuration),
      .rejectedVerifyReceiptMismatch)
  }

  @Test("VRR-18 what is no receipt at all is not one")
  func noReceipt() throws {
    let configuration = try configuration()
    for (text, status) in [
      ("eyJhbGciOiJFUzI1NiJ9.e30.c2ln", Status.rejectedKindMismatch),
      ("bm8gcmVjZWlwdA==", .rejectedKindMismatch), ("no*base64", .malformedTransportBase64),
      (" ", .malformedTransportEmpty),
    ] {
      expectNot(read(AnswerSample.ios7(), utf8(text), configuration), status)
    }
    let short = try self.configuration { $0.receipts.inputBytes = 64 }
    expectNot(
      read(AnswerSample.ios7(), try appReceipt(purchase()), short), .tooLargeTransportInput)
  }
}
