/// One purchase of a response, merged from all entries with its transaction id.
struct ResponseTransaction: Sendable {
  /// The list of an entry. Lists with Apple's present state precede the content of the submitted
  /// receipt.
  enum Source: Int, Sendable {
    case latest, expired, receipt
  }

  private(set) var fields: ResponseFields
  let source: Source
  let place: ResponsePath
  let transactionId: Text
  let originalTransactionId: Text
  let productId: Text

  /// Reads one entry, which must have its three ids.
  init(
    _ object: JSONValue, _ source: Source, at place: ResponsePath,
    _ warnings: inout ResponseWarnings
  ) throws(Refusal) {
    fields = try ResponseFields(object, ResponseMembers.transaction, at: place, &warnings)
    self.source = source
    self.place = place
    guard let transactionId = fields.id("transaction_id") else {
      throw ResponseFields.malformed(place, "transaction_id")
    }
    guard let originalTransactionId = fields.id("original_transaction_id") else {
      throw ResponseFields.malformed(place, "original_transaction_id")
    }
    guard let productId = fields.productId("product_id") else {
      throw ResponseFields.malformed(place, "product_id")
    }
    self.transactionId = transactionId
    self.originalTransactionId = originalTransactionId
    self.productId = productId
  }

  /// The purchase date; like all dates here, in milliseconds since 1970 UTC.
  var start: Int64? { fields.time("purchase_date") }
  var end: Int64? { fields.time("expires_date") }
  var revokedAtMs: Int64? { fields.time("cancellation_date") }
  var isUpgraded: Bool { fields.flag("is_upgraded") ?? false }
  var account: Text? {
    guard let token = fields.text("app_account_token"), token.isUUID else { return nil }
    return token.asciiLowercased
  }

  /// Returns each transaction once, ordered by the end of its period. Entries without an end come
  /// first; equal ends are ordered by transaction id (VRR-11).
  static func merged(_ entries: [ResponseTransaction]) -> [ResponseTransaction] {
    var merged: [ResponseTransaction] = []
    merged.reserveCapacity(entries.count)
    for (_, next) in entries.map({ (Precedence($0), $0) }).ordered(by: { $0.0.isBefore($1.0) }) {
      if let last = merged.last, last.transactionId == next.transactionId {
        merged[merged.count &- 1].fields.fill(from: next.fields)
      } else {
        merged.append(next)
      }
    }
    return merged.map { (end: $0.end ?? .min, entry: $0) }.ordered { left, right in
      if left.end != right.end { return left.end < right.end }
      return Text.precedesAsNumber(left.entry.transactionId, right.entry.transactionId)
    }.map { $0.entry }
  }

  /// The precedence among entries of one transaction: the first one counts, and the others supply
  /// members that it lacks. The list with the newer state comes first, then the entry that grants
  /// less. The order of entries within a list never counts.
  private struct Precedence {
    let id: Text
    let source: Int
    let isRevoked: Bool
    let isUpgraded: Bool
    let end: Int64
    let text: ArraySlice<UInt8>

    init(_ entry: ResponseTransaction) {
      id = entry.transactionId
      source = entry.source.rawValue
      isRevoked = entry.revokedAtMs != nil
      isUpgraded = entry.isUpgraded
      end = entry.end ?? .max
      text = entry.fields.object.source
    }

    func isBefore(_ other: Precedence) -> Bool {
      if id != other.id { return Text.precedesAsNumber(id, other.id) }
      if source != other.source { return source < other.source }
      if isRevoked != other.isRevoked { return isRevoked }
      if isUpgraded != other.isUpgraded { return isUpgraded }
      if end != other.end { return end < other.end }
      return text.lexicographicallyPrecedes(other.text)
    }
  }
}
