/// A verified app receipt: what Apple knew of one app's purchases on one device
/// when it was made (docs/spec/receipts.md §3). Only a verification makes one.
final class AppReceipt: Sendable {
  let attributes: ReceiptAttributes
  let environment: Environment
  /// Milliseconds since 1970 UTC: as of when the receipt speaks (APR-19).
  let creationDate: Int64
  /// Whether the caller's device is the one that it was made for (APR-18).
  let isDeviceBound: Bool
  let digest: Digest
  private let chain: JudgedPath
  let transport: Transport
  /// In the order of the receipt's purchases.
  private let entries: [Entry]

  /// What the catalogue and the id rule say about one purchase.
  private struct Entry: Sendable {
    let isKnown: Bool
    /// Signed, else the catalogue's.
    let type: ProductType?
    let hasConflict: Bool
  }

  init(
    _ attributes: ReceiptAttributes, environment: Environment, creationDate: Int64,
    isDeviceBound: Bool, digest: Digest, chain: JudgedPath, transport: Transport,
    catalogue: Catalogue
  ) {
    self.attributes = attributes
    self.environment = environment
    self.creationDate = creationDate
    self.isDeviceBound = isDeviceBound
    self.digest = digest
    self.chain = chain
    self.transport = transport
    entries = AppReceipt.entries(attributes, environment, catalogue)
  }

  private static func entries(
    _ attributes: ReceiptAttributes, _ environment: Environment, _ catalogue: Catalogue
  ) -> [Entry] {
    var entries: [Entry] = []
    entries.reserveCapacity(attributes.purchases.count)
    // Renewals of one product follow each other: look it up once.
    var last: (id: ArraySlice<UInt8>, product: Catalogue.Product?) = ([], nil)
    for purchase in attributes.purchases {
      let id = attributes.slice(purchase.productId)
      if id != last.id { last = (id, catalogue.product(Text(Array(id)))) }
      entries.append(
        Entry(
          isKnown: last.product != nil,
          type: ProductType(attribute: purchase.type) ?? last.product?.type,
          hasConflict: disagrees(attributes.slice(purchase.transactionId), with: environment)))
    }
    return entries
  }

  /// APR-17: an id that shows nothing disagrees with nothing.
  private static func disagrees(
    _ id: ArraySlice<UInt8>, with environment: Environment
  ) -> Bool {
    guard let told = IdEnvironment.of(id).environment else { return false }
    return told != environment
  }

  var bundleId: Text { attributes.text(attributes.bundleId) }

  // MARK: decisions

  /// What the purchases contribute to a decision (docs/spec/receipts-decisions.md §1).
  func purchaseEvidence(_ catalogue: Catalogue) -> PurchaseEvidence {
    let purchases = attributes.purchases.map { facts($0) }
    return PurchaseEvidence(kind: "app-receipt", purchases: purchases, renewals: [])
  }

  private func facts(_ purchase: ReceiptAttributes.Purchase) -> PurchaseFacts {
    let transactionId = attributes.text(purchase.transactionId)
    var facts = PurchaseFacts(
      environment: environment, transactionId: transactionId,
      originalTransactionId: attributes.text(purchase.originalTransactionId) ?? transactionId,
      productId: attributes.text(purchase.productId), asOf: creationDate)
    facts.webOrderLineItemId = purchase.webOrderLineItemId.map { Text(decimal: $0) }
    facts.type = ProductType(attribute: purchase.type)
    facts.typeIsUnknown = purchase.type.map { $0 > AppReceipt.lastKnownType } ?? false
    facts.start = purchase.purchaseDate
    facts.end = purchase.expiresDate
    facts.revokedAt = purchase.cancellationDate
    facts.revocationReason = purchase.cancellationReason.map { Int64(clamping: $0) }
    // DCD-18: attribute 1712 has never been seen filled, so that its absence shows
    // nothing; and no attribute tells an offer code.
    facts.shows = purchase.cancellationDate == nil ? [] : .revocation
    // Nor has 1720: there a lone 0 may be a filler, as it is in 1711 and 1713.
    if facts.revokedAt == nil, facts.revocationReason == 0 { facts.revocationReason = nil }
    facts.dateRevocation()
    facts.isTrial = purchase.isTrialPeriod ?? false
    facts.isIntro = purchase.isInIntroOfferPeriod ?? false
    facts.hasOffer = purchase.promotionalOfferId != nil
    facts.quantity = Int64(clamping: purchase.quantity ?? 1)
    return facts
  }

  /// 0 … 4 in attribute 1707.
  private static let lastKnownType: UInt64 = 4

  // MARK: document

  /// Values that Assay does not know (DCD-11).
  func writeWarnings(_ writer: inout JSONWriter) {
    for (index, purchase) in attributes.purchases.enumerated() {
      func warn(_ member: StaticString) {
        let place = "purchases[" + String(index) + "]." + Text(stringLiteral: member).string
        Warning.write([Warning("unknown-value", at: place)], &writer)
      }
      if let type = purchase.type, type > AppReceipt.lastKnownType { warn("type") }
      if let reason = purchase.cancellationReason, reason > 1 { warn("cancellationReason") }
    }
  }

  /// The value of `appReceipt` (docs/spec/receipts.md §3.5).
  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("type", attributes.text(attributes.type))
    writer.member("environment", environment.name)
    writer.member("bundleId", bundleId)
    writer.member("applicationVersion", attributes.text(attributes.applicationVersion))
    writer.member(
      "originalApplicationVersion", attributes.text(attributes.originalApplicationVersion))
    writer.member("creationDate", integer: creationDate)
    writer.member("originalPurchaseDate", integer: attributes.originalPurchaseDate)
    writer.name("expirationDate")
    switch attributes.expiration {
    case .date(let date): writer.integer(date)
    case .text(let text): writer.string(attributes.text(text))
    case nil: writer.null()
    }
    writer.member("appAppleId", exact: attributes.appAppleId)
    writer.member("downloadId", attributes.downloadId.map { Text(decimal: $0) })
    writer.member("versionExternalIdentifier", exact: attributes.versionExternalIdentifier)
    writer.member("deviceBound", boolean: isDeviceBound)
    writer.member("asOf", integer: creationDate)
    writer.name("purchases")
    writer.beginArray()
    for (purchase, entry) in zip(attributes.purchases, entries) {
      write(purchase, entry, &writer)
    }
    writer.endArray()
    writeRest(&writer)
    writer.name("chain")
    chain.write(&writer)
    writer.member("digest", digest == .sha1 ? "sha1" : "sha256")
    transport.write(&writer)
    writer.endObject()
  }

  /// Attributes without a member of their own.
  private func writeRest(_ writer: inout JSONWriter) {
    writer.name("keptAttributes")
    writer.beginArray()
    for (type, value) in attributes.kept {
      writer.beginObject()
      writer.member("type", exact: type)
      writer.member("hex", Text(Hex.encode(Array(attributes.slice(value)))))
      writer.endObject()
    }
    writer.endArray()
    writer.member("unknownAttributes", integer: Int64(attributes.unknown))
  }

  private func write(
    _ purchase: ReceiptAttributes.Purchase, _ entry: Entry, _ writer: inout JSONWriter
  ) {
    let transactionId = attributes.text(purchase.transactionId)
    let originalId = attributes.text(purchase.originalTransactionId)
    let webOrderLineItemId = purchase.webOrderLineItemId.map { Text(decimal: $0) }
    writer.beginObject()
    writer.member("productId", attributes.text(purchase.productId))
    writer.member("transactionId", transactionId)
    writer.member("originalTransactionId", originalId)
    writer.member("webOrderLineItemId", webOrderLineItemId)
    writer.member("quantity", exact: purchase.quantity)
    writer.name("type")
    AppReceipt.write(type: purchase.type, &writer)
    writer.member("purchaseDate", integer: purchase.purchaseDate)
    writer.member("originalPurchaseDate", integer: purchase.originalPurchaseDate)
    writer.member("expiresDate", integer: purchase.expiresDate)
    writer.member("cancellationDate", integer: purchase.cancellationDate)
    writer.member("cancellationReason", exact: purchase.cancellationReason)
    writer.member("isTrialPeriod", boolean: purchase.isTrialPeriod)
    writer.member("isInIntroOfferPeriod", boolean: purchase.isInIntroOfferPeriod)
    writer.member("promotionalOfferId", attributes.text(purchase.promotionalOfferId))
    writer.member("known", boolean: entry.isKnown)
    writer.member("environment", environment.name)
    writer.member("idConflict", boolean: entry.hasConflict)
    writer.name("keys")
    // APR-23: an id that names nothing is not part of any key.
    let unique = IdEnvironment.unique(attributes.slice(purchase.transactionId))
    let line = purchase.originalTransactionId
      .flatMap { IdEnvironment.unique(attributes.slice($0)) }
    writer.beginObject()
    writer.member(
      "transaction", ReplayKeys.transaction(environment: environment, transactionId: unique))
    writer.member(
      "purchase",
      ReplayKeys.purchase(
        environment: environment, type: entry.type, transactionId: unique,
        originalTransactionId: line, webOrderLineItemId: webOrderLineItemId,
        purchaseDate: purchase.purchaseDate))
    writer.member(
      "subscription",
      ReplayKeys.subscription(environment: environment, originalTransactionId: line))
    writer.endObject()
    writer.endObject()
  }

  /// As Apple names it in a JWS; a number that is not known as text.
  private static func write(type: UInt64?, _ writer: inout JSONWriter) {
    if let known = ProductType(attribute: type) {
      writer.string(known.name)
    } else if type == lastKnownType {
      writer.string("Free Subscription")
    } else if let type {
      writer.string(Text(decimal: type))
    } else {
      writer.null()
    }
  }
}

extension ProductType {
  /// From attribute 1707; nil for free subscriptions and for numbers that are
  /// not known.
  init?(attribute: UInt64?) {
    switch attribute {
    case 0: self = .nonConsumable
    case 1: self = .consumable
    case 2: self = .nonRenewing
    case 3: self = .autoRenewable
    default: return nil
    }
  }
}

extension Text {
  /// The number in decimal digits.
  init(decimal number: UInt64) {
    var digits: [UInt8] = []
    var rest = number
    repeat {
      digits.append(0x30 &+ UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    } while rest != 0
    digits.reverse()
    self.init(digits)
  }
}

extension JSONWriter {
  /// A number that stays exact: past 2^53 it is written as text (DOC-2).
  fileprivate mutating func member(_ name: StaticString, exact value: UInt64?) {
    guard let value else {
      member(name, integer: nil)
      return
    }
    if let small = Int64(exactly: value) {
      member(name, integer: small)
    } else {
      self.name(name)
      string(Text(decimal: value))
    }
  }
}
