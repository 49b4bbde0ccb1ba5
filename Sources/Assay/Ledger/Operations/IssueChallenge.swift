/// The operation `issue-challenge`: stores the SHA-256 of a challenge that the host made (STO-60).
struct IssueChallenge: GuardOperation {
  private let row: ChallengeRow

  /// - Throws: `misuse.exchange.request`, `misuse.ledger.attempt-id`, `misuse.ledger.account`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    let context = parameters.context
    let node = try parameters.needed("challenge").refusing(.misuseLedgerAttemptId, "STO-8")
    guard let id = ChallengeText.id(try node.text(), context.configuration.attest.challenge)
    else { throw node.refusal(.range) }
    row = ChallengeRow(
      id: id, purpose: try parameters.label("purpose", 1...32),
      subject: try parameters.account("subject"),
      expiresAtMs: Milliseconds.sum(context.nowMs, context.policy.challengeTtlMs))
  }

  var jitterSeed: Text { row.id }

  func run(_ database: any GuardDatabase) throws(LedgerSuspension) -> OperationResult {
    let stands = try database.insert(row)
    guard stands.id == row.id else { throw .shape("id") }
    // A working random generator does not make the same challenge twice.
    let isOurs =
      stands.purpose == row.purpose && stands.subject == row.subject && stands.usedBy == nil
      && stands.expiresAtMs > database.session.context.nowMs
    guard isOurs else {
      throw .refused(Refusal(.unavailableChallengeCollision, "STO-60", at: "challenge"))
    }
    return OperationResult { writer in
      writer.member("outcome", "issued")
      writer.member("expiresAtMs", integer: stands.expiresAtMs)
      writer.member("sha256", stands.id)
    }
  }
}
