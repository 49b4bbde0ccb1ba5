/// The three decoded segments of a signed token (docs/spec/access-tokens.md §2). Nothing of them
/// is trusted.
struct TokenText {
  let bytes: [UInt8]
  private let dots: (Int, Int)
  let header: [UInt8]
  let payload: [UInt8]
  /// The signature; empty in an unsecured token.
  let signature: [UInt8]

  /// The signed bytes: the first two segments as received (TOK-9).
  var signed: ArraySlice<UInt8> { bytes[..<dots.1] }
  var headerText: ArraySlice<UInt8> { bytes[..<dots.0] }

  /// Splits and decodes a token (TOK-5 … TOK-7). A session token is refused (TOK-35).
  init(_ bytes: [UInt8]) throws(Refusal) {
    let (dots, stranger) = Base64.segments(bytes)
    guard stranger == nil, dots.count == 2 else { throw TokenText.malformed(bytes) }
    let (first, second) = (dots[0], dots[1])
    try require(first > 0, .malformedTokenForm, "TOK-6", at: "header")
    try require(second > first &+ 1, .malformedTokenForm, "TOK-6", at: "payload")
    try require(
      !bytes[..<first].elementsEqual("as1"), .malformedTokenForm, "TOK-35", at: "header",
      detail: "a session token")
    self.bytes = bytes
    self.dots = (first, second)
    header = try TokenText.decoded(bytes[..<first], at: "header")
    payload = try TokenText.decoded(bytes[(first &+ 1)..<second], at: "payload")
    signature = try TokenText.decoded(bytes[(second &+ 1)...], at: "signature")
  }

  /// Decodes a segment of strict base64url (TOK-7).
  private static func decoded(
    _ segment: ArraySlice<UInt8>, at place: String
  ) throws(Refusal) -> [UInt8] {
    guard let bytes = Base64.decodeURL(segment) else {
      throw Refusal(.malformedTokenBase64, "TOK-7", at: place)
    }
    return bytes
  }

  /// Reads the strict JSON of a segment (TOK-8).
  static func json(_ bytes: [UInt8], at place: String) throws(Refusal) -> JSONValue {
    do {
      return try JSONReader.readObject(bytes).root
    } catch {
      // UTF-16 begins with bytes that UTF-8 never contains.
      if bytes.first.map({ $0 >= 0xfe }) == true {
        throw Refusal(.malformedJsonUtf8, "TOK-8", at: place)
      }
      throw Refusal(error.status, "TOK-8", at: place, detail: "at byte " + String(error.offset))
    }
  }

  /// Returns the refusal of a text that is not three segments of base64url.
  private static func malformed(_ bytes: [UInt8]) -> Refusal {
    if bytes.isEmpty { return Refusal(.malformedTokenForm, "TOK-5", detail: "it is empty") }
    let bearer: Text = "bearer "
    if bytes.count >= 7, Text(Array(bytes.prefix(7))).asciiLowercased == bearer {
      return Refusal(.malformedTokenForm, "TOK-5", at: "byte 0", hint: .bearer)
    }
    if let space = bytes.firstIndex(where: { $0 <= 0x20 || $0 == 0x7b }) {
      return Refusal(.malformedTokenForm, "TOK-6", at: "byte " + String(space))
    }
    let dots = bytes.reduce(0) { $1 == 0x2e ? $0 &+ 1 : $0 }
    if dots == 4 { return Refusal(.unsupportedTokenEncrypted, "TOK-6") }
    guard dots == 2, let stranger = Base64.segments(bytes).stranger else {
      return Refusal(.malformedTokenForm, "TOK-6")
    }
    return Refusal(.malformedTokenBase64, "TOK-7", at: "byte " + String(stranger))
  }
}
