/// The facts of one transaction that a decision uses, whatever kind of evidence contains them
/// (the table under DCD-4). `nil` means that the evidence does not state the fact.
struct PurchaseFacts: Sendable {
  var environment: Environment
  var transactionId: Text
  var originalTransactionId: Text
  var webOrderLineItemId: Text? = nil
  var productId: Text
  /// The subscription group identifier, as signed.
  var group: Text? = nil
  /// The product type; `nil` if this kind of evidence has none, or its value is unknown (DCD-11).
  var type: ProductType? = nil
  /// Whether a type is signed whose value Assay does not know.
  var typeIsUnknown = false
  var start: Int64? = nil
  var end: Int64? = nil
  /// The time of the revocation; `asOfMs` if the evidence has no date for it (DCD-26).
  var revokedAtMs: Int64? = nil
  var revocationIsUndated = false
  /// The `asOfMs` of the newest evidence that states that there is a revocation or none; set once
  /// all evidence is merged.
  var revocationToldAt: Int64? = nil
  var revocationReason: Int64? = nil
  var revocationType: Text? = nil
  var revocationPercentage: Int64? = nil
  var isUpgraded = false
  /// "PURCHASED", "FAMILY_SHARED", "ASSIGNED", or an unknown value.
  var ownership: Text? = nil
  /// 1 introductory, 2 promotional, 3 offer code, 4 win-back.
  var offerType: Int64? = nil
  /// Whether a receipt or a verifyReceipt response flags the period as a trial; `isIntro`
  /// likewise as one at an introductory price (DEC-9).
  var isTrial = false
  var isIntro = false
  /// Whether the evidence contains the id of a promotional offer or of an offer code (DEC-9).
  var hasOffer = false
  /// "FREE_TRIAL", "PAY_AS_YOU_GO", "PAY_UP_FRONT", "ONE_TIME".
  var offerDiscountType: Text? = nil
  var quantity: Int64 = 1
  /// The appAccountToken in lower case; `nil` unless it is a UUID.
  var account: Text? = nil
  /// The appTransactionId: the customer's download of the app. `nil` if the evidence has none, as
  /// before 2025 and in receipts.
  var downloadId: Text? = nil
  /// The bundle id of the app that was downloaded; `nil` if the evidence is no StoreKit JWS.
  var bundleId: Text? = nil
  /// The moment whose state the evidence reports (DCD-2).
  var asOfMs: Int64
  /// Whether `asOfMs` is exact. For a response without a request date, `asOfMs` is only the
  /// earliest moment at which Apple can have sent the response (DCD-21).
  var timeIsKnown = true
  var evidenceClass = EvidenceClass.signed
  /// The members that this form of evidence can report, so that their absence is a statement too.
  var canReport = ReportableMembers.all
  /// "BILLED_UPFRONT", "MONTHLY", or an unknown value; `nil` if this kind of evidence has none.
  var billingPlan: Text? = nil
  /// The commitment that the period belongs to; `nil` if none, or if what is signed about it
  /// contradicts itself, which `commitmentIsOdd` says (CMT-8).
  var commitment: PurchaseCommitment? = nil
  var commitmentIsOdd = false
  /// Whether the facts are from a verifyReceipt response with status 21006 (DEC-8, DEC-19).
  var isExpiredAnswer = false
}

extension PurchaseFacts {
  /// Whether the period is a month of a longer plan, for which other rules of billing hold
  /// (CMT-4, CMT-5).
  var isBilledMonthly: Bool { billingPlan == "MONTHLY" }

  /// Sets the revocation date to `asOfMs` if the evidence has a reason or a type of revocation but
  /// no date (DCD-26).
  mutating func dateRevocation() {
    guard revokedAtMs == nil, revocationReason != nil || revocationType != nil else { return }
    revokedAtMs = asOfMs
    revocationIsUndated = true
    canReport.insert(.revocation)
  }
}
