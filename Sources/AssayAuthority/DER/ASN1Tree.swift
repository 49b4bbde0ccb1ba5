/// An ASN.1 value as a tree, so that the same container can be written with
/// definite lengths (DER) or with indefinite ones (BER), and broken at one node.
public indirect enum ASN1Tree: Sendable {
  case constructed(UInt8, [ASN1Tree])
  /// An OCTET STRING that BER may cut into chunks.
  case octets([UInt8])
  /// Written as it stands.
  case raw([UInt8])

  public enum Form: Sendable {
    case definite
    /// `80 … 00 00` around everything constructed; octet strings in chunks of so
    /// many octets.
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
