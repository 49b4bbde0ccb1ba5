import AssayAuthority

/// A receipt that the host sent to verifyReceipt, read by lenient readers.
struct SentReceipt {
  let style: ReceiptResponseTemplate.Style
  let environment: String
  let purchases: [Purchase]
  /// Whether it contains a certificate of this authority.
  let isOurs: Bool
  /// Whether its signature is valid.
  private(set) var isIntact = false

  /// Reads a receipt; `nil` if it cannot be read.
  init?(_ text: String, _ authority: MockAuthority, now: Int64) {
    guard let bytes = Base64Text.decodeLeniently(Array(text.utf8)), !bytes.isEmpty else {
      return nil
    }
    if let list = LoosePropertyList(bytes) {
      self.init(list, authority, now)
    } else if let parts = AppReceiptParts(bytes), !parts.isAboutKey {
      self.init(parts, authority, now)
    } else {
      return nil
    }
    isIntact = authority.hasSigned(bytes, kind: style == .ios6 ? .transaction : .app, now: now)
  }

  // MARK: transaction receipts

  private init?(_ list: LoosePropertyList, _ authority: MockAuthority, _ now: Int64) {
    guard list.brokenAt == nil,
      let info = list.value("purchase-info").flatMap(Base64Text.decodeLeniently)
        .flatMap(LoosePropertyList.init),
      let signature = list.value("signature").flatMap(Base64Text.decodeLeniently),
      let purchase = SentReceipt.purchase(info, authority.app, now)
    else { return nil }
    style = .ios6
    let isSandbox = list.value("environment")?.elementsEqual("Sandbox".utf8) == true
    environment = isSandbox ? "Sandbox" : "Production"
    purchases = [purchase.with { $0.environment = isSandbox ? "Sandbox" : "Production" }]
    let leaf = Array(signature.dropFirst(1 + (signature.first == 2 ? 128 : 256) + 4))
    isOurs = ReceiptAuthority.Generation.allCases.contains {
      (try? authority.receipts.chain($0).leaf) == leaf
    }
  }

  private static func purchase(
    _ info: LoosePropertyList, _ app: MockAuthority.App, _ now: Int64
  ) -> Purchase? {
    func text(_ key: String) -> String? {
      info.value(key).map { String(decoding: $0, as: UTF8.self) }
    }
    func date(_ key: String) -> Int64? {
      text(key).flatMap { Int64($0) }.flatMap { MintedValues.dates.contains($0) ? $0 : nil }
    }
    guard let product = text("product-id"), let id = text("transaction-id"),
      let bought = date("purchase-date-ms")
    else { return nil }
    let end = date("expires-date")
    var purchase = Purchase(now: now).of(product, end == nil ? .nonConsumable : .autoRenewable)
    purchase.bundleId = text("bid") ?? app.bundleId
    purchase.appAppleId = text("app-item-id").flatMap { Int64($0) } ?? app.appAppleId
    purchase.transactionId = id
    purchase.originalTransactionId = text("original-transaction-id") ?? id
    purchase.webOrderLineItemId = text("web-order-line-item-id")
    purchase.purchaseDate = bought
    purchase.originalPurchaseDate = date("original-purchase-date-ms") ?? bought
    purchase.expiresDate = end
    purchase.quantity = text("quantity").flatMap { Int64($0) } ?? 1
    if text("is-trial-period") == "true" {
      purchase.offerType = 1
      purchase.offerDiscountType = "FREE_TRIAL"
    }
    purchase.signedDate = now
    return purchase
  }

  // MARK: app receipts

  private init?(_ parts: AppReceiptParts, _ authority: MockAuthority, _ now: Int64) {
    func text(_ type: Int64) -> String? { parts.attributes.first { $0.type == type }?.text }
    guard let kind = text(0), let bundleId = text(2) else { return nil }
    let environment = kind.hasSuffix("Sandbox") ? "Sandbox" : "Production"
    style = .ios7
    self.environment = environment
    let app = text(1).flatMap { Int64($0) } ?? 0
    purchases = parts.attributes.filter { $0.type == 17 }.compactMap { attribute in
      SentReceipt.purchase(attribute.inner, now).map { purchase in
        purchase.with {
          $0.bundleId = bundleId
          $0.environment = environment
          $0.appAppleId = app == 0 ? authority.app.appAppleId : app
        }
      }
    }
    let root = authority.receipts.anchor
    isOurs = parts.certificates.contains {
      String(decoding: Base64Text.encode($0), as: UTF8.self) == root
    }
  }

  private static func purchase(_ attributes: [ReceiptAttribute], _ now: Int64) -> Purchase? {
    func text(_ type: Int64) -> String? { attributes.first { $0.type == type }?.text }
    func date(_ type: Int64) -> Int64? {
      text(type).flatMap { RequestTime.date(Array($0.utf8)) }
        .flatMap { MintedValues.dates.contains($0) ? $0 : nil }
    }
    guard let product = text(1702), let id = text(1703), let bought = date(1704) else {
      return nil
    }
    let types: [String: Purchase.ProductType] = [
      "1": .consumable, "2": .nonRenewing, "3": .autoRenewable,
    ]
    var purchase = Purchase(now: now).of(product, types[text(1707) ?? ""] ?? .nonConsumable)
    purchase.transactionId = id
    purchase.originalTransactionId = text(1705) ?? id
    purchase.webOrderLineItemId = text(1711)
    purchase.purchaseDate = bought
    purchase.originalPurchaseDate = date(1706) ?? bought
    purchase.expiresDate = date(1708)
    purchase.revocationDate = date(1712)
    purchase.revocationReason = text(1720).flatMap { Int64($0) }
    purchase.quantity = text(1701).flatMap { Int64($0) } ?? 1
    if text(1713) == "1" {
      purchase.offerType = 1
      purchase.offerDiscountType = "FREE_TRIAL"
    }
    purchase.signedDate = now
    return purchase
  }
}
