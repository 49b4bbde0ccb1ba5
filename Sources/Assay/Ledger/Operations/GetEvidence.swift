/// The operation `get-evidence`: returns kept evidence, to be verified again (STO-68, BCK-27).
struct GetEvidence: DurableOperation {
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
    /// The bundle id that the text lacks (API-59); `nil` if it has its own.
    let bundleId: Text?
  }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    let digests = try self.digests(database)
    let kept = digests.isEmpty ? [] : try database.keptEvidence(digests)
    let missing = digests.filter { digest in !kept.contains { $0.sha256 == digest } }
    return OperationResult { writer in
      writer.name("evidence")
      writer.beginArray()
      for text in kept {
        writer.beginObject()
        writer.member("sha256", text.sha256)
        writer.member("text", text.body)
        writer.member("storedAtMs", integer: text.atMs)
        writer.member("bundleId", text.bundleId)
        writer.endObject()
      }
      writer.endArray()
      writer.name("missing")
      writer.beginArray()
      for digest in missing { writer.string(digest) }
      writer.endArray()
    }
  }

  private func digests(_ database: any DurableDatabase) throws(LedgerSuspension) -> [Text] {
    switch question {
    case .digests(let digests): return digests
    case .purchase(let key): return try database.digest(ofPurchase: key).map { [$0] } ?? []
    case .subscription(let environment, let id):
      return try database.digest(ofSubscription: environment, id).map { [$0] } ?? []
    }
  }
}
