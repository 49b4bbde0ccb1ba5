/// A compact JWS before signing. Each part, from the members of the header to the spelling of the
/// signature, can be replaced; the signature always covers the first two segments as they are.
public struct JWSTemplate: Sendable {
  public var header: JSONText
  /// The header as bytes, in place of `header`.
  public var headerBytes: [UInt8]?
  /// The header segment, in place of the base64url of the bytes.
  public var headerSegment: [UInt8]?
  public var payload: [UInt8]
  /// The payload segment, in place of the base64url of `payload`.
  public var payloadSegment: [UInt8]?
  public var key: SigningKey
  /// Changes the 64 bytes of the signature.
  public var signature: SignatureForm = .asSigned
  /// Changes the finished text.
  public var text: TextForm = .clean

  public enum SignatureForm: Sendable {
    case asSigned
    /// The other valid signature of the same text, with n − s in place of s.
    case mirrored
    /// The valid signature whose s is in the upper half of its range.
    case highS
    /// The signature is replaced by these bytes.
    case octets([UInt8])
    /// The signature is cut to this many bytes.
    case prefix(Int)
    /// These bytes follow the 64.
    case trailing([UInt8])
    /// The signature is an ECDSA-Sig-Value instead of r ‖ s.
    case der
    /// An unused low bit of the last base64url character is set.
    case looseBits
    /// The signature is made with this key, which is not the leaf's.
    case by(SigningKey)
  }

  public enum TextForm: Sendable {
    case clean
    /// The segments of header or payload are replaced after signing.
    case swapped(header: [UInt8]? = nil, payload: [UInt8]? = nil)
    case surrounded(before: [UInt8], after: [UInt8])
    /// The signature segment is empty.
    case unsecured
  }

  public init(header: JSONText, payload: [UInt8], key: SigningKey) {
    self.header = header
    self.payload = payload
    self.key = key
  }

  /// Creates a JWS with the header of the App Store, which has only `alg` and the chain.
  public init(payload: [UInt8], chain: CertificateChain) {
    self.init(
      header: JWSTemplate.storeHeader(chain.certificates), payload: payload, key: chain.key)
  }

  /// Creates a JWS with the header that Xcode writes, which has one self-signed certificate.
  public init(xcodePayload payload: [UInt8], certificate: [UInt8], key: SigningKey) {
    self.init(
      header: [
        "kid": "Apple_Xcode_Key", "typ": "JWT",
        "x5c": .array([JWSTemplate.entry(certificate)]), "alg": "ES256",
      ], payload: payload, key: key)
  }

  public static func storeHeader(_ certificates: [[UInt8]]) -> JSONText {
    ["alg": "ES256", "x5c": .array(certificates.map(entry))]
  }

  /// Returns one entry of `x5c`.
  public static func entry(_ certificate: [UInt8]) -> JSONText {
    .string(utf8: Base64Text.encode(certificate))
  }

  /// Returns the signed JWS.
  public func signed() throws -> [UInt8] {
    let dot: [UInt8] = [0x2e]
    let first = headerSegment ?? Base64Text.encodeURL(headerBytes ?? header.bytes)
    let second = payloadSegment ?? Base64Text.encodeURL(payload)
    let third = try signatureSegment(over: first + dot + second)
    switch text {
    case .clean: return first + dot + second + dot + third
    case .swapped(let header, let payload):
      return (header ?? first) + dot + (payload ?? second) + dot + third
    case .surrounded(let before, let after):
      return before + first + dot + second + dot + third + after
    case .unsecured: return first + dot + second + dot
    }
  }

  private func signatureSegment(over input: [UInt8]) throws -> [UInt8] {
    if case .by(let other) = signature {
      return Base64Text.encodeURL(try other.signES256(input))
    }
    let der = try key.sign(input, .sha256)
    let numbers = try ECDSASignature(der: der)
    let octets = numbers.raw(width: 32)
    switch signature {
    case .asSigned, .by: return Base64Text.encodeURL(octets)
    case .mirrored: return Base64Text.encodeURL(numbers.mirroredP256().raw(width: 32))
    case .highS:
      let mirrored = numbers.mirroredP256()
      let isHigh = octets[32] >= 0x80
      return Base64Text.encodeURL(isHigh ? octets : mirrored.raw(width: 32))
    case .octets(let other): return Base64Text.encodeURL(other)
    case .prefix(let count): return Base64Text.encodeURL(Array(octets.prefix(count)))
    case .trailing(let more): return Base64Text.encodeURL(octets + more)
    case .der: return Base64Text.encodeURL(der)
    case .looseBits:
      let segment = Base64Text.encodeURL(octets)
      return Base64Text.withLooseBits(segment) ?? segment
    }
  }
}
