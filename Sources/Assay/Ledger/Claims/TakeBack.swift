/// Units of a refunded purchase that the host takes back, keyed by `id` (STO-35).
struct TakeBack {
  let purchaseKey: Text
  let account: Text
  let product: Text
  let quantity: Int64
  let units: Int64
  /// The share that Apple's revocation takes back, in milliunits, 0 … 100000; `nil` for all of it.
  let percentage: Int64?
  let id: TakeBackId
  /// The fencing token: a host that keeps the largest one seen refuses smaller ones (STO-26).
  let fencingToken: Int64
  /// The end of the lease, in milliseconds since 1970 UTC; `nil` without a lease.
  var leaseExpiresAtMs: Int64? = nil

  /// Creates the take-back; `nil` if no more units are out than may stay, or if the row has no
  /// owner.
  init?(_ row: LedgerRow, out: Int64, target: Int64) {
    guard out > target, !row.owner.isEmpty else { return nil }
    purchaseKey = row.purchaseKey
    account = row.owner
    product = row.product
    quantity = row.quantity
    units = out &- target
    percentage = row.revokedShare
    id = TakeBackId(grantId: row.grantId, target: target)
    fencingToken = row.fencingToken
    if row.leaseMs != LedgerRow.noLease { leaseExpiresAtMs = row.leaseMs }
  }

  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("purchaseKey", purchaseKey)
    writer.member("takeId", id.text)
    writer.member("fencingToken", integer: fencingToken)
    writer.member("account", account)
    writer.member("product", product)
    writer.member("quantity", integer: quantity)
    writer.member("units", integer: units)
    writer.member("percentage", integer: percentage)
    writer.member("leaseExpiresAtMs", integer: leaseExpiresAtMs)
    writer.endObject()
  }
}
