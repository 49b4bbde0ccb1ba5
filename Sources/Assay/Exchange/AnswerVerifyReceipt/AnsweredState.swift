/// Everything that an answer is written from: the receipt, merged with what is newer, and what
/// remains unknown of it.
struct AnsweredState {
  /// The purchases of the receipt, in its order.
  let purchases: [AnsweredTransaction]
  /// Each known transaction once, the newest first (VRE-33).
  let transactions: [AnsweredTransaction]
  /// The newest renewal info of each subscription, in the order of `transactions`.
  let renewals: [AnsweredRenewal]
  /// The newest receipt that is known: the submitted one, or one of the evidence.
  let latestReceipt: AnsweredReceipt
  let isMerged: Bool
  let leftOut: [String]
  /// What Apple would have told, by the names of VRE-41.
  let missing: [StaticString]
  /// The subscriptions that have ended as far as is known, with nothing newer than their end.
  let stale: [Text]
  /// The oldest of the times whose state the answer reports, in milliseconds since 1970 UTC.
  let asOfMs: Int64
  let hasSubscription: Bool

  init(_ receipt: AnsweredReceipt, _ evidence: [VerifiedEvidence], nowMs: Int64) {
    let sent = receipt.transactions
    let newer = NewerEvidence(evidence, about: receipt, sent)
    let all = AnsweredState.merged(sent + newer.transactions)
    let lines = AnsweredState.lines(all, newer, asOfMs: receipt.asOfMs)
    let renewals = lines.compactMap { $0.renewal }
    transactions = all
    self.renewals = renewals
    latestReceipt = newer.receipt ?? receipt
    isMerged = !newer.transactions.isEmpty || !newer.renewals.isEmpty
    leftOut = newer.leftOut
    hasSubscription = lines.contains { $0.isSubscription }
    stale = lines.filter { $0.isStale(nowMs) }.map { $0.id }
    asOfMs = lines.reduce(lines.isEmpty ? receipt.asOfMs : .max) { min($0, $1.asOfMs) }
    purchases = AnsweredState.completed(sent, all)
    missing = AnsweredState.missing(lines, all, newer)
  }

  /// The newest renewal info of the subscription of a transaction.
  func renewal(of line: Text) -> AnsweredRenewal? {
    renewals.first { $0.facts.originalTransactionId == line }
  }

  // MARK: transactions

  private static func merged(_ statements: [AnsweredTransaction]) -> [AnsweredTransaction] {
    var places: [Text: Int] = [:]
    var groups: [[AnsweredTransaction]] = []
    for statement in statements {
      if let place = places[statement.transactionId], place < groups.count {
        groups[place].append(statement)
      } else {
        places[statement.transactionId] = groups.count
        groups.append([statement])
      }
    }
    return groups.compactMap { AnsweredTransaction.merged($0) }
      .ordered(by: AnsweredTransaction.isNewer)
  }

  /// Returns the purchases of the receipt with the members that old readers look for in `in_app`
  /// and that no receipt contains (VRE-31).
  private static func completed(
    _ sent: [AnsweredTransaction], _ all: [AnsweredTransaction]
  ) -> [AnsweredTransaction] {
    var known: [Text: AnsweredTransaction] = [:]
    for transaction in all { known[transaction.transactionId] = transaction }
    return sent.map { purchase in
      guard let told = known[purchase.transactionId] else { return purchase }
      var complete = purchase
      complete.ownership = told.ownership
      complete.takeCancellation(from: told)
      return complete
    }
  }

  // MARK: subscriptions

  /// What is known of one original transaction id.
  private struct Line {
    let id: Text
    var isSubscription = false
    /// The latest known end, and the newest moment whose state is known, in milliseconds since
    /// 1970 UTC.
    var end: Int64? = nil
    var asOfMs: Int64
    var renewal: AnsweredRenewal? = nil

    /// Whether it ended, and a renewal may exist without being known (VRE-33).
    func isStale(_ nowMs: Int64) -> Bool {
      guard let end, end <= nowMs else { return false }
      return asOfMs <= end
    }
  }

  private static func lines(
    _ all: [AnsweredTransaction], _ newer: NewerEvidence, asOfMs: Int64
  ) -> [Line] {
    var places: [Text: Int] = [:]
    var lines: [Line] = []
    for transaction in all {
      let place = places[transaction.line] ?? lines.count
      if place == lines.count {
        places[transaction.line] = place
        lines.append(Line(id: transaction.line, asOfMs: asOfMs))
      }
      guard place < lines.count else { continue }
      var line = lines[place]
      line.isSubscription = line.isSubscription || transaction.isSubscription
      line.asOfMs = max(line.asOfMs, transaction.asOfMs)
      if let end = transaction.expiresDate { line.end = max(line.end ?? end, end) }
      lines[place] = line
    }
    for renewal in newer.renewals {
      guard let place = places[renewal.facts.originalTransactionId], place < lines.count else {
        continue
      }
      lines[place].asOfMs = max(lines[place].asOfMs, renewal.facts.asOfMs)
      if let known = lines[place].renewal, known.facts.asOfMs >= renewal.facts.asOfMs { continue }
      lines[place].renewal = renewal
    }
    return lines
  }

  private static func missing(
    _ lines: [Line], _ all: [AnsweredTransaction], _ newer: NewerEvidence
  ) -> [StaticString] {
    let subscriptions = all.filter { $0.isSubscription }
    let isIncomplete: [(name: StaticString, holds: Bool)] = [
      ("renewals", lines.contains { $0.isSubscription && $0.renewal == nil }),
      ("later-transactions", newer.transactions.isEmpty),
      ("refunds", all.contains { !$0.tellsCancellation }),
      ("ownership", all.contains { $0.ownership == nil }),
      ("trial", subscriptions.contains { $0.isTrial == nil || $0.isIntro == nil }),
      ("offer-codes", subscriptions.contains { !$0.isWhole && $0.offerCodeName == nil }),
      ("groups", subscriptions.contains { $0.group == nil }),
      ("newer-receipt", newer.receipt == nil),
    ]
    return isIncomplete.filter { $0.holds }.map { $0.name }
  }
}
