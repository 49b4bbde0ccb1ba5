/// The conditions of the risk rules and their default verdicts (docs/spec/device-check.md §4): a
/// pure function of observations, configuration and `nowMs`.
struct RiskRules {
  let observations: RiskObservations
  let configuration: Configuration
  /// Milliseconds since 1970 UTC.
  let nowMs: Int64

  /// The delay before a retry in milliseconds, if Apple's service may be available again by then.
  static let retryAfterMs: Int64 = 60_000
  /// How recently a key was used, in milliseconds, for an account to count as one with a history
  /// (RSK-22).
  private static let historyMs: Int64 = 30 * 86_400_000
  /// The risk metric above which no offer is granted (RSK-21).
  private static let promoMetric: Int64 = 50
  /// The number of accounts per IP address and day up to which nothing is limited, where the
  /// configuration has no block `ledger` (RSK-25).
  private static let accountsPerIpDay: Int64 = 100
  /// The share of "unsupported" reports, 0.05, up to which a rise counts as chance (RSK-24).
  private static let unsupportedFloor: Int64 = 50_000_000_000

  private var request: RiskObservations.Request { observations.request }

  private func isOne(of requests: [RiskObservations.Request]) -> Bool {
    requests.contains(request)
  }

  /// Returns the default verdict of a rule; `nil` if the rule does not apply. RSK-24 and RSK-28
  /// depend on the verdicts of the other rules.
  func verdict(of rule: RiskRule) -> RiskVerdict? {
    guard observations.attestation != .verified || rule.appliesToVerified else { return nil }
    switch rule {
    case .verified: return observations.attestation == .verified ? .allow : nil
    case .refused: return observations.attestation == .refused ? .deny : nil
    case .downgrade: return isDowngrade ? .stepUp : nil
    case .abuseBit: return abuse
    case .purchase: return purchase
    case .unsupportedUnexpectedly:
      guard isUnsupported, supportIsExpected else { return nil }
      return request == .promo ? .deny : .limited
    case .unsupportedWithPurchase:
      guard isUnsupported, !supportIsExpected, observations.purchase == .verified else {
        return nil
      }
      return isOne(of: [.paid, .restore, .metered]) ? .allow : nil
    case .unsupportedWithoutPurchase:
      guard isUnsupported, !supportIsExpected, observations.purchase != .verified else {
        return nil
      }
      return request == .promo ? .stepUp : .limited
    case .promoBit:
      guard request == .promo, promoIsSet else { return nil }
      return .deny
    case .promoUnknown: return unknownPromo
    case .receiptMetric: return metric
    case .transientWithHistory:
      guard attestationIsTransient, hasRecentKey else { return nil }
      return isOne(of: [.read, .free]) ? .allow : .limited
    case .transientWithoutHistory:
      guard attestationIsTransient, !hasRecentKey else { return nil }
      return .limited
    case .accountsPerAddress:
      let accounts = observations.accountsPerIpDay ?? 0
      let limit = configuration.ledger?.signup.limit ?? RiskRules.accountsPerIpDay
      return accounts > limit ? .limited : nil
    case .category: return categoryIsRefused ? .deny : nil
    case .silentClient:
      guard observations.attestation == .absent, observations.clientError == nil,
        observations.clientSends == true
      else { return nil }
      return .stepUp
    case .restrictedAccount, .accountsPerDownload, .refunds, .newKeys, .transfers:
      return observations.customer.flatMap { verdict(of: rule, $0) }
    case .unsupportedWave, .otherwise: return nil
    }
  }

  /// The verdict if no other rule applies (RSK-28). A verified purchase allows at least as much
  /// in `read` and `free` as in `paid` (RSK-17).
  var otherwise: RiskVerdict {
    observations.purchase == .verified && isOne(of: [.read, .free]) ? .allow : .limited
  }

  // MARK: unsupported devices

  private var isUnsupported: Bool { observations.attestation == .unsupported }

  /// Whether App Attest exists where the client reports to run (docs/spec/device-check.md §3).
  /// Support is expected if the client omits a member, so that an omission raises no trust.
  private var supportIsExpected: Bool {
    switch observations.context {
    case .actionExtension, .ssoExtension, .otherExtension: return false
    case .app, .watchExtension, nil: break
    }
    let version = observations.osMajor ?? Int64.max
    switch observations.platform {
    case .iOS, .iPadOS: return version >= 14
    case .tvOS: return version >= 15
    case .watchOS: return version >= 9
    case .visionOS, nil: return true
    case .macOS, .catalyst, .iOSOnMac: return false
    }
  }

  private var isDowngrade: Bool {
    guard isUnsupported || observations.attestation == .absent, supportIsExpected else {
      return false
    }
    return observations.accountHadKey == true || observations.deviceHadKey == true
  }

  /// Whether reports of "unsupported" rise so sharply that modified clients are likely (RSK-24).
  var unsupportedClaimsRise: Bool {
    guard isUnsupported, let now = observations.unsupportedNow,
      let base = observations.unsupportedBase
    else { return false }
    return now.parts > 3 &* base.parts && now.parts > RiskRules.unsupportedFloor
  }

  // MARK: device and purchase

  private var promoIsSet: Bool {
    guard case .bits(let bits) = observations.deviceCheck else { return false }
    return bits.promoIsSet(configuration.deviceCheck, nowMs: nowMs)
  }

  private var abuse: RiskVerdict? {
    guard case .bits(let bits) = observations.deviceCheck,
      bits.abuseIsSet(configuration.deviceCheck, nowMs: nowMs)
    else { return nil }
    return isOne(of: [.paid, .promo, .metered]) ? .deny : .limited
  }

  /// The verdict on an offer without a known bit (RSK-20). A reinstalled app has a new key on the
  /// same device, so that an assertion does not exclude a used offer. Without the block
  /// `deviceCheck` nothing is known about offers, and the rule does not apply.
  private var unknownPromo: RiskVerdict? {
    guard request == .promo, configuration.deviceCheck != nil else { return nil }
    switch observations.deviceCheck {
    case .unavailable: return .stepUp
    case .absent, .tokenRefused: return .deny
    case .bits, .noBits: return nil
    }
  }

  private var purchase: RiskVerdict? {
    guard observations.purchase == .foreign || observations.purchase == .refused else {
      return nil
    }
    return isOne(of: [.paid, .restore]) ? .deny : nil
  }

  private var metric: RiskVerdict? {
    let metric = observations.receiptRisk ?? 0
    guard metric > configuration.risk.receiptThreshold else { return nil }
    guard request == .promo, metric > RiskRules.promoMetric else { return .stepUp }
    return .deny
  }

  private var categoryIsRefused: Bool {
    guard let category = observations.category else { return false }
    return !configuration.attest.category.accepted.contains { Int64($0) == category }
  }

  // MARK: customer

  /// The number of accounts at one download up to which nothing is limited (RSK-30).
  private static let accountsPerDownload: Int64 = 5
  /// The number of refunds in a year from which their share counts (RSK-31).
  private static let refunds: Int64 = 3
  /// The number of device keys in a month up to which no step-up is required (RSK-32).
  private static let newKeys: Int64 = 5
  /// The number of transfers from which a restore needs a step-up (RSK-33).
  private static let transfers: Int64 = 3

  private func verdict(
    of rule: RiskRule, _ customer: RiskObservations.Customer
  ) -> RiskVerdict? {
    switch rule {
    case .restrictedAccount:
      guard customer.isRestricted else { return nil }
      return isOne(of: [.read, .restore]) ? .limited : .deny
    case .accountsPerDownload:
      guard customer.accountsPerDownload > RiskRules.accountsPerDownload else { return nil }
      return request == .promo ? .deny : .limited
    case .refunds:
      // At least half of the purchases, without a product that could overflow.
      let isMuch = customer.counts.contains {
        $0.refunds >= RiskRules.refunds && $0.refunds >= $0.purchases &- $0.refunds
      }
      return isMuch && isOne(of: [.paid, .promo]) ? .stepUp : nil
    case .newKeys: return customer.newKeys > RiskRules.newKeys ? .stepUp : nil
    case .transfers:
      return customer.transfers >= RiskRules.transfers && request == .restore ? .stepUp : nil
    default: return nil
    }
  }

  // MARK: waiting

  /// Whether App Attest was temporarily unavailable (RSK-22, RSK-23). A refused attestation never
  /// is (RSK-12).
  private var attestationIsTransient: Bool {
    switch observations.attestation {
    case .temporarilyUnavailable: return true
    case .unsupported, .absent: return observations.clientError == .serverUnavailable
    case .verified, .refused: return false
    }
  }

  private var hasRecentKey: Bool {
    guard observations.accountHadKey != false, let last = observations.lastAttestedMs else {
      return false
    }
    let age = nowMs &- last
    return age >= 0 && age <= RiskRules.historyMs
  }

  /// Whether a rule applies because Apple did not respond: its attestation service, or
  /// DeviceCheck if it decides about an offer.
  func waitingHelps(_ rule: RiskRule) -> Bool {
    switch rule {
    case .transientWithHistory, .transientWithoutHistory: return true
    case .promoUnknown: return observations.deviceCheck == .unavailable
    default: return false
    }
  }
}
