/// What the rules of a refund answer read.
struct RefundFacts {
  let asked: RefundCase
  let observations: RefundObservations
  let policy: RefundPolicy
  /// Milliseconds since 1970 UTC.
  let nowMs: Int64
  /// The decided delivery; `nil` before it is, and if it is not known yet (RFA-25).
  var delivery: RefundDelivery? = nil

  /// Whether the customer has consented, and has not withdrawn it (RFA-20).
  var hasConsent: Bool {
    guard let consent = observations.consent, consent.isGiven,
      consent.answeredAtMs <= nowMs
    else { return false }
    guard let withdrawn = consent.withdrawnAtMs else { return true }
    return withdrawn < consent.answeredAtMs
  }

  /// Whether the consent names an account that is not the purchase's (RFA-21).
  var isConsentOfOther: Bool {
    guard let account = observations.consent?.account else { return false }
    return account != asked.account
  }

  /// Whether the time of the last answer is over (RFA-5).
  var isLate: Bool { nowMs > asked.dueAtMs &- policy.marginMs && !policy.sendsLate }

  /// The time until which a purchase may still be granted, in milliseconds since 1970 UTC.
  var deliverByMs: Int64 { asked.purchasedAtMs &+ policy.deliverWithinMs }

  /// Whether nothing could be delivered when the purchase was made (RFA-24).
  var isInOutage: Bool { policy.outages.contains { $0.contains(asked.purchasedAtMs) } }

  /// What the configuration says of samples of the product; `nil` if nothing.
  var sample: Bool? { policy.samples.first { $0.product == asked.product }?.isProvided }

  var isDelivered: Bool { delivery == .delivered }
  var isSubscription: Bool { asked.type == .autoRenewable }
  var percentage: Int64? { observations.usage.percentage }

  /// Whether the customer had too many refunds (RFA-33).
  var hasManyRefunds: Bool {
    guard let history = asked.history, history.refunds >= policy.repeatCount else { return false }
    return history.refunds &* 100 >= history.purchases &* policy.repeatPercent
  }
}
