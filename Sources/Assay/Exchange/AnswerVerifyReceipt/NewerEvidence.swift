/// What the host's newer evidence states about the purchases of one receipt (VRE-20 … VRE-22).
///
/// Only what is of the receipt's app, environment and subscriptions counts: an answer that mixes
/// two customers would be worse than an old one.
struct NewerEvidence {
  private(set) var transactions: [AnsweredTransaction] = []
  private(set) var renewals: [AnsweredRenewal] = []
  /// The newest receipt of the same form.
  private(set) var receipt: AnsweredReceipt?
  /// The places of documents of which nothing counts, such as "evidence[1]".
  private(set) var leftOut: [String] = []

  private let bundleId: Text
  private let environment: Environment?
  private let lines: [Text: Bool]

  /// - Parameter purchases: the purchases of the receipt.
  init(
    _ evidence: [VerifiedEvidence], about receipt: AnsweredReceipt,
    _ purchases: [AnsweredTransaction]
  ) {
    bundleId = receipt.bundleId
    environment = receipt.environment
    var lines: [Text: Bool] = [:]
    for purchase in purchases { lines[purchase.line] = true }
    self.lines = lines
    for (index, item) in evidence.enumerated() where !take(item, receipt) {
      leftOut.append("evidence[" + String(index) + "]")
    }
  }

  /// Takes what counts of one item; returns whether anything does.
  private mutating func take(_ item: VerifiedEvidence, _ submitted: AnsweredReceipt) -> Bool {
    switch item {
    case .storeKit(let payload): return take(payload)
    case .receiptResponse(let response): return take(response)
    default: return AnsweredReceipt(item).map { take($0, submitted) } ?? false
    }
  }

  private mutating func take(_ payload: SignedPayload) -> Bool {
    guard payload.identity.environment == environment else { return false }
    switch payload.kind {
    case .transaction:
      guard payload.identity.bundleId == bundleId, let stated = AnsweredTransaction(payload)
      else { return false }
      return take([stated])
    case .renewalInfo:
      // Renewal info names no app: an id of 13 digits or fewer is not unique (APR-23).
      guard let renewal = AnsweredRenewal(payload),
        IdEnvironment.unique(renewal.facts.originalTransactionId.utf8[...]) != nil
      else { return false }
      return take(renewal)
    case .notification:
      guard payload.identity.bundleId == bundleId, let parts = payload.notification else {
        return false
      }
      var counts = false
      if let stated = parts.nested(.transaction).flatMap({ AnsweredTransaction($0) }) {
        counts = take([stated])
      }
      if let renewal = parts.nested(.renewalInfo).flatMap({ AnsweredRenewal($0) }) {
        counts = take(renewal) || counts
      }
      return counts
    case .appTransaction, .realtimeRequest: return false
    }
  }

  private mutating func take(_ response: ReceiptResponse) -> Bool {
    guard let told = response.identity.environment?.environment, told == environment,
      response.identity.bundleId == bundleId
    else { return false }
    var counts = take(
      response.transactions.map { AnsweredTransaction($0, of: response) })
    for renewal in response.renewals {
      guard let facts = response.renewalFacts(renewal, told) else { continue }
      counts = take(AnsweredRenewal(renewal, facts)) || counts
    }
    return counts
  }

  private mutating func take(_ other: AnsweredReceipt, _ submitted: AnsweredReceipt) -> Bool {
    guard other.environment == environment, other.bundleId == bundleId, take(other.transactions)
    else { return false }
    let known = receipt ?? submitted
    if other.style == submitted.style, other.asOfMs > known.asOfMs { receipt = other }
    return true
  }

  private mutating func take(_ stated: [AnsweredTransaction]) -> Bool {
    let ours = stated.filter { lines[$0.line] == true }
    transactions += ours
    return !ours.isEmpty
  }

  private mutating func take(_ renewal: AnsweredRenewal) -> Bool {
    guard lines[renewal.facts.originalTransactionId] == true else { return false }
    renewals.append(renewal)
    return true
  }
}
