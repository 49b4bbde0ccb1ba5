/// Why an operation does not go on: its next step has no answer yet, or it is over.
enum StoreStop: Error {
  case step(StoreStep)
  /// The host grants, in its open transaction (STO-21).
  case grant(StoreGrant)
  /// The host comes back later; milliseconds since 1970 UTC.
  case wait(untilMs: Int64)
  case refused(Refusal)

  /// STO-4: a row that is not understood.
  static func shape(_ place: String) -> StoreStop {
    .refused(Refusal(.unavailableStoreReplyShape, "STO-4", at: place))
  }
}

/// A purchase that the host pays out now.
struct StoreGrant {
  let purchaseKey: Text
  let grantId: Text
  let fence: Int64
  let account: Text
  let product: Text
  let quantity: Int64

  /// The value of `grant`.
  func write(id: Int64, _ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("id", integer: id)
    writer.member("purchaseKey", purchaseKey)
    writer.member("grantId", grantId)
    writer.member("fence", integer: fence)
    writer.member("account", account)
    writer.member("product", product)
    writer.member("quantity", integer: quantity)
    writer.endObject()
  }

  /// The host's answer to a grant step: 200, or 500 to roll back.
  ///
  /// - Throws: `misuse.exchange.answer`, `misuse.exchange.order`.
  static func isGranted(_ bytes: [UInt8], to id: Int64) throws(Refusal) -> Bool {
    let root = try ExchangeInput.read(bytes, ExchangeInput.answer).object(["id", "code"])
    let given = try root.required("id").integer(Int64.min...Int64.max)
    try require(given == id, .misuseExchangeOrder, "EXC-5", at: "id")
    let code = try root.required("code")
    let number = try code.integer(0...999)
    try require(number == 200 || number == 500, code)
    return number == 200
  }
}
