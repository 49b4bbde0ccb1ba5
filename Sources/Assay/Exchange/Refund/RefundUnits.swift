/// `compute-refund-units`: the units that a revocation takes back (docs/spec/refund-answers.md §4).
struct RefundUnits: CallResult {
  /// The refunded share in thousandths of a percent; `nil` if Apple has not told it (RFA-40).
  private let share: Int64?
  private let refunded: Int64?
  private let remaining: Int64?
  private let take: Int64
  private(set) var warnings: [Warning] = []

  private static let types: [StaticString] = [
    "Consumable", "Non-Consumable", "Non-Renewing Subscription", "Auto-Renewable Subscription",
  ]

  init(_ context: OperationContext) throws(Refusal) {
    let request = context.request
    let counts: ClosedRange<Int64> = 0...MemberNode.exactInteger
    let units = try request.required("units").integer(counts)
    let percentage = try request["percentage"]?.integer(0...RefundShare.full)
    let type = try request["revocationType"]?.text(1...64)
    let isConsumable = try request["type"]?.choice(RefundUnits.types) ?? 0 == 0
    let granted = try request["grantedUnits"]?.integer(counts) ?? units
    if let type, !KnownValues.isRevocationType(type) {
      warnings.append(Warning("unknown-value", at: "revocationType"))
    }
    share = isConsumable ? RefundShare.told(percentage, type) : RefundShare.full
    refunded = share.map { RefundShare.back(of: units, $0) }
    let left = refunded.map { max(0, units &- $0) }
    take = left.map { max(0, granted &- $0) } ?? 0
    remaining = left
  }

  func write(_ writer: inout JSONWriter) {
    writer.name("units")
    writer.beginObject()
    writer.member("share", integer: share)
    writer.member("refunded", integer: refunded)
    writer.member("remaining", integer: remaining)
    writer.member("take", integer: take)
    writer.endObject()
  }
}
