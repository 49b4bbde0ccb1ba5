/// The address by which sign-ups are counted: an IPv4 address, or the /64 of an IPv6 address, all
/// of which a household has (STO-55).
struct SourceAddress: Sendable, Equatable {
  let bucket: Text
  let isKnown: Bool

  private static let byteCap = 128

  /// - Parameter text: The address from the gateway's own field; `nil` if there is none.
  init(_ text: Text?) {
    guard let text, let bucket = SourceAddress.bucket(text.utf8) else {
      (bucket, isKnown) = ("unknown", false)
      return
    }
    self.bucket = bucket
    isKnown = true
  }

  private static func bucket(_ text: [UInt8]) -> Text? {
    guard text.count <= byteCap else { return nil }
    if octets(text[...]) != nil { return Text(text) }
    // A zone names the interface through which this host reached the address.
    guard let address = text.split(separator: 0x25, omittingEmptySubsequences: false).first,
      let groups = groups(address)
    else { return nil }
    if groups[..<5].allSatisfy({ $0 == 0 }), groups[5] == 0xffff {
      return Text([groups[6] >> 8, groups[6] & 255, groups[7] >> 8, groups[7] & 255].dotted)
    }
    return prefix(groups)
  }

  /// Returns `2001:db8:1:2::/64`; zero groups at the end are covered by the two colons.
  private static func prefix(_ groups: [UInt16]) -> Text {
    var kept = groups[..<4]
    while kept.last == 0 { kept = kept.dropLast() }
    var text: [UInt8] = []
    for (place, group) in kept.enumerated() {
      if place > 0 { text.append(0x3a) }
      text += Array(String(group, radix: 16).utf8)
    }
    return Text(text + Text("::/64").utf8)
  }

  /// Reads four numbers below 256 without leading zeros.
  private static func octets(_ text: ArraySlice<UInt8>) -> [UInt16]? {
    let parts = text.split(separator: 0x2e, omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var octets: [UInt16] = []
    for part in parts {
      guard (1...3).contains(part.count), part.count == 1 || part.first != 0x30,
        part.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 })
      else { return nil }
      let value = part.reduce(UInt16(0)) { $0 &* 10 &+ UInt16($1 &- 0x30) }
      guard value < 256 else { return nil }
      octets.append(value)
    }
    return octets
  }

  /// Reads the eight groups of an IPv6 address.
  private static func groups(_ text: ArraySlice<UInt8>) -> [UInt16]? {
    guard let gap = gap(text) else {
      guard let groups = run(text), groups.count == 8 else { return nil }
      return groups
    }
    guard let left = run(text[..<gap], endsAddress: false), let right = run(text[(gap &+ 2)...]),
      left.count &+ right.count <= 7
    else { return nil }
    return left + [UInt16](repeating: 0, count: 8 &- left.count &- right.count) + right
  }

  /// Returns the index of the first two colons in a row.
  private static func gap(_ text: ArraySlice<UInt8>) -> Int? {
    text.indices.dropLast().first { text[$0] == 0x3a && text[$0 &+ 1] == 0x3a }
  }

  /// Reads groups with single colons between them; the last two of an address may be written as an
  /// IPv4 address.
  private static func run(
    _ text: ArraySlice<UInt8>, endsAddress: Bool = true
  ) -> [UInt16]? {
    guard !text.isEmpty else { return [] }
    let parts = text.split(separator: 0x3a, omittingEmptySubsequences: false)
    var groups: [UInt16] = []
    for (place, part) in parts.enumerated() {
      if endsAddress, place == parts.count &- 1, let tail = octets(part) {
        groups += [tail[0] << 8 | tail[1], tail[2] << 8 | tail[3]]
        continue
      }
      guard (1...4).contains(part.count) else { return nil }
      var group: UInt16 = 0
      for digit in part {
        guard let value = Hex.value(digit) else { return nil }
        group = group << 4 | UInt16(value)
      }
      groups.append(group)
    }
    return groups.count <= 8 ? groups : nil
  }
}

extension Array where Element == UInt16 {
  fileprivate var dotted: [UInt8] {
    var text: [UInt8] = []
    for number in self {
      if !text.isEmpty { text.append(0x2e) }
      text += Array<UInt8>(String(number).utf8)
    }
    return text
  }
}
