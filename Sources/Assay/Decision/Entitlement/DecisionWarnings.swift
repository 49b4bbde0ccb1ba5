/// Collects the warnings of a decision. Locations contain a product (`products.<id>`), or a
/// transaction or subscription by its key (`transactions/<environment>/<id>/<member>`,
/// `subscriptions/…`, `renewals/…`), so that they do not depend on the order of the evidence.
struct DecisionWarnings {
  private var found: [Decision.Warning] = []

  /// The warnings, sorted by location, then by id; each once.
  var sorted: [Decision.Warning] {
    var result: [Decision.Warning] = []
    for warning in found.ordered(by: Self.precedes) where result.last != warning {
      result.append(warning)
    }
    return result
  }

  /// Warns of a transaction that is excluded (DCD-5).
  mutating func add(_ reason: LeftOut.Reason, _ facts: PurchaseFacts) {
    switch reason {
    case .unknownProduct: add("unknown-product", "products.", facts.productId, nil)
    case .unknownType: add("unknown-value", Self.place(facts), "", "/type")
    case .typeMismatch: add("type-mismatch", "products.", facts.productId, nil)
    case .sandbox: break
    }
  }

  /// Warns that no evidence of the subscription contains an account (DCD-20).
  mutating func unprovenAccount(_ subscription: ScopedId) {
    add("account-unproven", Self.place("subscriptions/", subscription), "", nil)
  }

  /// Warns of renewal info without a transaction of its subscription, without which it does not
  /// count (DCD-20).
  mutating func renewalWithoutTransaction(_ subscription: ScopedId) {
    add("renewal-without-transaction", Self.place("renewals/", subscription), "", nil)
  }

  /// Warns of unknown values and missing dates of a transaction.
  mutating func look(at candidate: Candidate) {
    let facts = candidate.facts
    let place = Self.place(facts)
    report(place, "/inAppOwnershipType", facts.ownership.map(KnownValues.isOwnership))
    report(
      place, "/offerDiscountType",
      facts.offerDiscountType.map(KnownValues.isOfferDiscountType))
    report(place, "/offerType", facts.offerType.map(KnownValues.offerType.contains))
    report(
      place, "/revocationReason",
      facts.revocationReason.map(KnownValues.revocationReason.contains))
    report(
      place, "/revocationType", facts.revocationType.map(KnownValues.isRevocationType))
    if facts.commitmentIsOdd { add("unexpected-value", place, "", "/commitmentInfo") }
    if facts.revocationIsUndated { add("undated", place, "", "/revocationDate") }
    if candidate.start == nil { add("undated", place, "", "/purchaseDate") }
    if candidate.product.type == .autoRenewable, candidate.end == nil {
      add("undated", place, "", "/expiresDate")
    }
  }

  /// Warns of a grace period beside a month of a commitment, which has none (CMT-4).
  mutating func graceInCommitment(_ facts: RenewalFacts) {
    add(
      "grace-in-commitment", Self.place("renewals/", facts.subscriptionId), "",
      "/gracePeriodExpiresDate")
  }

  /// Warns of unknown values in renewal info.
  mutating func look(at facts: RenewalFacts) {
    let place = Self.place("renewals/", facts.subscriptionId)
    report(
      place, "/autoRenewStatus",
      facts.autoRenewStatus.map(KnownValues.autoRenewStatus.contains))
    report(
      place, "/expirationIntent",
      facts.expirationIntent.map(KnownValues.expirationIntent.contains))
    report(
      place, "/priceIncreaseStatus",
      facts.priceIncreaseStatus.map(KnownValues.priceIncreaseStatus.contains))
  }

  private mutating func report(_ place: Text, _ member: StaticString, _ isKnown: Bool?) {
    if isKnown == false { add("unknown-value", place, "", member) }
  }

  private mutating func add(
    _ id: StaticString, _ place: Text, _ name: Text, _ member: StaticString?
  ) {
    var at = place.utf8
    at.append(contentsOf: name.utf8)
    if let member { at.append(contentsOf: Text(stringLiteral: member).utf8) }
    found.append(Decision.Warning(id: id, at: Text(at)))
  }

  private static func place(_ facts: PurchaseFacts) -> Text {
    place(
      "transactions/", ScopedId(environment: facts.environment, id: facts.transactionId))
  }

  private static func place(_ prefix: Text, _ scoped: ScopedId) -> Text {
    var bytes = prefix.utf8
    bytes.append(contentsOf: Text(stringLiteral: scoped.environment.name).utf8)
    bytes.append(0x2f)
    bytes.append(contentsOf: scoped.id.utf8)
    return Text(bytes)
  }

  private static func precedes(_ left: Decision.Warning, _ right: Decision.Warning) -> Bool {
    if left.at != right.at { return Text.precedes(left.at, right.at) }
    return Text.precedes(Text(stringLiteral: left.id), Text(stringLiteral: right.id))
  }
}
