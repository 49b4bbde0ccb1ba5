import CAssay

@testable import Assay
@testable import AssayAuthority

/// The target for `answer-verify-receipt`: any bytes as the body of a request.
enum ReceiptAnswerTargets {
  private static let fixture = ReceiptFixture.shared

  /// The replacements of 0xFF and a number: good receipts in base64.
  private static let pieces: [[UInt8]] = {
    do {
      let (sandbox, production) = (fixture.purchase, fixture.production)
      return [
        try fixture.authority.appReceipt(AppReceiptFacts([sandbox], like: sandbox)),
        try fixture.authority.appReceipt(AppReceiptFacts([production], like: production)),
        try fixture.authority.transactionReceipt(sandbox),
        try fixture.authority.transactionReceipt(production),
        try fixture.authority.transactionReceipt(fixture.oldPurchase, version: 2),
      ]
    } catch { fatalError("no receipts: \(error)") }
  }()

  /// Answers a request. The first byte selects endpoint, base64, refusals, ends, mark and the
  /// verifier. Only what verifies is answered with 0 or 21006.
  static func answer(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let body = ReceiptFixture.assemble(input.dropFirst(), pieces)
    func word(_ bit: Int, _ words: [String]) -> JSONText {
      .string(words[Int(first) >> bit & 1])
    }
    let request: JSONText = [
      "operation": "answer-verify-receipt", "endpoint": word(0, ["Sandbox", "Production"]),
      "base64": word(1, ["apple", "tolerant"]), "refusals": word(2, ["documented", "measured"]),
      "ended": word(3, ["expired", "later"]), "mark": .boolean(first & 16 == 0),
      "body": ["base64": .string(utf8: Base64Text.encode(body))],
    ]
    let verifier = fixture.verifier(first & 32 == 0 ? "standard" : "lenient")
    let answer = Calls.call(verifier, request.bytes, evidence: [])
    check(answer, body, verifier)
    answer.free()
  }

  private static func check(_ answer: Answer, _ body: [UInt8], _ verifier: OpaquePointer?) {
    guard let result = answer.tree?.member("exchange")?.member("answer") else {
      fatalError("a request has no answer: \(answer.status)")
    }
    let status = result.member("appleStatus")?.integer
    let isGood = status == 0 || status == 21006
    demand(isGood == answer.isOK, "\(status ?? -1) under \(answer.status)")
    let text = result.member("body")?.text?.utf8 ?? []
    guard status != nil else { return demand(text.isEmpty, "a body without a status") }
    guard let told = try? JSONReader.readObject(text, caps: Answer.caps).root else {
      fatalError("an answer is no strict JSON")
    }
    demand(told.member("status")?.integer == status, "the body has another status")
    demand(
      answer.isOK || told.children.allSatisfy { $0.isNamed("status") || $0.isNamed("assay") },
      "a refusal tells of the receipt")
    guard answer.isOK else { return }
    let sent = try? JSONReader.readObject(body, caps: Answer.caps).root
    let receipt = sent?.member("receipt-data")?.text?.utf8 ?? []
    let isVerified = [ReceiptFixture.transactionKind, ReceiptFixture.appKind].contains { kind in
      let proof = fixture.verify(verifier, kind, receipt)
      defer { proof.free() }
      return proof.isOK || proof.text("status.name") == "rejected.product.unknown"
    }
    // The unused bits of the last character, which Apple ignores, refuse a text elsewhere.
    let loose = Base64.withoutUnusedBits(receipt) != receipt
    demand(isVerified || loose, "answered what does not verify")
  }
}
