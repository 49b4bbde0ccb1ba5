import Testing

@testable import Assay

/// Tests decision rows with dates, combinations and boundaries that no case has.
@Suite("Decision: rows")
struct DecisionRowTests {
  // MARK: nothing known

  @Test("DEC-2 an empty purchase list is none, with the default plan")
  func nothing() throws {
    let evidence = [PurchaseEvidence(kind: "app-transaction", purchases: [], renewals: [])]
    let decision = try decisionConfiguration().decide(evidence, account: nil, nowMs: At.now)
    checkEqual(
      decision.json,
      """
      {"plan":"free","entitled":false,"state":"none","rule":"DEC-2","flags":[],\
      "reasonCode":null,"expiresAtMs":null,"wouldExpireAtMs":null,"nextPeriodExpiresAtMs":null,\
      "graceExpiresAtMs":null,"productId":null,\
      "originalTransactionId":null,"transactionId":null,"environment":null,\
      "account":null,"stale":false,"nextCheckAtMs":null,"evidence":{"class":"signed",\
      "kinds":["app-transaction"],"asOfMs":null,"complete":false,\
      "missing":["transaction"]},"groups":[],"excluded":[],"warnings":[]}
      """)
  }

  @Test("DEC-2 DCD-20 a renewal info alone proves no purchase, with a transaction it counts")
  func renewalAlone() throws {
    let alone = try decided([], [renewal()])
    checkEqual(
      alone.warningTexts,
      [
        "renewal-without-transaction renewals/Production/2000000000000001"
      ])
    try check(decided([subscription()], [renewal()]).warningTexts.isEmpty)
  }

  @Test("DCD-5 a product that the catalogue does not have is warned of")
  func unknownProduct() throws {
    let stranger = subscription { $0.productId = "com.example.other" }
    try checkEqual(
      decided([stranger]).warningTexts, ["unknown-product products.com.example.other"])
  }

  // MARK: replaced and revoked

  @Test(
    "DEC-5 DCD-10 the reason of a refund",
    arguments: [
      (Int64?.none, Int64?.none), (0, 0), (1, 1), (2, nil),
    ])
  func refunded(signed: Int64?, reported: Int64?) throws {
    let refund = subscription {
      $0.revokedAtMs = At.now - At.hour
      $0.revocationReason = signed
    }
    try checkEqual(decided([refund]).outcome?.reason, reported)
  }

  @Test("DEC-5 a revocation date that lies ahead of now revokes as well (DCD-19)")
  func refundAhead() throws {
    let decision = try decided([subscription { $0.revokedAtMs = At.now + At.day }])
    checkEqual(decision.row, "DEC-5")
    // The stored end must not grant.
    checkEqual(decision.outcome?.until, At.now)
  }

  @Test(
    "DEC-5 refunds of other product types",
    arguments: [
      (ProductId.pass, ProductType.nonRenewing), (ProductId.lifetime, .nonConsumable),
      (ProductId.coins, .consumable),
    ])
  func refundedOtherTypes(product: Text, type: ProductType) throws {
    let refund = purchase(product, type) { $0.revokedAtMs = At.now - At.hour }
    let decision = try decided([refund])
    checkEqual(decision.row, "DEC-5")
    check(!decision.entitled)
    try check(decided([purchase(product, type)]).row != "DEC-5")
  }

  // MARK: before the end

  @Test("DEC-6 a renewal that Apple booked ahead and refunded is not booked")
  func bookedAndRefunded() throws {
    let refundedNext = subscription("2000000000000002") {
      $0.start = At.end
      $0.end = At.end + 30 * At.day
      $0.revokedAtMs = At.now
    }
    try checkEqual(decided([subscription(), refundedNext]).row, "DEC-14")
  }

  @Test("DEC-7 DCD-15 no tolerance at the start where none is configured")
  func notStarted() throws {
    let strict = decisionConfiguration { $0.clockSkewMs = 0 }
    let next = subscription { $0.start = At.now + 1 }
    try checkEqual(decided([next], by: strict).row, "DEC-7")
    try checkEqual(decided([next], by: strict, at: At.now + 1).row, "DEC-14")
  }

  @Test(
    "DEC-9 trial, introductory and other offers",
    arguments: [
      (Int64?(1), Text?("PAY_UP_FRONT"), ["intro"]), (1, nil, ["intro"]),
      (3, "FREE_TRIAL", ["trial", "offer"]), (4, "ONE_TIME", ["offer"]),
    ])
  func offers(offerType: Int64?, discount: Text?, flags: [String]) throws {
    let offer = subscription {
      $0.offerType = offerType
      $0.offerDiscountType = discount
    }
    let decision = try decided([offer])
    checkEqual(decision.row, "DEC-9")
    checkEqual(decision.flags, flags)
    check(decision.entitled)
  }

  @Test("DEC-11 switched off, a change to another product renews into nothing")
  func changeSwitchedOff() throws {
    let off = renewal {
      $0.autoRenewProductId = ProductId.basic
      $0.autoRenewStatus = 0
    }
    try checkEqual(decided([subscription()], [off]).flags, ["will-not-renew"])
  }

  @Test("DCD-9 all flags that match are reported, the first names the row")
  func allFlags() throws {
    let first = subscription {
      $0.offerType = 1
      $0.offerDiscountType = "FREE_TRIAL"
      $0.ownership = "FAMILY_SHARED"
    }
    let off = renewal {
      $0.autoRenewStatus = 0
      $0.priceIncreaseStatus = 0
    }
    let next = subscription("2000000000000002") {
      $0.start = At.end
      $0.end = At.end + At.day
    }
    let decision = try decided([first, next], [off])
    checkEqual(decision.row, "DEC-6")
    checkEqual(
      decision.flags,
      [
        "renewal-booked", "trial", "will-not-renew", "price-consent-pending", "family",
      ])
    let withoutBooking = try decided([first], [off])
    checkEqual(withoutBooking.row, "DEC-9")
    checkEqual(
      withoutBooking.flags, ["trial", "will-not-renew", "price-consent-pending", "family"])
  }

  // MARK: after the end

  @Test("DEC-15 grace is looked at again at its end, and is told where it is switched off")
  func grace() throws {
    let graceEnd = At.now + 6 * At.day
    let retrying = renewal {
      $0.isInBillingRetry = true
      $0.graceEnd = graceEnd
      $0.asOfMs = At.now
    }
    try checkEqual(decided([endedSubscription()], [retrying]).nextCheckAtMs, graceEnd)

    let off = decisionConfiguration { $0.decision.gracePeriod = false }
    let refused = try decided([endedSubscription()], [retrying], by: off)
    check(refused.outcome?.until == nil)
    checkEqual(refused.outcome?.wouldExpireAtMs, At.now)
    checkEqual(refused.outcome?.graceExpiresAtMs, graceEnd)
  }

  @Test("DEC-15 a grace date without retry gives nothing")
  func graceWithoutRetry() throws {
    let told = renewal {
      $0.isInBillingRetry = false
      $0.graceEnd = At.now + At.day
      $0.asOfMs = At.now
    }
    try checkEqual(decided([endedSubscription()], [told]).entitled, false)
  }

  @Test("DEC-15 grace of a period that still runs does not lengthen the answer")
  func graceBeforeEnd() throws {
    let told = renewal {
      $0.isInBillingRetry = true
      $0.graceEnd = At.end + 6 * At.day
    }
    let decision = try decided([subscription()], [told])
    checkEqual(decision.row, "DEC-14")
    checkEqual(decision.outcome?.until, At.end)
    checkEqual(decision.outcome?.graceExpiresAtMs, At.end + 6 * At.day)
  }

  @Test("DEC-16 billing retry that policy grants is never for ever")
  func retry() throws {
    let retrying = renewal {
      $0.isInBillingRetry = true
      $0.expirationIntent = 2
      $0.asOfMs = At.now
    }
    let lenient = decisionConfiguration { $0.decision.billingRetryAllowed = true }
    let lastTry = At.now + 60 * At.day
    let granted = try decided([endedSubscription()], [retrying], by: lenient)
    checkEqual(granted.outcome?.until, lastTry)
    try check(decided([endedSubscription()], [retrying], by: lenient, at: lastTry - 1).entitled)
    try check(!decided([endedSubscription()], [retrying], by: lenient, at: lastTry).entitled)
  }

  @Test("DEC-18 the dates of a renewal in flight, without and with leeway")
  func inFlight() throws {
    let on = renewal { $0.asOfMs = At.now - At.day }
    let decision = try decided([endedSubscription()], [on])
    check(decision.outcome?.until == nil)
    checkEqual(decision.outcome?.wouldExpireAtMs, At.now)
    let lenient = decisionConfiguration { $0.decision.renewalLeewayMs = 5000 }
    let granted = try decided([endedSubscription()], [on], by: lenient)
    checkEqual(granted.outcome?.until, At.now + 5000)
  }

  @Test("§3.3 which rows say that newer evidence may exist")
  func stale() throws {
    let on = renewal { $0.asOfMs = At.now - At.day }
    let off = renewal { $0.autoRenewStatus = 0 }
    let told = renewal {
      $0.expirationIntent = 1
      $0.autoRenewStatus = 0
      $0.asOfMs = At.now
    }
    try checkEqual(decided([subscription { $0.isUpgraded = true }]).outcome?.stale, true)
    try checkEqual(decided([endedSubscription()], [told]).outcome?.stale, false)
    try checkEqual(decided([endedSubscription()], [on]).outcome?.stale, true)
    try checkEqual(decided([endedSubscription()], [off]).outcome?.stale, false)
    let dayAfter = try decided([endedSubscription()], [on], at: At.now + At.day)
    checkEqual(dayAfter.outcome?.stale, true)
  }

  @Test("DEC-18 retry reported as off counts as absent only when it was reported before the end")
  func retryToldOff() throws {
    let before = renewal {
      $0.isInBillingRetry = false
      $0.asOfMs = At.now - 1
    }
    try checkEqual(decided([endedSubscription()], [before]).row, "DEC-18")
    let after = renewal {
      $0.isInBillingRetry = false
      $0.asOfMs = At.now
    }
    let decision = try decided([endedSubscription()], [after])
    checkEqual(decision.row, "DEC-20")
    checkEqual(decision.outcome?.stale, false)
  }

  @Test("DCD-14 leeway reaches no other row than DEC-18")
  func leewayElsewhere() throws {
    let lenient = decisionConfiguration { $0.decision.renewalLeewayMs = 3_600_000 }
    let off = renewal { $0.autoRenewStatus = 0 }
    let reason = renewal { $0.expirationIntent = 1 }
    let retrying = renewal { $0.isInBillingRetry = true }
    for renewals in [[], [off], [reason], [retrying]] {
      try check(!decided([endedSubscription()], renewals, by: lenient).entitled)
    }
    try check(decided([endedSubscription()], [renewal()], by: lenient).entitled)
  }

  @Test("DEC-21 a subscription without expiresDate is never for ever, whatever else is said")
  func withoutEnd() throws {
    let endless = subscription { $0.end = nil }
    let grace = renewal {
      $0.isInBillingRetry = true
      $0.graceEnd = At.now + At.day
      $0.asOfMs = At.now
    }
    let lenient = decisionConfiguration {
      $0.decision.billingRetryAllowed = true
      $0.decision.renewalLeewayMs = 3_600_000
    }
    for renewals in [[], [grace], [renewal()]] {
      let decision = try decided([endless], renewals, by: lenient)
      checkEqual(decision.row, "DEC-21")
      checkEqual(decision.stateName, "expired")
      check(!decision.entitled)
      check(decision.outcome?.until == nil)
      checkEqual(decision.outcome?.stale, true)
      checkEqual(
        decision.warningTexts,
        [
          "undated transactions/Production/2000000000000001/expiresDate"
        ])
    }
    // The endless transaction hides no transaction that has an end.
    let dated = subscription("2000000000000002") { $0.end = At.now + 1 }
    try check(decided([endless, dated]).entitled)
  }

  @Test("DEC-21 a subscription without purchaseDate is not known to run")
  func withoutStart() throws {
    let decision = try decided([subscription { $0.start = nil }])
    checkEqual(decision.row, "DEC-21")
    check(!decision.entitled)
    checkEqual(
      decision.warningTexts,
      [
        "undated transactions/Production/2000000000000001/purchaseDate"
      ])
  }

  // MARK: other types

  @Test("DEC-22 what an ended non-renewing subscription shows, and what decides nothing")
  func nonRenewing() throws {
    let end = At.start + 30 * At.day
    let pass = purchase(ProductId.pass, .nonRenewing)
    try check(decided([pass], at: end - 1).nextCheckAtMs == nil)
    let over = try decided([pass], at: end)
    check(over.outcome?.until == nil)
    checkEqual(over.outcome?.wouldExpireAtMs, end)
    // The expiresDate of such a purchase decides nothing.
    let claimed = purchase(ProductId.pass, .nonRenewing) { $0.end = end + 100 * At.day }
    try check(!decided([claimed], at: end).entitled)
  }

  @Test("DEC-22 DEC-7 a non-renewing subscription bought ahead of the clock has not started")
  func nonRenewingAhead() throws {
    let pass = purchase(ProductId.pass, .nonRenewing) { $0.start = At.now + At.skew + 1 }
    try checkEqual(decided([pass]).row, "DEC-7")
    try checkEqual(decided([pass], at: At.now + 1).row, "DEC-22")
  }

  @Test("DEC-22 a non-renewing subscription without a date grants nothing")
  func nonRenewingUndated() throws {
    let decision = try decided([purchase(ProductId.pass, .nonRenewing) { $0.start = nil }])
    checkEqual(decision.row, "DEC-22")
    checkEqual(decision.stateName, "expired")
    check(!decision.entitled)
    checkEqual(decision.outcome?.stale, true)
  }

  @Test("DEC-22 which purchases add up")
  func stacking() throws {
    func bought(_ product: Text, _ id: Text, _ start: Int64) -> PurchaseFacts {
      purchase(product, .nonRenewing, id) { $0.start = start }
    }
    let second = At.start + 10 * At.day
    let stacked = [
      bought(ProductId.stackedPass, "11", At.start),
      bought(ProductId.stackedPass, "12", second),
    ]
    // Different lengths of one plan and group follow each other.
    let mixed = [
      bought(ProductId.stackedPass, "11", At.start),
      bought(ProductId.yearPass, "12", second),
    ]
    try checkEqual(decided(mixed).outcome?.until, At.start + (30 + 365) * At.day)

    // A gap is not filled; a refund removes its share.
    let gap = [
      bought(ProductId.stackedPass, "11", At.start - 60 * At.day),
      bought(ProductId.stackedPass, "12", At.start),
    ]
    try checkEqual(decided(gap).outcome?.until, At.start + 30 * At.day)
    var refund = stacked
    refund[0].revokedAtMs = At.now - At.hour
    try checkEqual(decided(refund).outcome?.until, second + 30 * At.day)
  }

  @Test("DEC-23 a non-consumable is owned, with a plan or without one")
  func owned() throws {
    try check(decided([purchase(ProductId.lifetime, .nonConsumable)]).nextCheckAtMs == nil)
    let theme = try decided([purchase(ProductId.theme, .nonConsumable)])
    checkEqual(theme.stateName, "owned")
    checkEqual(theme.groups.first?.outcome.entitled, true)
    check(!theme.entitled)
    checkEqual(theme.plan, "free")
  }

  @Test("DEC-24 consumables are deliveries: each purchase key and quantity, no entitlement")
  func once() throws {
    let first = purchase(ProductId.coins, .consumable, "31") { $0.quantity = 3 }
    let second = purchase(ProductId.coins, .consumable, "32") {
      $0.revokedAtMs = At.now - At.hour
      $0.revocationPercentage = 40_000
    }
    let decision = try decided([second, first])
    checkEqual(decision.groups.count, 1)
    check(
      decision.json.contains(
        """
        "type":"Consumable","purchases":[\
        {"key":"Production/31","transactionId":"31","quantity":3,"revokedAtMs":null,\
        "revocationPercentage":null},\
        {"key":"Production/32","transactionId":"32","quantity":1,\
        "revokedAtMs":\(At.now - At.hour),"revocationPercentage":40000}]
        """))
    try checkEqual(decided([second]).row, "DEC-5")
  }
}
