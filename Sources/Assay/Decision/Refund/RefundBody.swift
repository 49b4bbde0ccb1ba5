/// The members of Apple's body: words and a percentage, or for Advanced Commerce purchases numbers
/// (RFA-16).
struct RefundBody {
  private(set) var fields: [RefundField]
  private(set) var warnings: [Warning] = []
  private let facts: RefundFacts

  private var isCommerce: Bool { facts.asked.isAdvancedCommerce }

  init(_ facts: RefundFacts) {
    self.facts = facts
    fields = [
      RefundField(
        name: "customerConsented", value: .boolean(facts.hasConsent), rule: "RFA-20",
        inputs: ["observations.consent"])
    ]
    if facts.observations.usage.isAboveGranted {
      warnings.append(Warning("usage-above-granted", at: "observations.usage"))
    }
  }

  private mutating func add<Value>(
    _ name: StaticString, _ value: RefundField.Value, _ choice: RefundChoice<Value>
  ) {
    fields.append(
      RefundField(name: name, value: value, rule: choice.rule, inputs: choice.inputs))
  }

  mutating func add(_ delivery: RefundChoice<RefundDelivery?>?, _ sample: RefundChoice<Bool>?) {
    if let sample { add("sampleContentProvided", .boolean(sample.value), sample) }
    guard let delivery else { return }
    guard let status = delivery.value else { return add("deliveryStatus", .absent, delivery) }
    add(
      "deliveryStatus", isCommerce ? .integer(status.number) : .word(status.name), delivery)
  }

  mutating func add(
    _ percentage: RefundChoice<Int64?>?, _ preference: RefundChoice<RefundEffect>?
  ) {
    guard let percentage, let preference else { return }
    guard !isCommerce else {
      add("consumptionStatus", .integer(RefundBody.status(percentage.value)), percentage)
      add("refundPreference", .integer(preference.value.number), preference)
      fields += RefundAccountMember.all.map {
        RefundField(name: $0.name, value: $0.value(facts), rule: "RFA-16", inputs: [$0.input])
      }
      return
    }
    let share = percentage.value.map { RefundField.Value.integer($0) }
    add("consumptionPercentage", share ?? .absent, percentage)
    let effect = word(preference.value, percentage.value)
    add("refundPreference", effect, preference)
  }

  /// Returns Apple's number of a percentage.
  private static func status(_ percentage: Int64?) -> Int64 {
    guard let percentage else { return 0 }
    return percentage == 0 ? 1 : percentage < RefundUsage.full ? 2 : 3
  }

  /// Returns Apple's word of a preference. One for a share is left out if Apple demands a
  /// percentage with it and there is none (RFA-15).
  private mutating func word(
    _ effect: RefundEffect, _ percentage: Int64?
  ) -> RefundField.Value {
    switch effect {
    case .off, .noPreference, .silent: return .absent
    case .decline, .grantFull: return .word(effect.name)
    case .grantProrated:
      if facts.isSubscription || (percentage ?? 0) > 0 { return .word(effect.name) }
      warnings.append(Warning("prorated-without-percentage", at: "refundPreference"))
      return .absent
    }
  }
}
