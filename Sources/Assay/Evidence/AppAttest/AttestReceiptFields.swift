/// The content of an attest receipt, read strictly: a SET of `SEQUENCE { INTEGER type, INTEGER
/// version, OCTET STRING value }` in definite-length DER (FRC-6, FRC-7). Texts are ranges into
/// the content's bytes; times are milliseconds since 1970 UTC.
struct AttestReceiptFields: Sendable {
  static let fieldCap = 32

  let content: BER.Octets
  /// The App ID (field 2), in UTF-8.
  private(set) var appId: Range<Int> = 0..<0
  /// The public key `04 ‖ x ‖ y` of the certificate in field 3.
  private(set) var key: [UInt8] = []
  /// The client data hash (field 4). Never compared: Apple damages the hash in refreshed
  /// receipts.
  private(set) var clientHash: Range<Int> = 0..<0
  /// The token (field 5), in base64.
  private(set) var token: Range<Int> = 0..<0
  /// Whether field 6 is RECEIPT and not ATTEST.
  private(set) var isRefreshed = false
  /// The environment (field 7) as signed.
  private(set) var environment: Range<Int> = 0..<0
  /// The creation time (field 12).
  private(set) var createdAtMs: Int64 = 0
  /// The risk metric (field 17); `nil` in an ATTEST receipt.
  private(set) var risk: Int64? = nil
  /// The time before which Apple issues no newer receipt (field 19); `nil` in an ATTEST receipt.
  private(set) var notBeforeMs: Int64? = nil
  /// The expiry time (field 21).
  private(set) var expiresAtMs: Int64 = 0
  /// The types of undocumented fields, in the order of the receipt.
  private(set) var unknown: [UInt64] = []

  func slice(_ range: Range<Int>) -> ArraySlice<UInt8> {
    content.bytes[range.clamped(to: content.range)]
  }

  func text(_ range: Range<Int>) -> Text { Text(Array(slice(range))) }

  // MARK: reading

  init(_ content: BER.Octets) throws(Refusal) {
    self.content = content
    let values = try Values(content)
    appId = try AttestReceiptFields.utf8(try values.demanded(2), content, "field 2")
    clientHash = try values.demanded(4)
    token = try AttestReceiptFields.base64(try values.demanded(5), content)
    isRefreshed = try AttestReceiptFields.isRefreshed(values, content)
    environment = try AttestReceiptFields.utf8(try values.demanded(7), content, "field 7")
    createdAtMs = try AttestReceiptFields.time(try values.demanded(12), content, "field 12")
    risk = try values.found(17).map { range throws(Refusal) in
      try AttestReceiptFields.metric(range, content)
    }
    notBeforeMs = try values.found(19).map { range throws(Refusal) in
      try AttestReceiptFields.time(range, content, "field 19")
    }
    expiresAtMs = try AttestReceiptFields.time(try values.demanded(21), content, "field 21")
    key = try AttestReceiptFields.key(try values.demanded(3), content)
    unknown = values.unknown
  }

  /// Whether the receipt is a refreshed one. A receipt from an attestation has neither the risk
  /// metric nor field 19, a refreshed one has both (FRC-7).
  private static func isRefreshed(
    _ values: Values, _ content: BER.Octets
  ) throws(Refusal) -> Bool {
    let text = content.bytes[try values.demanded(6)]
    let isRefreshed = text.elementsEqual("RECEIPT")
    try require(
      isRefreshed || text.elementsEqual("ATTEST"), .malformedAttestReceiptType, "FRC-7",
      at: "field 6")
    try require(
      (values.found(17) != nil) == isRefreshed, .malformedAttestReceiptType, "FRC-7",
      at: "field 17")
    try require(
      (values.found(19) != nil) == isRefreshed, .malformedAttestReceiptType, "FRC-7",
      at: "field 19")
    return isRefreshed
  }

  private static func utf8(
    _ range: Range<Int>, _ content: BER.Octets, _ place: StaticString
  ) throws(Refusal) -> Range<Int> {
    try require(
      !range.isEmpty && UTF8Sequence.isValid(Array(content.bytes[range])),
      .malformedAttestReceiptField, "FRC-6", at: Text(stringLiteral: place).string)
    return range
  }

  private static func base64(
    _ range: Range<Int>, _ content: BER.Octets
  ) throws(Refusal) -> Range<Int> {
    try require(
      !range.isEmpty && Base64.decodeStandard(content.bytes[range]) != nil,
      .malformedAttestReceiptField, "FRC-6", at: "field 5")
    return range
  }

  private static func time(
    _ range: Range<Int>, _ content: BER.Octets, _ place: StaticString
  ) throws(Refusal) -> Int64 {
    guard let time = AttestReceiptTime.milliseconds(content.bytes[range]) else {
      throw Refusal(.malformedAttestReceiptTime, "FRC-7", at: Text(stringLiteral: place).string)
    }
    try require(
      TimeWindow.contains(time), .rejectedDateRange, "ATT-41",
      at: Text(stringLiteral: place).string)
    return time
  }

  /// Reads a risk metric of one to nine digits (FRC-7).
  private static func metric(
    _ range: Range<Int>, _ content: BER.Octets
  ) throws(Refusal) -> Int64 {
    var value: Int64 = 0
    var isNumber = range.count >= 1 && range.count <= 9
    for byte in content.bytes[range].prefix(9) {
      isNumber = isNumber && byte >= 0x30 && byte <= 0x39
      value = value &* 10 &+ Int64(byte) &- 0x30
    }
    try require(isNumber, .malformedAttestReceiptMetric, "FRC-7", at: "field 17")
    return value
  }

  /// Returns the key of the attested leaf, an uncompressed point of P-256 (FRC-6). Does not
  /// check that the point is on the curve: a caller that knows the key compares its bytes (FRC-9).
  private static func key(
    _ range: Range<Int>, _ content: BER.Octets
  ) throws(Refusal) -> [UInt8] {
    guard let certificate = Certificate(Array(content.bytes[range])),
      certificate.keyType == .elliptic(.p256)
    else { throw Refusal(.malformedAttestReceiptField, "FRC-6", at: "field 3") }
    let point = Array(certificate.bytes(certificate.key))
    try require(
      point.count == 65 && point.first == 0x04, .malformedAttestReceiptField, "FRC-6",
      at: "field 3")
    return point
  }
}

/// The fields of a receipt's content, each type at most once.
private struct Values {
  private var fields: [(type: UInt64, value: Range<Int>)] = []

  init(_ content: BER.Octets) throws(Refusal) {
    let bytes = content.bytes
    let end = content.range.upperBound
    guard let set = BER.head(bytes, content.range.lowerBound, end), let last = set.end else {
      throw Refusal(.malformedAttestReceiptBer, "FRC-6", at: "content")
    }
    try require(
      set.tag == DER.set && last == end, .malformedAttestReceiptStructure, "FRC-6", at: "content")
    fields.reserveCapacity(16)
    var position = set.content
    while position < end {
      try require(
        fields.count < AttestReceiptFields.fieldCap, .malformedAttestReceiptField, "FRC-6",
        at: "content")
      let field = try Values.next(bytes, &position, end)
      try require(
        field.version == 1, .malformedAttestReceiptField, "FRC-6", at: Values.place(field.type))
      try require(
        found(field.type) == nil, .malformedAttestReceiptField, "FRC-6",
        at: Values.place(field.type))
      fields.append((field.type, field.value))
    }
  }

  private static func next(
    _ bytes: [UInt8], _ position: inout Int, _ end: Int
  ) throws(Refusal) -> ReceiptAttribute {
    do throws(ReceiptAttribute.Fault) {
      return try ReceiptAttribute.next(bytes, &position, end)
    } catch {
      let status: Status
      switch error {
      case .unclean: status = .malformedAttestReceiptBer
      case .form: status = .malformedAttestReceiptField
      }
      throw Refusal(status, "FRC-6", at: "content byte " + String(position))
    }
  }

  private static func place(_ type: UInt64) -> String { "field " + String(type) }

  func found(_ type: UInt64) -> Range<Int>? {
    for field in fields where field.type == type { return field.value }
    return nil
  }

  func demanded(_ type: UInt64) throws(Refusal) -> Range<Int> {
    guard let value = found(type) else {
      throw Refusal(.malformedAttestReceiptField, "FRC-6", at: Values.place(type))
    }
    return value
  }

  var unknown: [UInt64] {
    var types: [UInt64] = []
    for field in fields {
      switch field.type {
      case 2...7, 12, 17, 19, 21: break
      default: types.append(field.type)
      }
    }
    return types
  }
}
