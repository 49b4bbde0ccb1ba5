/// The attributes of an app receipt and its purchases. Times are milliseconds since 1970 UTC;
/// `nil` omits an attribute.
public struct AppReceiptFacts: Changeable, Sendable {
  public var type: String
  public var bundleId: String
  public var appAppleId: Int64
  public var applicationVersion = "142"
  public var originalApplicationVersion = "1.0"
  public var creationDate: Int64
  public var originalPurchaseDate: Int64?
  public var downloadId: Int64 = 0
  public var versionExternalIdentifier: Int64 = 0
  public var expirationDate: Int64?
  public var purchases: [Purchase]
  /// The device for the device hash: 16 bytes of a vendor id or 6 of a MAC address.
  public var device: [UInt8] = AppReceiptFacts.vendor
  public var opaque: [UInt8] = (0..<16).map { 0xa0 + $0 }

  /// The vendor id of the sample device.
  public static let vendor: [UInt8] = (1...16).map { $0 * 7 }
  /// The MAC address of the sample Mac.
  public static let address: [UInt8] = [0x02, 0x00, 0x5e, 0x10, 0x20, 0x30]

  /// Creates a receipt of the app and environment of `sample`, created when `sample` was signed.
  public init(_ purchases: [Purchase], like sample: Purchase) {
    let isProduction = sample.environment == "Production"
    type = isProduction ? "Production" : "ProductionSandbox"
    bundleId = sample.bundleId
    appAppleId = isProduction ? sample.appAppleId ?? 0 : 0
    creationDate = sample.wholeSecond(sample.signedDate)
    originalPurchaseDate = isProduction ? sample.originalPurchaseDate : 1_375_340_400_000
    if isProduction {
      downloadId = 500_000_000_000_000_123
      versionExternalIdentifier = 814_000_001
    }
    self.purchases = purchases
  }

  /// The SHA-1 of device, opaque value and the whole attribute 2.
  public var deviceHash: [UInt8] {
    CertificateExtension.keyIdentifier(device + opaque + DER.utf8(bundleId))
  }

  /// The attributes of the payload, purchases included, in an order like Apple's.
  public var attributes: [AttributeTemplate] {
    func date(_ ms: Int64?) -> String { ms.map { WrittenDate.iso($0) } ?? "" }
    let isSandbox = type.hasSuffix("Sandbox")
    return [
      .integer(10_001, 0), .integer(14, 0), .integer(25, 3), .ascii(10, "4+"),
      .integer(13, isSandbox ? 150_000 : 170_100), .integer(1, appAppleId),
      .integer(11, isSandbox ? 0 : 1_100_001), .integer(15, downloadId),
      .integer(16, versionExternalIdentifier),
      .text(3, applicationVersion), .text(19, originalApplicationVersion),
      .integer(9, 0x5032_3437), AttributeTemplate(4, version: 2, opaque), .text(20, ""),
      .text(0, type), AttributeTemplate(5, deviceHash), .text(2, bundleId),
      .ascii(8, isSandbox ? "" : date(creationDate)), .ascii(12, date(creationDate)),
      .ascii(18, date(originalPurchaseDate)), .ascii(21, date(expirationDate)),
      AttributeTemplate(7, (0..<66).map { UInt8(truncatingIfNeeded: $0 * 37 + 11) }),
      AttributeTemplate(6, (0..<74).map { UInt8(truncatingIfNeeded: $0 * 53 + 5) }),
    ] + purchases.map { AttributeTemplate(17, AttributeTemplate.set($0.receiptAttributes)) }
  }

  /// The attributes that Xcode writes.
  public var xcodeAttributes: [AttributeTemplate] {
    let eight = Array(opaque.prefix(8))
    let hash = CertificateExtension.keyIdentifier(device + eight + DER.utf8(bundleId))
    return [
      .text(0, "Xcode"), .integer(1, 0), .text(2, bundleId), .text(3, "1"),
      AttributeTemplate(4, version: 2, eight), AttributeTemplate(5, hash), .ascii(8, ""),
      .ascii(12, WrittenDate.xcode(creationDate)),
    ]
      + purchases.map { AttributeTemplate(17, AttributeTemplate.set($0.xcodeReceiptAttributes)) }
      + [.ascii(21, "4001-01-01T00:00:00Z")]
  }
}

extension Purchase {
  /// The attributes of one purchase in an app receipt.
  public var receiptAttributes: [AttributeTemplate] {
    let isRenewable = type == .autoRenewable
    let line = webOrderLineItemId.flatMap { Int64($0) } ?? 0
    var list: [AttributeTemplate] = [
      .integer(1722, 0), .integer(1711, isRenewable ? line : 0),
      .integer(1710, environment == "Production" ? 1_400_000_001 : 0),
      .text(1709, ""), .text(1714, ""), .integer(1701, quantity), .integer(1707, receiptType),
      .integer(1713, isTrial ? 1 : 0),
      .ascii(1712, revocationDate.map { WrittenDate.iso($0) } ?? ""),
      .text(1702, productId), .text(1703, transactionId), .text(1705, originalTransactionId),
      .ascii(1704, WrittenDate.iso(purchaseDate)),
      .ascii(1706, WrittenDate.iso(originalPurchaseDate)),
      .ascii(1708, expiresDate.map { WrittenDate.iso($0) } ?? ""),
    ]
    if isRenewable { list.append(.integer(1719, isIntroductory && !isTrial ? 1 : 0)) }
    if let revocationReason { list.append(.integer(1720, revocationReason)) }
    return list
  }

  /// The attributes of a purchase that Xcode writes.
  public var xcodeReceiptAttributes: [AttributeTemplate] {
    var list: [AttributeTemplate] = [
      .integer(1701, quantity), .text(1702, productId), .text(1703, "0"),
      .ascii(1704, WrittenDate.iso(purchaseDate)),
    ]
    if let expiresDate { list.append(.ascii(1708, WrittenDate.iso(expiresDate))) }
    return list + [.integer(1719, 0)]
  }

  /// The product type, attribute 1707.
  var receiptType: Int64 {
    switch type {
    case .nonConsumable: 0
    case .consumable: 1
    case .nonRenewing: 2
    case .autoRenewable: 3
    }
  }
}
