/// What a difference between the ledger and Apple is about (docs/spec/reconcile.md RCN-40).
enum DifferenceKind: NamedCase, Sendable {
  /// A customer paid, and no account was granted the purchase.
  case paidNotGranted
  /// A claim that nobody completed.
  case claimLeftBehind
  /// A refunded purchase whose goods were not taken back.
  case refundNotTakenBack
  /// A refund of a part of the units of which Apple does not tell which part.
  case refundShareUnknown
  /// A purchase that is paid again after a reversed refund, and was not given back.
  case reversalNotGivenBack
  /// A paid subscription or unlock that no account has shown.
  case subscriptionUnowned
  /// A purchase of a product that the catalogue lacks.
  case unknownProduct
  /// A subscription or a customer whom Apple does not know in this environment.
  case unknownAtApple
  /// A text in Apple's answer that was refused.
  case notVerified
  /// A time of which Apple's history tells nothing any more.
  case historyGap

  var name: StaticString {
    switch self {
    case .paidNotGranted: return "paid-not-granted"
    case .claimLeftBehind: return "claim-left-behind"
    case .refundNotTakenBack: return "refund-not-taken-back"
    case .refundShareUnknown: return "refund-share-unknown"
    case .reversalNotGivenBack: return "reversal-not-given-back"
    case .subscriptionUnowned: return "subscription-unowned"
    case .unknownProduct: return "unknown-product"
    case .unknownAtApple: return "unknown-at-apple"
    case .notVerified: return "not-verified"
    case .historyGap: return "history-gap"
    }
  }

  /// The operation that settles the difference; `nil` if a person looks at it first.
  var settledBy: StaticString? {
    switch self {
    case .paidNotGranted: return "claim"
    case .claimLeftBehind, .reversalNotGivenBack: return "resume-expired"
    case .refundNotTakenBack: return "resume-expired-revocations"
    case .subscriptionUnowned: return "update-subscriptions"
    case .refundShareUnknown, .unknownProduct, .unknownAtApple, .notVerified, .historyGap:
      return nil
    }
  }
}
