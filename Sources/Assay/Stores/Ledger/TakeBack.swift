/// Units of a refunded purchase that the host takes back, keyed by `id` (STO-35).
struct TakeBack {
  let purchaseKey: Text
  let account: Text
  let product: Text
  let quantity: Int64
  let units: Int64
  /// What Apple reports as `revocationPercentage`; nil: all of it.
  let percentage: Int64?
  let id: TakeBackId
  /// STO-26: a host that keeps the largest one seen refuses smaller ones.
  let fence: Int64
  /// Milliseconds since 1970 UTC; nil: it is not under a lease.
  var leaseUntilMs: Int64? = nil

  /// nil: the row has no more out than it may keep.
  init?(_ row: LedgerRow, out: Int64, target: Int64) {
    guard out > target, !row.owner.isEmpty else { return nil }
    purchaseKey = row.purchaseKey
    account = row.owner
    product = row.product
    quantity = row.quantity
    units = out &- target
    percentage = row.revokedShare
    id = TakeBackId(grantId: row.grantId, target: target)
    fence = row.tries
    if row.leaseMs != LedgerRow.noLease { leaseUntilMs = row.leaseMs }
  }

  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("purchaseKey", purchaseKey)
    writer.member("takeId", id.text)
    writer.member("fence", integer: fence)
    writer.member("account", account)
    writer.member("product", product)
    writer.member("quantity", integer: quantity)
    writer.member("units", integer: units)
    writer.member("percentage", integer: percentage)
    writer.member("leaseUntilMs", integer: leaseUntilMs)
    writer.endObject()
  }
}
