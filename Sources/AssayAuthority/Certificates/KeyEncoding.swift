/// Encodes a SubjectPublicKeyInfo, in the accepted encoding and in others.
public enum KeyEncoding {
  /// Returns id-ecPublicKey with the curve's name and the point.
  public static func named(_ curve: String, _ point: [UInt8]) -> [UInt8] {
    DER.sequence(
      DER.sequence(DER.oid(OID.ecPublicKey), DER.oid(curve)), DER.bitString(point))
  }

  /// Returns a P-256 key whose curve is given by its parameters instead of its name.
  public static func explicitP256(_ point: [UInt8]) -> [UInt8] {
    let field = DER.sequence(DER.oid("1.2.840.10045.1.1"), DER.unsigned(P256.prime))
    let curve = DER.sequence(DER.octetString(P256.a), DER.octetString(P256.b))
    let parameters = DER.sequence(
      DER.unsigned([1]), field, curve, DER.octetString(P256.generator),
      DER.unsigned(P256.order), DER.unsigned([1]))
    return DER.sequence(
      DER.sequence(DER.oid(OID.ecPublicKey), parameters), DER.bitString(point))
  }

  /// Returns the compressed point: `02` or `03` and x.
  public static func compressed(_ point: [UInt8]) -> [UInt8] {
    [2 | ((point.last ?? 0) & 1)] + point.dropFirst().prefix((point.count - 1) / 2)
  }

  /// Returns the hybrid point: `06` or `07` and both coordinates.
  public static func hybrid(_ point: [UInt8]) -> [UInt8] {
    [6 | ((point.last ?? 0) & 1)] + point.dropFirst()
  }

  /// Returns a point with one bit of y changed, which is not on the curve.
  public static func offCurve(_ point: [UInt8]) -> [UInt8] {
    var moved = point
    if let last = moved.indices.last { moved[last] ^= 1 }
    return moved
  }
}
