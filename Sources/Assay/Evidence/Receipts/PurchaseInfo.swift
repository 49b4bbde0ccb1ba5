/// The signed fields of a transaction receipt, read from its purchase-info (docs/spec/receipts.md
/// §2.3).
///
/// Reading refuses nothing: faults are collected, because triage only suspects where verification
/// refuses (`check()`).
struct PurchaseInfo: Sendable {
  enum Field: Int, Sendable, CaseIterable {
    case bid, productId, quantity, transactionId, originalTransactionId
    case purchaseDate, purchaseDatePst, purchaseDateMs
    case originalPurchaseDate, originalPurchaseDatePst, originalPurchaseDateMs
    case bvrs, itemId, appItemId, versionExternalIdentifier
    case uniqueIdentifier, uniqueVendorIdentifier
    case expiresDate, expiresDateFormatted, expiresDateFormattedPst
    case webOrderLineItemId, isTrialPeriod, isInIntroOfferPeriod

    /// Apple's key of the field.
    var name: StaticString {
      switch self {
      case .bid: return "bid"
      case .productId: return "product-id"
      case .quantity: return "quantity"
      case .transactionId: return "transaction-id"
      case .originalTransactionId: return "original-transaction-id"
      case .purchaseDate: return "purchase-date"
      case .purchaseDatePst: return "purchase-date-pst"
      case .purchaseDateMs: return "purchase-date-ms"
      case .originalPurchaseDate: return "original-purchase-date"
      case .originalPurchaseDatePst: return "original-purchase-date-pst"
      case .originalPurchaseDateMs: return "original-purchase-date-ms"
      case .bvrs: return "bvrs"
      case .itemId: return "item-id"
      case .appItemId: return "app-item-id"
      case .versionExternalIdentifier: return "version-external-identifier"
      case .uniqueIdentifier: return "unique-identifier"
      case .uniqueVendorIdentifier: return "unique-vendor-identifier"
      case .expiresDate: return "expires-date"
      case .expiresDateFormatted: return "expires-date-formatted"
      case .expiresDateFormattedPst: return "expires-date-formatted-pst"
      case .webOrderLineItemId: return "web-order-line-item-id"
      case .isTrialPeriod: return "is-trial-period"
      case .isInIntroOfferPeriod: return "is-in-intro-offer-period"
      }
    }

    /// Returns the field of a key; `nil` if the key is unknown.
    init?(_ bytes: Span<UInt8>, key: Range<Int>) {
      let found: Field?
      switch key.count {
      case 3: found = Field.named(bytes, key, .bid)
      case 4: found = Field.named(bytes, key, .bvrs)
      case 7: found = Field.named(bytes, key, .itemId)
      case 8: found = Field.named(bytes, key, .quantity)
      case 10: found = Field.named(bytes, key, .productId)
      case 11: found = Field.named(bytes, key, .appItemId)
      case 12: found = Field.named(bytes, key, .expiresDate)
      case 13: found = Field.named(bytes, key, .purchaseDate)
      case 14: found = Field.named(bytes, key, .transactionId)
      case 15: found = Field.named(bytes, key, .isTrialPeriod)
      case 16: found = Field.named(bytes, key, .purchaseDateMs)
      case 17: found = Field.named(bytes, key, .purchaseDatePst, .uniqueIdentifier)
      case 22:
        found =
          Field.named(bytes, key, .originalPurchaseDate, .webOrderLineItemId)
          ?? Field.named(bytes, key, .expiresDateFormatted)
      case 23: found = Field.named(bytes, key, .originalTransactionId)
      case 24: found = Field.named(bytes, key, .uniqueVendorIdentifier, .isInIntroOfferPeriod)
      case 25: found = Field.named(bytes, key, .originalPurchaseDateMs)
      case 26: found = Field.named(bytes, key, .originalPurchaseDatePst, .expiresDateFormattedPst)
      case 27: found = Field.named(bytes, key, .versionExternalIdentifier)
      default: found = nil
      }
      guard let found else { return nil }
      self = found
    }

    private static func named(
      _ bytes: Span<UInt8>, _ key: Range<Int>, _ one: Field, _ other: Field? = nil
    ) -> Field? {
      if bytes.equals(one.name, key) { return one }
      if let other, bytes.equals(other.name, key) { return other }
      return nil
    }
  }

  /// A fault of one field.
  struct Fault: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
      /// A required field is absent or empty (RCP-13).
      case missing
      /// The value breaks its format (RCP-13, RCP-14).
      case format
      /// A date is outside 2008 … 2100 (RCP-14).
      case range
      /// A date contradicts another of the same moment (RCP-15).
      case conflict
      /// The value has no quotation marks: a trait for triage, not a fault of a verified receipt.
      case bare
    }
    let kind: Kind
    let field: Field
  }

  let list: PropertyList
  private(set) var faults: [Fault] = []
  /// The index of each field's entry in the list, counted from 1; 0 if absent or empty.
  private var places = InlineArray<23, UInt8>(repeating: 0)

  /// The date in milliseconds since 1970 UTC: the `-ms` value if present, else that of the date
  /// text; `nil` if absent or malformed.
  private(set) var purchaseDateMs: Int64? = nil
  private(set) var originalPurchaseDateMs: Int64? = nil
  private(set) var expiresDateMs: Int64? = nil
  /// The quantity, at least 1; `nil` if absent or malformed.
  private(set) var quantity: Int64? = nil
  /// The flag; `nil` if absent or malformed.
  private(set) var isTrialPeriod: Bool? = nil
  private(set) var isInIntroOfferPeriod: Bool? = nil

  init(_ list: PropertyList) {
    self.list = list
    let bytes = list.bytes.span
    for index in list.places.indices {
      let place = list.places[index]
      guard let field = Field(bytes, key: place.key) else { continue }
      if place.isBare { add(.bare, field) }
      // A list has at most 64 entries (RCP-6), so that the index fits in a byte.
      if !place.value.isEmpty { places[field.rawValue] = UInt8(truncatingIfNeeded: index &+ 1) }
    }
    readIds(bytes)
    readDates(bytes)
  }

  /// Refuses the first fault that a verified receipt must not have (RCP-13 … RCP-15).
  func check() throws(Refusal) {
    if faults.isEmpty { return }
    try refuse(.missing, .malformedTransactionReceiptFieldMissing, "RCP-13")
    try refuse(.format, .malformedTransactionReceiptFieldFormat, "RCP-13")
    try refuse(.range, .rejectedDateRange, "RCP-14")
    try refuse(.conflict, .rejectedTransactionReceiptFieldConflict, "RCP-15")
  }

  private func refuse(
    _ kind: Fault.Kind, _ status: Status, _ rule: StaticString
  ) throws(Refusal) {
    for fault in faults {
      try require(
        fault.kind != kind, status, rule, at: Text(stringLiteral: fault.field.name).string)
    }
  }

  /// Returns the value of a field; `nil` if absent or empty.
  func value(_ field: Field) -> ArraySlice<UInt8>? { range(field).map { list.bytes[$0] } }

  /// Returns the value's range in the list's bytes; `nil` if absent or empty.
  private func range(_ field: Field) -> Range<Int>? {
    let place = Int(places[field.rawValue])
    guard place > 0, place <= list.places.count else { return nil }
    return list.places[place &- 1].value
  }

  func text(_ field: Field) -> Text? { value(field).map { Text(Array($0)) } }

  /// The web-order-line-item id; `nil` if absent or 0 (RPL-3).
  var webOrderLineItemId: Text? {
    guard let id = text(.webOrderLineItemId), id != "0" else { return nil }
    return id
  }

  // MARK: ids, counts, flags (RCP-13)

  private mutating func readIds(_ bytes: Span<UInt8>) {
    demand(.bid) { $0.count <= 255 }
    demand(.productId) { $0.count <= 255 }
    demand(.transactionId) { PurchaseInfo.isTransactionId(bytes, $0) }
    demand(.originalTransactionId) { PurchaseInfo.isTransactionId(bytes, $0) }
    quantity = range(.quantity).flatMap {
      $0.count <= 9 ? PurchaseInfo.decimal(bytes, $0) : nil
    }
    demand(.quantity) { [quantity] _ in (quantity ?? 0) >= 1 }
    allowId(bytes, .itemId)
    allowId(bytes, .appItemId)
    allowId(bytes, .versionExternalIdentifier)
    allowId(bytes, .webOrderLineItemId)
    isTrialPeriod = readFlag(bytes, .isTrialPeriod)
    isInIntroOfferPeriod = readFlag(bytes, .isInIntroOfferPeriod)
  }

  private mutating func readFlag(_ bytes: Span<UInt8>, _ field: Field) -> Bool? {
    guard let range = range(field) else { return nil }
    if bytes.equals("true", range) { return true }
    if bytes.equals("false", range) { return false }
    add(.format, field)
    return nil
  }

  @inline(__always)
  private mutating func demand(_ field: Field, _ isGood: (Range<Int>) -> Bool) {
    guard let range = range(field) else { return add(.missing, field) }
    if !isGood(range) { add(.format, field) }
  }

  private mutating func allowId(_ bytes: Span<UInt8>, _ field: Field) {
    if let range = range(field), !PurchaseInfo.isId(bytes, range) { add(.format, field) }
  }

  private mutating func add(_ kind: Fault.Kind, _ field: Field) {
    faults.append(Fault(kind: kind, field: field))
  }

  /// Whether the value is 1 to 20 digits.
  private static func isId(_ bytes: Span<UInt8>, _ part: Range<Int>) -> Bool {
    guard part.count <= 20 else { return false }
    for at in part where bytes[at] < 0x30 || bytes[at] > 0x39 { return false }
    return true
  }

  /// Whether the value is 1 to 20 digits without a leading zero.
  private static func isTransactionId(_ bytes: Span<UInt8>, _ part: Range<Int>) -> Bool {
    isId(bytes, part) && (bytes[part.lowerBound] != 0x30 || part.count == 1)
  }

  /// Returns the number in a value of 1 to 18 digits; `nil` for any other value.
  static func decimal(_ value: ArraySlice<UInt8>) -> Int64? {
    decimal(value.span, 0..<value.count)
  }

  private static func decimal(_ bytes: Span<UInt8>, _ part: Range<Int>) -> Int64? {
    guard !part.isEmpty, part.count <= 18 else { return nil }
    var number: Int64 = 0
    for at in part {
      let digit = bytes[at] &- 0x30
      guard digit <= 9 else { return nil }
      number = number &* 10 &+ Int64(digit)
    }
    return number
  }

  // MARK: dates (RCP-14, RCP-15)

  private mutating func readDates(_ bytes: Span<UInt8>) {
    if range(.purchaseDate) == nil { add(.missing, .purchaseDate) }
    purchaseDateMs = readMoment(
      bytes, ms: .purchaseDateMs, utc: .purchaseDate, pst: .purchaseDatePst)
    originalPurchaseDateMs = readMoment(
      bytes, ms: .originalPurchaseDateMs, utc: .originalPurchaseDate,
      pst: .originalPurchaseDatePst)
    expiresDateMs = readMoment(
      bytes, ms: .expiresDate, utc: .expiresDateFormatted, pst: .expiresDateFormattedPst)
  }

  /// Reads one moment that up to three texts contain, which must agree. Returns milliseconds
  /// since 1970 UTC.
  private mutating func readMoment(
    _ bytes: Span<UInt8>, ms: Field, utc: Field, pst: Field
  ) -> Int64? {
    let milliseconds = readMilliseconds(bytes, ms)
    let seconds = readSeconds(bytes, utc, zone: ReceiptDateText.utc)
    if let seconds, !TimeWindow.contains(seconds &* 1000) { add(.range, utc) }
    if let milliseconds, let seconds, milliseconds / 1000 != seconds { add(.conflict, ms) }
    if let local = readSeconds(bytes, pst, zone: ReceiptDateText.pacific),
      let instant = seconds ?? milliseconds.map({ $0 / 1000 }),
      instant &- local != 25_200, instant &- local != 28_800
    {
      add(.conflict, pst)
    }
    return milliseconds ?? seconds.map { $0 &* 1000 }
  }

  private mutating func readMilliseconds(_ bytes: Span<UInt8>, _ field: Field) -> Int64? {
    guard let range = range(field) else { return nil }
    guard range.count == 12 || range.count == 13,
      let number = PurchaseInfo.decimal(bytes, range)
    else {
      add(.format, field)
      return nil
    }
    if !TimeWindow.contains(number) { add(.range, field) }
    return number
  }

  private mutating func readSeconds(
    _ bytes: Span<UInt8>, _ field: Field, zone: StaticString
  ) -> Int64? {
    guard let range = range(field) else { return nil }
    guard let seconds = ReceiptDateText.seconds(bytes, range, zone: zone) else {
      add(.format, field)
      return nil
    }
    return seconds
  }
}
