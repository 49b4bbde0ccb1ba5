/// The operation `get-evidence`: returns kept evidence, to be verified again (STO-68, BCK-27).
struct GetEvidence: LedgerOperation {
  enum Question {
    case digests([Text])
    case purchase(Text)
    case subscription(environment: Text, originalTransactionId: Text)
  }

  private let question: Question

  private static let digestCap = 1...32

  /// - Throws: `config.ledger.evidence`, `misuse.exchange.request`.
  init(_ parameters: OperationParameters) throws(Refusal) {
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
      question = .subscription(
        environment: try parameters.needed("environment").text(1...32),
        originalTransactionId: try parameters.needed("originalTransactionId").text(1...64))
    }
  }

  struct Kept {
    let sha256: Text
    let body: Text
    let atMs: Int64
  }

  func run(_ session: inout LedgerSession) throws(LedgerSuspension) -> OperationResult {
    let digests = try self.digests(&session)
    let kept = try session.keptEvidence(digests)
    let missing = digests.filter { digest in !kept.contains { $0.sha256 == digest } }
    return OperationResult { writer in
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

  private func digests(_ session: inout LedgerSession) throws(LedgerSuspension) -> [Text] {
    switch question {
    case .digests(let digests): return digests
    case .purchase(let key):
      if session.context.engine == .dynamodb {
        return try session.dynamoLedgerRow(key).map { [$0.evidence] } ?? []
      }
      return try session.digest(.evidenceOfPurchase, [("purchase_key", .text(key))])
    case .subscription(let environment, let id):
      if session.context.engine == .dynamodb {
        return try session.dynamoSubscription(environment: environment, id).map { [$0.evidence] }
          ?? []
      }
      return try session.digest(
        .evidenceOfSubscription,
        [("environment", .text(environment)), ("original_transaction_id", .text(id))])
    }
  }
}

extension LedgerSession {
  fileprivate mutating func digest(
    _ statement: SQLStatement, _ arguments: Arguments
  ) throws(LedgerSuspension) -> [Text] {
    let results = try sql { [(statement, arguments)] }
    guard var row = try results.rowIfAny(0) else { return [] }
    return [try row.text()]
  }

  fileprivate mutating func keptEvidence(
    _ digests: [Text]
  ) throws(LedgerSuspension) -> [GetEvidence.Kept] {
    guard !digests.isEmpty else { return [] }
    if context.engine == .dynamodb { return try dynamoEvidence(digests) }
    let results = try sql {
      digests.map { digest in
        let arguments: Arguments = [("digest", .text(digest))]
        return (.evidenceRead, arguments)
      }
    }
    var kept: [GetEvidence.Kept] = []
    for place in results.indices {
      guard var row = try results.rowIfAny(place) else { continue }
      let (digest, body) = (try row.text(), try row.text())
      kept.append(GetEvidence.Kept(sha256: digest, body: body, atMs: try row.integer()))
    }
    return kept
  }
}
