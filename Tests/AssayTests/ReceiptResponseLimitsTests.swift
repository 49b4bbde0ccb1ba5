import AssayAuthority
import Testing

@testable import Assay

/// Tests long, damaged and hostile responses (docs/spec/receipts-triage.md VRR-15).
@Suite("verifyReceipt: limits")
struct ReceiptResponseLimitsTests {
  private static let cap = ReceiptResponseParts.entryCap

  private func entries(_ count: Int) -> [JSONText] {
    (0..<count).map { AnswerSample.entry("\(700_001_000_000_000 + $0)") }
  }

  @Test("VRR-15 as many entries as allowed are read, one more is refused")
  func entryCap() {
    // Short entries, which fit into a body of the size allowed.
    func short(_ ids: Range<Int>) -> JSONText {
      .array(
        ids.map {
          [
            "product_id": .string(AnswerSample.product),
            "transaction_id": .string("\(700_001_000_000_000 + $0)"),
            "original_transaction_id": .string(AnswerSample.first),
            "expires_date_ms": .string("\(AnswerSample.now + Int64($0 * 7919 % 10_007))"),
          ]
        })
    }
    func answer(_ inApp: Range<Int>, _ latest: Range<Int>) -> JSONText {
      AnswerSample.ios7(renewals: nil).setting([
        ("receipt.in_app", short(inApp)), ("latest_receipt_info", short(latest)),
      ])
    }
    let full = AnswerSample.read(answer(0..<Self.cap / 2, Self.cap / 2..<Self.cap))
    checkEqual(full.status, .ok)
    let found = full.response?.transactions ?? []
    checkEqual(found.count, Self.cap)
    check(zip(found, found.dropFirst()).allSatisfy { ($0.end ?? 0) <= ($1.end ?? 0) })
    checkEqual(full.evidence?.purchases.count, Self.cap)
    for over in [answer(0..<Self.cap, 0..<1), answer(0..<Self.cap + 1, 0..<0)] {
      let outcome = AnswerSample.read(over)
      checkEqual(outcome.status, .tooLargeVerifyReceiptEntries)
      checkEqual(outcome.retryClass, "later")
    }
    checkEqual(AnswerSample.read(answer(0..<Self.cap, 0..<0)).status, .ok)
    let renewal = AnswerSample.read(
      answer(0..<Self.cap, 0..<0).appending("pending_renewal_info", [AnswerSample.renewal()]))
    checkEqual(renewal.status, .tooLargeVerifyReceiptEntries)
  }

  @Test("VRR-15 a body past the limit is not read")
  func bodyCap() {
    var body = AnswerSample.ios7().bytes
    body += [UInt8](repeating: 0x20, count: ReceiptResponseReading.bodyCap - body.count)
    checkEqual(AnswerSample.read(body).status, .ok)
    body.append(0x20)
    let outcome = AnswerSample.read(body)
    checkEqual(outcome.status, .tooLargeVerifyReceiptBody)
    checkEqual(outcome.document.text("error.check"), "answer.size")
    checkEqual(outcome.retryClass, "later")
  }

  @Test("VRR-15 nesting, members, names, numbers and values have their limits")
  func structure() {
    func nested(_ depth: Int) -> AnswerSample.Outcome {
      let text =
        String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
      return AnswerSample.read(AnswerSample.ios7().appending("deep", .text(text)))
    }
    checkEqual(nested(31).status, .ok)
    checkEqual(nested(32).status, .tooLargeVerifyReceiptBody)
    checkEqual(nested(100_000).status, .tooLargeVerifyReceiptBody)
    func members(_ count: Int) -> JSONText {
      .object((0..<count).map { .init("m\($0)", 1) })
    }
    checkEqual(AnswerSample.read(AnswerSample.ios7().appending("many", members(256))).status, .ok)
    let many = members(257)
    checkEqual(
      AnswerSample.read(AnswerSample.ios7().appending("many", many)).status,
      .tooLargeVerifyReceiptBody)
    let name = String(repeating: "n", count: 257)
    checkEqual(
      AnswerSample.read(AnswerSample.ios7().appending(name, 1)).status, .tooLargeVerifyReceiptBody)
    let number = String(repeating: "1", count: 65)
    checkEqual(
      AnswerSample.read(AnswerSample.ios7().appending("n", .text(number))).status,
      .tooLargeVerifyReceiptBody)
    // Arrays that each keep to their own limit.
    let row = "[" + String(repeating: "1,", count: 9_999) + "1]"
    let rows = "[" + String(repeating: row + ",", count: 110) + row + "]"
    let outcome = AnswerSample.read(AnswerSample.ios7().appending("rows", .text(rows)))
    checkEqual(outcome.status, .tooLargeVerifyReceiptEntries)
  }

  @Test("VRR-4 a body that was cut off anywhere is no answer and no verdict")
  func truncated() {
    for answer in [AnswerSample.ios7(), AnswerSample.ios6()] {
      let body = answer.bytes
      for length in 0..<body.count {
        let outcome = AnswerSample.read(Array(body[..<length]))
        checkEqual(outcome.status, .unavailableVerifyReceiptNoResponse)
      }
    }
  }

  @Test("VRR-9 a body with any bit flipped is read or refused, never trapped on")
  func flipped() {
    for answer in [AnswerSample.ios7(), AnswerSample.ios6()] {
      let body = answer.bytes
      var refused = 0
      for index in body.indices {
        for bit in [0x01, 0x10, 0x80] as [UInt8] {
          var changed = body
          changed[index] ^= bit
          let outcome = AnswerSample.read(changed)
          if outcome.status != .ok {
            refused += 1
            check(outcome.evidence == nil)
          }
        }
      }
      check(refused > body.count)
    }
  }

  @Test("VRR-9 every known member with a value of every kind is read or refused by name")
  func everyMember() {
    let values: [JSONText] = [
      .null, true, false, 0, -1, 1, .text("1e400"), .text("123456789012345678901234567890"), "",
      "x", "1", "9223372036854775808", "\u{0}", [], [[]], [:], ["a": [:]],
      .text("\"\\ud83d\\ude00\""),
    ]
    func names(_ table: ResponseTable) -> [String] { table.members.map { "\($0.apple)" } }
    for value in values {
      for name in names(ResponseMembers.answer) {
        for answer in [AnswerSample.ios7(), AnswerSample.ios6()] {
          asked(AnswerSample.read(answer.setting(name, value)))
        }
      }
      for name in names(ResponseMembers.app) {
        asked(AnswerSample.read(AnswerSample.ios7().setting("receipt." + name, value)))
      }
      for name in names(ResponseMembers.transaction) {
        asked(AnswerSample.read(AnswerSample.ios6(AnswerSample.flat().setting(name, value))))
        asked(
          AnswerSample.read(
            AnswerSample.ios7(inApp: [AnswerSample.entry().setting(name, value)])))
      }
      for name in names(ResponseMembers.renewal) {
        asked(
          AnswerSample.read(
            AnswerSample.ios7(renewals: [AnswerSample.renewal().setting(name, value)])))
      }
    }
  }

  /// Checks that the document is JSON for the strict reader, whatever the input.
  private func asked(_ outcome: AnswerSample.Outcome) {
    check(outcome.document.tree != nil)
    checkEqual(outcome.response == nil, (outcome.status != .ok))
  }
}
