/// The risk rules of docs/spec/device-check.md §4; raw values are their numbers.
enum RiskRule: Int, Sendable, CaseIterable {
  case verified = 11
  case refused = 12
  case downgrade = 13
  case abuseBit = 14
  case purchase = 15
  case unsupportedUnexpectedly = 16
  case unsupportedWithPurchase = 17
  case unsupportedWithoutPurchase = 18
  case promoBit = 19
  case promoUnknown = 20
  case receiptMetric = 21
  case transientWithHistory = 22
  case transientWithoutHistory = 23
  case unsupportedWave = 24
  case accountsPerAddress = 25
  case category = 26
  case silentClient = 27
  case otherwise = 28
  case restrictedAccount = 29
  case accountsPerDownload = 30
  case refunds = 31
  case newKeys = 32
  case transfers = 33

  /// Creates a rule from an id such as "RSK-16"; `nil` if there is no such rule.
  init?(_ id: Text) {
    guard let rule = RiskRule.allCases.first(where: { id.utf8[...].elementsEqual($0.id) }) else {
      return nil
    }
    self = rule
  }

  /// The id, such as "RSK-16".
  var id: StaticString { text.id }

  /// The reason for which the rule fires, for the operator's log.
  var reason: StaticString { text.reason }

  private var text: (id: StaticString, reason: StaticString) {
    switch self {
    case .verified: return ("RSK-11", "an assertion from this device passed")
    case .refused: return ("RSK-12", "attestation data was sent and refused")
    case .downgrade:
      return ("RSK-13", "the account or the device had a key, and this platform can attest")
    case .abuseBit: return ("RSK-14", "the abuse bit of the device is set")
    case .purchase: return ("RSK-15", "the purchase was refused or belongs to another account")
    case .unsupportedUnexpectedly:
      return ("RSK-16", "unsupported is claimed where support is expected")
    case .unsupportedWithPurchase:
      return ("RSK-17", "no support is expected, and the purchase is verified")
    case .unsupportedWithoutPurchase:
      return ("RSK-18", "no support is expected, and no purchase is verified")
    case .promoBit: return ("RSK-19", "an offer has already been used on this device")
    case .promoUnknown:
      return ("RSK-20", "DeviceCheck does not tell whether the offer was used")
    case .receiptMetric: return ("RSK-21", "the risk metric of the last receipt is high")
    case .transientWithHistory:
      return ("RSK-22", "attestation is unavailable for now; the account used a key recently")
    case .transientWithoutHistory:
      return ("RSK-23", "attestation is unavailable for now; the account used no key recently")
    case .unsupportedWave: return ("RSK-24", "claims that attestation is unsupported are rising")
    case .accountsPerAddress: return ("RSK-25", "many accounts came from this address today")
    case .category: return ("RSK-26", "the build is of a category that is not accepted")
    case .silentClient:
      return ("RSK-27", "this version of the app sends attestation data, and none came")
    case .otherwise: return ("RSK-28", "no other rule fired")
    case .restrictedAccount: return ("RSK-29", "the account is restricted")
    case .accountsPerDownload:
      return ("RSK-30", "many accounts use one download of the app")
    case .refunds: return ("RSK-31", "half of the purchases of a year were refunded, or more")
    case .newKeys: return ("RSK-32", "the account has bound many device keys in a month")
    case .transfers: return ("RSK-33", "subscriptions of the account were transferred repeatedly")
    }
  }

  /// Whether the rule applies to a request whose assertion passed (RSK-11). The categories of
  /// builds do (RSK-26), because some of them are never accepted (ATT-45), and so do the rules
  /// about the customer (RSK-29 … RSK-33): an assertion proves the device, not the person.
  var appliesToVerified: Bool {
    switch self {
    case .verified, .abuseBit, .purchase, .promoBit, .promoUnknown, .receiptMetric, .category,
      .restrictedAccount, .accountsPerDownload, .refunds, .newKeys, .transfers:
      return true
    default: return false
    }
  }

  /// Whether the rule's refusal is final: a configuration may not make the rule milder than
  /// `deny` (RSK-2).
  var isFirm: Bool {
    switch self {
    case .refused, .abuseBit, .purchase, .category, .restrictedAccount: return true
    default: return false
    }
  }
}
