@_spi(AssaySwift) import Assay
import AssayCases
import Testing

@testable import AssaySwift

/// What stores answered in the recorded conversations, by types.
@Suite("Ledger results over the case table")
struct LedgerResultTests {
  private static let types: [String: any AnswerOfStore.Type] = [
    "claim": ClaimResult.self, "claim.resume": ResumeResult.self,
    "claim.due": ResumeExpiredResult.self, "complete": CompleteResult.self,
    "revoke": RevokeResult.self, "revoke.complete": CompleteRevocationResult.self,
    "revoke.due": ResumeExpiredRevocationsResult.self, "event.apply": ApplyEventResult.self,
    "lookup": FindResult.self, "subscription.apply": UpdateSubscriptionsResult.self,
    "subscription.read": GetPlanResult.self,
    "subscription.clear": DeactivateSubscriptionsResult.self,
    "subscription.due": LeaseDueSubscriptionsResult.self, "quota.take": ConsumeQuotaResult.self,
    "quota.refund": ReleaseQuotaResult.self, "pace.take": AcquireRatePermitResult.self,
    "signup.admit": BeginSignupResult.self, "signup.settle": FinishSignupResult.self,
    "challenge.issue": IssueChallengeResult.self,
    "challenge.consume": ConsumeChallengeResult.self, "key.bind": RegisterDeviceKeyResult.self,
    "key.advance": AdvanceDeviceKeyCounterResult.self,
    "key.receipt": UpdateDeviceKeyReceiptResult.self, "key.retire": RetireDeviceKeyResult.self,
    "key.read": GetDeviceKeyResult.self, "once": RecordEventResult.self,
    "account.link": MergeAccountsResult.self, "account.forget": ForgetAccountResult.self,
    "evidence.read": GetEvidenceResult.self, "schema.check": CheckSchemaResult.self,
    "schema.create": CreateSchemaResult.self,
  ]

  /// Beside what became of the request.
  private static let beside: Set = ["kind", "state", "retry", "secret"]

  @Test("every result has a property for each member of its document, with its value")
  func table() throws {
    var seen: Set<String> = []
    for (entry, document) in try Self.ended() {
      guard case .conversation(_, let request, _, _, _) = entry.call,
        let kind = DocumentValue(json: request.bytes)?.member("kind")?.text,
        let type = Self.types[kind], let object = document.value?.member("exchange"),
        document.status == .ok || object.member("outcome") != nil
      else { continue }
      let result = try type.init(try Members.of(document, "exchange"))
      Comparison(name: entry.name).object(result, object, without: Self.beside)
      seen.insert(kind)
    }
    #expect(seen == Set(Self.types.keys))
  }

  /// The last document of each conversation.
  private static func ended() throws -> [(EvidenceCase, Document)] {
    let kept = Kept()
    let run = CaseRun(try Table.made.get(), judge: { kept.add($1, $0) })
    for entry in run.table.cases {
      guard case .conversation = entry.call else { continue }
      #expect(run.faults(entry).isEmpty, "\(entry.name)")
    }
    return kept.ended
  }

  /// One task adds to it and reads it.
  private final class Kept: @unchecked Sendable {
    private(set) var ended: [(EvidenceCase, Document)] = []

    func add(_ entry: EvidenceCase, _ document: Document) {
      if document.status.family != .pending { ended.append((entry, document)) }
    }
  }
}
