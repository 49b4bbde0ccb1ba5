/// An ASN.1 value as a tree, so that a container can be written with definite lengths (DER) or
/// indefinite ones (BER), and damaged at one node.
public indirect enum ASN1Tree: Sendable {
  case constructed(UInt8, [ASN1Tree])
  /// An OCTET STRING, which BER may split into chunks.
  case octets([UInt8])
  /// Bytes that are written unchanged.
  case raw([UInt8])

  public enum Form: Sendable {
    case definite
    /// Every constructed value is `80 … 00 00`; octet strings are split into chunks of this many
    /// bytes.
    case indefinite(chunk: Int)
  }

  public func encoded(_ form: Form) -> [UInt8] {
    switch (self, form) {
    case (.raw(let bytes), _): return bytes
    case (.octets(let bytes), .definite): return DER.octetString(bytes)
    case (.octets(let bytes), .indefinite(let chunk)):
      var out: [UInt8] = [0x24, 0x80]
      for place in stride(from: 0, to: bytes.count, by: max(1, chunk)) {
        out += DER.octetString(Array(bytes[place..<min(bytes.count, place + max(1, chunk))]))
      }
      return out + [0, 0]
    case (.constructed(let tag, let parts), .definite):
      return DER.value(tag, parts.flatMap { $0.encoded(form) })
    case (.constructed(let tag, let parts), .indefinite):
      return [tag, 0x80] + parts.flatMap { $0.encoded(form) } + [0, 0]
    }
  }
}
