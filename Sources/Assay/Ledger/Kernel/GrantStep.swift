/// A grant step: the host grants a purchase, or takes it back, in the transaction of its row.
struct GrantStep {
  let purchaseKey: Text
  let grantId: Text
  let fencingToken: Int64
  let account: Text
  let product: Text
  let quantity: Int64
  /// Units to give or to take back (STO-36).
  let units: Int64
  /// Whether this grant id was handed to a host before (STO-37).
  var isRepeated = false
  /// The take-back that the host executes; `nil` if it grants the purchase (STO-35).
  var take: TakeBack? = nil
  /// The element of TransactWriteItems that precedes the host's own; `nil` on other engines than
  /// DynamoDB.
  var item: [UInt8]? = nil

  init(_ row: LedgerRow, units: Int64, isRepeated: Bool, item: [UInt8]? = nil) {
    purchaseKey = row.purchaseKey
    grantId = row.grantId
    fencingToken = row.fencingToken
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
    fencingToken = take.fencingToken
    account = take.account
    product = take.product
    quantity = take.quantity
    units = take.units
    self.take = take
    self.item = item
  }

  /// The host's reply to a grant step.
  enum Answer {
    /// The host has granted; on DynamoDB the transaction is committed as well.
    case done
    /// The host rolled back, and nothing was granted.
    case failed
    /// DynamoDB cancelled the transaction, for the reasons in the result.
    case cancelled(DatabaseResult)
    /// The engine or the executor reports why nothing was granted.
    case refused(DatabaseFailure)
    /// The session was lost during the grant (STO-39).
    case lost
  }

  /// Writes the value of `grant`.
  func write(id: Int64, _ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("id", integer: id)
    writer.member("what", take == nil ? "give" : "take")
    writer.member("purchaseKey", purchaseKey)
    writer.member("grantId", grantId)
    writer.member("fencingToken", integer: fencingToken)
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

  /// Reads the host's reply to a grant step: code 200; code 500 after a rollback, with an error
  /// if the engine returned one or the grant ended the transaction; code 0 if the session was
  /// lost.
  ///
  /// - Parameter hasItem: Whether the step had an item for DynamoDB. A reply with code 200 may
  ///   then contain the reasons of a cancelled transaction, as a reply to a database step does.
  /// - Throws: `misuse.exchange.reply`, `misuse.exchange.order`.
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
    case 500:
      return try root.present("error").map(DatabaseFailure.init).map(Answer.refused) ?? .failed
    default: throw code.refusal(.range)
    }
    guard let entry = try root["results"]?.elements(1...1).first else { return .done }
    let result = try DatabaseResult(entry)
    if case .cancelled = result { return .cancelled(result) }
    return .done
  }
}
