/// The operation `claim`: claims each purchase of the evidence, so that it is granted once
/// (docs/spec/ledger.md §5.1).
struct ClaimOperation: StoreOperation {
  private let claimant: Claimant
  private let isInTransaction: Bool
  private let account: AccountCheck
  private let note: Text?
  /// Purchases to claim, ordered by purchase date; at most `limit` of the request.
  private let purchases: [StorePurchase]
  /// The newest purchase of each subscription that the evidence may assign to the claiming account
  /// (RPL-2). Empty if the request names no account.
  private let lines: [StorePurchase]
  /// Number of purchases in the evidence that this call leaves unclaimed (STO-25).
  private let moreCount: Int64
  private let nowMs: Int64

  private static let limitCap: Int64 = 64
  private static let onlyCap = 1...64

  /// - Throws: `misuse.exchange.request`, `misuse.ledger.account`, `.attempt-id`, `.lease`,
  ///   `misuse.exchange.evidence`, `rejected.payload.incomplete`.
  init(_ parameters: StoreParameters) throws(Refusal) {
    let evidence = parameters.evidence
    let context = parameters.context
    let owner = try parameters.accountIfAny("account")
    let (isResolved, holds) = (try parameters.isResolved(), try parameters.holds())
    isInTransaction = try parameters["grantMode"]?.choice(["lease", "transaction"]) == 1
    claimant = Claimant(
      account: owner, attempt: try parameters.attempt(),
      leaseExpiresAtMs: try parameters.leaseUntil(),
      holds: holds && !isResolved, isInTransaction: isInTransaction,
      allowsRepeat: try parameters["allowRepeat"]?.boolean() ?? false)
    account = try AccountCheck(
      parameters["accountToken"], context.configuration.decision.accountToken,
      isOfAccount: owner != nil)
    note = try parameters.note("note")
    let all = try StorePurchase.all(evidence, context.configuration.products)
    lines = ClaimOperation.lines(of: owner, all, account, context.configuration.decision)
    let found = try ClaimOperation.chosen(all, parameters)
    let limit = try parameters["maxPurchases"]?.integer(1...Self.limitCap) ?? Self.limitCap
    purchases = found.suffix(Int(limit))
    moreCount = Int64(found.count &- purchases.count)
    nowMs = context.nowMs
  }

  /// Returns the purchases whose transaction ids the member `only` lists; all of them if the
  /// request has none (STO-25).
  private static func chosen(
    _ all: [StorePurchase], _ parameters: StoreParameters
  ) throws(Refusal) -> [StorePurchase] {
    guard let list = parameters["transactionIds"] else { return all }
    let ids = try list.elements(onlyCap).map { id throws(Refusal) in try id.text() }
    return all.filter { ids.contains($0.facts.transactionId) }
  }

  /// Returns the purchases that `update-subscriptions` would store for this account.
  private static func lines(
    of owner: Text?, _ all: [StorePurchase], _ account: AccountCheck,
    _ policy: Configuration.DecisionPolicy
  ) -> [StorePurchase] {
    guard owner != nil else { return [] }
    return StorePurchase.lines(
      all.filter { purchase in
        !purchase.isLeftOutOfLines(policy) && account.refusal(purchase) == nil
      })
  }

  /// The counts from which the most steps follow (EXC-15): for each purchase its keys,
  /// subscription, row, take-over or reversal, grant and commit; for each subscription the retries
  /// on DynamoDB when another process changes it.
  var size: (purchases: Int, lines: Int) { (purchases.count, lines.count) }

  var seed: Text { claimant.attempt }

  func run(_ talk: inout StoreTalk) throws(StoreStop) -> StoreOutcome {
    var (claims, lines) = ([Claim](), lines)
    for purchase in purchases { claims.append(try claim(purchase, &lines, &talk)) }
    let lead = claims.first { $0.outcome.isOurs } ?? claims.last
    let (nowMs, moreCount) = (nowMs, moreCount)
    // Nothing can be granted, but newer evidence may contain a purchase: the client keeps its copy
    // (STO-25).
    let nothing = Refusal(.rejectedPayloadIncomplete, "STO-25", at: "claims")
    return StoreOutcome(lead == nil ? nothing : lead?.refusal) { writer in
      writer.member("outcome", lead?.outcome.name ?? "none")
      writer.name("clientResult")
      if let answer = lead == nil ? "refused-keep" : lead?.answer {
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
    }
  }

  private func claim(
    _ purchase: StorePurchase, _ lines: inout [StorePurchase], _ talk: inout StoreTalk
  ) throws(StoreStop) -> Claim {
    guard let product = purchase.product else { return Claim(purchase, .unknownProduct) }
    if let claim = withoutStore(purchase, talk.context.configuration.decision) { return claim }
    guard let keys = PurchaseKeys(purchase) else { return Claim(purchase, .refused) }
    let line = shown(purchase, &lines, talk.context)
    let found = try begin(purchase, product, keys, line, &talk)
    let claimant = claimant.facing(found.lineOwner)
    var row = found.row
    if row == nil {
      let new = newRow(found.key, purchase, product, claimant)
      if isInTransaction && talk.context.engine == .dynamodb {
        return try talk.dynamoGrant(found.key, new, claimant, purchase, note: note)
      }
      row = try standing(found.key, new, purchase.evidence, &talk)
    }
    guard let row else {
      if isInTransaction { try talk.close() }
      return Claim(purchase, claimant.absent)
    }
    let claim = try talk.judge(row, claimant, purchase, isInTransaction ? .within : nil)
    return isInTransaction ? try talk.payOut(claim, note: note) : claim
  }

  /// Removes the subscription of `purchase` from `lines`, and returns it as the row to store; `nil`
  /// if `lines` does not contain it, for instance because an earlier purchase has removed it.
  private func shown(
    _ purchase: StorePurchase, _ lines: inout [StorePurchase], _ context: StoreContext
  ) -> ShownLine? {
    let id = purchase.facts.line
    guard let account = claimant.account,
      let place = lines.firstIndex(where: { $0.facts.line == id })
    else { return nil }
    let newest = lines.remove(at: place)
    return LineRow(newest, owner: account, context).map { ShownLine($0, newest.evidence) }
  }

  /// Stores `line`, and returns the canonical key and the owner of the subscription. On SQLite,
  /// where each commit waits for the disk, the same step inserts the row as well, if its key is
  /// known before.
  private func begin(
    _ purchase: StorePurchase, _ product: Catalogue.Product, _ keys: PurchaseKeys,
    _ line: ShownLine?, _ talk: inout StoreTalk
  ) throws(StoreStop) -> (key: Text, lineOwner: Text?, row: LedgerRow?) {
    if talk.context.engine == .sqlite && !isInTransaction {
      return try talk.sqlClaim(keys, of: purchase, line) {
        newRow(keys.purchase, purchase, product, claimant)
      }
    }
    let (key, lineOwner) = try talk.canonicalKey(
      keys, of: purchase, line, isInTransaction ? .begin : nil)
    return (key, lineOwner, nil)
  }

  /// Returns the claim of a purchase that the evidence alone rules out; `nil` if the ledger must be
  /// read.
  private func withoutStore(
    _ purchase: StorePurchase, _ policy: Configuration.DecisionPolicy
  ) -> Claim? {
    if let reason = account.refusal(purchase) { return Claim(purchase, .refused, reason) }
    if purchase.facts.revokedAtMs != nil { return Claim(purchase, .revoked) }
    if purchase.facts.isUpgraded { return Claim(purchase, .upgraded) }
    if policy.denies(purchase.facts) { return Claim(purchase, .familyShared) }
    return nil
  }

  /// Inserts `new` if no row has its key, and returns the stored row. Only reads the row if `new`
  /// is `nil`.
  private func standing(
    _ key: Text, _ new: LedgerRow?, _ evidence: StoreEvidence, _ talk: inout StoreTalk
  ) throws(StoreStop) -> LedgerRow? {
    let transaction: StoreStep.Transaction? = isInTransaction ? .within : nil
    guard let new else { return try talk.ledgerRow(key, transaction) }
    return try talk.insert(new, evidence, transaction)
  }

  /// Returns the row of a first claim; `nil` if the request names no account or another account
  /// owns the subscription, because neither may create a row.
  @inline(never)
  private func newRow(
    _ key: Text, _ purchase: StorePurchase, _ product: Catalogue.Product, _ claimant: Claimant
  ) -> LedgerRow? {
    guard let owner = claimant.account, !claimant.isStranger else { return nil }
    return LedgerRow(
      purchaseKey: key, environment: Text(stringLiteral: purchase.facts.environment.name),
      transactionId: purchase.facts.transactionId,
      originalTransactionId: purchase.facts.originalTransactionId, state: .claimed,
      owner: owner, product: product.id, quantity: purchase.quantity,
      purchasedAtMs: purchase.purchasedAtMs, asOfMs: purchase.facts.asOfMs,
      evidence: purchase.evidence.sha256, generation: 0,
      grantId: LedgerRow.grantId(key, generation: 0), attempt: claimant.attempt, tries: 1,
      claimedAtMs: nowMs, leaseMs: claimant.leaseExpiresAtMs, note: note, units: purchase.units,
      repeats: claimant.handsOut ? 1 : 0)
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
