/// What somebody verified says about one transaction or one line, and in which
/// document it stood.
struct Statement<Facts: Sendable>: Sendable {
  var facts: Facts
  /// The kind of the document.
  var kind: StaticString
  /// The place of the document among the evidence, for refusals alone: no
  /// decision depends on the order of the evidence (DCD-7).
  var document: Int
}

/// An id within its environment: environments are never mixed (DCD-4).
struct ScopedId: Hashable, Sendable {
  var environment: Environment
  var id: Text
}

/// All evidence of a decision: each transaction once and each line's renewal
/// once, the newest word on each (DCD-3, DCD-8).
struct MergedEvidence: Sendable {
  /// Sorted by environment and transaction id.
  let transactions: [Statement<PurchaseFacts>]
  private let renewals: NewestWords<RenewalFacts>

  init(_ evidence: [PurchaseEvidence]) {
    var showing = NewestWords<PurchaseFacts>(supersedes: Self.isLaterWord)
    var blind = NewestWords<PurchaseFacts>(supersedes: Self.isLaterWord)
    var owned = NewestWords<PurchaseFacts>(supersedes: Self.isLaterWord)
    var lines = NewestWords<RenewalFacts>(supersedes: Self.isLaterWord)
    for (document, item) in evidence.enumerated() {
      for facts in item.purchases {
        let next = Statement(facts: facts, kind: item.kind, document: document)
        let id = ScopedId(environment: facts.environment, id: Self.id(of: next))
        if facts.showsRevocation { showing.add(next, id) } else { blind.add(next, id) }
        if facts.showsOwner { owned.add(next, id) }
      }
      for facts in item.renewals {
        let next = Statement(facts: facts, kind: item.kind, document: document)
        let line = ScopedId(environment: facts.environment, id: facts.originalTransactionId)
        lines.add(next, line)
      }
    }
    // A revocation is never undone by evidence that cannot show one.
    for (id, next) in blind.entries where !showing.isRevoked(id) {
      showing.add(next, id)
    }
    showing.takeOwners(from: owned)
    transactions = showing.entries.sorted { Self.precedes($0.id, $1.id) }.map { $0.statement }
    renewals = lines
  }

  /// What tells a transaction from others. APR-20: every purchase of Xcode's app
  /// receipts has the id "0"; those are told apart by all that they say.
  private static func id(of statement: Statement<PurchaseFacts>) -> Text {
    statement.facts.showsOwner || statement.facts.transactionId != "0"
      ? statement.facts.transactionId : statement.canonical
  }

  /// The newest renewal facts of a line (DCD-8).
  func renewal(of line: ScopedId) -> Statement<RenewalFacts>? { renewals.statement(line) }

  /// Lines of which there is renewal evidence, sorted.
  var renewalLines: [ScopedId] {
    renewals.entries.map { $0.id }.sorted(by: Self.precedes)
  }

  /// DCD-3: the later `asOf` wins as a whole.
  private static func isLaterWord(
    _ next: Statement<PurchaseFacts>, _ known: Statement<PurchaseFacts>
  ) -> Bool {
    let (nextFacts, knownFacts) = (next.facts, known.facts)
    if nextFacts.asOf != knownFacts.asOf { return nextFacts.asOf > knownFacts.asOf }
    // Two words of the same millisecond: the one that gives less, else any fixed
    // choice, so that the order of the evidence decides nothing.
    let (less, more) = (nextFacts.revokedAt != nil, knownFacts.revokedAt != nil)
    if less != more { return less }
    if nextFacts.isUpgraded != knownFacts.isUpgraded { return nextFacts.isUpgraded }
    if nextFacts.end != knownFacts.end {
      return (nextFacts.end ?? .min) < (knownFacts.end ?? .min)
    }
    return Text.precedes(next.canonical, known.canonical)
  }

  private static func isLaterWord(
    _ next: Statement<RenewalFacts>, _ known: Statement<RenewalFacts>
  ) -> Bool {
    let (nextFacts, knownFacts) = (next.facts, known.facts)
    if nextFacts.asOf != knownFacts.asOf { return nextFacts.asOf > knownFacts.asOf }
    if nextFacts.graceEnd != knownFacts.graceEnd {
      return (nextFacts.graceEnd ?? .min) < (knownFacts.graceEnd ?? .min)
    }
    return Text.precedes(next.canonical, known.canonical)
  }

  private static func precedes(_ left: ScopedId, _ right: ScopedId) -> Bool {
    if left.environment != right.environment {
      return left.environment.rank < right.environment.rank
    }
    return Text.precedesAsNumber(left.id, right.id)
  }
}

/// One statement an id: the newest that was added, in whatever order.
private struct NewestWords<Facts: Sendable>: Sendable {
  typealias Order = @Sendable (Statement<Facts>, Statement<Facts>) -> Bool

  /// In the order of the first mention: sort before use.
  private(set) var entries: [(id: ScopedId, statement: Statement<Facts>)] = []
  private var places: [ScopedId: Int] = [:]
  private let supersedes: Order

  init(supersedes: @escaping Order) { self.supersedes = supersedes }

  mutating func add(_ next: Statement<Facts>, _ id: ScopedId) {
    guard let place = places[id], place < entries.count else {
      places[id] = entries.count
      entries.append((id, next))
      return
    }
    if supersedes(next, entries[place].statement) { entries[place].statement = next }
  }

  func statement(_ id: ScopedId) -> Statement<Facts>? {
    guard let place = places[id], place < entries.count else { return nil }
    return entries[place].statement
  }
}

extension NewestWords where Facts == PurchaseFacts {
  func isRevoked(_ id: ScopedId) -> Bool {
    guard let place = places[id], place < entries.count else { return false }
    return entries[place].statement.facts.revokedAt != nil
  }

  /// DCD-20: account, family and upgrade, which no receipt can show, by the newest
  /// word that shows them.
  mutating func takeOwners(from owned: NewestWords<PurchaseFacts>) {
    for place in entries.indices where !entries[place].statement.facts.showsOwner {
      guard let known = owned.places[entries[place].id], known < owned.entries.count else {
        continue
      }
      entries[place].statement.facts.account = owned.entries[known].statement.facts.account
      entries[place].statement.facts.ownership = owned.entries[known].statement.facts.ownership
      entries[place].statement.facts.isUpgraded = owned.entries[known].statement.facts.isUpgraded
    }
  }
}

extension Environment {
  /// Production first: the order of groups and transactions in an answer.
  var rank: Int {
    switch self {
    case .production: return 0
    case .sandbox: return 1
    case .xcode: return 2
    case .localTesting: return 3
    }
  }
}

extension Text {
  /// By bytes, a prefix first.
  static func precedes(_ left: Text, _ right: Text) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }

  /// Ids as numbers of any length (DCD-6); ids of equal value by their bytes.
  static func precedesAsNumber(_ left: Text, _ right: Text) -> Bool {
    let (leftDigits, rightDigits) = (left.withoutLeadingZeros, right.withoutLeadingZeros)
    if leftDigits.count != rightDigits.count { return leftDigits.count < rightDigits.count }
    if leftDigits != rightDigits { return leftDigits.lexicographicallyPrecedes(rightDigits) }
    return precedes(left, right)
  }

  private var withoutLeadingZeros: ArraySlice<UInt8> { utf8.drop { $0 == 0x30 } }
}

/// Every fact in a fixed order, to tell two statements of one moment apart.
extension Statement where Facts == PurchaseFacts {
  fileprivate var canonical: Text {
    var writer = JSONWriter()
    writer.beginArray()
    writer.string(kind)
    writer.string(facts.evidenceClass.name)
    writer.string(facts.originalTransactionId)
    writer.optional(facts.webOrderLineItemId)
    writer.string(facts.productId)
    writer.optional(facts.group)
    writer.optional(facts.type.map { Text(stringLiteral: $0.name) })
    writer.boolean(facts.typeIsUnknown)
    writer.optional(facts.start)
    writer.optional(facts.end)
    writer.optional(facts.revokedAt)
    writer.optional(facts.revocationReason)
    writer.optional(facts.revocationType)
    writer.optional(facts.revocationPercentage)
    writer.optional(facts.ownership)
    writer.optional(facts.offerType)
    writer.optional(facts.offerDiscountType)
    writer.integer(facts.quantity)
    writer.optional(facts.account)
    writer.boolean(facts.showsRevocation)
    writer.boolean(facts.isTrial)
    writer.boolean(facts.isIntro)
    writer.boolean(facts.hasOffer)
    writer.boolean(facts.isExpiredAnswer)
    writer.endArray()
    return Text(writer.bytes)
  }
}

extension Statement where Facts == RenewalFacts {
  fileprivate var canonical: Text {
    var writer = JSONWriter()
    writer.beginArray()
    writer.string(kind)
    writer.string(facts.evidenceClass.name)
    writer.optional(facts.productId)
    writer.optional(facts.autoRenewProductId)
    writer.optional(facts.autoRenewStatus)
    writer.optional(facts.isInBillingRetry.map { $0 ? 1 : 0 })
    writer.optional(facts.expirationIntent)
    writer.optional(facts.priceIncreaseStatus)
    writer.optional(facts.account)
    writer.endArray()
    return Text(writer.bytes)
  }
}

// Called so often in a row that copies of them took 6 KiB.
extension JSONWriter {
  @inline(never)
  fileprivate mutating func optional(_ value: Text?) {
    if let value { string(value) } else { null() }
  }

  @inline(never)
  fileprivate mutating func optional(_ value: Int64?) {
    if let value { integer(value) } else { null() }
  }
}
