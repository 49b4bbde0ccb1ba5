/// One attribute of a payload, `SEQUENCE { type, version, OCTET STRING value }` in
/// definite-length DER (docs/spec/receipts.md §3.1). The version is not checked here: Xcode's
/// versions differ from Apple's.
struct ReceiptAttribute {
  let type: UInt64
  let version: UInt64
  /// The range of the octet string's content.
  let value: Range<Int>

  /// The number of BER elements in one attribute.
  static let elements = 4

  enum Fault: Error, Equatable {
    /// There is no definite-length DER element here (APR-1).
    case unclean
    /// An element has another type or length than an attribute's (APR-12).
    case form
  }

  /// Reads the attribute at `position` and moves `position` behind it.
  @inline(__always)
  static func next(
    _ bytes: [UInt8], _ position: inout Int, _ end: Int
  ) throws(Fault) -> ReceiptAttribute {
    guard let sequence = BER.head(bytes, position, end), let last = sequence.end else {
      throw .unclean
    }
    if sequence.tag != DER.sequence { throw .form }
    guard let type = BER.head(bytes, sequence.content, last), let typeEnd = type.end,
      let version = BER.head(bytes, typeEnd, last), let versionEnd = version.end,
      let octets = BER.head(bytes, versionEnd, last), let octetsEnd = octets.end
    else { throw .unclean }
    guard type.tag == DER.integer, let number = unsigned(bytes, type.content..<typeEnd),
      version.tag == DER.integer,
      let versionNumber = unsigned(bytes, version.content..<versionEnd),
      octets.tag == DER.octetString, octetsEnd == last
    else { throw .form }
    position = last
    return ReceiptAttribute(
      type: number, version: versionNumber, value: octets.content..<octetsEnd)
  }

  // MARK: values

  /// Returns the content of the single element, of this tag, that fills `value`; `nil` otherwise.
  @inline(__always)
  static func content(_ bytes: [UInt8], _ value: Range<Int>, _ tag: UInt8) -> Range<Int>? {
    guard let head = BER.head(bytes, value.lowerBound, value.upperBound), head.tag == tag,
      head.end == value.upperBound
    else { return nil }
    return head.content..<value.upperBound
  }

  /// Reads a minimal, non-negative INTEGER of at most 64 bits (APR-12).
  @inline(__always)
  static func integer(_ bytes: [UInt8], _ value: Range<Int>) -> UInt64? {
    content(bytes, value, DER.integer).flatMap { unsigned(bytes, $0) }
  }

  /// Reads well-formed UTF-8 without NUL (APR-12), as in all other texts (RCP-6): a host that
  /// reads only up to a NUL would read the identifier of another product.
  static func utf8(_ bytes: [UInt8], _ value: Range<Int>) -> Range<Int>? {
    content(bytes, value, utf8String).flatMap { isText(bytes, $0) ? $0 : nil }
  }

  static func isText(_ bytes: [UInt8], _ content: Range<Int>) -> Bool {
    if bytes[content].contains(0) { return false }
    return isASCII(bytes, content) || UTF8Sequence.isValid(Array(bytes[content]))
  }

  /// Reads ASCII text (APR-12).
  static func ia5(_ bytes: [UInt8], _ value: Range<Int>) -> Range<Int>? {
    guard let content = content(bytes, value, ia5String), isASCII(bytes, content) else {
      return nil
    }
    return content
  }

  private static let utf8String: UInt8 = 0x0c
  private static let ia5String: UInt8 = 0x16

  @inline(__always)
  private static func isASCII(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
    var all: UInt8 = 0
    for byte in bytes[range] { all |= byte }
    return all < 0x80
  }

  @inline(__always)
  private static func unsigned(_ bytes: [UInt8], _ content: Range<Int>) -> UInt64? {
    guard content.count >= 1, content.count <= 9 else { return nil }
    let first = bytes[content.lowerBound]
    if content.count == 1 { return first < 0x80 ? UInt64(first) : nil }
    guard first < 0x80, first != 0 || bytes[content.lowerBound &+ 1] >= 0x80,
      content.count < 9 || first == 0
    else { return nil }
    var number: UInt64 = 0
    for byte in bytes[content] { number = number << 8 | UInt64(byte) }
    return number
  }
}
