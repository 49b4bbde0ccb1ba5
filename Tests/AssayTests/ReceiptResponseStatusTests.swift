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

  private static let refusals: [(Int64, Status, String)] = [
    (21000, .rejectedVerifyReceiptRequest, "never"),
    (21001, .rejectedVerifyReceiptRequest, "never"),
    (21002, .rejectedVerifyReceiptMalformed, "same-once"),
    (21003, .rejectedVerifyReceiptNotAuthentic, "never"),
    (21004, .rejectedVerifyReceiptSecret, "after-config"),
    (21005, .unavailableVerifyReceiptNoAnswer, "later"),
    (21007, .rejectedIdentityEnvironment, "other-environment"),
    (21008, .rejectedIdentityEnvironment, "other-environment"),
    (21009, .unavailableVerifyReceiptNoAnswer, "later"),
    (21010, .rejectedVerifyReceiptAccount, "never"),
    (21011, .unsupportedVerifyReceiptStatus, "later"),
    (21099, .unsupportedVerifyReceiptStatus, "later"),
    (21100, .rejectedVerifyReceiptInternal, "never"),
    (21150, .rejectedVerifyReceiptInternal, "never"),
    (21199, .rejectedVerifyReceiptInternal, "never"),
    (21200, .unsupportedVerifyReceiptStatus, "later"),
    (1, .unsupportedVerifyReceiptStatus, "later"),
    (-1, .unsupportedVerifyReceiptStatus, "later"),
  ]

  @Test("VRR-3 VRR-6 every status gives its refusal and retry class", arguments: refusals)
  func refusal(_ code: Int64, _ status: Status, _ retryClass: String) {
    let bare = read(["status": .integer(code)])
    #expect(bare.status == status)
    #expect(bare.retryClass == retryClass)
    #expect(bare.place == "status")
    #expect(bare.document.text("error.check") == "answer.status")
    #expect(bare.document.text("error.message")?.contains("\(code)") == true)
    // VRR-6: the same with a receipt that looks complete, or one that is broken.
    for answer in [AnswerSample.ios7(), AnswerSample.ios6(), ["receipt": 7]] {
      let outcome = read(answer.setting("status", .integer(code)))
      #expect(outcome.status == status)
      #expect(outcome.document.tree?.member("verifyReceipt")?.isNull == true)
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

  @Test("VRR-5 is-retryable has a hyphen and counts only for 21100 to 21199")
  func isRetryable() {
    let yes: [JSONText] = [true, 1, "true", "1"]
    let no: [JSONText] = [false, 0, "false", "0", .null]
    for (values, status) in [
      (yes, Status.unavailableVerifyReceiptInternal), (no, .rejectedVerifyReceiptInternal),
    ] {
      for value in values {
        let outcome = read(["status": 21104, "is-retryable": value])
        #expect(outcome.status == status)
        #expect(
          outcome.retryClass == (status == .rejectedVerifyReceiptInternal ? "never" : "later"))
      }
    }
    let odd = read(["status": 21104, "is-retryable": "maybe"])
    #expect(odd.status == .malformedVerifyReceiptField)
    #expect(odd.place == "is-retryable")
    #expect(odd.retryClass == "later")
    #expect(
      read(["status": 21104, "is_retryable": true]).status == .rejectedVerifyReceiptInternal)
    #expect(
      read(["status": 21003, "is-retryable": true]).status == .rejectedVerifyReceiptNotAuthentic)
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

  @Test("VRR-15 names that stand twice are refused at every level")
  func duplicates() {
    let place = "{\"status\":21005,\"status\":0}"
    let outcome = AnswerSample.read(utf8(place))
    #expect(outcome.status == .malformedVerifyReceiptBody)
    #expect(outcome.retryClass == "later")
    for path in ["receipt", "receipt.in_app"] {
      let good = AnswerSample.ios7()
      let doubled = good.setting(path, .raw(utf8("{\"a\":1,\"\\u0061\":2}")))
      #expect(read(doubled).status == .malformedVerifyReceiptBody)
    }
  }
}
