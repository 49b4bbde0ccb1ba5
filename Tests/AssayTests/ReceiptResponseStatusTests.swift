import AssayAuthority
import Testing

@testable import Assay

/// Every status of an answer, with what to do next (docs/spec/receipts-triage.md §2.2).
@Suite("verifyReceipt: status")
struct ReceiptResponseStatusTests {
  private func read(
    _ answer: JSONText, accepting environments: [Assay.Environment] = [.production, .sandbox]
  ) -> AnswerSample.Outcome {
    AnswerSample.read(
      answer, AnswerSample.configuration { $0.environments = environments })
  }

  @Test("VRR-3 the hop is advised where the other environment is accepted, and only there")
  func hop() {
    func retryClass(_ code: Int64, _ accepted: [Assay.Environment]) -> String {
      let outcome = read(["status": .integer(code)], accepting: accepted)
      #expect(outcome.status == .rejectedIdentityEnvironment)
      let message = outcome.document.text("error.message") ?? ""
      #expect(message.contains(code == 21007 ? "Sandbox" : "Production"))
      #expect(message.contains("once") == (outcome.retryClass == "other-environment"))
      return outcome.retryClass
    }
    #expect(retryClass(21007, [.sandbox]) == "other-environment")
    #expect(retryClass(21007, [.production]) == "after-config")
    #expect(retryClass(21008, [.production]) == "other-environment")
    #expect(retryClass(21008, [.sandbox]) == "after-config")
  }

  @Test("VRR-14 version 1 notifications are refused, and their password is not repeated")
  func notifications() {
    let secret = "0123456789abcdef0123456789abcdef"
    let unified = AnswerSample.ios7()
    let bodies: [JSONText] = [
      ["unified_receipt": unified, "environment": "PROD", "password": .string(secret)],
      ["notification_type": "DID_RENEW", "password": .string(secret), "status": 0],
      unified.setting("environment", "PROD").appending("password", .string(secret)),
      unified.appending("unified_receipt", .null).appending("password", .string(secret)),
    ]
    for body in bodies {
      let outcome = read(body)
      #expect(outcome.status == .unsupportedVerifyReceiptNotificationV1)
      #expect(outcome.retryClass == "never")
      #expect(outcome.document.text("error.check") == "answer.kind")
      #expect(!String(decoding: outcome.document.json, as: UTF8.self).contains(secret))
    }
  }
}
