import CLibCrypto

/// UUIDs of version 4 (RFC 9562 §5.4), from random bytes of the system for each one (EXC-23).
enum RandomUUID {
  /// Returns a new UUID in lower case.
  ///
  /// - Throws: `internal.sign.self-check` where the system gives no random numbers.
  static func make() throws(Refusal) -> Text {
    var octets = try random()
    octets[6] = octets[6] & 0x0f | 0x40
    octets[8] = octets[8] & 0x3f | 0x80
    var text: [UInt8] = []
    for (place, octet) in octets.enumerated() {
      if place == 4 || place == 6 || place == 8 || place == 10 { text.append(0x2d) }
      text += Hex.encode([octet])
    }
    return Text(text)
  }

  private static func random() throws(Refusal) -> [UInt8] {
    let octets = unsafe [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
      count = unsafe assay_system_random(buffer.baseAddress, 16) == 1 ? 16 : 0
    }
    guard octets.count == 16 else { throw Refusal(.internalSignSelfCheck, "EXC-23") }
    return octets
  }
}
