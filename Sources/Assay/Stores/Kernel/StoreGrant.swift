/// What the host carries out now, in the transaction of the row: it pays a purchase out, or takes
/// it back.
struct StoreGrant {
  let purchaseKey: Text
  let grantId: Text
  let fence: Int64
  let account: Text
  let product: Text
  let quantity: Int64
  /// STO-36.
  let units: Int64
  /// STO-37: this grant id was handed to a host before.
  var isRepeated = false
  /// STO-35: of what is taken back; nil: the purchase is paid out.
  var take: TakeBack? = nil
  /// DynamoDB: the element of TransactWriteItems that goes before the host's own.
  var item: [UInt8]? = nil

  init(_ row: LedgerRow, units: Int64, isRepeated: Bool, item: [UInt8]? = nil) {
    purchaseKey = row.purchaseKey
    grantId = row.grantId
    fence = row.tries
    account = row.owner
    product = row.product
    quantity = row.quantity
    self.units = units
    self.isRepeated = isRepeated
    self.item = item
  }

  init(_ take: TakeBack, item: [UInt8]? = nil) {
    purchaseKey = take.purchaseKey
    grantId = take.id.grantId
    fence = take.fence
    account = take.account
    product = take.product
    quantity = take.quantity
    units = take.units
    self.take = take
    self.item = item
  }

  /// The host's word on it.
  enum Answer {
    /// Granted; the transaction is committed where the host holds all of it.
    case done
    /// It rolled back, and nothing was granted.
    case failed
    /// DynamoDB cancelled the transaction.
    case cancelled(StoreResult)
    /// The engine or the executor says why nothing was granted.
    case refused(StoreFailure)
    /// The session was lost in the grant (STO-39).
    case lost
  }

  /// The value of `grant`.
  func write(id: Int64, _ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("id", integer: id)
    writer.member("what", take == nil ? "give" : "take")
    writer.member("purchaseKey", purchaseKey)
    writer.member("grantId", grantId)
    writer.member("fence", integer: fence)
    writer.member("account", account)
    writer.member("product", product)
    writer.member("quantity", integer: quantity)
    writer.member("units", integer: units)
    if let take {
      writer.member("takeId", take.id.text)
      writer.member("percentage", integer: take.percentage)
    } else {
      writer.member("repeat", boolean: isRepeated)
    }
    if let item {
      writer.name("item")
      writer.raw(item)
    }
    writer.endObject()
  }

  /// The host's answer to a grant step: 200, or 500 to roll back, with an error where the engine
  /// gave one or the grant ended the transaction; 0 where the session was lost.
  ///
  /// - Parameter hasItem: the step had one: with 200 the reasons may come that
  ///   DynamoDB gave, as in an answer to a step of a store.
  /// - Throws: `misuse.exchange.answer`, `misuse.exchange.order`.
  static func answer(
    _ bytes: [UInt8], to id: Int64, hasItem: Bool
  ) throws(Refusal) -> Answer {
    let root = try ExchangeInput.read(bytes, ExchangeInput.answer)
      .object(hasItem ? ["id", "code", "results", "error"] : ["id", "code", "error"])
    let given = try root.required("id").integer(Int64.min...Int64.max)
    try require(given == id, .misuseExchangeOrder, "EXC-5", at: "id")
    let code = try root.required("code")
    switch try code.integer(0...999) {
    case 0: return .lost
    case 200: break
    case 500: return try root.present("error").map(StoreFailure.init).map(Answer.refused) ?? .failed
    default: throw code.refusal(.range)
    }
    guard let entry = try root["results"]?.elements(1...1).first else { return .done }
    let result = try StoreResult(entry)
    if case .cancelled = result { return .cancelled(result) }
    return .done
  }
}
