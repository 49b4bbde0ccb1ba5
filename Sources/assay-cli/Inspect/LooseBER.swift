/// A BER value, read leniently: for display, never for verification.
struct LooseBER {
  let tag: UInt8
  /// The content bytes, without end-of-contents.
  let content: ArraySlice<UInt8>

  private static let depth = 24

  /// Reads the value at the start of `bytes` and moves past it.
  static func next(_ bytes: inout ArraySlice<UInt8>, depth: Int = 0) -> LooseBER? {
    guard depth < LooseBER.depth, let tag = bytes.popFirst(), tag & 0x1f != 0x1f,
      let first = bytes.popFirst()
    else { return nil }
    if first == 0x80 { return indefinite(tag, &bytes, depth) }
    var length = Int(first)
    if first > 0x80 {
      guard first <= 0x84 else { return nil }
      length = 0
      for _ in 0..<(first & 0x0f) {
        guard let byte = bytes.popFirst() else { return nil }
        length = length << 8 | Int(byte)
      }
    }
    guard length <= bytes.count else { return nil }
    let content = bytes.prefix(length)
    bytes = bytes.dropFirst(length)
    return LooseBER(tag: tag, content: content)
  }

  private static func indefinite(
    _ tag: UInt8, _ bytes: inout ArraySlice<UInt8>, _ depth: Int
  ) -> LooseBER? {
    let start = bytes
    while !bytes.starts(with: [0, 0]) {
      guard next(&bytes, depth: depth + 1) != nil else { return nil }
    }
    let content = start[start.startIndex..<bytes.startIndex]
    bytes = bytes.dropFirst(2)
    return LooseBER(tag: tag, content: content)
  }

  /// The inner values, as far as they can be read.
  var children: [LooseBER] {
    var rest = content
    var children: [LooseBER] = []
    while !rest.isEmpty, let child = LooseBER.next(&rest) { children.append(child) }
    return children
  }

  /// The bytes of an OCTET STRING, joined from its pieces without those that are nested too deeply.
  var octets: [UInt8] { octets(depth: 0) }

  private func octets(depth: Int) -> [UInt8] {
    if tag & 0x20 == 0 { return Array(content) }
    guard depth < LooseBER.depth else { return [] }
    return children.flatMap { $0.octets(depth: depth + 1) }
  }

  /// The value of an INTEGER of at most eight bytes; `nil` for anything else.
  var integer: Int64? {
    guard tag == 0x02, (1...8).contains(content.count), let first = content.first else {
      return nil
    }
    let sign: Int64 = first & 0x80 != 0 ? -1 : 0
    return content.reduce(sign) { $0 << 8 | Int64($1) }
  }
}
