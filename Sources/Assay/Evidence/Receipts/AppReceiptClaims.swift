/// The unverified content of a container that app receipts and attest receipts use (TRI-3,
/// TRI-6). No signature has been checked: the content decides nothing and is reported only as
/// unverified. Ranges are within `payload`.
struct AppReceiptClaims: Sendable {
  enum Form: Sendable, Equatable {
    case appReceipt
    case attestReceipt
  }

  /// The unverified content of one purchase (attribute 17).
  struct Purchase: Sendable {
    fileprivate(set) var productId: Range<Int>? = nil
    fileprivate(set) var transactionId: Range<Int>? = nil
    fileprivate(set) var originalTransactionId: Range<Int>? = nil
    fileprivate(set) var webOrderLineItemId: UInt64? = nil
    /// Milliseconds since 1970 UTC.
    fileprivate(set) var purchaseDate: Int64? = nil
    /// The product type (attribute 1707).
    fileprivate(set) var type: UInt64? = nil
  }

  let payload: BER.Octets
  private(set) var form = Form.appReceipt
  /// The receipt type ("ProductionSandbox"); of an attest receipt "ATTEST" or "RECEIPT".
  private(set) var type: Range<Int>? = nil
  /// The bundle id; of an attest receipt the App ID.
  private(set) var bundleId: Range<Int>? = nil
  /// Milliseconds since 1970 UTC.
  private(set) var creationDate: Int64? = nil
  private(set) var purchases: [Purchase] = []

  func slice(_ range: Range<Int>) -> ArraySlice<UInt8> {
    payload.bytes[range.clamped(to: payload.range)]
  }

  func text(_ range: Range<Int>?) -> Text? { range.map { Text(Array(slice($0))) } }

  /// Reads the content of decoded bytes; `nil` if they are neither form of receipt
  /// (docs/spec/receipts-triage.md §1.2). Reads each byte a bounded number of times and allocates
  /// no more than the input's size.
  ///
  /// - Parameter purchases: the number of purchases that are read at most.
  static func claims(_ bytes: [UInt8], purchases: Int = 8192) -> AppReceiptClaims? {
    guard let payload = SignedMessage.unverifiedPayload(of: bytes) else { return nil }
    return AppReceiptClaims(payload, purchases)
  }

  private init?(_ payload: BER.Octets, _ purchaseCap: Int) {
    self.payload = payload
    let bytes = payload.bytes
    guard let set = ReceiptAttribute.content(bytes, payload.range, DER.set) else { return nil }
    var (attribute0, attribute2, attribute6, attribute12): Found = (nil, nil, nil, nil)
    var hasKey = false
    var position = set.lowerBound
    while position < set.upperBound,
      let attribute = try? ReceiptAttribute.next(bytes, &position, set.upperBound)
    {
      switch attribute.type {
      case 0: attribute0 = attribute0 ?? attribute.value
      case 2: attribute2 = attribute2 ?? attribute.value
      case 3: hasKey = true
      case 6: attribute6 = attribute6 ?? attribute.value
      case 12: attribute12 = attribute12 ?? attribute.value
      case 17:
        guard purchases.count < purchaseCap,
          let inner = ReceiptAttribute.content(bytes, attribute.value, DER.set)
        else { continue }
        purchases.append(AppReceiptClaims.purchase(bytes, inner))
      default: break
      }
    }
    if let attribute0 {
      type = ReceiptAttribute.utf8(bytes, attribute0)
      bundleId = attribute2.flatMap { ReceiptAttribute.utf8(bytes, $0) }
      creationDate = attribute12.flatMap { ReceiptAttribute.ia5(bytes, $0) }
        .flatMap { AppReceiptClaims.date(bytes[$0]) }
      return
    }
    // The values of attest receipts are bare texts, without a DER header (FRC-6).
    guard hasKey, let attribute6, AppReceiptClaims.isAttestType(bytes[attribute6]) else {
      return nil
    }
    form = .attestReceipt
    type = attribute6
    bundleId = attribute2.flatMap { ReceiptAttribute.isText(bytes, $0) ? $0 : nil }
    creationDate = attribute12.flatMap { AppReceiptClaims.date(bytes[$0]) }
    purchases = []
  }

  private typealias Found = (Range<Int>?, Range<Int>?, Range<Int>?, Range<Int>?)

  private static func isAttestType(_ text: ArraySlice<UInt8>) -> Bool {
    text.elementsEqual("ATTEST") || text.elementsEqual("RECEIPT")
  }

  private static func date(_ text: ArraySlice<UInt8>) -> Int64? {
    AppReceiptDate.milliseconds(text).flatMap { TimeWindow.contains($0) ? $0 : nil }
  }

  private static func purchase(_ bytes: [UInt8], _ set: Range<Int>) -> Purchase {
    var purchase = Purchase()
    var position = set.lowerBound
    while position < set.upperBound,
      let member = try? ReceiptAttribute.next(bytes, &position, set.upperBound)
    {
      switch member.type {
      case 1702: purchase.productId = ReceiptAttribute.utf8(bytes, member.value)
      case 1703: purchase.transactionId = ReceiptAttribute.utf8(bytes, member.value)
      case 1704:
        purchase.purchaseDate = ReceiptAttribute.ia5(bytes, member.value)
          .flatMap { date(bytes[$0]) }
      case 1705: purchase.originalTransactionId = ReceiptAttribute.utf8(bytes, member.value)
      case 1707: purchase.type = ReceiptAttribute.integer(bytes, member.value)
      case 1711:
        let id = ReceiptAttribute.integer(bytes, member.value)
        purchase.webOrderLineItemId = id == 0 ? nil : id
      default: break
      }
    }
    return purchase
  }
}
