import Testing

@testable import Assay

/// Tests decision rows and facts that only receipts and verifyReceipt responses reach
/// (docs/spec/receipts-decisions.md §3, §3.2).
@Suite("Decisions from receipts and answers")
struct AnswerDecisionTests {
  private func answered(_ change: (inout PurchaseFacts) -> Void = { _ in }) -> PurchaseFacts {
    subscription {
      $0.isExpiredAnswer = true
      $0.evidenceClass = .appleAnswer
      change(&$0)
    }
  }

  private func endedAnswer() -> PurchaseFacts {
    endedSubscription {
      $0.isExpiredAnswer = true
      $0.evidenceClass = .appleAnswer
      $0.asOfMs = At.now
    }
  }

  @Test("DCD-9 DEC-8 names the row before DEC-9, and all flags are reported")
  func cancelledTrial() throws {
    let decision = try decided([answered { $0.isTrial = true }])
    checkEqual(decision.row, "DEC-8")
    checkEqual(decision.flags, ["cancelled", "trial"])
  }

  @Test("DEC-9 flags of receipts: trial, intro and offer")
  func offers() throws {
    func flags(_ change: (inout PurchaseFacts) -> Void) throws -> [String] {
      let decision = try decided([subscription { change(&$0) }])
      checkEqual(decision.row, "DEC-9")
      return decision.flags
    }
    try checkEqual(
      flags {
        $0.isTrial = true; $0.isIntro = true
      }, ["trial"])
    try checkEqual(flags { $0.hasOffer = true }, ["offer"])
    try checkEqual(
      flags {
        $0.isIntro = true; $0.hasOffer = true
      }, ["intro", "offer"])
  }

  @Test("DEC-19 status 21006 after the end is stale for a day, then expired")
  func expiredAnswer() throws {
    let last = try decided([endedAnswer()], at: At.now + At.day - 1)
    checkEqual(last.stateName, "stale")
    checkEqual(last.outcome?.stale, true)
    let late = try decided([endedAnswer()], at: At.now + At.day)
    check(late.outcome?.reason == nil)
    checkEqual(late.outcome?.stale, false)
    check(late.flags.isEmpty)
  }

  @Test("DEC-19 leeway counts while the renewal may be in flight")
  func leeway() throws {
    let lenient = decisionConfiguration { $0.decision.renewalLeewayMs = 5000 }
    try check(!decided([endedAnswer()], by: lenient, at: At.now + 5000).entitled)
    let off = renewal {
      $0.autoRenewStatus = 0; $0.asOfMs = At.now
    }
    try check(!decided([endedAnswer()], [off], by: lenient).entitled)
  }

  @Test("DEC-19 with renewal facts: on or unknown is stale, off is expired")
  func withRenewal() throws {
    func state(_ change: (inout RenewalFacts) -> Void) throws -> (String, String) {
      let decision = try decided(
        [endedAnswer()],
        [
          renewal {
            $0.asOfMs = At.now
            change(&$0)
          }
        ])
      return (decision.row, decision.stateName)
    }
    try check(state { $0.isInBillingRetry = false } == ("DEC-19", "stale"))
    try check(state { $0.expirationIntent = 1 } == ("DEC-17", "expired"))
    try check(state { $0.expirationIntent = 9 } == ("DEC-19", "stale"))
    try check(state { $0.isInBillingRetry = true } == ("DEC-16", "billing-retry"))
  }

  @Test("DEC-2 an empty receipt still shows its class and its moment")
  func emptyReceipt() throws {
    var evidence = PurchaseEvidence(kind: "app-receipt", purchases: [], renewals: [])
    evidence.asOfMs = At.start
    let signed = try decisionConfiguration().decide([evidence], account: nil, nowMs: At.now)
    checkEqual(signed.row, "DEC-2")
    checkEqual(signed.reach.asOfMs, At.start)
    checkEqual(signed.reach.evidenceClass, .signed)
    evidence.evidenceClass = .appleAnswer
    let told = try decisionConfiguration().decide([evidence], account: nil, nowMs: At.now)
    checkEqual(told.reach.evidenceClass, .appleAnswer)
  }
}
