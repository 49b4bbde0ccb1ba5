/// What is left of a damaged receipt: the ids of one purchase, by which the host can ask Apple
/// (TRI-13). Nothing here changes the category, the disposition or the next step.
extension Triage {
  /// Reads what a text that ends too early still contains (RCP-2); `nil` if that is no purchase.
  func remains(ofText blob: [UInt8]) -> TriageClaim? {
    guard let bytes = TolerantBase64.decode(cut: blob[...]) else { return nil }
    if BlobForm.isContainer(bytes) {
      return bytes.count <= configuration.receipts.appReceiptBytes
        ? remains(ofContainer: bytes) : nil
    }
    return bytes.count <= configuration.receipts.transactionReceiptBytes
      ? remains(ofList: bytes) : nil
  }

  /// Reads the first purchase with an id in a container that ends too early or lacks members.
  func remains(ofContainer bytes: [UInt8]) -> TriageClaim? {
    guard
      let claims = AppReceiptClaims.remains(bytes, purchases: configuration.receipts.purchases),
      let purchase = claims.first
    else { return nil }
    var claim = TriageClaim(claims.payload.bytes)
    claim.bundleId = claims.bundleId
    claim.environment = claims.type.flatMap {
      AppReceiptVerification.environment(ofType: claims.slice($0))
    }
    claim.name(purchase)
    claim.productId = purchase.productId
    claim.purchaseDate = purchase.purchaseDate
    return claim
  }

  /// Reads the signed list in a transaction receipt whose outer list is damaged.
  func remains(ofList bytes: [UInt8]) -> TriageClaim? {
    guard let info = QuotedValue.find("\"purchase-info\"", in: bytes[...]),
      let signed = TolerantBase64.decode(cut: bytes[info.range])
    else { return nil }
    if let list = try? PropertyList(signed, limits: .info) {
      return TriageClaim(ofIncomplete: PurchaseInfo(list))
    }
    // The value of a quoted name whose closing quote is there: half a number would be another.
    func value(_ name: StaticString) -> Range<Int>? {
      QuotedValue.find(name, in: signed[...]).flatMap { $0.isClosed ? $0.range : nil }
    }
    guard let id = value("\"transaction-id\""), IdEnvironment.isId(signed[id]) else { return nil }
    var claim = TriageClaim(signed)
    claim.transactionId = id
    claim.originalTransactionId = value("\"original-transaction-id\"")
      .flatMap { IdEnvironment.isId(signed[$0]) ? $0 : nil }
    claim.environment = ReceiptEnvironment(id: signed[id], environment: nil, pod: nil).environment
    return claim
  }
}

extension AppReceiptClaims {
  /// The first purchase whose transaction id is no short number of a test.
  var first: Purchase? {
    purchases.first { purchase in
      guard let id = purchase.transactionId.map({ slice($0) }) else { return false }
      return IdEnvironment.isId(id) && IdEnvironment.unique(id) != nil
    }
  }
}

extension TriageClaim {
  /// Creates the content of a receipt without a usable outer list, without keys: it is not worth
  /// a look into the ledger.
  init(ofIncomplete fields: PurchaseInfo) {
    let environment = fields.value(.transactionId).flatMap {
      ReceiptEnvironment(id: $0, environment: nil, pod: nil).environment
    }
    self.init(fields, environment)
  }

  /// Adds the two ids of one purchase.
  mutating func name(_ purchase: AppReceiptClaims.Purchase) {
    transactionId = purchase.transactionId
    originalTransactionId = purchase.originalTransactionId
      .flatMap { IdEnvironment.isId(slice($0)) ? $0 : nil }
  }
}

/// The value of a name in a damaged list, `"name" = "value"`.
private struct QuotedValue {
  let range: Range<Int>
  /// Whether the closing quote is there.
  let isClosed: Bool

  /// Finds the first value of `name`, which contains its quotes.
  static func find(_ name: StaticString, in text: ArraySlice<UInt8>) -> QuotedValue? {
    let length = name.utf8CodeUnitCount
    var at = text.startIndex
    while text.endIndex &- at > length {
      if text[at] == 0x22, text[at..<at &+ length].elementsEqual(name) {
        return value(after: at &+ length, in: text)
      }
      at &+= 1
    }
    return nil
  }

  private static func value(after end: Int, in text: ArraySlice<UInt8>) -> QuotedValue? {
    var at = end
    for byte: UInt8 in [0x3d, 0x22] {
      while at < text.endIndex, ASCII.isSpace(text[at]) { at &+= 1 }
      guard at < text.endIndex, text[at] == byte else { return nil }
      at &+= 1
    }
    let start = at
    while at < text.endIndex, text[at] != 0x22 { at &+= 1 }
    return QuotedValue(range: start..<at, isClosed: at < text.endIndex)
  }
}
