/// Where a purchase was made. Compared byte for byte (storekit-jws.md §10).
public enum Environment: Sendable, Equatable, CaseIterable {
  case production
  case sandbox
  case xcode
  case localTesting

  var name: StaticString {
    switch self {
    case .production: return "Production"
    case .sandbox: return "Sandbox"
    case .xcode: return "Xcode"
    case .localTesting: return "LocalTesting"
    }
  }

  init?(_ text: Text) {
    for environment in Environment.allCases where text.utf8[...].elementsEqual(environment.name) {
      self = environment
      return
    }
    return nil
  }
}

/// What kind of product a purchase is of (storekit-payloads.md §3, Type).
public enum ProductType: Sendable, Equatable {
  case autoRenewable
  case nonRenewing
  case nonConsumable
  case consumable

  /// As Apple writes it.
  var name: StaticString {
    switch self {
    case .autoRenewable: return "Auto-Renewable Subscription"
    case .nonRenewing: return "Non-Renewing Subscription"
    case .nonConsumable: return "Non-Consumable"
    case .consumable: return "Consumable"
    }
  }
}

/// How trustworthy the source of a fact is (DCD-2).
enum EvidenceClass: Sendable, Equatable {
  case signed
  case appleAnswer

  var name: StaticString {
    switch self {
    case .signed: return "signed"
    case .appleAnswer: return "apple-answer"
    }
  }
}

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
  /// Receipts and answers of verifyReceipt tell offers by flags (DEC-9).
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
  /// What evidence of this form can tell, so that its silence says no.
  var shows = ShownMembers.all
  /// Shown by an answer of verifyReceipt with status 21006 (DEC-8, DEC-19).
  var isExpiredAnswer = false
}

/// Members of a purchase that only some forms of evidence can show (the table
/// under DCD-4). What a form cannot show, it neither confirms nor denies: the
/// newest evidence that can show it counts (DCD-3).
struct ShownMembers: OptionSet, Sendable {
  let rawValue: UInt8

  static let revocation = ShownMembers(rawValue: 1)
  static let upgrade = ShownMembers(rawValue: 2)
  static let family = ShownMembers(rawValue: 4)
  static let account = ShownMembers(rawValue: 8)
  static let offers = ShownMembers(rawValue: 16)
  static let all = ShownMembers(rawValue: 31)
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

/// What a decision needs of the renewal of one line (original transaction id).
struct RenewalFacts: Sendable {
  var environment: Environment
  var originalTransactionId: Text
  var productId: Text? = nil
  var autoRenewProductId: Text? = nil
  /// autoRenewStatus: 0 off, 1 on; other values are not known (DCD-11).
  var autoRenewStatus: Int64? = nil
  var isInBillingRetry: Bool? = nil
  /// gracePeriodExpiresDate.
  var graceEnd: Int64? = nil
  /// 1 cancelled, 2 billing, 3 price, 4 product, 5 other.
  var expirationIntent: Int64? = nil
  /// 0 not answered, 1 consented.
  var priceIncreaseStatus: Int64? = nil
  var account: Text? = nil
  var asOf: Int64
  var evidenceClass = EvidenceClass.signed
}

/// What one verified document contributes to a decision.
struct PurchaseEvidence: Sendable {
  /// The kind of the document, as in `kind` ("transaction", "notification").
  var kind: StaticString
  var purchases: [PurchaseFacts]
  var renewals: [RenewalFacts]
  /// As of when the document speaks, and how it is trusted: what is left to say
  /// of one without purchases (DEC-2).
  var asOf: Int64? = nil
  var evidenceClass = EvidenceClass.signed
}
