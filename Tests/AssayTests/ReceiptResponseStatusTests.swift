import AssayAuthority
import Testing

@testable import Assay

/// Tests every status of a response, with the next step (docs/spec/receipts-triage.md §2.2).
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
      checkEqual(outcome.status, .rejectedVerifyReceiptNotAuthentic)
      checkEqual(outcome.place, "status")
      checkEqual(outcome.document.text("error.check"), "answer.status")
      checkEqual(outcome.document.text("error.message")?.contains("21003"), true)
    }
  }

  @Test("VRR-6 only 0 and 21006 have facts")
  func facts() {
    for code in [0, 21006] as [Int64] {
      let outcome = read(AnswerSample.ios6().setting("status", .integer(code)))
      checkEqual(outcome.status, .ok)
      checkEqual(outcome.integer("appleStatus"), code)
      checkEqual(outcome.evidence?.purchases.map(\.isExpiredAnswer), [code == 21006])
    }
  }

  @Test("VRR-3 the hop is advised where the other environment is accepted, and only there")
  func hop() {
    func retryClass(_ code: Int64, _ accepted: [Assay.Environment]) -> String {
      let outcome = read(["status": .integer(code)], accepting: accepted)
      checkEqual(outcome.status, .rejectedEnvironmentNotAccepted)
      let message = outcome.document.text("error.message") ?? ""
      check(message.contains(code == 21007 ? "Sandbox" : "Production"))
      checkEqual(message.contains("once"), (outcome.retryClass == "other-environment"))
      return outcome.retryClass
    }
    checkEqual(retryClass(21007, [.sandbox]), "other-environment")
    checkEqual(retryClass(21007, [.production]), "after-config")
    checkEqual(retryClass(21008, [.production]), "other-environment")
    checkEqual(retryClass(21008, [.sandbox]), "after-config")
  }

  @Test("VRR-5 is-retryable of another form, where it counts and where it does not")
  func isRetryable() {
    checkEqual(
      read(["status": 21104, "is-retryable": .null]).status, .rejectedVerifyReceiptInternal)
    let odd = read(["status": 21104, "is-retryable": "maybe"])
    checkEqual(odd.status, .malformedVerifyReceiptField)
    checkEqual(odd.place, "is-retryable")
    checkEqual(odd.retryClass, "later")
    checkEqual(read(AnswerSample.ios7().appending("is-retryable", "maybe")).status, .ok)
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
    checkEqual(outcome.status, .unavailableVerifyReceiptNoResponse)
    checkEqual(outcome.status.family, .unavailable)
    checkEqual(outcome.retryClass, "later")
    checkEqual(outcome.document.text("error.check"), "answer.json")
  }

  @Test("VRR-4 an object without an integer status is no answer of Apple's, and asked again")
  func withoutStatus() {
    let values: [JSONText?] = [
      nil, .null, "0", true, .text("0.0"), .text("0e0"), .text("99999999999999999999"), [], [:],
    ]
    for value in values {
      let answer = AnswerSample.ios7().removing("status")
      let outcome = read(value.map { answer.appending("status", $0) } ?? answer)
      checkEqual(outcome.status, .malformedVerifyReceiptBody)
      checkEqual(outcome.place, "status")
      checkEqual(outcome.retryClass, "later")
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
      checkEqual(outcome.status, .unsupportedVerifyReceiptNotificationV1)
      checkEqual(outcome.retryClass, "never")
      checkEqual(outcome.document.text("error.check"), "answer.kind")
      check(!String(decoding: outcome.document.json, as: UTF8.self).contains(secret))
    }
  }
}
