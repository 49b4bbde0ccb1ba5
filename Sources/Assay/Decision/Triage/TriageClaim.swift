/// The unverified content of a blob, written as `claimed`: a basis for searches and comparisons,
/// never for a grant.
struct TriageClaim: Sendable {
  /// The unverified content of an app receipt, beside its bundle id.
  struct AppReceipt: Sendable {
    /// The receipt type ("ProductionSandbox"); of an attest receipt "ATTEST" or "RECEIPT".
    var type: Range<Int>? = nil
    /// Milliseconds since 1970 UTC.
    var creationDate: Int64? = nil
    /// Different product ids in the order of the receipt; at most `productCap`.
    var productIds: [Range<Int>] = []
    var purchaseCount = 0
    /// Whether every purchase was read: the receipt has no more than `purchaseCap`.
    var isComplete = true

    /// The most purchases whose keys and product ids are listed.
    static let purchaseCap = 256
    /// The most product ids that are listed.
    static let productCap = 64
  }

  /// The bytes to which all ranges refer; every range contains valid UTF-8.
  var bytes: [UInt8]
  var bundleId: Range<Int>? = nil
  var productId: Range<Int>? = nil
  var transactionId: Range<Int>? = nil
  var originalTransactionId: Range<Int>? = nil
  var webOrderLineItemId: Range<Int>? = nil
  /// Milliseconds since 1970 UTC.
  var purchaseDate: Int64? = nil
  var environment: Environment? = nil
  /// The name of an environment that Assay does not know.
  var environmentName: Range<Int>? = nil
  /// `iss` of a JWS: its unverified issuer (KST-7).
  var issuer: Range<Int>? = nil
  /// The whole App ID of an attest receipt.
  var appId: Range<Int>? = nil
  var appReceipt: AppReceipt? = nil
  /// The idempotency keys under which a ledger may know the purchases: for each its transaction
  /// key, and its purchase key if that differs (JWS-94, TRI-10). Subscription keys are omitted:
  /// one is the same for all periods, so that finding it would prove nothing.
  private(set) var keys: [Text] = []

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  func slice(_ range: Range<Int>) -> ArraySlice<UInt8> {
    bytes[range.clamped(to: 0..<bytes.count)]
  }

  func text(_ range: Range<Int>?) -> Text? { range.map { Text(Array(slice($0))) } }

  /// Appends a text that `bytes` does not contain, and returns its range.
  mutating func hold(_ text: Text?) -> Range<Int>? {
    guard let text else { return nil }
    let start = bytes.count
    bytes.append(contentsOf: text.utf8)
    return start..<bytes.count
  }

  // MARK: keys

  /// The ids of one purchase that are present.
  struct Ids {
    var transactionId: Range<Int>? = nil
    var originalTransactionId: Range<Int>? = nil
    /// The web-order-line-item id; `nil` if absent or 0 (RPL-3).
    var webOrderLineItemId: Text? = nil
    var purchaseDate: Int64? = nil
  }

  /// Adds the idempotency keys of one purchase (TRI-10), none if one of its ids is malformed
  /// (APR-25). An id of 13 digits or fewer, such as "0", is not unique and makes no key (RPL-3,
  /// APR-23).
  ///
  /// - Parameter environment: `nil` if the ids imply none (RCP-28).
  mutating func addKeys(of ids: Ids, in environment: Environment?, type: ProductType?) {
    guard malformed(ids).isEmpty else { return }
    let transactionId = unique(ids.transactionId)
    let transaction = ReplayKeys.transaction(
      environment: environment, transactionId: transactionId)
    let purchase = ReplayKeys.purchase(
      environment: environment, type: type, transactionId: transactionId,
      originalTransactionId: unique(ids.originalTransactionId),
      webOrderLineItemId: ids.webOrderLineItemId, purchaseDate: ids.purchaseDate)
    if let transaction { keys.append(transaction) }
    if let purchase, purchase != transaction { keys.append(purchase) }
  }

  /// Returns which of the present ids are not 1 to 20 digits (APR-25).
  func malformed(_ ids: Ids) -> TriageKeys {
    var found = TriageKeys()
    func look(_ id: ArraySlice<UInt8>?, _ field: PurchaseInfo.Field) {
      if let id, !IdEnvironment.isId(id) { found.insert(TriageKeys(field)) }
    }
    look(ids.transactionId.map { slice($0) }, .transactionId)
    look(ids.originalTransactionId.map { slice($0) }, .originalTransactionId)
    look(ids.webOrderLineItemId?.utf8[...], .webOrderLineItemId)
    return found
  }

  private func unique(_ id: Range<Int>?) -> Text? {
    id.flatMap { IdEnvironment.unique(slice($0)) }
  }

  // MARK: writing

  /// Writes the value of the member `claimed`.
  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    member("bundleId", bundleId, &writer)
    member("productId", productId, &writer)
    member("transactionId", transactionId, &writer)
    member("originalTransactionId", originalTransactionId, &writer)
    member("webOrderLineItemId", webOrderLineItemId, &writer)
    writer.member("purchaseDate", integer: purchaseDate)
    if let environment {
      writer.member("environment", environment.name)
    } else {
      member("environment", environmentName, &writer)
    }
    writer.name("keys")
    writer.beginArray()
    for key in keys { writer.string(key) }
    writer.endArray()
    if issuer != nil { member("issuer", issuer, &writer) }
    if appId != nil { member("appId", appId, &writer) }
    if let appReceipt { write(appReceipt, &writer) }
    writer.endObject()
  }

  private func write(_ receipt: AppReceipt, _ writer: inout JSONWriter) {
    member("type", receipt.type, &writer)
    writer.member("creationDate", integer: receipt.creationDate)
    writer.name("productIds")
    writer.beginArray()
    for id in receipt.productIds { writer.string(utf8: slice(id)) }
    writer.endArray()
    writer.member("purchases", integer: Int64(receipt.purchaseCount))
    writer.member("complete", boolean: receipt.isComplete)
  }

  private func member(_ name: StaticString, _ value: Range<Int>?, _ writer: inout JSONWriter) {
    writer.name(name)
    if let value { writer.string(utf8: slice(value)) } else { writer.null() }
  }
}
