import CLibCrypto

/// The named curves of StoreKit's certificates (JWS-25).
enum Curve: Sendable, Equatable {
  case p256
  case p384

  /// Octets of a coordinate, and of r and s.
  var byteCount: Int { self == .p256 ? 32 : 48 }

  /// The order n of the curve's group, big-endian (SEC 2).
  var order: [UInt8] {
    switch self {
    case .p256:
      return [
        0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        0xff, 0xff, 0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2,
        0xfc, 0x63, 0x25, 0x51,
      ]
    case .p384:
      return [
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xc7, 0x63, 0x4d, 0x81,
        0xf4, 0x37, 0x2d, 0xdf, 0x58, 0x1a, 0x0d, 0xb2, 0x48, 0xb0, 0xa7, 0x7a, 0xec, 0xec,
        0x19, 0x6a, 0xcc, 0xc5, 0x29, 0x73,
      ]
    }
  }
}

/// An elliptic-curve public key. Immutable, and safe to use from many threads.
@safe final class PublicKey: @unchecked Sendable {
  let curve: Curve
  private let context: CryptoContext
  /// libcrypto's key: verifying changes nothing in it.
  private let key: OpaquePointer

  /// From an uncompressed point (`04 ‖ x ‖ y`); nil when it is of another form
  /// or not on the curve. (No failable initialiser: under Embedded Swift a class
  /// whose initialiser fails is never freed.)
  static func make(_ curve: Curve, point: ArraySlice<UInt8>) -> PublicKey? {
    guard point.count == 1 &+ 2 &* curve.byteCount, point.first == 0x04,
      let context = CryptoContext.shared,
      let key = unsafe point.withUnsafeBufferPointer({ buffer in
        unsafe assay_shim_point(
          context.library, context.engine, context.group(curve), buffer.baseAddress,
          buffer.count)
      })
    else { return nil }
    return unsafe PublicKey(curve, context, key)
  }

  private init(_ curve: Curve, _ context: CryptoContext, _ key: OpaquePointer) {
    self.curve = curve
    self.context = context
    unsafe self.key = key
  }

  deinit { unsafe EC_KEY_free(key) }

  /// Whether the ECDSA signature verifies over the message.
  func verifies(
    _ signature: ECDSASignature, _ digest: Digest, _ message: ArraySlice<UInt8>
  ) -> Bool {
    let hash = digest.of(message)
    let der = signature.der
    return unsafe hash.withUnsafeBufferPointer { hash in
      unsafe der.withUnsafeBufferPointer { der in
        unsafe assay_shim_verify(
          context.library, key, hash.baseAddress, hash.count, der.baseAddress, der.count)
      } == 1
    }
  }
}

/// An ECDSA signature whose r and s lie in 1…n−1 (JWS-31, JWS-100).
struct ECDSASignature {
  /// ECDSA-Sig-Value, as libcrypto takes it.
  let der: [UInt8]

  /// From r ‖ s, each as long as the curve's order (RFC 7518 §3.4).
  init?(concatenated bytes: [UInt8], _ curve: Curve) {
    let size = curve.byteCount
    guard bytes.count == 2 &* size else { return nil }
    let r = bytes[..<size]
    let s = bytes[size...]
    guard ECDSASignature.isInRange(r, curve), ECDSASignature.isInRange(s, curve) else {
      return nil
    }
    let body = ECDSASignature.integer(r) + ECDSASignature.integer(s)
    // At most 2 × 51 octets: the short form of the length is enough.
    der = [DER.sequence, UInt8(truncatingIfNeeded: body.count)] + body
  }

  /// From a DER ECDSA-Sig-Value that is exactly one clean value.
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

  private static func isInRange(_ value: ArraySlice<UInt8>, _ curve: Curve) -> Bool {
    value.contains { $0 != 0 } && value.lexicographicallyPrecedes(curve.order)
  }

  private static func integer(_ value: ArraySlice<UInt8>) -> [UInt8] {
    let digits = value.drop { $0 == 0 }
    let sign: [UInt8] = (digits.first ?? 0) >= 0x80 ? [0] : []
    return [DER.integer, UInt8(truncatingIfNeeded: digits.count &+ sign.count)] + sign + digits
  }
}
