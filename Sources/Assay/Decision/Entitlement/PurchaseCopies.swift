/// Shares facts among copies of one purchase: a paid period or a non-consumable can have several
/// transaction ids (restores, other devices), and facts about one hold for the others (DCD-3,
/// RPL-4).
enum PurchaseCopies {
  private struct Purchase {
    var key: Text
    var end: Int64
    /// The index among the candidates.
    var place: Int

    static func precedes(_ left: Purchase, _ right: Purchase) -> Bool {
      if left.end != right.end { return left.end < right.end }
      return Text.precedes(left.key, right.key)
    }
  }

  static func join(_ candidates: inout [Candidate]) {
    guard candidates.count > 1 else { return }
    var purchases: [Purchase] = []
    for (place, candidate) in candidates.enumerated() {
      guard let key = candidate.purchaseKey else { continue }
      purchases.append(Purchase(key: key, end: candidate.end ?? .min, place: place))
    }
    for run in EqualRuns.of(purchases, by: Purchase.precedes) where run.count > 1 {
      share(among: run.map { purchases[$0].place }, &candidates)
    }
  }

  private static func share(among copies: [Int], _ candidates: inout [Candidate]) {
    var began: Int64? = nil
    var isUpgraded = false
    var refund: PurchaseFacts? = nil
    for place in copies {
      let candidate = candidates[place]
      if let start = candidate.began { began = min(began ?? start, start) }
      if candidate.facts.isUpgraded { isUpgraded = true }
      if candidate.facts.revokedAtMs != nil, refund.map({ isLater(candidate.facts, $0) }) ?? true {
        refund = candidate.facts
      }
    }
    for place in copies {
      // The date of a restored copy is that of the restoration.
      candidates[place].began = began
      if isUpgraded, !candidates[place].facts.canReport.contains(.upgrade) {
        candidates[place].facts.isUpgraded = true
        candidates[place].isReplaced = true
      }
      if let refund { share(refund, &candidates[place].facts) }
    }
  }

  /// Copies a refund, unless later evidence that can report one states that there is none.
  private static func share(_ refund: PurchaseFacts, _ facts: inout PurchaseFacts) {
    guard facts.revokedAtMs == nil, let told = refund.revocationToldAt,
      (facts.revocationToldAt ?? .min) <= told
    else { return }
    facts.takeRevocation(from: refund)
  }

  private static func isLater(_ next: PurchaseFacts, _ known: PurchaseFacts) -> Bool {
    (next.revocationToldAt ?? .min) > (known.revocationToldAt ?? .min)
  }
}
