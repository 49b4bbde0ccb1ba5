/// A CBOR item, read leniently: for display, never for verification.
indirect enum LooseCBOR {
  case number(Int64)
  case bytes([UInt8])
  case text(String)
  case array([LooseCBOR])
  case map([(key: LooseCBOR, value: LooseCBOR)])

  private static let depth = 8
  private static let countCap = 256

  /// Returns the item at the start of these bytes; `nil` if there is none.
  static func read(_ bytes: [UInt8]) -> LooseCBOR? {
    var rest = bytes[...]
    return next(&rest, 0)
  }

  private static func next(_ rest: inout ArraySlice<UInt8>, _ level: Int) -> LooseCBOR? {
    guard level < depth, let first = rest.popFirst(), let argument = argument(first & 31, &rest)
    else { return nil }
    switch first >> 5 {
    case 0: return Int64(exactly: argument).map { .number($0) }
    case 1: return Int64(exactly: argument).map { .number(-1 - $0) }
    case 2, 3:
      guard let count = Int(exactly: argument), count <= rest.count else { return nil }
      let content = Array(rest.prefix(count))
      rest = rest.dropFirst(count)
      return first >> 5 == 2 ? .bytes(content) : .text(String(decoding: content, as: UTF8.self))
    case 4, 5: return container(first >> 5, argument, &rest, level)
    default: return nil
    }
  }

  private static func container(
    _ major: UInt8, _ argument: UInt64, _ rest: inout ArraySlice<UInt8>, _ level: Int
  ) -> LooseCBOR? {
    guard argument <= countCap else { return nil }
    var items: [LooseCBOR] = []
    for _ in 0..<(major == 4 ? argument : argument * 2) {
      guard let item = next(&rest, level + 1) else { return nil }
      items.append(item)
    }
    if major == 4 { return .array(items) }
    return .map(
      stride(from: 0, to: items.count, by: 2).map { (key: items[$0], value: items[$0 + 1]) })
  }

  private static func argument(_ short: UInt8, _ rest: inout ArraySlice<UInt8>) -> UInt64? {
    guard short >= 24 else { return UInt64(short) }
    guard short <= 27 else { return nil }
    var number: UInt64 = 0
    for _ in 0..<(1 << (short - 24)) {
      guard let octet = rest.popFirst() else { return nil }
      number = number << 8 | UInt64(octet)
    }
    return number
  }

  /// Returns the value of a text key; `nil` if there is none.
  subscript(_ name: String) -> LooseCBOR? {
    guard case .map(let members) = self else { return nil }
    return members.first { if case .text(name) = $0.key { true } else { false } }?.value
  }

  var octets: [UInt8]? {
    if case .bytes(let bytes) = self { return bytes }
    return nil
  }

  var elements: [LooseCBOR] {
    if case .array(let items) = self { return items }
    return []
  }
}
