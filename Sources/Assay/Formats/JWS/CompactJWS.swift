/// The three segments of a compact JWS (RFC 7515 §7.1), with valid characters but not yet
/// decoded.
struct CompactJWS {
  let bytes: [UInt8]
  let header: Range<Int>
  let payload: Range<Int>
  let signature: Range<Int>

  /// Length of 64 bytes in base64url (JWS-5).
  static let signatureCharacters = 86
  /// Upper limit of the header segment in characters (JWS-3).
  static let headerCap = 16_384

  var headerText: ArraySlice<UInt8> { bytes[header] }
  var payloadText: ArraySlice<UInt8> { bytes[payload] }
  var signatureText: ArraySlice<UInt8> { bytes[signature] }
  /// The signed bytes: header segment, dot, payload segment (JWS-101).
  var signed: ArraySlice<UInt8> { bytes[header.lowerBound..<payload.upperBound] }

  /// Splits a text that must have two dots, base64url characters and nothing else (JWS-2). The
  /// signature segment may still be empty, as in an unsecured JWS.
  init(_ bytes: [UInt8]) throws(Refusal) {
    let (dots, stranger) = Base64.segments(bytes)
    try require(
      stranger == nil, .malformedJwsForm, "JWS-2", at: "byte " + String(stranger ?? 0),
      hint: .mistake(bytes))
    guard dots.count == 2 else {
      throw Refusal(
        .malformedJwsForm, "JWS-2", at: "byte " + String(dots.last ?? bytes.count),
        hint: .mistake(bytes))
    }
    self.bytes = bytes
    header = 0..<dots[0]
    payload = dots[0] + 1..<dots[1]
    signature = dots[1] + 1..<bytes.count
    try require(!header.isEmpty, .malformedJwsForm, "JWS-2", at: "header")
    try require(!payload.isEmpty, .malformedJwsForm, "JWS-2", at: "payload")
  }

  /// Decodes the 64 bytes of the signature, r ‖ s, whose length (JWS-5) and base64url (JWS-4) are
  /// checked.
  func decodedSignature() throws(Refusal) -> [UInt8] {
    try require(!signature.isEmpty, .malformedJwsForm, "JWS-2", at: "signature")
    try require(!signatureIsPlaceholder, .rejectedJwsSignature, "JWS-100", at: "signature")
    try require(
      signature.count == CompactJWS.signatureCharacters, .malformedJwsSignatureLength, "JWS-5",
      at: "signature")
    guard let decoded = Base64.decodeURL(signatureText) else {
      throw Refusal(.malformedJwsBase64, "JWS-4", at: "signature")
    }
    return decoded
  }

  /// Whether the signature segment is printable text of a wrong length, as in hand-made test
  /// data: eight or more bytes of a real signature are hardly ever all printable. A truncated
  /// signature is reported differently, because the client can send it again.
  var signatureIsPlaceholder: Bool {
    guard signature.count != CompactJWS.signatureCharacters,
      signature.count <= CompactJWS.headerCap, let words = Base64.decodeURL(signatureText)
    else { return false }
    return words.count >= 8 && ASCII.isPrintable(words[...])
  }

  /// Decodes the payload (JWS-4) and reads it as JSON (JWS-6). Call only after the signature was
  /// verified.
  func decodedPayload() throws(Refusal) -> JSON {
    try CompactJWS.json(payloadText, at: "payload")
  }

  static func json(_ segment: ArraySlice<UInt8>, at place: String) throws(Refusal) -> JSON {
    guard let text = Base64.decodeURL(segment) else {
      throw Refusal(.malformedJwsBase64, "JWS-4", at: place)
    }
    do {
      return try JSONReader.readObject(text)
    } catch {
      throw Refusal(
        error.status, "JWS-6", at: place, detail: "at byte " + String(error.offset))
    }
  }
}
