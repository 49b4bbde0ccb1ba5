import Testing

@testable import Assay

/// Rows and facts that only receipts and answers of verifyReceipt reach
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

  @Test("DCD-9 DEC-8 names the row before DEC-9, and all flags are reported")
  func cancelledTrial() throws {
    let decision = try decided([answered { $0.isTrial = true }])
    #expect(decision.row == "DEC-8")
    #expect(decision.flags == ["cancelled", "trial"])
  }

  @Test("DEC-9 flags of receipts: trial, intro and offer")
  func offers() throws {
    func flags(_ change: (inout PurchaseFacts) -> Void) throws -> [String] {
      let decision = try decided([subscription { change(&$0) }])
      #expect(decision.row == "DEC-9")
      return decision.flags
    }
    #expect(try flags { $0.isTrial = true } == ["trial"])
    #expect(try flags { $0.isIntro = true } == ["intro"])
    #expect(
      try flags {
        $0.isTrial = true; $0.isIntro = true
      } == ["trial"])
    #expect(try flags { $0.hasOffer = true } == ["offer"])
    #expect(
      try flags {
        $0.isIntro = true; $0.hasOffer = true
      } == ["intro", "offer"])
    #expect(try flags { $0.offerType = 2 } == ["offer"])
  }

  @Test("DEC-2 an empty receipt still shows its class and its moment")
  func emptyReceipt() throws {
    var evidence = PurchaseEvidence(kind: "app-receipt", purchases: [], renewals: [])
    evidence.asOf = At.start
    let signed = try decisionConfiguration().decide([evidence], account: nil, nowMs: At.now)
    #expect(signed.row == "DEC-2")
    #expect(signed.reach.asOf == At.start)
    #expect(signed.reach.evidenceClass == .signed)
    evidence.evidenceClass = .appleAnswer
    let told = try decisionConfiguration().decide([evidence], account: nil, nowMs: At.now)
    #expect(told.reach.evidenceClass == .appleAnswer)
  }

  @Test("DCD-18 a decision that rests on an answer says so")
  func classOfEvidence() throws {
    #expect(try decided([answered()]).reach.evidenceClass == .appleAnswer)
    #expect(try decided([subscription()]).reach.evidenceClass == .signed)
  }
}
