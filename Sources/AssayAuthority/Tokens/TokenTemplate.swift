/// A token before signing. Each part can be replaced; the signature always covers the first two
/// segments as they are.
public struct TokenTemplate: Changeable, Sendable {
  public var header: JSONText
  /// The header as bytes, in place of `header`.
  public var headerBytes: [UInt8]?
  /// The header segment, in place of the base64url of the bytes.
  public var headerSegment: [UInt8]?
  public var payload: [UInt8]
  public var payloadSegment: [UInt8]?
  public var key: SigningKey
  /// Whether the signature is r ‖ s; otherwise it is an RSA signature.
  public var isElliptic: Bool
  /// The signature, in place of the computed one.
  public var signature: [UInt8]?
  /// The signature segment, in place of the base64url of the signature.
  public var signatureSegment: [UInt8]?

  public init(_ header: JSONText, _ payload: JSONText, _ key: SigningKey, isElliptic: Bool) {
    self.header = header
    self.payload = payload.bytes
    self.key = key
    self.isElliptic = isElliptic
  }

  /// The signed text: the first two segments.
  public var input: [UInt8] {
    let first = headerSegment ?? Base64Text.encodeURL(headerBytes ?? header.bytes)
    return first + [0x2e] + (payloadSegment ?? Base64Text.encodeURL(payload))
  }

  /// Returns the signature over the segments as they are now.
  public func octets() throws -> [UInt8] {
    try isElliptic ? key.signES256(input) : key.sign(input, .sha256)
  }

  /// Returns the signed token.
  public func signed() throws -> [UInt8] {
    let segment = try signatureSegment ?? Base64Text.encodeURL(signature ?? octets())
    return input + [0x2e] + segment
  }
}
