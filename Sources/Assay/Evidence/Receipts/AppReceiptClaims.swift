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
    guard let payload = SignedMessage.unverifiedPayload(of: bytes),
      let set = ReceiptAttribute.content(payload.bytes, payload.range, DER.set)
    else { return nil }
    return AppReceiptClaims(payload, set, purchases)
  }

  /// Reads the attributes that are complete in a container that ends too early, or has no receipt
  /// type (TRI-13). `nil` if the bytes are neither, or end before the payload.
  static func remains(_ bytes: [UInt8], purchases: Int) -> AppReceiptClaims? {
    guard let payload = SignedMessage.remainingPayload(of: bytes),
      let set = BER.head(
        payload.bytes, payload.range.lowerBound, payload.range.upperBound, isCut: true),
      set.tag == DER.set, let end = set.end
    else { return nil }
    return AppReceiptClaims(payload, set.content..<end, purchases, needsType: false)
  }

  private init?(
    _ payload: BER.Octets, _ set: Range<Int>, _ purchaseCap: Int, needsType: Bool = true
  ) {
    self.payload = payload
    let bytes = payload.bytes
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
    let isAttest = hasKey && attribute6.map { AppReceiptClaims.isAttestType(bytes[$0]) } == true
    if attribute0 != nil || !(needsType || isAttest) {
      type = attribute0.flatMap { ReceiptAttribute.utf8(bytes, $0) }
      bundleId = attribute2.flatMap { ReceiptAttribute.utf8(bytes, $0) }
      creationDate = attribute12.flatMap { ReceiptAttribute.ia5(bytes, $0) }
        .flatMap { AppReceiptClaims.date(bytes[$0]) }
      return
    }
    // The values of attest receipts are bare texts, without a DER header (FRC-6).
    guard isAttest, let attribute6 else { return nil }
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
