/// Writes DER values as bytes. Nothing is checked: the authority must be able to write values
/// that no certificate may contain.
public enum DER {
  /// Returns tag, shortest definite length and content.
  public static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    [tag] + length(content.count) + content
  }

  /// Returns the shortest definite length.
  public static func length(_ count: Int) -> [UInt8] {
    if count < 0x80 { return [UInt8(count)] }
    var octets: [UInt8] = []
    var rest = count
    while rest > 0 {
      octets.insert(UInt8(rest & 0xff), at: 0)
      rest >>= 8
    }
    return [0x80 | UInt8(octets.count)] + octets
  }

  public static func sequence(_ parts: [UInt8]...) -> [UInt8] {
    value(0x30, parts.flatMap { $0 })
  }

  public static func set(_ parts: [UInt8]...) -> [UInt8] { value(0x31, parts.flatMap { $0 }) }

  /// Returns an INTEGER with exactly these content bytes.
  public static func integer(octets: [UInt8]) -> [UInt8] { value(0x02, octets) }

  /// Returns the minimal INTEGER of an unsigned number of any size.
  public static func unsigned(_ number: [UInt8]) -> [UInt8] {
    var octets = Array(number.drop { $0 == 0 })
    if octets.isEmpty || octets[0] >= 0x80 { octets.insert(0, at: 0) }
    return integer(octets: octets)
  }

  public static func boolean(_ octet: UInt8) -> [UInt8] { value(0x01, [octet]) }
  public static func octetString(_ content: [UInt8]) -> [UInt8] { value(0x04, content) }
  public static func bitString(_ content: [UInt8], unused: UInt8 = 0) -> [UInt8] {
    value(0x03, [unused] + content)
  }
  public static let null: [UInt8] = [0x05, 0x00]

  /// Returns the OBJECT IDENTIFIER of dotted arcs, "1.2.840.10045.2.1".
  public static func oid(_ dotted: String) -> [UInt8] {
    let arcs = dotted.split(separator: ".").map { UInt64($0) ?? 0 }
    guard arcs.count >= 2 else { return value(0x06, []) }
    var content = base128(arcs[0] * 40 + arcs[1])
    for arc in arcs.dropFirst(2) { content += base128(arc) }
    return value(0x06, content)
  }

  public static func utf8(_ text: String) -> [UInt8] { value(0x0c, Array(text.utf8)) }
  public static func printable(_ text: String) -> [UInt8] { value(0x13, Array(text.utf8)) }
  public static func ia5(_ text: String) -> [UInt8] { value(0x16, Array(text.utf8)) }

  /// Returns a context-specific, constructed value: `[number]` around `content`.
  public static func explicit(_ number: UInt8, _ content: [UInt8]) -> [UInt8] {
    value(0xa0 | number, content)
  }

  /// Returns a context-specific, primitive value.
  public static func implicit(_ number: UInt8, _ content: [UInt8]) -> [UInt8] {
    value(0x80 | number, content)
  }

  /// Returns header length and total length of the value at the start of `bytes`, which this
  /// authority wrote; `nil` if `bytes` does not begin with a value.
  public static func head(_ bytes: ArraySlice<UInt8>) -> (header: Int, total: Int)? {
    let start = bytes.startIndex
    guard bytes.count >= 2 else { return nil }
    let first = bytes[start + 1]
    if first < 0x80 { return (2, 2 + Int(first)) }
    let octets = Int(first & 0x7f)
    guard octets >= 1, octets <= 3, bytes.count >= 2 + octets else { return nil }
    var count = 0
    for place in 0..<octets { count = count << 8 | Int(bytes[start + 2 + place]) }
    return (2 + octets, 2 + octets + count)
  }

  private static func base128(_ arc: UInt64) -> [UInt8] {
    var octets = [UInt8(arc & 0x7f)]
    var rest = arc >> 7
    while rest > 0 {
      octets.insert(UInt8(rest & 0x7f) | 0x80, at: 0)
      rest >>= 7
    }
    return octets
  }
}
