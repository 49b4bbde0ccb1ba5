/// A verified transaction receipt: one purchase, as iOS 3 to 6 sent it (docs/spec/receipts.md
/// §2). Created only by a verification.
final class TransactionReceipt: Sendable {
  let info: PurchaseInfo
  let version: SignatureBlob.Version
  /// The environment, which is unknown if the transaction id implies none and the configuration
  /// allows that (RCP-29).
  let environment: ReceiptEnvironment
  /// The product in the catalogue, from which its type is known: no receipt contains it. `nil` if
  /// the catalogue lacks it, which only an answer in Apple's words allows (VRE-16).
  let product: Catalogue.Product?
  /// Whether the purchase is older than the signer's certificate (RCP-23).
  let signedAfterPurchase: Bool
  private let chain: ValidPath
  let transport: Transport
  let deviceIdsReported: Bool

  init(
    _ info: PurchaseInfo, version: SignatureBlob.Version, environment: ReceiptEnvironment,
    product: Catalogue.Product?, signedAfterPurchase: Bool, chain: ValidPath,
    transport: Transport, deviceIdsReported: Bool
  ) {
    self.info = info
    self.version = version
    self.environment = environment
    self.product = product
    self.signedAfterPurchase = signedAfterPurchase
    self.chain = chain
    self.transport = transport
    self.deviceIdsReported = deviceIdsReported
  }

  /// Whether the signature was made with an RSA key of 1,024 bits (RCP-21).
  var isWeak: Bool { version == .v2 }

  // MARK: decisions

  /// Returns the purchase for a decision (docs/spec/receipts-decisions.md §1). A transaction
  /// receipt cannot report a refund (DCD-3).
  ///
  /// - Throws: `rejected.payload.incomplete` when nothing that is signed implies the environment:
  ///   such a purchase cannot be matched with a refund of it in other evidence (RCP-28).
  func purchaseEvidence(_ catalogue: Catalogue) throws(Refusal) -> PurchaseEvidence {
    guard let environment = environment.environment else {
      throw Refusal(.rejectedPayloadIncomplete, "DCD-1", at: "environment")
    }
    var facts = PurchaseFacts(
      environment: environment, transactionId: text(.transactionId),
      originalTransactionId: text(.originalTransactionId), productId: text(.productId),
      asOfMs: info.purchaseDateMs ?? 0)
    facts.webOrderLineItemId = info.webOrderLineItemId
    facts.start = info.purchaseDateMs
    facts.end = info.expiresDateMs
    facts.isTrial = info.isTrialPeriod ?? false
    facts.isIntro = info.isInIntroOfferPeriod ?? false
    facts.quantity = info.quantity ?? 1
    facts.canReport = []
    return PurchaseEvidence(
      kind: "transaction-receipt", purchases: [facts], renewals: [], asOfMs: info.purchaseDateMs)
  }

  private func text(_ field: PurchaseInfo.Field) -> Text { info.text(field) ?? Text([]) }

  // MARK: document

  /// Writes a warning if the unsigned text around the purchase was edited (RCP-28).
  func writeWarnings(_ writer: inout JSONWriter) {
    guard let key = environment.alteredKey else { return }
    let place = Text(stringLiteral: key).string
    Warning.write([Warning("outer-altered", at: place)], &writer)
  }

  /// Writes the value of the member `transactionReceipt` (docs/spec/receipts.md §2.9).
  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("version", integer: version.rawValue)
    write("bundleId", .bid, &writer)
    write("productId", .productId, &writer)
    writer.member("quantity", integer: info.quantity)
    write("transactionId", .transactionId, &writer)
    write("originalTransactionId", .originalTransactionId, &writer)
    writer.member("webOrderLineItemId", info.webOrderLineItemId)
    writer.member("purchaseDate", integer: info.purchaseDateMs)
    writer.member("originalPurchaseDate", integer: info.originalPurchaseDateMs)
    writer.member("expiresDate", integer: info.expiresDateMs)
    writer.member("isTrialPeriod", boolean: info.isTrialPeriod)
    writer.member("isInIntroOfferPeriod", boolean: info.isInIntroOfferPeriod)
    write("bundleVersion", .bvrs, &writer)
    write("itemId", .itemId, &writer)
    write("appItemId", .appItemId, &writer)
    write("versionExternalIdentifier", .versionExternalIdentifier, &writer)
    if deviceIdsReported {
      write("uniqueIdentifier", .uniqueIdentifier, &writer)
      write("uniqueVendorIdentifier", .uniqueVendorIdentifier, &writer)
    }
    writeFindings(&writer)
    writer.name("keys")
    writeKeys(&writer)
    writer.name("chain")
    chain.write(&writer)
    transport.write(&writer)
    writer.endObject()
  }

  private func write(
    _ name: StaticString, _ field: PurchaseInfo.Field, _ writer: inout JSONWriter
  ) {
    writer.name(name)
    if let value = info.value(field) { writer.string(utf8: value) } else { writer.null() }
  }

  private func writeFindings(_ writer: inout JSONWriter) {
    writer.name("environment")
    if let known = environment.environment { writer.string(known.name) } else { writer.null() }
    writer.name("environmentSource")
    if environment.environment != nil { writer.string("transaction-id") } else { writer.null() }
    writer.member("outerAltered", boolean: environment.outerAltered)
    writer.member("signedAfterPurchase", boolean: signedAfterPurchase)
    writer.member("weakKey", boolean: isWeak)
  }

  /// Writes the idempotency keys of the purchase, with the catalogue's product type (JWS-94). Ids
  /// of 13 digits or fewer make no key (RPL-3, APR-23). Without an environment the keys begin
  /// with `unknown` (RCP-28).
  private func writeKeys(_ writer: inout JSONWriter) {
    let environment = environment.environment
    let transactionId = info.value(.transactionId).flatMap { IdEnvironment.unique($0) }
    let originalId = info.value(.originalTransactionId).flatMap { IdEnvironment.unique($0) }
    writer.beginObject()
    writer.member(
      "transaction",
      ReplayKeys.transaction(environment: environment, transactionId: transactionId))
    writer.member(
      "purchase",
      ReplayKeys.purchase(
        environment: environment, type: product?.type, transactionId: transactionId,
        originalTransactionId: originalId, webOrderLineItemId: info.webOrderLineItemId,
        purchaseDate: info.purchaseDateMs))
    writer.member(
      "subscription",
      ReplayKeys.subscription(environment: environment, originalTransactionId: originalId))
    writer.endObject()
  }
}
