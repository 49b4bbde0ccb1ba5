/// The Distinguished Encoding Rules of ASN.1 (X.690 §10, §11), as far as certificates use them:
/// definite minimal lengths, one encoding of each value.
enum DER {
  static let boolean: UInt8 = 0x01
  static let integer: UInt8 = 0x02
  static let bitString: UInt8 = 0x03
  static let octetString: UInt8 = 0x04
  static let null: UInt8 = 0x05
  static let objectIdentifier: UInt8 = 0x06
  static let utcTime: UInt8 = 0x17
  static let generalizedTime: UInt8 = 0x18
  static let sequence: UInt8 = 0x30
  static let set: UInt8 = 0x31

  /// Upper limits of one value; genuine certificates are far below both.
  static let depthCap = 16
  static let elementCap = 2048

  /// One element. Ranges are offsets into the bytes that were read.
  struct Element {
    let tag: UInt8
    let whole: Range<Int>
    let content: Range<Int>
  }

  /// Reads elements in their order between two offsets. Methods return `nil` if the next element
  /// is malformed or not the requested one.
  struct Cursor {
    let bytes: [UInt8]
    private(set) var position: Int
    let end: Int

    init(_ bytes: [UInt8]) {
      self.bytes = bytes
      position = 0
      end = bytes.count
    }

    init(_ bytes: [UInt8], _ range: Range<Int>) {
      self.bytes = bytes
      position = range.lowerBound
      end = Swift.min(range.upperBound, bytes.count)
    }

    var isAtEnd: Bool { position >= end }

    /// The tag of the next element; `nil` at the end.
    var nextTag: UInt8? { position < end ? bytes[position] : nil }

    mutating func next() -> Element? {
      let start = position
      guard start >= 0, end &- start >= 2 else { return nil }
      let tag = bytes[start]
      // Tag numbers from 31 on take more bytes; no certificate contains one.
      guard tag & 0x1f != 0x1f else { return nil }
      var content = start &+ 2
      var length = Int(bytes[start &+ 1])
      if length >= 0x80 {
        let octets = length & 0x7f
        guard octets >= 1, octets <= 3, end &- content >= octets else { return nil }
        length = 0
        for offset in 0..<octets { length = length << 8 | Int(bytes[content &+ offset]) }
        // The long form is minimal only from 128 on and without a leading zero byte.
        guard length >= 0x80, length >> (8 &* (octets &- 1)) != 0 else { return nil }
        content &+= octets
      }
      guard length <= end &- content else { return nil }
      position = content &+ length
      return Element(tag: tag, whole: start..<position, content: content..<position)
    }

    /// Returns the next element if it has this tag; otherwise reads nothing.
    mutating func next(_ tag: UInt8) -> Element? {
      guard nextTag == tag else { return nil }
      return next()
    }
  }

  /// Whether the bytes are exactly one DER value, so that encoding the value again returns the
  /// same bytes. The contents of octet strings are not checked.
  static func isCanonical(_ bytes: [UInt8]) -> Bool {
    var open: [(cursor: Cursor, isSet: Bool, last: Range<Int>?)] = [(Cursor(bytes), false, nil)]
    var elements = 0
    while let top = open.last {
      if top.cursor.isAtEnd {
        open.removeLast()
        continue
      }
      var cursor = top.cursor
      guard let element = cursor.next(), elements < elementCap else { return false }
      elements += 1
      if open.count == 1, !(cursor.isAtEnd && element.whole.lowerBound == 0) { return false }
      // The elements of a SET OF ascend by their encodings (X.690 §11.6).
      if top.isSet, let last = top.last,
        !ascends(bytes[last], bytes[element.whole])
      {
        return false
      }
      open[open.count - 1] = (cursor, top.isSet, element.whole)
      guard let isContainer = check(element, bytes) else { return false }
      if isContainer {
        guard open.count <= depthCap else { return false }
        open.append((Cursor(bytes, element.content), element.tag == set, nil))
      }
    }
    return elements > 0
  }

  /// Checks one element. Returns whether it is constructed; `nil` if it is not canonical.
  private static func check(_ element: Element, _ bytes: [UInt8]) -> Bool? {
    let constructed = element.tag & 0x20 != 0
    guard element.tag & 0xc0 == 0 else { return constructed }
    if constructed { return element.tag == sequence || element.tag == set ? true : nil }
    let content = bytes[element.content]
    switch element.tag {
    case 0x00: return nil
    case boolean:
      guard content.count == 1, content.first == 0x00 || content.first == 0xff else { return nil }
    case integer, 0x0a:
      guard isMinimalInteger(content) else { return nil }
    case bitString:
      guard isCanonicalBitString(content) else { return nil }
    case null:
      guard content.isEmpty else { return nil }
    case objectIdentifier:
      guard isObjectIdentifier(content) else { return nil }
    case 0x0c:
      guard UTF8Sequence.isValid(Array(content)) else { return nil }
    case 0x10, 0x11: return nil
    default: break
    }
    return false
  }

  static func isMinimalInteger(_ content: ArraySlice<UInt8>) -> Bool {
    guard let first = content.first else { return false }
    guard content.count > 1 else { return true }
    let second = content[content.startIndex &+ 1]
    return !(first == 0x00 && second < 0x80) && !(first == 0xff && second >= 0x80)
  }

  private static func isCanonicalBitString(_ content: ArraySlice<UInt8>) -> Bool {
    guard let unused = content.first, unused <= 7, let last = content.last else { return false }
    if content.count == 1 { return unused == 0 }
    return last & ((1 << unused) &- 1) == 0
  }

  private static func isObjectIdentifier(_ content: ArraySlice<UInt8>) -> Bool {
    guard let last = content.last, last < 0x80 else { return false }
    var isFirst = true
    for byte in content {
      if isFirst, byte == 0x80 { return false }
      isFirst = byte < 0x80
    }
    return true
  }

  private static func ascends(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
    !right.lexicographicallyPrecedes(left)
  }
}
