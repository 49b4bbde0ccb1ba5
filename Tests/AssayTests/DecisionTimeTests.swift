import Testing

@testable import Assay

/// Tests the schedule of checks, the calendar, stored dates and hostile numbers.
@Suite("Decision: time")
struct DecisionTimeTests {
  // MARK: nextCheckAtMs

  @Test("FLW-7 before the end: a day before it while that lies ahead, else the end")
  func beforeEnd() throws {
    let look = At.end - At.day
    try checkEqual(decided([subscription()], at: look - 1).nextCheckAtMs, look)
    try checkEqual(decided([subscription()], at: look).nextCheckAtMs, At.end)
    try checkEqual(decided([subscription()], at: At.end - 1).nextCheckAtMs, At.end)
  }

  /// (time since the end, time from the end to the next check).
  private static let looks: [(passed: Int64, look: Int64?)] = [
    (0, 5 * At.minute),
    (5 * At.minute - 1, 5 * At.minute),
    (5 * At.minute, 15 * At.minute),
    (15 * At.minute, At.hour),
    (At.hour, 6 * At.hour),
    (6 * At.hour, At.day),
    (At.day - 1, At.day),
    (At.day, 2 * At.day),
    (2 * At.day - 1, 2 * At.day),
    (2 * At.day, 3 * At.day),
    (59 * At.day, 60 * At.day),
    (60 * At.day - 1, 60 * At.day),
    (60 * At.day, nil),
    (900 * At.day, nil),
  ]

  @Test(
    "FLW-7 after the end: 5 and 15 minutes, 1, 6 and 24 hours, then daily to the 60th day",
    arguments: looks)
  func afterEnd(later: Int64, look: Int64?) throws {
    let expected = look.map { At.now + $0 }
    let alone = try decided([endedSubscription()], at: At.now + later)
    checkEqual(alone.nextCheckAtMs, expected)
    let retrying = renewal {
      $0.isInBillingRetry = true
      $0.asOfMs = At.now
    }
    try checkEqual(
      decided([endedSubscription()], [retrying], at: At.now + later).nextCheckAtMs, expected)
  }

  @Test("FLW-7 daily looks stop where retry is known to be over")
  func retryOver() throws {
    func look(_ later: Int64, _ isRetrying: Bool?) throws -> Int64? {
      let told = renewal {
        $0.expirationIntent = 1
        $0.isInBillingRetry = isRetrying
        $0.asOfMs = At.now
      }
      return try decided([endedSubscription()], [told], at: At.now + later).nextCheckAtMs
    }
    try checkEqual(look(At.day - 1, false), At.now + At.day)
    try check(look(At.day, false) == nil)
    try checkEqual(look(At.day, nil), At.now + 2 * At.day)
  }

  @Test("FLW-7 replaced or undated evidence is looked at by its own date")
  func withoutPeriod() throws {
    let replaced = subscription {
      $0.isUpgraded = true
      $0.asOfMs = At.now
    }
    try checkEqual(decided([replaced]).nextCheckAtMs, At.now + 5 * At.minute)
    let endless = subscription {
      $0.end = nil
      $0.asOfMs = At.now - At.hour
    }
    try checkEqual(decided([endless]).nextCheckAtMs, At.now + 5 * At.hour)
  }

  @Test("FLW-7 the earliest look of all groups")
  func earliest() throws {
    let ended = endedSubscription {
      $0.originalTransactionId = "5"
      $0.transactionId = "5"
      $0.group = "20600002"
    }
    let decision = try decided([subscription(), ended])
    checkEqual(decision.outcome?.nextCheckAtMs, At.end - At.day)
    checkEqual(decision.nextCheckAtMs, At.now + 5 * At.minute)
    check(
      decision.json.contains(
        "\"stale\":false,\"nextCheckAtMs\":\(At.now + 5 * At.minute),\"evidence\""))
  }

  // MARK: calendar

  /// Returns a day at 23:59:59.999 by counting days, independently of the arithmetic under test.
  private func late(_ date: Day) -> Int64 {
    let year = date.year
    func isLeap(_ year: Int) -> Bool {
      year % 400 == 0 || (year % 4 == 0 && year % 100 != 0)
    }
    var days = 0
    for past in 1970..<year { days += isLeap(past) ? 366 : 365 }
    let lengths = [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    for past in lengths.prefix(date.month - 1) { days += past }
    return Int64(days + date.day - 1) * At.day + At.day - 1
  }

  struct Day: Sendable {
    var year: Int
    var month: Int
    var day: Int
    init(_ year: Int, _ month: Int, _ day: Int) {
      (self.year, self.month, self.day) = (year, month, day)
    }
  }

  struct CalendarCase: Sendable {
    var from: Day
    var duration: CalendarDuration
    var to: Day
    init(_ from: Day, _ count: Int64, _ unit: CalendarDuration.Unit, _ to: Day) {
      self.from = from
      duration = CalendarDuration(count: count, unit: unit)
      self.to = to
    }
  }

  private static let calendarCases: [CalendarCase] = [
    CalendarCase(Day(2025, 1, 31), 1, .month, Day(2025, 2, 28)),
    CalendarCase(Day(2024, 1, 31), 1, .month, Day(2024, 2, 29)),
    CalendarCase(Day(2024, 1, 30), 1, .month, Day(2024, 2, 29)),
    CalendarCase(Day(2100, 1, 31), 1, .month, Day(2100, 2, 28)),
    CalendarCase(Day(2000, 1, 31), 1, .month, Day(2000, 2, 29)),
    CalendarCase(Day(2025, 3, 31), 1, .month, Day(2025, 4, 30)),
    CalendarCase(Day(2025, 12, 31), 1, .month, Day(2026, 1, 31)),
    CalendarCase(Day(2025, 12, 31), 2, .month, Day(2026, 2, 28)),
    CalendarCase(Day(2025, 11, 15), 14, .month, Day(2027, 1, 15)),
    CalendarCase(Day(2025, 1, 31), 12, .month, Day(2026, 1, 31)),
    CalendarCase(Day(2024, 2, 29), 1, .year, Day(2025, 2, 28)),
    CalendarCase(Day(2024, 2, 29), 4, .year, Day(2028, 2, 29)),
    CalendarCase(Day(2096, 2, 29), 4, .year, Day(2100, 2, 28)),
    CalendarCase(Day(2025, 6, 1), 1, .year, Day(2026, 6, 1)),
    CalendarCase(Day(2025, 2, 28), 1, .day, Day(2025, 3, 1)),
    CalendarCase(Day(2024, 2, 28), 1, .day, Day(2024, 2, 29)),
    CalendarCase(Day(2025, 12, 29), 1, .week, Day(2026, 1, 5)),
    CalendarCase(Day(1970, 1, 1), 1, .month, Day(1970, 2, 1)),
  ]

  @Test("DCD-16 months and years in the UTC calendar, the day clamped", arguments: calendarCases)
  func calendar(_ item: CalendarCase) {
    checkEqual(item.duration.end(startMs: late(item.from)), late(item.to))
  }

  @Test("DCD-16 no date and no count ends the process")
  func hostileDurations() {
    let moments: [Int64] = [.min, -1, 0, 4_102_444_800_000, .max]
    for start in moments {
      for count in [1, 9999, Int64.max] as [Int64] {
        for unit in [CalendarDuration.Unit.day, .week, .month, .year] {
          let end = CalendarDuration(count: count, unit: unit).end(startMs: start)
          if count <= 9999, start < .max { check(end > start) }
        }
      }
    }
    checkEqual(CalendarDuration(count: 9999, unit: .day).end(startMs: .max), .max)
  }

  // MARK: stored dates

  @Test("DCD-19 checkExpiry agrees with the decision on what a host stores")
  func storedDatesAgree() throws {
    let grace = renewal {
      $0.isInBillingRetry = true
      $0.graceEnd = At.now + At.day
      $0.asOfMs = At.now
    }
    for revoked in [nil, At.now] as [Int64?] {
      let facts = endedSubscription { $0.revokedAtMs = revoked }
      for now in [At.now - 1, At.now, At.now + At.day - 1, At.now + At.day] {
        let status = checkExpiry(
          expiresAtMs: At.now, gracePeriodMs: At.now + At.day, revokedAtMs: revoked ?? noDate,
          nowMs: now)
        try checkEqual(decided([facts], [grace], at: now).entitled, (status == .ok))
      }
    }
  }

  // MARK: any evidence

  /// A fixed sequence of random-looking numbers.
  private struct Numbers {
    var state: UInt64
    mutating func next(_ count: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(count))
    }
    mutating func pick<Element>(_ list: [Element]) -> Element { list[next(list.count)] }
  }

  private static let moments: [Int64?] = [
    nil, .min, 0, At.now - 30 * At.day, At.now - 1, At.now, At.now + 1, At.now + At.skew,
    At.now + At.skew + 1, At.now + 30 * At.day, .max,
  ]

  private func anyPurchase(_ numbers: inout Numbers) -> PurchaseFacts {
    let products: [(Text, ProductType)] = [
      (ProductId.pro, .autoRenewable), (ProductId.basic, .autoRenewable),
      (ProductId.stackedPass, .nonRenewing), (ProductId.yearPass, .nonRenewing),
      (ProductId.lifetime, .nonConsumable), (ProductId.coins, .consumable),
    ]
    let (product, type) = numbers.pick(products)
    return purchase(product, type, numbers.pick(["1", "2", "3", "03"])) {
      $0.originalTransactionId = numbers.pick(["1", "2"])
      $0.environment = numbers.pick([.production, .production, .sandbox])
      $0.start = numbers.pick(Self.moments)
      $0.end = numbers.pick(Self.moments)
      $0.revokedAtMs = numbers.next(4) == 0 ? numbers.pick(Self.moments) : nil
      $0.isUpgraded = numbers.next(6) == 0
      $0.ownership = numbers.pick([nil, "PURCHASED", "FAMILY_SHARED", "ASSIGNED", "LENT"])
      $0.offerType = numbers.pick([nil, 1, 2, 9])
      $0.asOfMs = numbers.pick([At.now - At.day, At.now - At.hour, At.now, .min, .max])
      if numbers.next(4) == 0 { $0.canReport.remove(.revocation) }
    }
  }

  private func anyRenewal(_ numbers: inout Numbers) -> RenewalFacts {
    renewal {
      $0.originalTransactionId = numbers.pick(["1", "2"])
      $0.environment = numbers.pick([.production, .sandbox])
      $0.autoRenewStatus = numbers.pick([nil, 0, 1, 2])
      $0.isInBillingRetry = numbers.pick([nil, true, false])
      $0.graceEnd = numbers.pick(Self.moments)
      $0.expirationIntent = numbers.pick([nil, nil, 1, 6])
      $0.asOfMs = numbers.pick([At.now - 40 * At.day, At.now - 1, At.now, .min, .max])
    }
  }

  /// Whether this evidence could entitle at all, evaluated without the table.
  private func couldEntitle(
    _ purchases: [PurchaseFacts], _ renewals: [RenewalFacts]
  ) -> Bool {
    purchases.contains { facts in
      guard facts.revokedAtMs == nil, !facts.isUpgraded else { return false }
      switch facts.productId {
      case ProductId.coins: return false
      case ProductId.lifetime: return true
      case ProductId.stackedPass, ProductId.yearPass:
        return facts.start.map { $0 <= At.now + At.skew } ?? false
      default:
        guard let end = facts.end else { return false }
        if let start = facts.start, start <= At.now + At.skew, At.now < end { return true }
        return renewals.contains {
          $0.originalTransactionId == facts.originalTransactionId
            && $0.environment == facts.environment && $0.isInBillingRetry == true
            && ($0.graceEnd ?? .min) > At.now
        }
      }
    }
  }

  @Test("DCD-7 DCD-16 whatever the evidence: no trap, no order, no grant without a ground")
  func anyEvidence() throws {
    var numbers = Numbers(state: 1)
    var entitled = 0
    for _ in 0..<3000 {
      var purchases: [PurchaseFacts] = []
      for _ in 0...numbers.next(4) { purchases.append(anyPurchase(&numbers)) }
      var renewals: [RenewalFacts] = []
      for _ in 0..<numbers.next(3) { renewals.append(anyRenewal(&numbers)) }
      let evidence = documents(purchases, renewals)
      let configuration = decisionConfiguration()
      let decision = try configuration.decide(evidence, account: nil, nowMs: At.now)
      var mixed = evidence
      for place in mixed.indices { mixed.swapAt(place, numbers.next(mixed.count)) }
      let again = try configuration.decide(mixed, account: nil, nowMs: At.now)
      checkEqual(decision.json, again.json)
      if decision.entitled {
        entitled += 1
        check(couldEntitle(purchases, renewals))
        check((decision.outcome?.until ?? .max) > At.now)
      }
      if let look = decision.nextCheckAtMs { check(look > At.now) }
    }
    check(entitled > 300)
  }
}
