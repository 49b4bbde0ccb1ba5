/// The operation `claim`: claims each purchase of the evidence, so that it is granted once
/// (docs/spec/ledger.md §5.1).
struct ClaimPurchases: DurableOperation {
  private let request: ClaimRequest
  private let grantsInTransaction: Bool
  private let accountToken: AccountTokenCheck
  private let note: Text?
  /// Purchases to claim, ordered by purchase date; at most `limit` of the request.
  private let purchases: [LedgerPurchase]
  /// The newest purchase of each subscription that the evidence may assign to the claiming account
  /// (RPL-2). Empty if the request names no account.
  private let newestOfSubscriptions: [LedgerPurchase]
  /// Number of purchases in the evidence that this call leaves unclaimed (STO-25).
  private let moreCount: Int64
  private let nowMs: Int64

  private static let limitCap: Int64 = 64

  /// - Throws: `misuse.exchange.request`, `misuse.ledger.account`, `.attempt-id`, `.lease`,
  ///   `misuse.exchange.evidence`, `rejected.payload.incomplete`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    let evidence = parameters.evidence
    let context = parameters.context
    let owner = try parameters.accountIfAny("account")
    let (isResolved, holds) = (try parameters.isResolved(), try parameters.holds())
    grantsInTransaction = try parameters["grantMode"]?.choice(["lease", "transaction"]) == 1
    request = ClaimRequest(
      account: owner, attemptId: try parameters.attemptId(),
      leaseExpiresAtMs: try parameters.leaseUntil(),
      holdsExpiredLease: holds && !isResolved, grantsInTransaction: grantsInTransaction,
      allowsRepeat: try parameters["allowRepeat"]?.boolean() ?? false)
    accountToken = try AccountTokenCheck(
      parameters["accountToken"], context.configuration.decision.accountToken,
      isOfAccount: owner != nil)
    note = try parameters.note("note")
    let all = try LedgerPurchase.all(evidence, context.configuration.products)
    newestOfSubscriptions = ClaimPurchases.newestOfSubscriptions(
      of: owner, all, accountToken, context.configuration.decision)
    let found = try parameters.chosen(all)
    let limit = try parameters["maxPurchases"]?.integer(1...Self.limitCap) ?? Self.limitCap
    purchases = found.suffix(Int(limit))
    moreCount = Int64(found.count &- purchases.count)
    nowMs = context.nowMs
  }

  /// Returns the purchases that `update-subscriptions` would store for this account.
  private static func newestOfSubscriptions(
    of owner: Text?, _ all: [LedgerPurchase], _ accountToken: AccountTokenCheck,
    _ policy: Configuration.DecisionPolicy
  ) -> [LedgerPurchase] {
    guard owner != nil else { return [] }
    return LedgerPurchase.newestOfSubscriptions(
      all.filter { purchase in
        !purchase.isExcludedFromSubscriptions(policy) && accountToken.refusal(purchase) == nil
      })
  }

  /// The counts from which the most steps follow (EXC-15): for each purchase its keys,
  /// subscription, row, take-over or reversal, grant and commit; for each subscription the retries
  /// on DynamoDB when another process changes it.
  var size: (purchases: Int, subscriptions: Int) { (purchases.count, newestOfSubscriptions.count) }

  var jitterSeed: Text { request.attemptId }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    var (claims, unstored) = ([Claim](), newestOfSubscriptions)
    for purchase in purchases { claims.append(try claim(purchase, &unstored, database)) }
    let restrictions = try join(claims, database)
    let lead = claims.first { $0.outcome.needsGrant } ?? claims.last
    let (nowMs, moreCount) = (nowMs, moreCount)
    // Nothing can be granted, but newer evidence may contain a purchase: the client keeps its copy
    // (STO-25).
    let nothing = Refusal(.rejectedPayloadIncomplete, "STO-25", at: "claims")
    return OperationResult(lead == nil ? nothing : lead?.refusal) { writer in
      writer.member("outcome", lead?.outcome.name ?? "none")
      writer.name("clientResult")
      if let answer = lead == nil ? "refused-keep" : lead?.clientResult {
        writer.string(answer)
      } else {
        writer.null()
      }
      writer.name("claims")
      writer.beginArray()
      for claim in claims { claim.write(nowMs: nowMs, &writer) }
      writer.endArray()
      writer.member("remaining", integer: moreCount)
      writer.member("changed", boolean: claims.contains { $0.isGranted })
      restrictions?.write(&writer)
    }
  }

  /// Joins the account to the ids of the purchases that are its own by now (CUS-4).
  ///
  /// - Returns: The restrictions of the account; `nil` without an account or an index.
  private func join(
    _ claims: [Claim], _ database: any DurableDatabase
  ) throws(LedgerSuspension) -> [Restriction]? {
    guard let account = request.account else { return nil }
    var own: [LedgerPurchase] = []
    for (purchase, claim) in zip(purchases, claims) where claim.row?.owner == account {
      own.append(purchase)
    }
    guard let key = database.session.context.policy.customerKey else { return nil }
    let entries = CustomerEntry.all(own, key)
    return entries.isEmpty
      ? try database.restrictions(of: account) : try database.join(entries, to: account)
  }

  private func claim(
    _ purchase: LedgerPurchase, _ unstored: inout [LedgerPurchase], _ database: any DurableDatabase
  ) throws(LedgerSuspension) -> Claim {
    guard let product = purchase.product else { return Claim(purchase, .unknownProduct) }
    if let claim = claimWithoutDatabase(purchase, database.session.context.configuration.decision) {
      return claim
    }
    guard let keys = PurchaseKeys(purchase) else { return Claim(purchase, .refused) }
    let subscription = removeUpdate(purchase, &unstored, database.session.context)
    let found = try database.resolve(
      keys, of: purchase, subscription, inTransaction: grantsInTransaction
    ) { request.newRow(keys.purchase, purchase, product, note: note, nowMs: nowMs) }
    let restricted = request.restricted(toSubscriptionOwner: found.subscriptionOwner)
    var row = found.row
    if row == nil {
      let new = restricted.newRow(found.key, purchase, product, note: note, nowMs: nowMs)
      if grantsInTransaction {
        return try database.grant(found.key, new, restricted, purchase, note: note)
      }
      if let new {
        row = try database.insert(new, purchase.evidence)
      } else {
        row = try database.ledgerRow(found.key)
      }
    }
    guard let row else { return Claim(purchase, restricted.outcomeWithoutRow) }
    return try ClaimEvaluation(request: restricted, purchase: purchase, database: database)
      .claim(row)
  }

  /// Removes the subscription of `purchase` from `unstored`, and returns it as the row to store;
  /// `nil` if `unstored` does not contain it, for instance because an earlier purchase has removed
  /// it.
  private func removeUpdate(
    _ purchase: LedgerPurchase, _ unstored: inout [LedgerPurchase], _ context: LedgerContext
  ) -> SubscriptionUpdate? {
    let id = purchase.facts.subscriptionId
    guard let account = request.account,
      let place = unstored.firstIndex(where: { $0.facts.subscriptionId == id })
    else { return nil }
    let newest = unstored.remove(at: place)
    return SubscriptionRow(newest, owner: account, context).map {
      SubscriptionUpdate($0, newest.evidence)
    }
  }

  /// Returns the claim of a purchase that the evidence alone rules out; `nil` if the ledger must be
  /// read.
  private func claimWithoutDatabase(
    _ purchase: LedgerPurchase, _ policy: Configuration.DecisionPolicy
  ) -> Claim? {
    if let reason = accountToken.refusal(purchase) { return Claim(purchase, .refused, reason) }
    if purchase.facts.revokedAtMs != nil { return Claim(purchase, .revoked) }
    if purchase.facts.isUpgraded { return Claim(purchase, .upgraded) }
    if policy.denies(purchase.facts) { return Claim(purchase, .familyShared) }
    return nil
  }

  /// Writes the members of a result without a claim. The next attempt may start at once if the host
  /// rolled back its grant (STO-32), otherwise after a second (STO-39).
  func writeRefused(_ refusal: Refusal, _ writer: inout JSONWriter) {
    writer.member("outcome", "in-progress")
    writer.member("clientResult", "deferred")
    writer.member(
      "retryAfterMs", integer: refusal.status == .unavailableClaimInProgress ? 0 : 1000)
    writer.name("claims")
    writer.beginArray()
    writer.endArray()
  }
}
