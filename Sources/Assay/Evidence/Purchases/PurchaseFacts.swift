/// What a decision needs of one transaction, whatever kind of evidence showed it
/// (the table under DCD-4). `nil` means that the evidence does not say.
///
/// Times are milliseconds since 1970 UTC.
struct PurchaseFacts: Sendable {
  var environment: Environment
  var transactionId: Text
  var originalTransactionId: Text
  var webOrderLineItemId: Text? = nil
  var productId: Text
  /// Subscription group, as signed.
  var group: Text? = nil
  /// nil: not shown by this kind of evidence, or an unknown value (DCD-11).
  var type: ProductType? = nil
  /// A type was signed, but its value is not one that Assay knows.
  var typeIsUnknown = false
  var start: Int64? = nil
  var end: Int64? = nil
  /// From when it is revoked; `asOf` if the evidence gives no date (DCD-26).
  var revokedAt: Int64? = nil
  var revocationIsUndated = false
  /// As of when the newest evidence spoke that shows a revocation or that there is
  /// none; known once all evidence is merged.
  var revocationToldAt: Int64? = nil
  var revocationReason: Int64? = nil
  var revocationType: Text? = nil
  var revocationPercentage: Int64? = nil
  var isUpgraded = false
  /// "PURCHASED", "FAMILY_SHARED", "ASSIGNED", or a value not known.
  var ownership: Text? = nil
  /// 1 introductory, 2 promotional, 3 offer code, 4 win-back.
  var offerType: Int64? = nil
  /// Receipts and answers from verifyReceipt mark offers by flags (DEC-9).
  var isTrial = false
  var isIntro = false
  /// A promotional offer or an offer code, recognised by its id alone.
  var hasOffer = false
  /// "FREE_TRIAL", "PAY_AS_YOU_GO", "PAY_UP_FRONT", "ONE_TIME".
  var offerDiscountType: Text? = nil
  var quantity: Int64 = 1
  /// appAccountToken in lower case, when it has UUID form.
  var account: Text? = nil
  /// As of when the evidence speaks (DCD-2).
  var asOf: Int64
  /// False for an answer without a request date, of which `asOf` is only the
  /// earliest moment at which it can have been given (DCD-21).
  var timeIsKnown = true
  var evidenceClass = EvidenceClass.signed
  /// What evidence of this form can say, so that its silence means no.
  var shows = ShownMembers.all
  /// Shown by an answer of verifyReceipt with status 21006 (DEC-8, DEC-19).
  var isExpiredAnswer = false
}

extension PurchaseFacts {
  /// DCD-26: a reason or a type of revocation without a date is a revocation as
  /// of this evidence.
  mutating func dateRevocation() {
    guard revokedAt == nil, revocationReason != nil || revocationType != nil else { return }
    revokedAt = asOf
    revocationIsUndated = true
    shows.insert(.revocation)
  }
}
