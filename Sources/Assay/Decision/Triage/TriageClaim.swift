/// What a blob says about itself. None of it is verified: it is written as
/// `claimed`, and serves to look up and to compare, never to grant.
struct TriageClaim: Sendable {
  /// What an app receipt claims beside its bundle id.
  struct AppReceipt: Sendable {
    /// "ProductionSandbox"; of an App Attest receipt "ATTEST" or "RECEIPT".
    var type: Range<Int>? = nil
    /// Milliseconds since 1970 UTC.
    var creationDate: Int64? = nil
    /// Different ones, in the order of the receipt; at most `productCap`.
    var productIds: [Range<Int>] = []
    var purchaseCount = 0
    /// Whether every purchase was looked at: no more than `purchaseCap`.
    var isComplete = true

    /// Purchases of which keys and product ids are listed.
    static let purchaseCap = 256
    /// Product ids that are listed.
    static let productCap = 64
  }

  /// Where the ranges lie. All that they mark is valid UTF-8.
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
  /// `iss` of a JWS: who is said to have made it (KST-7).
  var issuer: Range<Int>? = nil
  /// The whole App ID of an App Attest receipt.
  var appId: Range<Int>? = nil
  var appReceipt: AppReceipt? = nil
  /// Under which a ledger may know the purchases: for each its transaction key,
  /// and its purchase key when that is another one (JWS-94, TRI-10). A
  /// subscription key is not among them: it is the same for all periods, and a
  /// hit would prove nothing.
  private(set) var keys: [Text] = []

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  func slice(_ range: Range<Int>) -> ArraySlice<UInt8> {
    bytes[range.clamped(to: 0..<bytes.count)]
  }

  func text(_ range: Range<Int>?) -> Text? { range.map { Text(Array(slice($0))) } }

  /// Adds a text that is nowhere in `bytes`.
  mutating func hold(_ text: Text?) -> Range<Int>? {
    guard let text else { return nil }
    let start = bytes.count
    bytes.append(contentsOf: text.utf8)
    return start..<bytes.count
  }

  // MARK: keys

  /// The ids of one purchase, as far as they are claimed.
  struct Ids {
    var transactionId: Range<Int>? = nil
    var originalTransactionId: Range<Int>? = nil
    /// "0" counts as absent (RPL-3).
    var webOrderLineItemId: Text? = nil
    var purchaseDate: Int64? = nil
  }

  /// TRI-10: the keys of one purchase, none where one of its ids is not an id
  /// (APR-25). An id of 13 digits or fewer, "0" among them, is unique nowhere and
  /// makes no key (RPL-3, APR-23).
  ///
  /// - Parameter environment: nil: the ids show none (RCP-28).
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

  /// APR-25: which of the ids are there and are not 1 to 20 digits.
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

  /// The value of `claimed`.
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
