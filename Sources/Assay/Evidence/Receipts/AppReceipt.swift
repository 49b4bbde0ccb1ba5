/// A verified app receipt: the purchases of one app on one device that Apple knew at its creation
/// (docs/spec/receipts.md §3). Created only by a verification.
final class AppReceipt: Sendable {
  let attributes: ReceiptAttributes
  let environment: Environment
  /// The receipt's creation date, in milliseconds since 1970 UTC, which its age is measured from
  /// (APR-19).
  let creationDate: Int64
  /// Whether the receipt was made for the device that the host named (APR-18).
  let isDeviceBound: Bool
  let digest: Digest
  private let chain: ValidPath
  let transport: Transport
  /// One entry per purchase, in the order of the receipt.
  private let entries: [Entry]

  /// The result of comparing one purchase with the catalogue and the rule for ids.
  private struct Entry: Sendable {
    let isKnown: Bool
    /// The signed product type, otherwise that of the catalogue.
    let type: ProductType?
    let hasConflict: Bool
  }

  init(
    _ attributes: ReceiptAttributes, environment: Environment, creationDate: Int64,
    isDeviceBound: Bool, digest: Digest, chain: ValidPath, transport: Transport,
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
    // Renewals of one product follow each other: each product is looked up once.
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

  /// Whether the id implies an environment other than the receipt's; an id that implies none
  /// contradicts nothing (APR-17).
  private static func disagrees(
    _ id: ArraySlice<UInt8>, with environment: Environment
  ) -> Bool {
    guard let told = IdEnvironment.of(id).environment else { return false }
    return told != environment
  }

  var bundleId: Text { attributes.text(attributes.bundleId) }

  // MARK: decisions

  /// Returns the purchases for a decision (docs/spec/receipts-decisions.md §1).
  func purchaseEvidence(_ catalogue: Catalogue) -> PurchaseEvidence {
    let purchases = attributes.purchases.map { facts($0) }
    return PurchaseEvidence(kind: "app-receipt", purchases: purchases, renewals: [])
  }

  private func facts(_ purchase: ReceiptAttributes.Purchase) -> PurchaseFacts {
    let transactionId = attributes.text(purchase.transactionId)
    var facts = PurchaseFacts(
      environment: environment, transactionId: transactionId,
      originalTransactionId: attributes.text(purchase.originalTransactionId) ?? transactionId,
      productId: attributes.text(purchase.productId), asOfMs: creationDate)
    facts.webOrderLineItemId = purchase.webOrderLineItemId.map { Text(decimal: $0) }
    facts.type = ProductType(attribute: purchase.type)
    facts.typeIsUnknown = purchase.type.map { $0 > AppReceipt.lastKnownType } ?? false
    facts.start = purchase.purchaseDate
    facts.end = purchase.expiresDate
    facts.revokedAtMs = purchase.cancellationDate
    facts.revocationReason = purchase.cancellationReason.map { Int64(clamping: $0) }
    // Attribute 1712 has never been seen filled, so that its absence does not exclude a
    // revocation (DCD-18). No attribute reports an offer code.
    facts.canReport = purchase.cancellationDate == nil ? [] : .revocation
    // Attribute 1720 has never been seen filled either: without a date, 0 may be a filler, as it
    // is in 1711 and 1713.
    if facts.revokedAtMs == nil, facts.revocationReason == 0 { facts.revocationReason = nil }
    facts.dateRevocation()
    facts.isTrial = purchase.isTrialPeriod ?? false
    facts.isIntro = purchase.isInIntroOfferPeriod ?? false
    facts.hasOffer = purchase.promotionalOfferId != nil
    facts.quantity = Int64(clamping: purchase.quantity ?? 1)
    return facts
  }

  /// The highest known value of attribute 1707, whose values are 0 … 4.
  private static let lastKnownType: UInt64 = 4

  // MARK: document

  /// Writes a warning for each value that Assay does not know (DCD-11).
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

  /// Writes the value of the member `appReceipt` (docs/spec/receipts.md §3.5).
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
    writer.member("asOfMs", integer: creationDate)
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

  /// Writes the attributes that have no member of their own.
  private func writeRest(_ writer: inout JSONWriter) {
    writer.name("rawAttributes")
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
    // An id of 13 digits or fewer is not unique, so it is no part of a key (APR-23).
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

  /// Writes the type with Apple's name for it in a JWS; an unknown number as text.
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
  /// Creates the type of a value of attribute 1707; `nil` for free subscriptions and unknown
  /// numbers.
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
  /// Creates the decimal digits of a number.
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
  /// Writes a number without loss: beyond 2^53 as text (DOC-2).
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
