import AssayAuthority

extension CaseFixture {
  /// Adds requests that test the common members of exchanges (docs/spec/documents-and-exchanges.md
  /// §2).
  func addExchangeCases() throws {
    let observations: JSONText = ["request": "paid", "attestation": "verified"]
    let good: JSONText = ["operation": "assess-risk", "observations": observations]
    func text(_ name: String, _ text: EvidenceText, _ status: String) {
      add(
        "EXC-1", "exchange: \(name)",
        .exchange(verifier: "standard", request: text, evidence: [], now: now), .init(status))
    }
    let misuse = "misuse.exchange.request"
    text("nothing", .bytes([]), misuse)
    text("no JSON", .bytes(Array("assess-risk".utf8)), misuse)
    text("a list", .bytes(Array("[]".utf8)), misuse)
    text("text behind it", .bytes(good.bytes + Array("x".utf8)), misuse)
    text(
      "text that is no UTF-8", .bytes(Array("{\"operation\":\"".utf8) + [0xff, 0x22, 0x7d]), misuse)
    text(
      "the kind twice",
      .bytes(Array("{\"operation\":\"assess-risk\",\"operation\":\"assess-risk\"}".utf8)), misuse)
    text(
      "nine megabytes",
      .repeated(
        prefix: Array("{\"operation\":\"".utf8), unit: Array("x".utf8), count: 9 << 20,
        suffix: Array("\"}".utf8)), misuse)
    text("a hundred thousand lists", .text("[", times: 100_000), misuse)
    request("EXC-1", "no operation", good.removing("operation"), misuse)
    request("EXC-1", "an operation that is a number", good.setting("operation", 1), misuse)
    request("EXC-1", "an unknown member", good.setting("account", "x"), misuse)
    request("EXC-1", "no observations", good.removing("observations"), misuse)
    let unknown = "misuse.exchange.operation"
    for name in ["", "risk", "Assess-Risk", "assess-risk ", "assess-risk-x"] {
      request(
        "EXC-1", "the operation \"\(name)\"", good.setting("operation", .string(name)), unknown)
    }
    request("EXC-3", "done at once", good, facts: [("/risk.verdict", "allow")])
    let evidence = "misuse.exchange.evidence"
    request(
      "EXC-2", "a purchase as evidence", good, evidence: [try transaction(purchase)], evidence)
    request(
      "EXC-2", "a refused document as evidence", good,
      evidence: [.init(.transaction, Array("x".utf8))], evidence)
    request(
      "EXC-2", "a document of another verifier", good,
      evidence: [
        .init(
          .transaction, try authority.mint(purchase.transactionPayload),
          verifier: "root-entry-ignored")
      ],
      evidence)
    for (name, instant) in [("before 2008", 1_199_145_599_999), ("after 2100", 4_102_444_800_001)]
      as [(String, Int64)]
    {
      request("JWS-41", "a present \(name)", good, now: instant, "misuse.call.now")
    }
  }
}
