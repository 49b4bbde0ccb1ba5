/// The conditions of the risk rules and their default verdicts (docs/spec/device-check.md
/// §4). A pure function of what was observed, the configuration and `nowMs`.
struct RiskRules {
  let observations: RiskObservations
  let configuration: Configuration
  /// Milliseconds since 1970 UTC.
  let nowMs: Int64

  /// When waiting helps: Apple's service may be back.
  static let retryAfterMs: Int64 = 60_000
  /// RSK-22: a key that was used this recently shows an honest account.
  private static let historyMs: Int64 = 30 * 86_400_000
  /// RSK-21: above it no offer is given.
  private static let promoMetric: Int64 = 50
  /// RSK-25: the usual number of accounts for one address and day.
  private static let accountsPerIpDay: Int64 = 100
  /// RSK-24: below a share of 0.05 a rise is chance.
  private static let unsupportedFloor: Int64 = 50_000_000_000

  private var request: RiskObservations.Request { observations.request }

  private func isOne(of requests: [RiskObservations.Request]) -> Bool {
    requests.contains(request)
  }

  /// The default verdict of a rule; nil: it does not fire. RSK-24 and RSK-28 go by
  /// what the others come to.
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
      return accounts > RiskRules.accountsPerIpDay ? .limited : nil
    case .category: return categoryIsRefused ? .deny : nil
    case .silentClient:
      guard observations.attestation == .absent, observations.clientError == nil,
        observations.clientSends == true
      else { return nil }
      return .stepUp
    case .unsupportedWave, .otherwise: return nil
    }
  }

  /// RSK-28, where no other rule fires. A verified purchase is worth no less in `read`
  /// and `free` than RSK-17 lets it be in `paid`.
  var otherwise: RiskVerdict {
    observations.purchase == .verified && isOne(of: [.read, .free]) ? .allow : .limited
  }

  // MARK: unsupported devices

  private var isUnsupported: Bool { observations.attestation == .unsupported }

  /// Whether App Attest exists where the client says that it runs (§3). What the
  /// client leaves out raises no trust: support is then expected.
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

  /// RSK-24: a jump in "unsupported" is itself a sign of a modified client.
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

  /// RSK-20. A reinstalled app has a new key on the same device, so that an assertion
  /// says nothing about an offer; without the block DeviceCheck is never asked.
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

  // MARK: waiting

  /// RSK-22, RSK-23. A refused attestation never gets here (RSK-12).
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

  /// Whether a rule fires because Apple did not answer: its attestation service,
  /// or its DeviceCheck where that decides about an offer.
  func waitingHelps(_ rule: RiskRule) -> Bool {
    switch rule {
    case .transientWithHistory, .transientWithoutHistory: return true
    case .promoUnknown: return observations.deviceCheck == .unavailable
    default: return false
    }
  }
}
