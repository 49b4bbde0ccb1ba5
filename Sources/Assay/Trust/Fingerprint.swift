/// A digest of several byte strings, as a cache key (JWS-61).
enum Fingerprint {
  /// Returns the SHA-256 over the parts, each preceded by its length so that no byte can move
  /// from one part to the next.
  static func of(_ parts: [[UInt8]]) -> [UInt8] {
    var text: [UInt8] = []
    for part in parts {
      let count = UInt32(truncatingIfNeeded: part.count)
      for shift in [24, 16, 8, 0] as [UInt32] {
        text.append(UInt8(truncatingIfNeeded: count >> shift))
      }
      text += part
    }
    return Digest.sha256.of(text)
  }
}
