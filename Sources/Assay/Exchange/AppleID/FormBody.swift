/// Encodes a form as `application/x-www-form-urlencoded` (AID-21).
enum FormBody {
  /// Returns the form as one array that does not grow: growing leaves copies of a secret behind.
  static func make(_ fields: [(name: StaticString, value: SecretBytes)]) -> SecretBytes {
    var body: [UInt8] = []
    body.reserveCapacity(
      fields.reduce(0) { $0 &+ $1.name.utf8CodeUnitCount &+ $1.value.bytes.count &* 3 &+ 2 })
    for (name, value) in fields {
      if !body.isEmpty { body.append(0x26) }
      name.withUTF8Buffer { unsafe body.append(contentsOf: $0) }
      body.append(0x3d)
      for byte in value.bytes { append(byte, &body) }
    }
    return SecretBytes(body)
  }

  /// Percent-encodes each byte except letters, digits and `- . _ ~`.
  private static func append(_ byte: UInt8, _ body: inout [UInt8]) {
    switch byte {
    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e: body.append(byte)
    default:
      body.append(0x25)
      body.append(contentsOf: Hex.encode([byte], upper: true))
    }
  }
}
