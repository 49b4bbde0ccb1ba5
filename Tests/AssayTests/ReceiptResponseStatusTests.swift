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

  @Test("VRR-6 a refusal names the status, whatever stands beside it")
  func refusal() {
    for answer in [["status": 21003], ["status": 21003, "receipt": 7]] as [JSONText] {
      let outcome = read(answer)
      #expect(outcome.status == .rejectedVerifyReceiptNotAuthentic)
      #expect(outcome.place == "status")
      #expect(outcome.document.text("error.check") == "answer.status")
      #expect(outcome.document.text("error.message")?.contains("21003") == true)
    }
  }

  @Test("VRR-6 only 0 and 21006 have facts")
  func facts() {
    for code in [0, 21006] as [Int64] {
      let outcome = read(AnswerSample.ios6().setting("status", .integer(code)))
      #expect(outcome.status == .ok)
      #expect(outcome.integer("appleStatus") == code)
      #expect(outcome.evidence?.purchases.map(\.isExpiredAnswer) == [code == 21006])
    }
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

  @Test("VRR-5 is-retryable of another form, where it counts and where it does not")
  func isRetryable() {
    #expect(
      read(["status": 21104, "is-retryable": .null]).status == .rejectedVerifyReceiptInternal)
    let odd = read(["status": 21104, "is-retryable": "maybe"])
    #expect(odd.status == .malformedVerifyReceiptField)
    #expect(odd.place == "is-retryable")
    #expect(odd.retryClass == "later")
    #expect(read(AnswerSample.ios7().appending("is-retryable", "maybe")).status == .ok)
  }

  @Test(
    "VRR-4 a body that is no JSON object is no answer, and nothing is lost",
    arguments: [
      "", " \n", "<html><body>502 Bad Gateway</body></html>", "null", "0", "[]", "\"status\"",
      "{\"status\":0", "{\"status\":0}}", "{'status':0}", "{\"status\":0,}",
      "\u{feff}{\"status\":0}", "{\"status\":21005,\"exception\":\"\u{0}\"}",
    ])
  func noAnswer(_ body: String) {
    let outcome = AnswerSample.read(utf8(body))
    #expect(outcome.status == .unavailableVerifyReceiptNoAnswer)
    #expect(outcome.status.family == .unavailable)
    #expect(outcome.retryClass == "later")
    #expect(outcome.document.text("error.check") == "answer.json")
  }

  @Test("VRR-4 an object without an integer status is no answer of Apple's, and asked again")
  func withoutStatus() {
    let values: [JSONText?] = [
      nil, .null, "0", true, .text("0.0"), .text("0e0"), .text("99999999999999999999"), [], [:],
    ]
    for value in values {
      let answer = AnswerSample.ios7().removing("status")
      let outcome = read(value.map { answer.appending("status", $0) } ?? answer)
      #expect(outcome.status == .malformedVerifyReceiptBody)
      #expect(outcome.place == "status")
      #expect(outcome.retryClass == "later")
    }
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
