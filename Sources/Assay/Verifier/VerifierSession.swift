extension Verifier {
  /// `session.issue`: a text that says "this account proved this key a short while ago"
  /// (docs/spec/session.md §1).
  func issueSession(
    _ request: ExchangeRequest, _ evidence: [VerifiedEvidence], _ checks: Checks<ExchangeCheck>,
    nowMs: Int64
  ) -> Document {
    let answer = answer(request, checks)
    do throws(Refusal) {
      let policy = try sessionPolicy()
      guard let proven = SessionEvidence(evidence.first), !proven.isStored
      else { throw Refusal(.misuseExchangeEvidence, "EXC-13", at: "evidence[0]") }
      let session = try SessionIssue(request, proven, policy, nowMs: nowMs)
      return answer.done(room: session.room) { session.write(&$0) }
    } catch {
      return answer.refused(error)
    }
  }

  /// `session.check`: whether such a text suffices for a request (docs/spec/session.md §2).
  func checkSession(
    _ request: ExchangeRequest, _ checks: Checks<ExchangeCheck>, nowMs: Int64
  ) -> Document {
    let answer = answer(request, checks)
    do throws(Refusal) {
      let session = try SessionCheck(
        request, try sessionPolicy(), receipts.configuration, nowMs: nowMs)
      return answer.done { session.write(&$0) }
    } catch {
      return answer.refused(error)
    }
  }

  private func sessionPolicy() throws(Refusal) -> SessionPolicy {
    guard let policy = receipts.configuration.session else {
      throw Refusal(.configExchangeBlockMissing, "EXC-8", at: "session")
    }
    return policy
  }
}
