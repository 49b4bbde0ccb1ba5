import Testing

@testable import Assay

/// Tests merging, choice, groups, policy and refusals: the steps before and around the table.
@Suite("Decision: evidence")
struct DecisionEvidenceTests {
  // MARK: merging

  @Test("DCD-3 the latest word on a transaction wins as a whole, in both orders")
  func latestWins() throws {
    let early = subscription { $0.offerType = 1 }
    let late = subscription {
      $0.asOfMs = At.start + At.day
      $0.end = At.now + At.day
      $0.ownership = nil
    }
    for purchases in [[early, late], [late, early]] {
      let decision = try decided(purchases)
      checkEqual(decision.outcome?.until, At.now + At.day)
      check(decision.flags.isEmpty)
      checkEqual(decision.groups.first?.reach.asOfMs, At.start + At.day)
    }
  }

  @Test("DCD-3 only later evidence undoes a refund")
  func reversal() throws {
    let refund = subscription {
      $0.revokedAtMs = At.now - At.day
      $0.asOfMs = At.now - At.day
    }
    func shown(at asOfMs: Int64) -> PurchaseFacts { subscription { $0.asOfMs = asOfMs } }
    let older = shown(at: At.now - At.day - 1)
    let same = shown(at: At.now - At.day)
    let later = shown(at: At.now - At.day + 1)
    for (other, row) in [(older, "DEC-5"), (same, "DEC-5"), (later, "DEC-14")] {
      try checkEqual(decided([refund, other]).row, row)
      try checkEqual(decided([other, refund]).row, row)
    }
  }

  @Test("DCD-3 of two words of one millisecond the one that gives less counts")
  func sameMoment() throws {
    let configuration = decisionConfiguration()
    func row(_ less: PurchaseFacts, _ more: PurchaseFacts) throws -> Set<String> {
      var answers: Set<String> = []
      for (kind, otherKind) in [("a", "b"), ("b", "a")] as [(StaticString, StaticString)] {
        let first = PurchaseEvidence(kind: kind, purchases: [less], renewals: [])
        let second = PurchaseEvidence(kind: otherKind, purchases: [more], renewals: [])
        for evidence in [[first, second], [second, first]] {
          let decision = try configuration.decide(evidence, account: nil, nowMs: At.now)
          answers.insert("\(decision.row) \(decision.outcome?.until ?? 0)")
        }
      }
      return answers
    }
    let full = subscription()
    try checkEqual(row(subscription { $0.revokedAtMs = At.now }, full), ["DEC-5 \(At.now)"])
    try checkEqual(row(subscription { $0.isUpgraded = true }, full), ["DEC-3 0"])
    let shorter = subscription { $0.end = At.now + 1 }
    try checkEqual(row(shorter, full), ["DEC-14 \(At.now + 1)"])
  }

  @Test("DCD-8 of two renewal infos of one millisecond the shorter grace counts")
  func sameMomentOfRenewals() throws {
    func told(_ graceEnd: Int64, _ productId: Text) -> RenewalFacts {
      renewal {
        $0.isInBillingRetry = true
        $0.asOfMs = At.now
        $0.graceEnd = graceEnd
        $0.productId = productId
      }
    }
    for (product, otherProduct) in [("a", "b"), ("b", "a")] as [(Text, Text)] {
      let renewals = [told(At.now + 1, product), told(At.now + 2, otherProduct)]
      for order in permutations(renewals) {
        try checkEqual(decided([endedSubscription()], order).outcome?.until, At.now + 1)
      }
    }
  }

  @Test("DCD-3 RFD-5 evidence that cannot show a refund never undoes one")
  func blindEvidence() throws {
    let refund = subscription {
      $0.revokedAtMs = At.now - At.day
      $0.asOfMs = At.now - At.day
    }
    let blind = subscription {
      $0.asOfMs = At.now
      $0.canReport.remove(.revocation)
    }
    let reversed = subscription { $0.asOfMs = At.now - At.hour }
    for order in permutations([refund, reversed, blind]) {
      let decision = try decided(order)
      checkEqual(decision.row, "DEC-14")
      checkEqual(decision.groups.first?.reach.asOfMs, At.now)
    }
  }

  @Test("DCD-3 RPL-4 a refund holds for other transaction ids of the same purchase")
  func refundUnderAnotherId() throws {
    let refund = subscription {
      $0.webOrderLineItemId = "900"
      $0.revokedAtMs = At.now - At.day
      $0.asOfMs = At.now - At.day
    }
    func copy(_ change: (inout PurchaseFacts) -> Void) -> PurchaseFacts {
      subscription("2000000000000009") {
        $0.webOrderLineItemId = "900"
        $0.asOfMs = At.now - At.day
        change(&$0)
      }
    }
    try checkEqual(decided([refund, copy { _ in }]).row, "DEC-5")
    try check(decided([refund, copy { $0.asOfMs = At.now - At.day + 1 }]).entitled)
    try check(decided([refund, copy { $0.webOrderLineItemId = "901" }]).entitled)
    try check(decided([refund, copy { $0.end = At.end + 1 }]).entitled)

    let blind = copy {
      $0.asOfMs = At.now
      $0.canReport.remove(.revocation)
    }
    try checkEqual(decided([refund, blind]).row, "DEC-5")
    // Of several refunds the latest counts.
    let laterRefund = subscription("2000000000000000") {
      $0.webOrderLineItemId = "900"
      $0.revokedAtMs = At.now - At.day
      $0.asOfMs = At.now - At.hour
    }
    let between = copy { $0.asOfMs = At.now - 2 * At.hour }
    for order in permutations([refund, laterRefund, between]) {
      try checkEqual(decided(order).row, "DEC-5")
    }
  }

  @Test("DCD-3 DCD-22 copies of a period share its upgrade and its beginning")
  func copies() throws {
    func copy(_ change: (inout PurchaseFacts) -> Void = { _ in }) -> PurchaseFacts {
      subscription("2000000000000009") {
        $0.webOrderLineItemId = "900"
        $0.productId = ProductId.basic
        $0.canReport = []
        change(&$0)
      }
    }
    func original(_ change: (inout PurchaseFacts) -> Void = { _ in }) -> PurchaseFacts {
      copy {
        $0.transactionId = "2000000000000001"
        $0.canReport = .all
        change(&$0)
      }
    }
    let upgraded = original { $0.isUpgraded = true }
    try checkEqual(decided([upgraded, copy()]).row, "DEC-3")
    try checkEqual(decided([upgraded, copy { $0.canReport = .all }]).row, "DEC-14")
    // Restoring the purchase after the upgrade does not make it a later period.
    let upgrade = subscription("2000000000000002") { $0.start = At.start + At.day }
    let restored = copy { $0.start = At.start + 2 * At.day }
    for evidence in permutations([original(), restored, upgrade]) {
      try checkEqual(decided(evidence).plan, "pro")
    }
  }

  @Test("DCD-22 a later period replaces from its start, and only where it is dated")
  func replaced() throws {
    let year = subscription("1") {
      $0.productId = ProductId.basic
      $0.end = At.end + 300 * At.day
    }
    func month(_ change: (inout PurchaseFacts) -> Void) -> PurchaseFacts {
      subscription("2") {
        $0.start = At.now
        change(&$0)
      }
    }
    try checkEqual(decided([year, month { $0.start = At.now + 1 }]).plan, "basic")
    try checkEqual(decided([year, month { $0.end = nil }]).plan, "basic")
  }

  @Test("DCD-6 only what has ended is carried on by its renewal info")
  func carriedOn() throws {
    let running = line("1") { $0.productId = ProductId.basic }
    let ahead = line("2") { $0.start = At.now + At.day }
    let retrying = renewal {
      $0.originalTransactionId = "2"
      $0.isInBillingRetry = true
      $0.graceEnd = At.now + 40 * At.day
      $0.asOfMs = At.now
    }
    try checkEqual(decided([running, ahead], [retrying]).plan, "basic")
    let grace = line("3") { $0.end = At.now }
    let carried = renewal {
      $0.originalTransactionId = "3"
      $0.isInBillingRetry = true
      $0.graceEnd = At.now + At.day
      $0.asOfMs = At.now
    }
    // A grace period that the policy denies hides nothing, but is reported.
    let denying = decisionConfiguration { $0.decision.gracePeriod = false }
    try checkEqual(decided([running, grace], [carried], by: denying).plan, "basic")
    try checkEqual(decided([ahead, grace], [carried], by: denying).row, "DEC-7")
    let refunded = line("4") { $0.revokedAtMs = At.now }
    try checkEqual(decided([refunded, grace], [carried], by: denying).row, "DEC-15")
  }

  @Test("DCD-8 only subscriptions have renewal facts")
  func renewalOfLifetime() throws {
    let lifetime = purchase(ProductId.lifetime, .nonConsumable, "2000000000000001")
    let decision = try decided([lifetime], [renewal()])
    checkEqual(decision.reach.kinds, ["transaction"])
    checkEqual(decision.row, "DEC-23")
  }

  @Test("DCD-28 any quantity: at least one, and no date ends the process")
  func quantities() throws {
    func until(_ quantity: Int64) throws -> Int64? {
      try decided([
        purchase(ProductId.stackedPass, .nonRenewing) { $0.quantity = quantity }
      ]).outcome?.until
    }
    for quantity in [Int64.min, -1, 0, 1] {
      try checkEqual(until(quantity), At.start + 30 * At.day)
    }
    try checkEqual(until(3), At.start + 90 * At.day)
    try checkEqual(until(60), At.start + 60 * 30 * At.day)
    try check((until(.max) ?? 0) > At.now)
    // The months are added one after the other, not all at once, so that the day stays clamped.
    let month = CalendarDuration(count: 1, unit: .month)
    let january: Int64 = 1_738_281_600_000
    checkEqual(month.end(startMs: january, times: 2), january + (28 + 28) * At.day)
  }

  @Test("DCD-3 a later word that cannot show offers, group or type hides none")
  func silentMembers() throws {
    let told = subscription { $0.offerType = 3 }
    let silent = subscription {
      $0.asOfMs = At.now
      $0.canReport = .revocation
      $0.group = nil
      $0.type = nil
      $0.webOrderLineItemId = nil
    }
    for evidence in permutations([told, silent]) {
      let decision = try decided(evidence)
      checkEqual(decision.flags, ["offer"])
      checkEqual(decision.groups.first?.group, "20600001")
    }
  }

  @Test("DCD-8 the newest renewal facts of the line count, in both orders")
  func newestRenewal() throws {
    let on = renewal { $0.asOfMs = At.start + 2 }
    let off = renewal {
      $0.autoRenewStatus = 0
      $0.asOfMs = At.start + 1
    }
    try checkEqual(decided([subscription()], [on, off]).row, "DEC-14")
    try checkEqual(decided([subscription()], [off, on]).row, "DEC-14")
    let offLater = renewal {
      $0.autoRenewStatus = 0
      $0.asOfMs = At.start + 3
    }
    try checkEqual(decided([subscription()], [offLater, on]).row, "DEC-10")
  }

  @Test("DCD-8 renewal facts of another line or another environment do not count")
  func renewalsMixedUp() throws {
    let grace: (inout RenewalFacts) -> Void = {
      $0.isInBillingRetry = true
      $0.graceEnd = At.now + At.day
      $0.asOfMs = At.now
    }
    try checkEqual(decided([endedSubscription()], [renewal(grace)]).row, "DEC-15")
    let otherLine = renewal {
      grace(&$0)
      $0.originalTransactionId = "2000000000000002"
    }
    let otherEnvironment = renewal {
      grace(&$0)
      $0.environment = .sandbox
    }
    for stranger in [otherLine, otherEnvironment] {
      let decision = try decided([endedSubscription()], [stranger])
      checkEqual(decision.row, "DEC-21")
      check(!decision.entitled)
      checkEqual(decision.warnings.count, 1)
    }
  }

  @Test("DCD-8 what was said long before the period began is about an earlier one")
  func staleRenewalFacts() throws {
    let lenient = decisionConfiguration { $0.decision.billingRetryAllowed = true }
    func row(_ asOfMs: Int64) throws -> Decision {
      let told = renewal {
        $0.isInBillingRetry = true
        $0.asOfMs = asOfMs
      }
      return try decided([endedSubscription()], [told], by: lenient)
    }
    let earliest = At.now - 32 * At.day
    try checkEqual(row(earliest).row, "DEC-16")
    try checkEqual(row(earliest - 1).row, "DEC-21")
    try check(!row(earliest - 1).entitled)
  }

  // MARK: choosing

  /// Returns a purchase of a subscription of its own.
  private func line(
    _ id: Text, _ change: (inout PurchaseFacts) -> Void = { _ in }
  ) -> PurchaseFacts {
    subscription(id) {
      $0.originalTransactionId = id
      change(&$0)
    }
  }

  @Test("DCD-6 (a) of those that cover now the latest end, not the latest purchase")
  func latestEnd() throws {
    let long = line("1") { $0.start = At.start - At.day }
    let recent = line("2") { $0.end = At.end - 1 }
    try checkEqual(decided([long, recent]).chosenId, "1")
    try checkEqual(decided([recent, long]).chosenId, "1")
  }

  @Test("DEC-6 DEC-7 a restored entry, start after end, is neither booked nor ahead")
  func restoredBeside() throws {
    let restored = subscription("2") {
      $0.start = At.now + At.hour
      $0.end = At.now - At.day
    }
    try checkEqual(decided([subscription("1"), restored]).row, "DEC-14")
    let ended = subscription("1") { $0.end = At.now - At.hour }
    try checkEqual(decided([ended, restored]).chosenId, "1")
  }

  @Test("DCD-6 ties: later start, later asOfMs, larger id as a number")
  func ties() throws {
    let base = subscription("900000000000000")
    let laterStart = subscription("1") { $0.start = At.start + 1 }
    try checkEqual(decided([base, laterStart]).chosenId, "1")
    let laterWord = subscription("2") { $0.asOfMs = At.start + 1 }
    try checkEqual(decided([laterWord, base]).chosenId, "2")
    let longerId = subscription("1000000000000000")
    try checkEqual(decided([longerId, base]).chosenId, "1000000000000000")
    try checkEqual(decided([base, longerId]).chosenId, "1000000000000000")
    let padded = subscription("0900000000000000")
    try checkEqual(decided([padded, longerId]).chosenId, "1000000000000000")
  }

  @Test("DCD-6 (b) of those that lie ahead the earliest start")
  func earliestStart() throws {
    let near = subscription("1") { $0.start = At.now + At.hour }
    let far = subscription("2") { $0.start = At.now + 2 * At.hour }
    for order in [[near, far], [far, near]] {
      let decision = try decided(order)
      checkEqual(decision.row, "DEC-7")
      checkEqual(decision.chosenId, "1")
    }
  }

  @Test("DCD-6 (d) else the latest end of all that were not replaced, refunds included")
  func latestOfTheRest() throws {
    let ended = endedSubscription()
    let refunded = line("2000000000000002") { $0.revokedAtMs = At.now - At.day }
    let decision = try decided([ended, refunded])
    checkEqual(decision.row, "DEC-5")
    checkEqual(decision.chosenId, "2000000000000002")
    let replaced = line("2000000000000003") {
      $0.isUpgraded = true
      $0.end = At.end + At.day
    }
    try checkEqual(decided([ended, replaced]).row, "DEC-21")
  }

  @Test("DCD-6 (e) else the latest end of the replaced ones")
  func latestReplaced() throws {
    let first = subscription("5") { $0.isUpgraded = true }
    let second = subscription("4") {
      $0.isUpgraded = true
      $0.end = At.end + 1
    }
    try checkEqual(decided([first, second]).chosenId, "4")
  }

  // MARK: groups

  @Test("DCD-4 the group comes from the evidence, else the catalogue, else the product id")
  func groupNames() throws {
    func names(_ facts: PurchaseFacts) throws -> [Text] {
      try decided([facts]).groups.map { $0.group }
    }
    try checkEqual(names(subscription()), ["20600001"])
    try checkEqual(names(subscription { $0.group = nil }), ["subscriptions"])
    try checkEqual(
      names(purchase(ProductId.lifetime, .nonConsumable)), [ProductId.lifetime])
    let unsigned = subscription("1") {
      $0.group = nil
      $0.productId = ProductId.basic
    }
    let other = subscription("2") { $0.group = nil }
    try checkEqual(decided([unsigned, other]).groups.count, 1)
  }

  @Test("DCD-4 one product of a type that excludes nothing never hides another")
  func independentProducts() throws {
    let configuration = decisionConfiguration {
      $0.products = Catalogue()
      for (id, plan) in [("lifetime.basic", 1), ("lifetime.pro", 2)] as [(StaticString, Int)] {
        $0.products.add(
          .init(
            id: Text(stringLiteral: id), plan: plan, type: .nonConsumable, group: "lifetime"))
      }
    }
    let pro = purchase("lifetime.pro", .nonConsumable, "1")
    let basic = purchase("lifetime.basic", .nonConsumable, "2") { $0.start = At.now }
    let decision = try decided([pro, basic], by: configuration)
    checkEqual(decision.plan, "pro")
    checkEqual(decision.groups.count, 2)
  }

  @Test("DCD-4 DEC-22 non-renewing periods of different plans do not add up")
  func plansOfPasses() throws {
    let configuration = decisionConfiguration {
      let month = CalendarDuration(count: 30, unit: .day)
      $0.products.add(
        .init(
          id: "pass.pro", plan: 2, type: .nonRenewing, group: "passes", duration: month,
          stack: true))
    }
    let pro = purchase("pass.pro", .nonRenewing, "1")
    let basic = purchase(ProductId.stackedPass, .nonRenewing, "2") { $0.start = At.now }
    let decision = try decided([pro, basic], by: configuration)
    checkEqual(decision.plan, "pro")
    checkEqual(
      decision.groups.map { $0.outcome.until }, [At.start + 30 * At.day, At.now + 30 * At.day])
  }

  @Test("§3.3 without an entitlement the group with the latest end leads")
  func leadOfTheEnded() throws {
    let early = subscription("1") {
      $0.originalTransactionId = "1"
      $0.group = "20600002"
      $0.end = At.now - 2 * At.day
    }
    let late = endedSubscription()
    for order in [[early, late], [late, early]] {
      let decision = try decided(order)
      checkEqual(decision.plan, "free")
      check(!decision.entitled)
      checkEqual(decision.outcome?.wouldExpireAtMs, At.now)
    }
  }

  @Test("§3.3 of two groups of one plan the one that lasts leads")
  func leadOfTheLasting() throws {
    let lifetime = purchase(ProductId.lifetime, .nonConsumable)
    let decision = try decided([subscription(), lifetime])
    checkEqual(decision.stateName, "owned")
    check(decision.outcome?.until == nil)
    checkEqual(decision.plan, "pro")
  }

  @Test("§3.3 an entitled group without a plan leads before an ended one with a plan")
  func leadWithoutPlan() throws {
    let theme = purchase(ProductId.theme, .nonConsumable)
    let decision = try decided([endedSubscription(), theme])
    checkEqual(decision.stateName, "owned")
    check(!decision.entitled)
  }

  // MARK: policy

  @Test("DCD-12 family shares can be denied, and never hide what was bought")
  func familyDenied() throws {
    let deny = decisionConfiguration { $0.decision.familySharingAllowed = false }
    let share = subscription { $0.ownership = "FAMILY_SHARED" }
    let own = subscription("2000000000000002") {
      $0.originalTransactionId = "2000000000000002"
      $0.productId = ProductId.basic
      $0.end = At.now + 1
    }
    let both = try decided([share, own], by: deny)
    checkEqual(both.plan, "basic")
    checkEqual(both.chosenId, "2000000000000002")
    try checkEqual(decided([share, own]).plan, "pro")

    for ownership in ["PURCHASED", "ASSIGNED"] as [Text] {
      try check(decided([subscription { $0.ownership = ownership }], by: deny).entitled)
    }
    try check(decided([subscription { $0.ownership = nil }], by: deny).entitled)
    let lifetime = purchase(ProductId.lifetime, .nonConsumable) {
      $0.ownership = "FAMILY_SHARED"
    }
    try checkEqual(decided([lifetime], by: deny).stateName, "denied-by-policy")
    try checkEqual(decided([lifetime]).flags, ["family"])
  }

  @Test("DCD-12 a denied family share stays denied in grace; a refunded one is refunded")
  func familyDeniedLater() throws {
    let deny = decisionConfiguration { $0.decision.familySharingAllowed = false }
    let grace = renewal {
      $0.isInBillingRetry = true
      $0.graceEnd = At.now + At.day
      $0.asOfMs = At.now
    }
    let share = endedSubscription { $0.ownership = "FAMILY_SHARED" }
    let denied = try decided([share], [grace], by: deny)
    checkEqual(denied.stateName, "denied-by-policy")
    check(!denied.entitled)
    try checkEqual(decided([share], [grace]).stateName, "grace")
    let revoked = subscription {
      $0.ownership = "FAMILY_SHARED"
      $0.revokedAtMs = At.now
    }
    try checkEqual(decided([revoked], by: deny).row, "DEC-4")
  }

  @Test("DCD-11 unknown values grant nothing and are reported")
  func unknownValues() throws {
    let odd = subscription {
      $0.ownership = "LENT"
      $0.offerType = 9
      $0.offerDiscountType = "GIFT"
    }
    let decision = try decided([odd], [renewal { $0.priceIncreaseStatus = 7 }])
    checkEqual(decision.row, "DEC-14")
    checkEqual(
      decision.warningTexts,
      [
        "unknown-value renewals/Production/2000000000000001/priceIncreaseStatus",
        "unknown-value transactions/Production/2000000000000001/inAppOwnershipType",
        "unknown-value transactions/Production/2000000000000001/offerDiscountType",
        "unknown-value transactions/Production/2000000000000001/offerType",
      ])
    let deny = decisionConfiguration { $0.decision.familySharingAllowed = false }
    try checkEqual(decided([odd], by: deny).stateName, "denied-by-policy")

    let refund = subscription {
      $0.revokedAtMs = At.now
      $0.revocationReason = 5
      $0.revocationType = "REFUND_NEW"
    }
    let refunded = try decided([refund])
    checkEqual(refunded.row, "DEC-5")
    checkEqual(
      refunded.warningTexts,
      [
        "unknown-value transactions/Production/2000000000000001/revocationReason",
        "unknown-value transactions/Production/2000000000000001/revocationType",
      ])
  }

  @Test("DCD-11 an unknown reason or renewal status gives no leeway")
  func unknownRenewalValues() throws {
    let lenient = decisionConfiguration { $0.decision.renewalLeewayMs = 3_600_000 }
    let reason = renewal { $0.expirationIntent = 6 }
    let status = renewal { $0.autoRenewStatus = 2 }
    for (facts, member) in [(reason, "expirationIntent"), (status, "autoRenewStatus")] {
      let decision = try decided([endedSubscription()], [facts], by: lenient)
      checkEqual(decision.row, "DEC-20")
      check(!decision.entitled)
      checkEqual(
        decision.warningTexts,
        [
          "unknown-value renewals/Production/2000000000000001/\(member)"
        ])
    }
  }

  @Test("DCD-11 a transaction of an unknown type is left out")
  func unknownType() throws {
    let odd = subscription {
      $0.type = nil
      $0.typeIsUnknown = true
    }
    try checkEqual(
      decided([odd]).warningTexts,
      [
        "unknown-value transactions/Production/2000000000000001/type"
      ])
    try check(decided([subscription { $0.type = nil }]).entitled)
  }

  // MARK: reach

  @Test("DCD-18 the answer says how far the evidence reaches")
  func reach() throws {
    let alone = try decided([subscription()])
    check(
      alone.json.contains(
        """
        "evidence":{"class":"signed","kinds":["transaction"],"asOfMs":\(At.start),\
        "complete":false,"missing":["renewal-info"]}
        """))
    let answered = renewal { $0.evidenceClass = .appleAnswer }
    try checkEqual(decided([subscription()], [answered]).reach.evidenceClass, .appleAnswer)
    try check(decided([purchase(ProductId.lifetime, .nonConsumable)]).reach.missing.isEmpty)
  }

  @Test("§3.3 the whole answer, member by member")
  func wholeAnswer() throws {
    let decision = try decided(
      [subscription { $0.offerType = 2 }], [renewal { $0.autoRenewStatus = 0 }])
    let common = """
      "state":"active","rule":"DEC-9","flags":["offer","will-not-renew"],"reasonCode":null,\
      "expiresAtMs":\(At.end),"wouldExpireAtMs":null,"nextPeriodExpiresAtMs":null,\
      "graceExpiresAtMs":null,\
      "productId":"com.example.pro.monthly","originalTransactionId":"2000000000000001",\
      "transactionId":"2000000000000001","environment":"Production","account":null,"stale":false,\
      "nextCheckAtMs":\(At.end - At.day),"evidence":{"class":"signed",\
      "kinds":["renewal-info","transaction"],"asOfMs":\(At.start),"complete":true,"missing":[]}
      """
    checkEqual(
      decision.json,
      """
      {"plan":"pro","entitled":true,\(common),"groups":[{"plan":"pro","entitled":true,\
      \(common),"group":"20600001","type":"Auto-Renewable Subscription",\
      "purchases":[]}],"excluded":[],"warnings":[]}
      """)
  }

  @Test("PAY-7 evidence without the ids that a decision needs")
  func incomplete() throws {
    let incomplete = Refusal(.rejectedPayloadIncomplete, "PAY-7")
    #expect(throws: incomplete) { try decided([subscription("")]) }
    #expect(throws: incomplete) {
      try decided([subscription { $0.originalTransactionId = "" }])
    }
    #expect(throws: incomplete) { try decided([subscription { $0.productId = "" }]) }
    #expect(throws: incomplete) {
      try decided([subscription()], [renewal { $0.originalTransactionId = "" }])
    }
    #expect(throws: Never.self) {
      try decided([subscription()], [renewal { $0.productId = nil }])
    }
  }

  // MARK: refusals

  @Test("PAY-7 the refusal names the document and the member")
  func incompletePlace() {
    #expect(throws: Never.self) {
      try decided([subscription()], [renewal { $0.productId = nil }])
    }
    let refusal = #expect(throws: Refusal.self) {
      try decided([subscription(), subscription("") { $0.asOfMs = 0 }])
    }
    checkEqual(refusal?.place, "evidence[1]/transactionId")
    checkEqual(refusal?.rule.description, "PAY-7")
  }

  @Test("DCD-5 a later statement that cannot show the type, such as an answer's, hides none")
  func contradiction() throws {
    let odd = subscription { $0.type = .nonConsumable }
    let answered = subscription {
      $0.type = nil
      $0.asOfMs = At.now
    }
    try checkEqual(decided([odd, answered]).row, "DEC-2")
  }

  // MARK: account

  private let mine: Text = "7e3fb204-2d5a-4a4b-8d4e-2f5a1f0c9b11"
  private let other: Text = "7e3fb204-2d5a-4a4b-8d4e-2f5a1f0c9b12"

  private func owned(by account: Text?) -> PurchaseFacts {
    subscription { $0.account = account }
  }

  @Test("DCD-5 what is left out is not compared, though it is all there is")
  func accountOfLeftOut() throws {
    let stranger = line("2000000000000002") {
      $0.productId = "com.example.other"
      $0.account = other
    }
    let alone = try decided([stranger], account: mine)
    checkEqual(alone.row, "DEC-2")
    check(!alone.accountIsProven)
  }

  @Test("DCD-24 the newest token of a line counts, a renewal info's too; silence erases none")
  func accountOfNewest() throws {
    let rebound = subscription {
      $0.account = mine
      $0.asOfMs = At.start + 1
    }
    let silent = subscription { $0.asOfMs = At.start + 2 }
    for evidence in permutations([owned(by: other), rebound, silent]) {
      try check(decided(evidence, account: mine).entitled)
      #expect(throws: Refusal(.rejectedAccountTokenMismatch, "")) {
        try decided(evidence, account: other)
      }
    }
    let moved = renewal {
      $0.account = other
      $0.asOfMs = At.start + 1
    }
    let renewed = renewal { $0.asOfMs = At.start + 2 }
    for renewals in [[moved], [moved, renewed], [renewed, moved]] {
      try check(decided([owned(by: mine)], renewals, account: other).accountIsProven)
      #expect(throws: Refusal(.rejectedAccountTokenMismatch, "")) {
        try decided([owned(by: mine)], renewals, account: mine)
      }
    }
    // An earlier period of the subscription, reported later, counts too.
    let earlier = subscription("2000000000000000") {
      $0.start = At.start - At.day
      $0.account = other
      $0.asOfMs = At.start + 3
    }
    try check(decided([rebound, earlier], account: other).accountIsProven)
  }

  @Test("DCD-24 two tokens of one millisecond belong to no one")
  func accountDisputed() throws {
    let told = renewal { $0.account = other }
    for account in [mine, other] {
      #expect(throws: Refusal(.rejectedAccountTokenMismatch, "")) {
        try decided([owned(by: mine)], [told], account: account)
      }
    }
    let later = renewal {
      $0.account = mine
      $0.asOfMs = At.start + 1
    }
    for renewals in permutations([told, later]) {
      try check(decided([owned(by: mine)], renewals, account: mine).entitled)
    }
  }

  /// Returns later evidence from a receipt, which contains neither owner nor refund.
  private func receipt(_ change: (inout PurchaseFacts) -> Void = { _ in }) -> PurchaseFacts {
    subscription {
      $0.asOfMs = At.start + At.day
      $0.ownership = nil
      $0.canReport.subtract([.upgrade, .family, .account])
      $0.canReport.remove(.revocation)
      change(&$0)
    }
  }

  @Test("DCD-3 APR-20 purchases of Xcode's receipts all have the id 0, and stay apart")
  func xcodeReceipt() throws {
    func xcode(_ change: (inout PurchaseFacts) -> Void = { _ in }) -> PurchaseFacts {
      receipt {
        $0.environment = .xcode
        $0.transactionId = "0"
        change(&$0)
      }
    }
    func count(_ purchases: [PurchaseFacts]) throws -> Int {
      try MergedEvidence([
        PurchaseEvidence(kind: "app-receipt", purchases: purchases, renewals: [])
      ]).transactions.count
    }
    let ended = xcode { $0.end = At.start + At.day }
    try checkEqual(count([xcode(), ended]), 2)
    try checkEqual(count([xcode(), xcode()]), 1)
    // A JWS from Xcode has its own ids, of which 0 is one.
    func other(_ change: (inout PurchaseFacts) -> Void) -> [PurchaseFacts] {
      [
        xcode(change),
        xcode {
          $0.end = At.start + At.day
          change(&$0)
        },
      ]
    }
    try checkEqual(count(other { $0.canReport = .all }), 1)
    try checkEqual(count(other { $0.transactionId = "1" }), 1)
  }

  // MARK: order
}
