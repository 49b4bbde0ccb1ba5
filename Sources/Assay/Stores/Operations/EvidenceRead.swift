/// The operation `get-evidence`: returns kept evidence, to be verified again (STO-68, BCK-27).
struct EvidenceRead: StoreOperation {
  enum Question {
    case digests([Text])
    case purchase(Text)
    case line(environment: Text, originalTransactionId: Text)
  }

  private let question: Question

  private static let digestCap = 1...32

  /// - Throws: `config.ledger.evidence`, `misuse.exchange.request`.
  init(_ parameters: StoreParameters) throws(Refusal) {
    try require(
      parameters.context.policy.keepEvidence, .configLedgerEvidence, "STO-68",
      at: "ledger.keepEvidence")
    if let list = parameters["sha256"] {
      try parameters.refuse(["purchaseKey", "environment", "originalTransactionId"])
      question = .digests(
        try list.elements(Self.digestCap).map { node throws(Refusal) in try node.text(64...64) })
    } else if parameters["purchaseKey"] != nil {
      try parameters.refuse(["environment", "originalTransactionId"])
      question = .purchase(try parameters.purchaseKey())
    } else {
      question = .line(
        environment: try parameters.needed("environment").text(1...32),
        originalTransactionId: try parameters.needed("originalTransactionId").text(1...64))
    }
  }

  struct Kept {
    let sha256: Text
    let body: Text
    let atMs: Int64
  }

  func run(_ talk: inout StoreTalk) throws(StoreStop) -> StoreOutcome {
    let digests = try self.digests(&talk)
    let kept = try talk.keptEvidence(digests)
    let missing = digests.filter { digest in !kept.contains { $0.sha256 == digest } }
    return StoreOutcome { writer in
      writer.name("evidence")
      writer.beginArray()
      for text in kept {
        writer.beginObject()
        writer.member("sha256", text.sha256)
        writer.member("text", text.body)
        writer.member("storedAtMs", integer: text.atMs)
        writer.endObject()
      }
      writer.endArray()
      writer.name("missing")
      writer.beginArray()
      for digest in missing { writer.string(digest) }
      writer.endArray()
    }
  }

  private func digests(_ talk: inout StoreTalk) throws(StoreStop) -> [Text] {
    switch question {
    case .digests(let digests): return digests
    case .purchase(let key):
      if talk.context.engine == .dynamodb {
        return try talk.dynamoLedgerRow(key).map { [$0.evidence] } ?? []
      }
      return try talk.digest(.evidenceOfPurchase, [("purchase_key", .text(key))])
    case .line(let environment, let id):
      if talk.context.engine == .dynamodb {
        return try talk.dynamoLine(environment: environment, id).map { [$0.evidence] } ?? []
      }
      return try talk.digest(
        .evidenceOfLine,
        [("environment", .text(environment)), ("original_transaction_id", .text(id))])
    }
  }
}

extension StoreTalk {
  fileprivate mutating func digest(
    _ statement: SQLStatement, _ arguments: Arguments
  ) throws(StoreStop) -> [Text] {
    let results = try sql { [(statement, arguments)] }
    guard var row = try results.rowIfAny(0) else { return [] }
    return [try row.text()]
  }

  fileprivate mutating func keptEvidence(
    _ digests: [Text]
  ) throws(StoreStop) -> [EvidenceRead.Kept] {
    guard !digests.isEmpty else { return [] }
    if context.engine == .dynamodb { return try dynamoEvidence(digests) }
    let results = try sql {
      digests.map { digest in
        let arguments: Arguments = [("digest", .text(digest))]
        return (.evidenceRead, arguments)
      }
    }
    var kept: [EvidenceRead.Kept] = []
    for place in results.indices {
      guard var row = try results.rowIfAny(place) else { continue }
      let (digest, body) = (try row.text(), try row.text())
      kept.append(EvidenceRead.Kept(sha256: digest, body: body, atMs: try row.integer()))
    }
    return kept
  }
}
