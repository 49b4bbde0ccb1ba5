import AssayAuthority
import Testing

@testable import Assay

/// Tests properties of every combination of case and observations, whatever the single rules give
/// (RFA-12, RFA-15, RFA-20, RFA-21), and the arithmetic against exact fractions (RFA-11, RFA-41).
@Suite("Refund properties")
struct RefundPropertiesTests {
  private static let now = Exchanges.now

  /// A combination: the case, the observations, and whether the customer's consent covers it.
  private struct Combination {
    var asked: RefundCase
    var observations: RefundObservations
    var isCovered = true
  }

  private typealias Change = @Sendable (inout Combination) -> Void

  private static func base() throws -> Combination {
    let asked: JSONText = [
      "environment": "Sandbox", "bundleId": "com.example.app", "transactionId": "1",
      "product": "p.1", "type": "Consumable", "ownership": "PURCHASED", "account": "u-1",
      "purchasedAtMs": .integer(now - 86_400_000), "askedAtMs": .integer(now), "isGranted": true,
    ]
    let observed: JSONText = ["consent": ["isGiven": true, "answeredAtMs": .integer(now)]]
    func node(_ text: JSONText) throws -> MemberNode {
      try ExchangeInput.read(text.bytes, ExchangeInput.request)
    }
    return Combination(
      asked: try RefundCase(try node(asked)),
      observations: try RefundObservations(try node(observed)))
  }

  /// The values of one member that some rule distinguishes.
  private static let axes: [[Change]] = [
    [
      { _ in },
      {
        $0.observations.consent = nil; $0.isCovered = false
      },
      {
        $0.observations.consent?.isGiven = false; $0.isCovered = false
      },
      {
        $0.observations.consent?.answeredAtMs = now + 1; $0.isCovered = false
      },
      {
        $0.observations.consent?.withdrawnAtMs = now; $0.isCovered = false
      },
      {
        $0.observations.consent?.account = "u-2"; $0.isCovered = false
      },
      { $0.observations.consent?.account = "u-1" },
    ],
    ([.consumable, .nonConsumable, .nonRenewing, .autoRenewable] as [ProductType]).map { type in
      { $0.asked.type = type }
    },
    [
      { _ in },
      {
        $0.asked.ownership = "FAMILY_SHARED"; $0.isCovered = false
      },
      {
        $0.asked.ownership = "ASSIGNED"; $0.isCovered = false
      },
      {
        $0.asked.isRestricted = true; $0.isCovered = false
      },
      {
        $0.asked.environment = .xcode; $0.isCovered = false
      },
    ],
    ([nil, .delivered, .qualityIssue, .wrongItem, .serverOutage, .other] as [RefundDelivery?]).map {
      delivery in { $0.observations.delivery = delivery }
    },
    [
      { _ in }, { $0.asked.isGranted = false },
      {
        $0.asked.isGranted = false; $0.asked.purchasedAtMs = now
      },
    ],
    [
      { _ in }, { $0.observations.usage = RefundUsage(consumed: 0, granted: 9) },
      { $0.observations.usage = RefundUsage(consumed: 5, granted: 9) },
      { $0.observations.usage = RefundUsage(consumed: 9, granted: 9) },
    ],
    ([nil, "LEGAL", "FULFILLMENT_ISSUE", "OTHER"] as [Text?]).map { reason in
      { $0.asked.reason = reason }
    },
    [{ _ in }, { $0.asked.isAdvancedCommerce = true }],
  ]

  private static func combinations() throws -> [Combination] {
    var found = [try base()]
    for axis in axes {
      found = axis.flatMap { change in
        found.map { combination in
          var combination = combination
          change(&combination)
          return combination
        }
      }
    }
    return found
  }

  // MARK: one answer

  /// Returns what is wrong with an answer; `nil` if nothing is.
  private static func fault(_ combination: Combination, _ policy: RefundPolicy) throws -> String? {
    let assessment = RefundAssessment(
      combination.asked, combination.observations, policy, nowMs: now)
    var writer = JSONWriter()
    assessment.write(&writer)
    let refund = try JSONReader.readObject(writer.bytes).root
    guard let request = refund.member("request"), let fields = refund.member("fields") else {
      return "a member is missing"
    }
    let isSent = refund.member("answer")?.text == "send"
    guard isSent == !request.isNull else { return "answer and request do not fit" }
    guard isSent else { return nil }
    guard combination.isCovered else { return "a request without consent" }
    guard request.member("customerConsented")?.boolean == true else { return "no consent in it" }
    for member in request.children.dropFirst(4) {
      let field = fields.children.first { $0.member("field")?.text == member.name }
      guard let field, field.member("rule")?.text != nil,
        field.member("value")?.source.elementsEqual(member.source) == true
      else { return "\(member.name.string) has no rule" }
    }
    return combination.asked.isAdvancedCommerce
      ? numbersFault(request) : wordsFault(request, combination.asked)
  }

  /// Checks what Apple demands of `send-consumption-information`.
  private static func wordsFault(_ request: JSONValue, _ asked: RefundCase) -> String? {
    guard request.member("operation")?.text == "send-consumption-information",
      request.member("sampleContentProvided")?.boolean != nil,
      let delivery = request.member("deliveryStatus")?.text
    else { return "a required member is missing" }
    let percentage = request.member("consumptionPercentage")?.integer
    if delivery != "DELIVERED" && (percentage ?? 0) != 0 { return "used, and not delivered" }
    if asked.type == .autoRenewable { return percentage == nil ? nil : "a percentage" }
    let isProrated = request.member("refundPreference")?.text == "GRANT_PRORATED"
    return isProrated && (percentage ?? 0) <= 0 ? "a share without a percentage" : nil
  }

  /// Checks what Apple demands of `send-consumption-data`.
  private static func numbersFault(_ request: JSONValue) -> String? {
    let numbers: [StaticString] = [
      "consumptionStatus", "platform", "deliveryStatus", "accountTenure", "playTime",
      "lifetimeDollarsRefunded", "lifetimeDollarsPurchased", "userStatus", "refundPreference",
    ]
    let isWhole = numbers.allSatisfy { (0...7).contains(request.member($0)?.integer ?? -1) }
    return isWhole && request.member("operation")?.text == "send-consumption-data"
      && request.member("appAccountToken")?.text == "" ? nil : "a member is missing"
  }

  @Test("RFA-20 no combination gives a request without consent, and each member has its rule")
  func everyCombination() throws {
    var policy = RefundPolicy()
    policy.isRecording = false
    let combinations = try Self.combinations()
    check(combinations.count > 50_000)
    var covered = 0
    for combination in combinations {
      if let fault = try Self.fault(combination, policy) {
        Issue.record("\(fault): \(combination)")
        return
      }
      if combination.isCovered { covered += 1 }
    }
    check(covered > 4000)
    policy.isRecording = true
    for combination in combinations.prefix(1000) {
      let assessment = RefundAssessment(
        combination.asked, combination.observations, policy, nowMs: Self.now)
      check(assessment.answer != .send)
    }
  }

  @Test("RFA-15 no policy gives a request without consent, or one that Apple refuses")
  func everyPolicy() throws {
    var random = SeededNumbers(seed: 20_261_129)
    let combinations = try Self.combinations()
    for _ in 0..<100 {
      var policy = RefundPolicy()
      policy.isRecording = false
      policy.sendsLate = Bool.random(using: &random)
      policy.first = Array(
        RefundPreferenceRule.allCases.filter { $0 != .otherwise }.shuffled(using: &random).prefix(3)
      )
      for rule in RefundPreferenceRule.allCases {
        let effect = RefundEffect(rawValue: Int.random(in: 0...5, using: &random))
        guard let effect, rule != .otherwise || effect != .off else { continue }
        policy.changes.append((rule, effect))
      }
      for _ in 0..<200 {
        guard let combination = combinations.randomElement(using: &random) else { continue }
        if let fault = try Self.fault(combination, policy) {
          Issue.record("\(fault): \(combination) by \(policy)")
          return
        }
      }
    }
  }

  // MARK: arithmetic

  @Test("RFA-11 the percentage of a meter is the exact fraction, rounded down")
  func percentages() {
    var random = SeededNumbers(seed: 11)
    for _ in 0..<100_000 {
      let bits = Int64.random(in: 1...53, using: &random)
      let granted = Int64.random(in: 1...(1 << bits - 1), using: &random)
      let consumed = Int64.random(in: 1...granted, using: &random)
      let exact = UInt128(consumed) * 100_000 / UInt128(granted)
      let usage = RefundUsage(consumed: consumed, granted: granted)
      guard usage.percentage == Int64(max(1, exact)), !usage.isAboveGranted else {
        Issue.record("\(consumed) of \(granted): \(usage), not \(exact)")
        return
      }
    }
  }

  @Test("RFA-41 the units of a share are the nearest ones, and exact for whole items")
  func units() {
    var random = SeededNumbers(seed: 41)
    for _ in 0..<100_000 {
      let bits = Int64.random(in: 1...53, using: &random)
      let units = Int64.random(in: 0...(1 << bits - 1), using: &random)
      let share = Int64.random(in: 0...100_000, using: &random)
      let exact = (2 * UInt128(units) * UInt128(share) + 99_999) / 200_000
      guard RefundShare.back(of: units, share) == Int64(exact) else {
        Issue.record("\(share) of \(units): not \(exact)")
        return
      }
      let items = Int64.random(in: 1...99_999, using: &random)
      let part = Int64.random(in: 0...items, using: &random)
      // Apple rounds to three decimals of a percent.
      let told = (200_000 * part + items) / (2 * items)
      guard RefundShare.back(of: items, told) == part else {
        Issue.record("\(part) of \(items) items, told as \(told)")
        return
      }
    }
  }
}
