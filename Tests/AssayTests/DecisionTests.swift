import Testing

@testable import Assay

/// Every row of the decision table, with its boundaries to the millisecond.
@Suite("Decision: rows")
struct DecisionRowTests {
  // MARK: nothing known

  @Test("DEC-2 an empty purchase list is none, with the default plan")
  func nothing() throws {
    let evidence = [PurchaseEvidence(kind: "app-transaction", purchases: [], renewals: [])]
    let decision = try decisionConfiguration().decide(evidence, account: nil, nowMs: At.now)
    #expect(
      decision.json == """
        {"plan":"free","entitled":false,"state":"none","row":"DEC-2","flags":[],\
        "reason":null,"until":null,"wouldBeUntil":null,"bookedUntil":null,"graceUntil":null,"productId":null,\
        "originalTransactionId":null,"transactionId":null,"environment":null,\
        "account":null,"stale":false,"nextCheck":null,"evidence":{"class":"signed",\
        "kinds":["app-transaction"],"asOf":null,"complete":false,\
        "missing":["transaction"]},"groups":[],"leftOut":[],"warnings":[]}
        """)
  }

  @Test("DEC-2 DCD-20 a renewal info alone proves no purchase, with a transaction it counts")
  func renewalAlone() throws {
    let alone = try decided([], [renewal()])
    #expect(alone.stateName == "none")
    #expect(alone.row == "DEC-2")
    #expect(!alone.entitled)
    #expect(
      alone.warningTexts == [
        "renewal-without-transaction renewals/Production/2000000000000001"
      ])
    let together = try decided([subscription()], [renewal()])
    #expect(together.entitled)
    #expect(together.warningTexts.isEmpty)
  }

  @Test("DCD-5 a product that the catalogue does not have is left out and named")
  func unknownProduct() throws {
    let stranger = subscription { $0.productId = "com.example.other" }
    let decision = try decided([stranger])
    #expect(decision.stateName == "none")
    #expect(decision.warningTexts == ["unknown-product products.com.example.other"])
    #expect(decision.leftOutTexts == ["unknown-product 2000000000000001"])
    #expect(try decided([subscription()]).stateName == "active")
  }

  // MARK: replaced and revoked

  @Test("DEC-3 replaced by an upgrade, and the replacing transaction is missing")
  func superseded() throws {
    let old = subscription {
      $0.isUpgraded = true
      $0.productId = ProductId.basic
    }
    let alone = try decided([old])
    #expect(alone.stateName == "superseded")
    #expect(alone.row == "DEC-3")
    #expect(!alone.entitled)
    #expect(alone.ruling?.stale == true)
    #expect(alone.plan == "free")

    let new = subscription("2000000000000002") { $0.end = At.now + 1 }
    let both = try decided([old, new])
    #expect(both.stateName == "active")
    #expect(both.plan == "pro")
    #expect(both.chosenId == "2000000000000002")
  }

  @Test("DEC-4 a family share that was taken back is not a refund")
  func revokedFamily() throws {
    let share = subscription {
      $0.ownership = "FAMILY_SHARED"
      $0.revokedAt = At.now - At.day
    }
    let decision = try decided([share])
    #expect(decision.stateName == "revoked-family")
    #expect(decision.row == "DEC-4")
    #expect(decision.ruling?.until == At.now - At.day)
    #expect(!decision.entitled)

    let byType = subscription {
      $0.revocationType = "FAMILY_REVOKE"
      $0.revokedAt = At.now - At.day
    }
    #expect(try decided([byType]).row == "DEC-4")
    let own = subscription { $0.revokedAt = At.now - At.day }
    #expect(try decided([own]).row == "DEC-5")
  }

  @Test(
    "DEC-5 DCD-10 a refund ends a period whose end lies ahead",
    arguments: [
      (Int64?.none, Int64?.none), (0, 0), (1, 1), (2, nil),
    ])
  func refunded(signed: Int64?, reported: Int64?) throws {
    let refund = subscription {
      $0.revokedAt = At.now - At.hour
      $0.revocationReason = signed
    }
    let decision = try decided([refund])
    #expect(decision.stateName == "refunded")
    #expect(decision.row == "DEC-5")
    #expect(decision.ruling?.reason == reported)
    #expect(decision.ruling?.until == At.now - At.hour)
    #expect(decision.ruling?.wouldBeUntil == At.end)
    #expect(decision.ruling?.nextCheck == nil)
    #expect(!decision.entitled)
  }

  @Test("DEC-5 a revocation date that lies ahead of now revokes as well (DCD-19)")
  func refundAhead() throws {
    let decision = try decided([subscription { $0.revokedAt = At.now + At.day }])
    #expect(decision.row == "DEC-5")
    // What a host stores as an end must not grant.
    #expect(decision.ruling?.until == At.now)
  }

  @Test(
    "DEC-5 refunds of other product types",
    arguments: [
      (ProductId.pass, ProductType.nonRenewing), (ProductId.lifetime, .nonConsumable),
      (ProductId.coins, .consumable),
    ])
  func refundedOtherTypes(product: Text, type: ProductType) throws {
    let refund = purchase(product, type) { $0.revokedAt = At.now - At.hour }
    let decision = try decided([refund])
    #expect(decision.row == "DEC-5")
    #expect(!decision.entitled)
    #expect(try decided([purchase(product, type)]).row != "DEC-5")
  }

  // MARK: before the end

  @Test("DEC-6 a renewal that Apple booked ahead")
  func booked() throws {
    let next = subscription("2000000000000002") {
      $0.start = At.end
      $0.end = At.end + 30 * At.day
    }
    let decision = try decided([subscription(), next])
    #expect(decision.row == "DEC-6")
    #expect(decision.stateName == "active")
    #expect(decision.flags == ["renewal-booked"])
    #expect(decision.ruling?.until == At.end)
    #expect(decision.ruling?.bookedUntil == At.end + 30 * At.day)
    #expect(decision.chosenId == "2000000000000001")

    let refundedNext = subscription("2000000000000002") {
      $0.start = At.end
      $0.end = At.end + 30 * At.day
      $0.revokedAt = At.now
    }
    #expect(try decided([subscription(), refundedNext]).row == "DEC-14")
    // At the boundary the booked period takes over without a gap.
    let after = try decided([subscription(), next], at: At.end)
    #expect(after.entitled)
    #expect(after.chosenId == "2000000000000002")
  }

  @Test("DEC-7 DCD-15 tolerance at the start, to the millisecond")
  func notStarted() throws {
    func state(startsIn ahead: Int64) throws -> Decision {
      try decided([subscription { $0.start = At.now + ahead }])
    }
    let ahead = try state(startsIn: At.skew + 1)
    #expect(ahead.stateName == "not-started")
    #expect(ahead.row == "DEC-7")
    #expect(!ahead.entitled)
    #expect(ahead.ruling?.until == nil)
    #expect(ahead.ruling?.wouldBeUntil == At.end)
    #expect(ahead.nextCheck == At.now + At.skew + 1)
    #expect(try state(startsIn: At.skew).stateName == "active")
    #expect(try state(startsIn: At.skew - 1).stateName == "active")
    let strict = decisionConfiguration { $0.clockSkewMs = 0 }
    let next = subscription { $0.start = At.now + 1 }
    #expect(try decided([next], by: strict).row == "DEC-7")
    #expect(try decided([next], by: strict, at: At.now + 1).row == "DEC-14")
  }

  @Test("DEC-7 a restored entry whose start lies after its end is not one that will start")
  func restored() throws {
    let restored = subscription {
      $0.start = At.now + At.hour
      $0.end = At.now - At.day
    }
    #expect(try decided([restored]).row == "DEC-21")
  }

  @Test(
    "DEC-9 trial, introductory and other offers",
    arguments: [
      (Int64?(1), Text?("FREE_TRIAL"), ["trial"]), (1, "PAY_AS_YOU_GO", ["intro"]),
      (1, "PAY_UP_FRONT", ["intro"]), (1, nil, ["intro"]), (2, nil, ["offer"]),
      (3, "PAY_UP_FRONT", ["offer"]), (3, "FREE_TRIAL", ["trial", "offer"]),
      (4, "ONE_TIME", ["offer"]),
    ])
  func offers(offerType: Int64?, discount: Text?, flags: [String]) throws {
    let offer = subscription {
      $0.offerType = offerType
      $0.offerDiscountType = discount
    }
    let decision = try decided([offer])
    #expect(decision.row == "DEC-9")
    #expect(decision.flags == flags)
    #expect(decision.entitled)
  }

  @Test("DEC-10 renewal switched off is not expired")
  func willNotRenew() throws {
    let decision = try decided([subscription()], [renewal { $0.autoRenewStatus = 0 }])
    #expect(decision.row == "DEC-10")
    #expect(decision.flags == ["will-not-renew"])
    #expect(decision.entitled)
    #expect(decision.ruling?.until == At.end)
    #expect(try decided([subscription()], [renewal()]).row == "DEC-14")
  }

  @Test("DEC-11 renews into another product; switched off it renews into nothing")
  func changePending() throws {
    let change = renewal { $0.autoRenewProductId = ProductId.basic }
    let decision = try decided([subscription()], [change])
    #expect(decision.row == "DEC-11")
    #expect(decision.flags == ["change-pending"])
    #expect(decision.plan == "pro")
    let off = renewal {
      $0.autoRenewProductId = ProductId.basic
      $0.autoRenewStatus = 0
    }
    #expect(try decided([subscription()], [off]).flags == ["will-not-renew"])
  }

  @Test("DEC-12 a price increase that is not answered")
  func priceConsent() throws {
    let asked = renewal { $0.priceIncreaseStatus = 0 }
    let decision = try decided([subscription()], [asked])
    #expect(decision.row == "DEC-12")
    #expect(decision.flags == ["price-consent-pending"])
    let answered = renewal { $0.priceIncreaseStatus = 1 }
    #expect(try decided([subscription()], [answered]).row == "DEC-14")
  }

  @Test(
    "DEC-13 holders that are not the payer",
    arguments: [(Text("FAMILY_SHARED"), "family"), ("ASSIGNED", "assigned")])
  func holders(ownership: Text, flag: String) throws {
    let decision = try decided([subscription { $0.ownership = ownership }])
    #expect(decision.row == "DEC-13")
    #expect(decision.flags == [flag])
    #expect(decision.entitled)
  }

  @Test("DEC-14 DCD-14 the last millisecond of the period, its end and one after")
  func lastMillisecond() throws {
    func entitled(at now: Int64) throws -> Bool {
      try decided([subscription()], [renewal { $0.autoRenewStatus = 0 }], at: now).entitled
    }
    #expect(try entitled(at: At.end - 1))
    #expect(try !entitled(at: At.end))
    #expect(try !entitled(at: At.end + 1))
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
    #expect(decision.row == "DEC-6")
    #expect(
      decision.flags == [
        "renewal-booked", "trial", "will-not-renew", "price-consent-pending", "family",
      ])
    let withoutBooking = try decided([first], [off])
    #expect(withoutBooking.row == "DEC-9")
    #expect(
      withoutBooking.flags == ["trial", "will-not-renew", "price-consent-pending", "family"])
  }

  // MARK: after the end

  @Test("DEC-15 DCD-14 grace lasts until its end, strictly, and can be switched off")
  func grace() throws {
    let graceEnd = At.now + 6 * At.day
    let retrying = renewal {
      $0.isInBillingRetry = true
      $0.graceEnd = graceEnd
      $0.asOf = At.now
    }
    let inGrace = try decided([endedSubscription()], [retrying])
    #expect(inGrace.row == "DEC-15")
    #expect(inGrace.stateName == "grace")
    #expect(inGrace.entitled)
    #expect(inGrace.plan == "pro")
    #expect(inGrace.ruling?.until == graceEnd)
    #expect(inGrace.ruling?.graceUntil == graceEnd)
    #expect(inGrace.nextCheck == graceEnd)

    let last = try decided([endedSubscription()], [retrying], at: graceEnd - 1)
    #expect(last.entitled)
    let over = try decided([endedSubscription()], [retrying], at: graceEnd)
    #expect(over.row == "DEC-16")
    #expect(!over.entitled)

    let off = decisionConfiguration { $0.decide.grace = false }
    let refused = try decided([endedSubscription()], [retrying], by: off)
    #expect(refused.row == "DEC-15")
    #expect(!refused.entitled)
    #expect(refused.ruling?.until == nil)
    #expect(refused.ruling?.wouldBeUntil == At.now)
    #expect(refused.ruling?.graceUntil == graceEnd)
  }

  @Test("DEC-15 a grace date without retry gives nothing")
  func graceWithoutRetry() throws {
    let told = renewal {
      $0.isInBillingRetry = false
      $0.graceEnd = At.now + At.day
      $0.asOf = At.now
    }
    #expect(try decided([endedSubscription()], [told]).entitled == false)
  }

  @Test("DEC-15 grace of a period that still runs does not lengthen the answer")
  func graceBeforeEnd() throws {
    let told = renewal {
      $0.isInBillingRetry = true
      $0.graceEnd = At.end + 6 * At.day
    }
    let decision = try decided([subscription()], [told])
    #expect(decision.row == "DEC-14")
    #expect(decision.ruling?.until == At.end)
    #expect(decision.ruling?.graceUntil == At.end + 6 * At.day)
  }

  @Test("DEC-16 billing retry is not entitled unless policy is lenient, and never for ever")
  func retry() throws {
    let retrying = renewal {
      $0.isInBillingRetry = true
      $0.expirationIntent = 2
      $0.asOf = At.now
    }
    let strict = try decided([endedSubscription()], [retrying])
    #expect(strict.row == "DEC-16")
    #expect(strict.stateName == "billing-retry")
    #expect(!strict.entitled)
    #expect(strict.ruling?.until == nil)
    #expect(strict.ruling?.wouldBeUntil == At.now)

    let lenient = decisionConfiguration { $0.decide.retryIsLenient = true }
    let lastTry = At.now + 60 * At.day
    let granted = try decided([endedSubscription()], [retrying], by: lenient)
    #expect(granted.row == "DEC-16")
    #expect(granted.entitled)
    #expect(granted.ruling?.until == lastTry)
    #expect(try decided([endedSubscription()], [retrying], by: lenient, at: lastTry - 1).entitled)
    #expect(try !decided([endedSubscription()], [retrying], by: lenient, at: lastTry).entitled)
  }

  @Test("DEC-17 a reason for the end", arguments: [Int64](1...5))
  func expired(reason: Int64) throws {
    let told = renewal {
      $0.expirationIntent = reason
      $0.autoRenewStatus = 0
      $0.asOf = At.now
    }
    let decision = try decided([endedSubscription()], [told])
    #expect(decision.row == "DEC-17")
    #expect(decision.stateName == "expired")
    #expect(decision.ruling?.reason == reason)
    #expect(!decision.entitled)
    #expect(decision.ruling?.stale == false)
  }

  @Test("DEC-18 a renewal in flight: stale for a day, entitled only within the leeway")
  func stale() throws {
    let on = renewal { $0.asOf = At.now - At.day }
    let decision = try decided([endedSubscription()], [on])
    #expect(decision.row == "DEC-18")
    #expect(decision.stateName == "stale")
    #expect(!decision.entitled)
    #expect(decision.ruling?.stale == true)
    #expect(decision.ruling?.until == nil)
    #expect(decision.ruling?.wouldBeUntil == At.now)

    let lenient = decisionConfiguration { $0.decide.leewayMs = 5000 }
    func granted(_ later: Int64) throws -> Decision {
      try decided([endedSubscription()], [on], by: lenient, at: At.now + later)
    }
    #expect(try granted(0).entitled)
    #expect(try granted(0).ruling?.until == At.now + 5000)
    #expect(try granted(4999).entitled)
    #expect(try !granted(5000).entitled)
    #expect(try granted(5000).row == "DEC-18")

    let lastOfDay = try decided([endedSubscription()], [on], at: At.now + At.day - 1)
    #expect(lastOfDay.row == "DEC-18")
    let after = try decided([endedSubscription()], [on], at: At.now + At.day)
    #expect(after.row == "DEC-20")
    #expect(after.ruling?.stale == true)
  }

  @Test("DEC-18 retry reported as off counts as absent only when it was reported before the end")
  func retryToldOff() throws {
    let before = renewal {
      $0.isInBillingRetry = false
      $0.asOf = At.now - 1
    }
    #expect(try decided([endedSubscription()], [before]).row == "DEC-18")
    let after = renewal {
      $0.isInBillingRetry = false
      $0.asOf = At.now
    }
    let decision = try decided([endedSubscription()], [after])
    #expect(decision.row == "DEC-20")
    #expect(decision.ruling?.stale == false)
  }

  @Test("DCD-14 leeway reaches no other row than DEC-18")
  func leewayElsewhere() throws {
    let lenient = decisionConfiguration { $0.decide.leewayMs = 3_600_000 }
    let off = renewal { $0.autoRenewStatus = 0 }
    let reason = renewal { $0.expirationIntent = 1 }
    let retrying = renewal { $0.isInBillingRetry = true }
    for renewals in [[], [off], [reason], [retrying]] {
      #expect(try !decided([endedSubscription()], renewals, by: lenient).entitled)
    }
    #expect(try decided([endedSubscription()], [renewal()], by: lenient).entitled)
  }

  @Test("DEC-20 renewal off without a reason")
  func expiredWithoutReason() throws {
    let off = renewal { $0.autoRenewStatus = 0 }
    let decision = try decided([endedSubscription()], [off])
    #expect(decision.row == "DEC-20")
    #expect(decision.stateName == "expired")
    #expect(decision.ruling?.reason == nil)
    #expect(decision.ruling?.stale == false)
  }

  @Test("DEC-21 a lone transaction cannot know of its renewal")
  func byThisEvidence() throws {
    let decision = try decided([endedSubscription()])
    #expect(decision.row == "DEC-21")
    #expect(decision.stateName == "expired")
    #expect(decision.flags == ["by-this-evidence"])
    #expect(decision.ruling?.stale == true)
    #expect(!decision.entitled)
    #expect(try decided([endedSubscription()], at: At.now - 1).row == "DEC-14")
  }

  @Test("DEC-21 a subscription without expiresDate is never for ever, whatever else is said")
  func withoutEnd() throws {
    let endless = subscription { $0.end = nil }
    let grace = renewal {
      $0.isInBillingRetry = true
      $0.graceEnd = At.now + At.day
      $0.asOf = At.now
    }
    let lenient = decisionConfiguration {
      $0.decide.retryIsLenient = true
      $0.decide.leewayMs = 3_600_000
    }
    for renewals in [[], [grace], [renewal()]] {
      let decision = try decided([endless], renewals, by: lenient)
      #expect(decision.row == "DEC-21")
      #expect(decision.stateName == "expired")
      #expect(!decision.entitled)
      #expect(decision.ruling?.until == nil)
      #expect(decision.ruling?.stale == true)
      #expect(
        decision.warningTexts == [
          "undated transactions/Production/2000000000000001/expiresDate"
        ])
    }
    // It hides no transaction that has an end.
    let dated = subscription("2000000000000002") { $0.end = At.now + 1 }
    #expect(try decided([endless, dated]).entitled)
  }

  @Test("DEC-21 a subscription without purchaseDate is not known to run")
  func withoutStart() throws {
    let decision = try decided([subscription { $0.start = nil }])
    #expect(decision.row == "DEC-21")
    #expect(!decision.entitled)
    #expect(
      decision.warningTexts == [
        "undated transactions/Production/2000000000000001/purchaseDate"
      ])
  }

  // MARK: other types

  @Test("DEC-22 DCD-14 a non-renewing subscription runs for its catalogue duration")
  func nonRenewing() throws {
    let end = At.start + 30 * At.day
    let pass = purchase(ProductId.pass, .nonRenewing)
    let running = try decided([pass], at: end - 1)
    #expect(running.row == "DEC-22")
    #expect(running.stateName == "active")
    #expect(running.plan == "basic")
    #expect(running.ruling?.until == end)
    #expect(running.nextCheck == nil)
    let over = try decided([pass], at: end)
    #expect(over.row == "DEC-22")
    #expect(over.stateName == "expired")
    #expect(!over.entitled)
    #expect(over.ruling?.until == nil)
    #expect(over.ruling?.wouldBeUntil == end)
    // expiresDate of such a purchase decides nothing.
    let claimed = purchase(ProductId.pass, .nonRenewing) { $0.end = end + 100 * At.day }
    #expect(try !decided([claimed], at: end).entitled)
  }

  @Test("DEC-22 DEC-7 a non-renewing subscription bought ahead of the clock has not started")
  func nonRenewingAhead() throws {
    let pass = purchase(ProductId.pass, .nonRenewing) { $0.start = At.now + At.skew + 1 }
    #expect(try decided([pass]).row == "DEC-7")
    #expect(try decided([pass], at: At.now + 1).row == "DEC-22")
  }

  @Test("DEC-22 a non-renewing subscription without a date grants nothing")
  func nonRenewingUndated() throws {
    let decision = try decided([purchase(ProductId.pass, .nonRenewing) { $0.start = nil }])
    #expect(decision.row == "DEC-22")
    #expect(decision.stateName == "expired")
    #expect(!decision.entitled)
    #expect(decision.ruling?.stale == true)
  }

  @Test("DEC-22 purchases add up only where the product stacks")
  func stacking() throws {
    func bought(_ product: Text, _ id: Text, _ start: Int64) -> PurchaseFacts {
      purchase(product, .nonRenewing, id) { $0.start = start }
    }
    let second = At.start + 10 * At.day
    let stacked = [
      bought(ProductId.stackedPass, "11", At.start),
      bought(ProductId.stackedPass, "12", second),
    ]
    let sum = At.start + 60 * At.day
    #expect(try decided(stacked).ruling?.until == sum)
    #expect(try decided(stacked, at: sum - 1).entitled)
    #expect(try !decided(stacked, at: sum).entitled)
    #expect(try decided(stacked.reversed()).json == decided(stacked).json)

    let plain = [
      bought(ProductId.pass, "11", At.start), bought(ProductId.pass, "12", second),
    ]
    #expect(try decided(plain).ruling?.until == second + 30 * At.day)

    // Different lengths of one plan and group follow each other.
    let mixed = [
      bought(ProductId.stackedPass, "11", At.start),
      bought(ProductId.yearPass, "12", second),
    ]
    #expect(try decided(mixed).ruling?.until == At.start + (30 + 365) * At.day)

    // A gap is not filled, a refund takes its share out.
    let gap = [
      bought(ProductId.stackedPass, "11", At.start - 60 * At.day),
      bought(ProductId.stackedPass, "12", At.start),
    ]
    #expect(try decided(gap).ruling?.until == At.start + 30 * At.day)
    var refund = stacked
    refund[0].revokedAt = At.now - At.hour
    #expect(try decided(refund).ruling?.until == second + 30 * At.day)
  }

  @Test("DEC-23 a non-consumable is owned, without end")
  func owned() throws {
    let decision = try decided([purchase(ProductId.lifetime, .nonConsumable)])
    #expect(decision.row == "DEC-23")
    #expect(decision.stateName == "owned")
    #expect(decision.entitled)
    #expect(decision.plan == "pro")
    #expect(decision.ruling?.until == nil)
    #expect(decision.nextCheck == nil)
    let theme = try decided([purchase(ProductId.theme, .nonConsumable)])
    #expect(theme.stateName == "owned")
    #expect(theme.groups.first?.ruling.entitled == true)
    #expect(!theme.entitled)
    #expect(theme.plan == "free")
  }

  @Test("DEC-24 consumables are deliveries: each purchase key and quantity, no entitlement")
  func once() throws {
    let first = purchase(ProductId.coins, .consumable, "31") { $0.quantity = 3 }
    let second = purchase(ProductId.coins, .consumable, "32") {
      $0.revokedAt = At.now - At.hour
      $0.revocationPercentage = 40_000
    }
    let decision = try decided([second, first])
    #expect(decision.row == "DEC-24")
    #expect(decision.stateName == "once")
    #expect(!decision.entitled)
    #expect(decision.groups.count == 1)
    #expect(
      decision.json.contains(
        """
        "type":"Consumable","purchases":[\
        {"key":"Production/31","transactionId":"31","quantity":3,"revokedAt":null,\
        "revocationPercentage":null},\
        {"key":"Production/32","transactionId":"32","quantity":1,\
        "revokedAt":\(At.now - At.hour),"revocationPercentage":40000}]
        """))
    #expect(try decided([second]).row == "DEC-5")
  }
}
