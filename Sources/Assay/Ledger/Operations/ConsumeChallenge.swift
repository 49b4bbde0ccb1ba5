/// The operation `consume-challenge`: marks a challenge as used, once (STO-61).
struct ConsumeChallenge: GuardOperation {
  /// The use of the challenge; `nil` if the given text was never issued.
  private let asked: ChallengeUse?
  /// The refusal that needs no database; `nil` if there is none.
  private let fault: Refusal?

  /// - Throws: `misuse.exchange.request`, `.evidence`, `misuse.ledger.account`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    let evidence = parameters.evidence
    let proof = try AttestProof(evidence)
    let purpose = try parameters.label("purpose", 1...32)
    let subject = try parameters.account("subject")
    let by = try ConsumeChallenge.user(parameters, proof)
    let signed = proof?.challenge.map { Text(Hex.encode($0)) }
    guard let node = parameters["challenge"] else {
      guard let signed else {
        throw Refusal(.misuseExchangeRequest, "STO-61", at: "challenge")
      }
      asked = ChallengeUse(id: signed, purpose: purpose, subject: subject, by: by)
      fault = nil
      return
    }
    // The text comes from the client: a wrong one is refused, and is no misuse by the host.
    let given = ChallengeText.id(
      try node.text(), parameters.context.configuration.attest.challenge)
    let agrees = signed == nil || signed == given
    asked = given.map { ChallengeUse(id: $0, purpose: purpose, subject: subject, by: by) }
    fault =
      agrees ? nil : Refusal(.rejectedChallengeMismatch, "STO-61", at: "challenge")
  }

  /// Returns the user that the evidence determines, or without evidence the one that the host
  /// names.
  private static func user(
    _ parameters: OperationParameters, _ proof: AttestProof?
  ) throws(Refusal) -> Text {
    guard let proof else { return try parameters.label("usedBy", 1...255) }
    if let node = parameters["usedBy"] { throw node.refusal(.range) }
    return proof.user
  }

  var jitterSeed: Text { asked?.by ?? "" }

  func run(_ database: any GuardDatabase) throws(LedgerSuspension) -> OperationResult {
    if let fault { return end("mismatch", fault) }
    guard let asked, let row = try database.consume(asked) else {
      return end("unknown", Refusal(.rejectedChallengeUnknown, "STO-61", at: "challenge"))
    }
    guard row.id == asked.id else { throw .shape("id") }
    guard row.purpose == asked.purpose, row.subject == asked.subject else {
      return end("mismatch", Refusal(.rejectedChallengeMismatch, "STO-61", at: "challenge"))
    }
    if let user = row.usedBy {
      // The same user retries the same request.
      if user == asked.by { return end("consumed") }
      return end("used", Refusal(.rejectedChallengeUsed, "STO-61", at: "challenge"))
    }
    guard row.expiresAtMs <= database.session.context.nowMs else { throw .shape("used_by") }
    return end("expired", Refusal(.rejectedChallengeExpired, "STO-61", at: "challenge"))
  }

  private func end(_ outcome: StaticString, _ refusal: Refusal? = nil) -> OperationResult {
    OperationResult(refusal) { $0.member("outcome", outcome) }
  }
}
