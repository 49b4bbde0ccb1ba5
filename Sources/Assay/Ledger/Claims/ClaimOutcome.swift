/// The outcome of a claim, which follows from the purchase's ledger row (docs/spec/ledger.md §5.1).
enum ClaimOutcome {
  case new, resume, alreadyGranted, inProgress, otherAccount, revoked, held, unknownProduct
  /// A purchase that nobody has, of another account's subscription (RPL-2).
  case otherSubscriber
  /// A purchase that decisions exclude as well (STO-25).
  case upgraded, familyShared
  /// A purchase that no account has claimed, in a request that names none.
  case unclaimed
  /// A purchase without usable ids (RPL-3), or with an appAccountToken that does not fit the
  /// account (DCD-20, STO-43).
  case refused

  var name: StaticString {
    switch self {
    case .new: return "new"
    case .resume: return "resume"
    case .alreadyGranted: return "already-granted"
    case .inProgress: return "in-progress"
    case .otherAccount, .otherSubscriber: return "other-account"
    case .revoked: return "revoked"
    case .held: return "held"
    case .unknownProduct: return "unknown-product"
    case .upgraded: return "upgraded"
    case .familyShared: return "family-shared"
    case .unclaimed: return "unclaimed"
    case .refused: return "refused"
    }
  }

  /// Whether this attempt holds the claim, so that the host grants.
  var needsGrant: Bool { self == .new || self == .resume }

  /// The result for the client, in the words of LST-2 (STO-20); `nil` if the host has yet to grant.
  var clientResult: StaticString? {
    switch self {
    case .new, .resume: return nil
    case .alreadyGranted: return "already-granted"
    case .otherAccount, .otherSubscriber, .revoked, .upgraded, .familyShared, .refused:
      return "refused-final"
    case .unknownProduct: return "refused-keep"
    case .inProgress, .held, .unclaimed: return "deferred"
    }
  }

  /// The refusal to report; `nil` if the operation's status is ok.
  var refusal: Refusal? {
    switch self {
    case .new, .resume, .unclaimed: return nil
    case .alreadyGranted:
      return Refusal(.rejectedPurchaseAlreadyGranted, "STO-20", at: "claims")
    case .inProgress: return Refusal(.unavailableClaimInProgress, "STO-22", at: "claims")
    case .otherAccount: return Refusal(.rejectedPurchaseOtherAccount, "RPL-2", at: "claims")
    case .otherSubscriber:
      return Refusal(.rejectedSubscriptionOtherAccount, "RPL-2", at: "claims")
    case .revoked: return Refusal(.rejectedPurchaseRevoked, "RFD-3", at: "claims")
    case .upgraded: return Refusal(.rejectedPurchaseUpgraded, "STO-25", at: "claims")
    case .familyShared: return Refusal(.rejectedPurchaseFamilyShared, "STO-25", at: "claims")
    case .held: return Refusal(.unavailableClaimHeld, "STO-27", at: "claims")
    case .unknownProduct: return Refusal(.rejectedProductUnknown, "STO-24", at: "claims")
    case .refused: return Refusal(.rejectedPurchaseInvalidId, "RPL-3", at: "claims")
    }
  }
}
