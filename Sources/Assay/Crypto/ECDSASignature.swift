/// An ECDSA signature whose r and s are in 1…n−1 (JWS-31, JWS-100).
struct ECDSASignature {
  /// The signature as a DER ECDSA-Sig-Value, as libcrypto takes it.
  private(set) var der: [UInt8]

  /// Creates a signature from r ‖ s, each as long as the curve's order (RFC 7518 §3.4).
  init?(concatenated bytes: [UInt8], _ curve: Curve) {
    let size = curve.byteCount
    guard bytes.count == 2 &* size else { return nil }
    let r = bytes[..<size]
    let s = bytes[size...]
    guard ECDSASignature.isInRange(r, curve), ECDSASignature.isInRange(s, curve) else {
      return nil
    }
    let body = ECDSASignature.integer(r) + ECDSASignature.integer(s)
    // The body has at most 2 × 51 bytes: the short form of the length is enough.
    der = [DER.sequence, UInt8(truncatingIfNeeded: body.count)] + body
  }

  /// Creates a signature from bytes that are exactly one DER ECDSA-Sig-Value.
  init?(der bytes: ArraySlice<UInt8>, _ curve: Curve) {
    let copy = Array(bytes)
    var outer = DER.Cursor(copy)
    guard let pair = outer.next(DER.sequence), outer.isAtEnd else { return nil }
    var inner = DER.Cursor(copy, pair.content)
    guard let r = inner.next(DER.integer), let s = inner.next(DER.integer), inner.isAtEnd else {
      return nil
    }
    for part in [copy[r.content], copy[s.content]] {
      guard DER.isMinimalInteger(part), let first = part.first, first < 0x80 else { return nil }
      let digits = first == 0 ? part.dropFirst() : part
      guard digits.count <= curve.byteCount else { return nil }
      let padded = [UInt8](repeating: 0, count: curve.byteCount &- digits.count) + digits
      guard ECDSASignature.isInRange(padded[...], curve) else { return nil }
    }
    der = copy
  }

  /// Returns r ‖ s, each as long as the curve's order (RFC 7518 §3.4).
  func concatenated(_ curve: Curve) -> [UInt8] {
    var outer = DER.Cursor(der)
    guard let pair = outer.next(DER.sequence) else { return [] }
    var inner = DER.Cursor(der, pair.content)
    var octets: [UInt8] = []
    octets.reserveCapacity(2 &* curve.byteCount)
    while let part = inner.next(DER.integer) {
      let digits = der[part.content].drop { $0 == 0 }
      for _ in digits.count..<max(curve.byteCount, digits.count) { octets.append(0) }
      octets.append(contentsOf: digits)
    }
    return octets
  }

  /// Wipes the signature, because that of a token signed by Assay is part of a secret (EXC-22).
  mutating func wipe() { Secret.wipe(&der) }

  private static func isInRange(_ value: ArraySlice<UInt8>, _ curve: Curve) -> Bool {
    value.contains { $0 != 0 } && value.lexicographicallyPrecedes(curve.order)
  }

  private static func integer(_ value: ArraySlice<UInt8>) -> [UInt8] {
    let digits = value.drop { $0 == 0 }
    let sign: [UInt8] = (digits.first ?? 0) >= 0x80 ? [0] : []
    return [DER.integer, UInt8(truncatingIfNeeded: digits.count &+ sign.count)] + sign + digits
  }
}
