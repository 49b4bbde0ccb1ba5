/// A CBOR item (RFC 8949) as it is written: members keep their order, keys may occur twice, and
/// `.raw` replaces an item by any bytes.
public indirect enum CBORText: Sendable {
  case unsigned(UInt64)
  /// The number −1 − n.
  case negative(UInt64)
  case bytes([UInt8])
  case text(String)
  case array([CBORText])
  case map([Member])
  /// Bytes that are written unchanged.
  case raw([UInt8])

  public struct Member: Sendable {
    public var key: CBORText
    public var value: CBORText

    public init(_ key: CBORText, _ value: CBORText) {
      self.key = key
      self.value = value
    }

    public init(_ key: String, _ value: CBORText) { self.init(.text(key), value) }
  }

  /// The first three bits of an item's head.
  public enum Major: UInt8, Sendable {
    case unsigned, negative, bytes, text, array, map, tag, simple
  }

  /// The number of bytes after the first one in which a head has its number.
  public enum HeadWidth: Int, Sendable {
    /// The number is in the first byte, up to 23.
    case none = 0
    case one = 1
    case two = 2
    case four = 4
    case eight = 8
  }

  public var encoded: [UInt8] {
    switch self {
    case .unsigned(let number): return CBORText.head(.unsigned, number)
    case .negative(let number): return CBORText.head(.negative, number)
    case .bytes(let bytes): return CBORText.head(.bytes, UInt64(bytes.count)) + bytes
    case .text(let text): return CBORText.head(.text, UInt64(text.utf8.count)) + text.utf8
    case .array(let items):
      return CBORText.head(.array, UInt64(items.count)) + items.flatMap(\.encoded)
    case .map(let members):
      return CBORText.head(.map, UInt64(members.count))
        + members.flatMap { $0.key.encoded + $0.value.encoded }
    case .raw(let bytes): return bytes
    }
  }

  /// Returns the head of an item, the shortest one unless `width` is given.
  public static func head(_ major: Major, _ number: UInt64, _ width: HeadWidth? = nil) -> [UInt8] {
    let width = width ?? shortest(number)
    let first = major.rawValue << 5
    switch width {
    case .none: return [first | UInt8(truncatingIfNeeded: number & 31)]
    case .one: return [first | 24] + octets(number, 1)
    case .two: return [first | 25] + octets(number, 2)
    case .four: return [first | 26] + octets(number, 4)
    case .eight: return [first | 27] + octets(number, 8)
    }
  }

  /// Returns a byte string whose head is wider than needed.
  public static func bytes(_ bytes: [UInt8], _ width: HeadWidth) -> CBORText {
    .raw(head(.bytes, UInt64(bytes.count), width) + bytes)
  }

  /// Returns `number` big-endian in `count` bytes.
  static func octets(_ number: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
  }

  private static func shortest(_ number: UInt64) -> HeadWidth {
    switch number {
    case ..<24: return .none
    case ..<0x100: return .one
    case ..<0x1_0000: return .two
    case ..<0x1_0000_0000: return .four
    default: return .eight
    }
  }
}

extension [CBORText.Member] {
  /// Returns a copy in which a text key has this value; a new member is the last one.
  public func setting(_ key: String, _ value: CBORText) -> [CBORText.Member] {
    var copy = self
    if let place = copy.place(key) {
      copy[place].value = value
    } else {
      copy.append(.init(key, value))
    }
    return copy
  }

  /// Returns a copy without the member of a text key.
  public func removing(_ key: String) -> [CBORText.Member] {
    var copy = self
    if let place = copy.place(key) { copy.remove(at: place) }
    return copy
  }

  /// Returns the value of a text key.
  public func value(_ key: String) -> CBORText? { place(key).map { self[$0].value } }

  private func place(_ key: String) -> Int? {
    firstIndex { member in
      if case .text(let text) = member.key { return text == key }
      return false
    }
  }
}
