/// The payload of an app receipt, read strictly (docs/spec/receipts.md §3.3, §3.4). Texts are
/// ranges into the payload's bytes; times are milliseconds since 1970 UTC. An optional value is
/// absent if it is "".
struct ReceiptAttributes: Sendable {
  /// The expiration date of volume purchases. Xcode's is in the year 4001, beyond the range of
  /// dates, and is reported as signed.
  enum Expiration: Sendable, Equatable {
    case date(Int64)
    case text(Range<Int>)
  }

  /// One purchase (attribute 17).
  struct Purchase: Sendable {
    fileprivate(set) var productId: Range<Int> = 0..<0
    fileprivate(set) var transactionId: Range<Int> = 0..<0
    fileprivate(set) var originalTransactionId: Range<Int>? = nil
    fileprivate(set) var promotionalOfferId: Range<Int>? = nil
    fileprivate(set) var purchaseDate: Int64 = 0
    fileprivate(set) var originalPurchaseDate: Int64? = nil
    fileprivate(set) var expiresDate: Int64? = nil
    fileprivate(set) var cancellationDate: Int64? = nil
    fileprivate(set) var cancellationReason: UInt64? = nil
    fileprivate(set) var quantity: UInt64? = nil
    /// The product type (attribute 1707) as signed.
    fileprivate(set) var type: UInt64? = nil
    /// The web-order-line-item id; `nil` if absent or 0 (RPL-3).
    fileprivate(set) var webOrderLineItemId: UInt64? = nil
    fileprivate(set) var isTrialPeriod: Bool? = nil
    fileprivate(set) var isInIntroOfferPeriod: Bool? = nil
  }

  let payload: BER.Octets
  private(set) var type: Range<Int> = 0..<0
  private(set) var bundleId: Range<Int> = 0..<0
  /// The bundle id's element with tag and length, which the device hash covers (APR-18).
  private(set) var bundleIdElement: Range<Int> = 0..<0
  /// The creation date (attribute 12) as text, which may be empty.
  private(set) var creation: Range<Int> = 0..<0
  private(set) var appAppleId: UInt64? = nil
  private(set) var applicationVersion: Range<Int>? = nil
  private(set) var opaqueValue: Range<Int>? = nil
  private(set) var deviceHash: Range<Int>? = nil
  private(set) var downloadId: UInt64? = nil
  private(set) var versionExternalIdentifier: UInt64? = nil
  private(set) var originalPurchaseDate: Int64? = nil
  private(set) var originalApplicationVersion: Range<Int>? = nil
  private(set) var expiration: Expiration? = nil
  private(set) var purchases: [Purchase] = []
  /// The number of attributes of undocumented types, in and outside purchases.
  private(set) var unknown = 0
  /// The values of types 22, 23 and 32, which are documented but were never seen, and are
  /// therefore reported undecoded.
  private(set) var kept: [(type: UInt64, value: Range<Int>)] = []

  private var bytes: [UInt8] { payload.bytes }

  func slice(_ range: Range<Int>) -> ArraySlice<UInt8> { bytes[range.clamped(to: payload.range)] }

  func text(_ range: Range<Int>) -> Text { Text(Array(slice(range))) }

  func text(_ range: Range<Int>?) -> Text? { range.map { text($0) } }

  /// Returns the creation date (attribute 12), within the range of all dates (APR-9).
  func creationDate() throws(Refusal) -> Int64 {
    try require(!creation.isEmpty, .rejectedDateMissing, "APR-9", at: "attribute 12")
    return try Reader.milliseconds(bytes, creation, "APR-9", at: "attribute 12")
  }

  // MARK: reading

  /// The limits of a payload: the elements that the container has left over, and the purchases
  /// (docs/spec/receipts.md §1).
  struct Limits: Sendable {
    var elements: Int
    var purchases: Int
  }

  /// Reads every attribute once (APR-2, APR-11 … APR-14).
  init(_ payload: BER.Octets, _ limits: Limits) throws(Refusal) {
    self.payload = payload
    let bytes = payload.bytes
    let range = payload.range
    guard let set = BER.head(bytes, range.lowerBound, range.upperBound), set.tag == DER.set else {
      throw Refusal(.malformedAppReceiptStructure, "APR-2", at: "payload")
    }
    try require(set.end != nil, .malformedAppReceiptBer, "APR-1", at: "payload")
    try require(set.end == range.upperBound, .malformedAppReceiptStructure, "APR-2", at: "payload")
    var reader = Reader(bytes, limits)
    try reader.count(1)
    var seen = SeenTypes()
    var position = set.content
    while position < range.upperBound {
      let attribute = try reader.next(&position, range.upperBound)
      if attribute.type != 17 {
        try require(
          seen.insert(attribute.type), .malformedAppReceiptDuplicateAttribute, "APR-11",
          at: reader.place(attribute.type))
      }
      try read(attribute, &reader)
    }
    try require(
      !seen.hasDuplicate(), .malformedAppReceiptDuplicateAttribute, "APR-11", at: "attributes")
    for required in [0, 2, 12] as [UInt64] {
      try require(
        seen.contains(required), .malformedAppReceiptMissingAttribute, "APR-14",
        at: reader.place(required))
    }
  }

  private mutating func read(
    _ attribute: ReceiptAttribute, _ reader: inout Reader
  ) throws(Refusal) {
    switch attribute.type {
    case 0: type = try reader.utf8(attribute)
    case 1: appAppleId = try reader.integer(attribute)
    case 2:
      bundleId = try reader.utf8(attribute)
      bundleIdElement = attribute.value
    case 3: applicationVersion = try reader.utf8(attribute).orNil
    case 4: opaqueValue = try reader.raw(attribute, [16, 8])
    case 5: deviceHash = try reader.raw(attribute, [20])
    case 8: _ = try reader.date(attribute)
    case 10: _ = try reader.ia5(attribute)
    case 11: _ = try reader.integer(attribute)
    case 12: creation = try reader.ia5(attribute)
    case 15: downloadId = try reader.integer(attribute)
    case 16: versionExternalIdentifier = try reader.integer(attribute)
    case 17: try purchases.append(reader.purchase(attribute, &unknown))
    case 18: originalPurchaseDate = try reader.date(attribute)
    case 19: originalApplicationVersion = try reader.utf8(attribute).orNil
    case 21: expiration = try reader.expiration(attribute)
    case 6, 7, 9, 13, 14, 20, 25: break
    case 22, 23, 32: kept.append((attribute.type, attribute.value))
    default: unknown &+= 1
    }
  }
}

/// The state of reading a payload.
private struct Reader {
  private let bytes: [UInt8]
  private let limits: ReceiptAttributes.Limits
  private var elements = 0
  private var purchases = 0
  private var isInPurchase = false

  init(_ bytes: [UInt8], _ limits: ReceiptAttributes.Limits) {
    self.bytes = bytes
    self.limits = limits
  }

  /// Returns the location of an attribute: "attribute 12", "purchases[3]/attribute 1704".
  func place(_ type: UInt64) -> String {
    let name = "attribute " + String(type)
    return isInPurchase ? "purchases[" + String(purchases &- 1) + "]/" + name : name
  }

  mutating func count(_ more: Int) throws(Refusal) {
    elements &+= more
    try require(elements <= limits.elements, .tooLargeAppReceiptElements, "APR-1", at: "payload")
  }

  mutating func next(_ position: inout Int, _ end: Int) throws(Refusal) -> ReceiptAttribute {
    try count(ReceiptAttribute.elements)
    do throws(ReceiptAttribute.Fault) {
      return try ReceiptAttribute.next(bytes, &position, end)
    } catch {
      let place = "payload byte " + String(position)
      switch error {
      case .unclean: throw Refusal(.malformedAppReceiptBer, "APR-1", at: place)
      case .form: throw Refusal(.malformedAppReceiptAttribute, "APR-12", at: place)
      }
    }
  }

  // MARK: a purchase

  /// Reads a purchase, which is a SET of attributes (attribute 17).
  mutating func purchase(
    _ attribute: ReceiptAttribute, _ unknown: inout Int
  ) throws(Refusal) -> ReceiptAttributes.Purchase {
    try require(
      purchases < limits.purchases, .tooLargeAppReceiptPurchases, "APR-1", at: "purchases")
    try count(1)
    guard let set = ReceiptAttribute.content(bytes, attribute.value, DER.set) else {
      throw malformed(attribute)
    }
    purchases &+= 1
    isInPurchase = true
    var purchase = ReceiptAttributes.Purchase()
    var seen = SeenTypes()
    var position = set.lowerBound
    while position < set.upperBound {
      let member = try next(&position, set.upperBound)
      try require(
        seen.insert(member.type), .malformedAppReceiptDuplicateAttribute, "APR-11",
        at: place(member.type))
      try read(member, &purchase, &unknown)
    }
    try require(
      !seen.hasDuplicate(), .malformedAppReceiptDuplicateAttribute, "APR-11",
      at: "purchases[" + String(purchases &- 1) + "]")
    for required in [1702, 1703, 1704] as [UInt64] {
      try require(
        seen.contains(required), .malformedAppReceiptMissingAttribute, "APR-14",
        at: place(required))
    }
    isInPurchase = false
    return purchase
  }

  private func read(
    _ member: ReceiptAttribute, _ purchase: inout ReceiptAttributes.Purchase,
    _ unknown: inout Int
  ) throws(Refusal) {
    switch member.type {
    case 1701: purchase.quantity = try integer(member)
    case 1702: purchase.productId = try present(utf8(member), member)
    case 1703: purchase.transactionId = try present(id(member), member)
    case 1704:
      guard let date = try date(member) else { throw missing(member) }
      purchase.purchaseDate = date
    case 1705: purchase.originalTransactionId = try id(member).orNil
    case 1706: purchase.originalPurchaseDate = try date(member)
    case 1707: purchase.type = try integer(member)
    case 1708: purchase.expiresDate = try date(member)
    case 1710: _ = try integer(member)
    case 1711:
      let id = try integer(member)
      purchase.webOrderLineItemId = id == 0 ? nil : id
    case 1712: purchase.cancellationDate = try date(member)
    case 1713: purchase.isTrialPeriod = try flag(member)
    case 1719: purchase.isInIntroOfferPeriod = try flag(member)
    case 1720: purchase.cancellationReason = reason(member)
    case 1721: purchase.promotionalOfferId = try utf8(member).orNil
    case 1709, 1714...1718, 1722: break
    default: unknown &+= 1
    }
  }

  // MARK: values

  func integer(_ attribute: ReceiptAttribute) throws(Refusal) -> UInt64 {
    guard let number = ReceiptAttribute.integer(bytes, attribute.value) else {
      throw malformed(attribute)
    }
    return number
  }

  func utf8(_ attribute: ReceiptAttribute) throws(Refusal) -> Range<Int> {
    guard let text = ReceiptAttribute.utf8(bytes, attribute.value) else {
      throw malformed(attribute)
    }
    return text
  }

  /// Reads an id or an empty text (APR-25). Ids in attribute 1711 are integers and need no such
  /// check.
  func id(_ attribute: ReceiptAttribute) throws(Refusal) -> Range<Int> {
    let text = try utf8(attribute)
    try require(
      text.isEmpty || IdEnvironment.isId(bytes[text]), .malformedAppReceiptAttribute, "APR-25",
      at: place(attribute.type))
    return text
  }

  func ia5(_ attribute: ReceiptAttribute) throws(Refusal) -> Range<Int> {
    guard let text = ReceiptAttribute.ia5(bytes, attribute.value) else {
      throw malformed(attribute)
    }
    return text
  }

  func raw(_ attribute: ReceiptAttribute, _ lengths: [Int]) throws(Refusal) -> Range<Int> {
    try require(
      lengths.contains(attribute.value.count), .malformedAppReceiptAttribute, "APR-12",
      at: place(attribute.type))
    return attribute.value
  }

  /// Reads a date; `nil` for "" (APR-13).
  func date(_ attribute: ReceiptAttribute) throws(Refusal) -> Int64? {
    let text = try ia5(attribute)
    if text.isEmpty { return nil }
    return try Reader.milliseconds(bytes, text, "APR-13", at: place(attribute.type))
  }

  func expiration(
    _ attribute: ReceiptAttribute
  ) throws(Refusal) -> ReceiptAttributes.Expiration? {
    let text = try ia5(attribute)
    if text.isEmpty { return nil }
    if let date = AppReceiptDate.milliseconds(bytes[text]), date >= TimeWindow.end {
      return .text(text)
    }
    return .date(
      try Reader.milliseconds(bytes, text, "APR-13", at: place(attribute.type)))
  }

  static func milliseconds(
    _ bytes: [UInt8], _ text: Range<Int>, _ rule: StaticString,
    at place: @autoclosure () -> String
  ) throws(Refusal) -> Int64 {
    guard let date = AppReceiptDate.milliseconds(bytes[text]) else {
      throw Refusal(.malformedAppReceiptDate, rule, at: place())
    }
    try require(TimeWindow.contains(date), .rejectedDateRange, rule, at: place())
    return date
  }

  private func flag(_ attribute: ReceiptAttribute) throws(Refusal) -> Bool {
    let number = try integer(attribute)
    try require(
      number <= 1, .malformedAppReceiptAttribute, "APR-12", at: place(attribute.type))
    return number == 1
  }

  /// Returns the cancellation reason (attribute 1720) if it is an integer or decimal text, else
  /// `nil`: its form is unknown, since it has never been seen.
  private func reason(_ attribute: ReceiptAttribute) -> UInt64? {
    if let number = ReceiptAttribute.integer(bytes, attribute.value) { return number }
    guard let text = ReceiptAttribute.utf8(bytes, attribute.value), text.count <= 9,
      let number = JSONValue.integer(bytes[text])
    else { return nil }
    return UInt64(exactly: number)
  }

  /// Requires a text that is not empty, as a required attribute must not be (APR-14).
  private func present(
    _ text: Range<Int>, _ attribute: ReceiptAttribute
  ) throws(Refusal) -> Range<Int> {
    if text.isEmpty { throw missing(attribute) }
    return text
  }

  private func missing(_ attribute: ReceiptAttribute) -> Refusal {
    Refusal(.malformedAppReceiptMissingAttribute, "APR-14", at: place(attribute.type))
  }

  private func malformed(_ attribute: ReceiptAttribute) -> Refusal {
    Refusal(.malformedAppReceiptAttribute, "APR-12", at: place(attribute.type))
  }
}

/// The attribute types found in one SET (APR-11). Types that Apple uses are bits; all others are
/// sorted and compared at the end, so that hostile input costs n·log n.
private struct SeenTypes {
  private var low: UInt64 = 0
  private var ofPurchases: UInt64 = 0
  private var others: [UInt64] = []

  /// Adds a type. Returns `false` if it was added before.
  mutating func insert(_ type: UInt64) -> Bool {
    switch type {
    case 0...63: return SeenTypes.set(type, &low)
    case 1700...1763: return SeenTypes.set(type &- 1700, &ofPurchases)
    default:
      others.append(type)
      return true
    }
  }

  func contains(_ type: UInt64) -> Bool {
    type < 64 ? low >> type & 1 == 1 : ofPurchases >> (type &- 1700) & 1 == 1
  }

  /// Whether a type without a bit of its own was added twice.
  mutating func hasDuplicate() -> Bool {
    others = others.ordered(by: <)
    return zip(others, others.dropFirst()).contains { $0 == $1 }
  }

  private static func set(_ bit: UInt64, _ bits: inout UInt64) -> Bool {
    let mask = 1 &<< bit
    if bits & mask != 0 { return false }
    bits |= mask
    return true
  }
}

extension Range<Int> {
  /// The range; `nil` if it is empty, which means an absent value.
  fileprivate var orNil: Range<Int>? { isEmpty ? nil : self }
}
