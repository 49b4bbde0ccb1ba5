/// The table of rules (docs/spec/refund-answers.md §3): per field the first row that matches.
enum RefundRules {
  /// Why nothing is sent, whatever the other fields are.
  static let answers: [RefundRule<RefundAction>] = [
    .init("RFA-20", ["observations.consent"], when: { !$0.hasConsent }) { _ in .silent },
    .init("RFA-21", ["case.ownership"], when: { $0.asked.ownership != Ownership.purchased }) {
      _ in .silent
    },
    .init(
      "RFA-21", ["case.environment"],
      when: { $0.asked.environment == .xcode || $0.asked.environment == .localTesting }
    ) { _ in .silent },
    .init("RFA-21", ["case.isRestricted"], when: { $0.asked.isRestricted }) { _ in .silent },
    .init(
      "RFA-21", ["observations.consent.account", "case.account"], when: { $0.isConsentOfOther }
    ) { _ in .silent },
    .init("RFA-5", ["case.askedAtMs", "refunds.marginMs", "refunds.late"], when: { $0.isLate }) {
      _ in .late
    },
  ]

  /// `deliveryStatus`; `nil`: not known yet.
  static let deliveries: [RefundRule<RefundDelivery?>] = [
    .init("RFA-22", ["observations.delivery"], when: { $0.observations.delivery != nil }) {
      $0.observations.delivery
    },
    .init("RFA-23", ["case.isGranted"], when: { $0.asked.isGranted }) { _ in .delivered },
    .init(
      "RFA-24", ["case.purchasedAtMs", "refunds.deliverWithinMs", "refunds.outages"],
      when: { !$0.asked.isGranted && $0.nowMs >= $0.deliverByMs }
    ) { $0.isInOutage ? .serverOutage : .other },
    .init("RFA-25", ["case.purchasedAtMs", "refunds.deliverWithinMs"], when: nil) { _ in nil },
  ]

  /// `sampleContentProvided`.
  static let samples: [RefundRule<Bool>] = [
    .init("RFA-26", ["observations.hasSample"], when: { $0.observations.hasSample != nil }) {
      $0.observations.hasSample == true
    },
    .init("RFA-26", ["refunds.samples"], when: { $0.sample != nil }) { $0.sample == true },
    .init("RFA-26", ["case.isTrial"], when: nil) { $0.asked.isTrial },
  ]

  /// `consumptionPercentage`; `nil`: left out.
  static let percentages: [RefundRule<Int64?>] = [
    .init(
      "RFA-27", ["case.type"], when: { $0.isSubscription && !$0.asked.isAdvancedCommerce }
    ) { _ in nil },
    .init("RFA-28", ["deliveryStatus"], when: { !$0.isDelivered }) { _ in 0 },
    .init("RFA-29", ["observations.usage"], when: { $0.percentage != nil }) { $0.percentage },
    .init("RFA-30", ["observations.usage"], when: nil) { _ in nil },
  ]

  /// `refundPreference`, in the configured order and with the configured effects.
  static func preferences(_ policy: RefundPolicy) -> [RefundRule<RefundEffect>] {
    policy.order.filter { policy.effect(of: $0) != .off }.map { rule in
      let row = preference(rule)
      return .init(rule.id, row.inputs, when: row.condition) { $0.policy.effect(of: rule) }
    }
  }

  private static func preference(
    _ rule: RefundPreferenceRule
  ) -> (inputs: [StaticString], condition: RefundRule<RefundEffect>.Condition?) {
    switch rule {
    case .undelivered: return (["deliveryStatus"], { !$0.isDelivered })
    case .legal: return (["case.reason"], { $0.asked.reason == "LEGAL" })
    case .repeated:
      return (["case.history", "refunds.repeat"], { $0.hasManyRefunds })
    case .unfulfilled:
      return (
        ["case.reason", "observations.usage"],
        { $0.asked.reason == "FULFILLMENT_ISSUE" && $0.percentage == 0 }
      )
    case .used: return (["observations.usage"], { $0.percentage == RefundUsage.full })
    case .partlyUsedSubscription:
      return (
        ["observations.usage", "case.type"],
        { $0.observations.usage.isPartial && $0.isSubscription }
      )
    case .partlyUsed:
      return (
        ["observations.usage", "case.type"],
        { $0.observations.usage.isPartial && !$0.isSubscription }
      )
    case .unused: return (["observations.usage"], { $0.percentage == 0 })
    case .otherwise: return ([], nil)
    }
  }
}
