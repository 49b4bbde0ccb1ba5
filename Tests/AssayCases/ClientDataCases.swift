import AssayAuthority

/// A mistake between app and server about the client data, and the hint that explains it (DIA-1).
struct ClientDataMistake {
  let name: String
  let hint: String
  /// The client data or hash that the host passes.
  let given: CaseFixture.ClientDataGiven
  /// The 32 bytes that the app signed.
  let signed: [UInt8]

  private init(
    _ name: String, _ hint: String, _ given: CaseFixture.ClientDataGiven, _ signed: [UInt8]
  ) {
    self.name = name
    self.hint = hint
    self.given = given
    self.signed = signed
  }

  /// Returns every mistake about these client data.
  static func all(_ data: [UInt8]) -> [ClientDataMistake] {
    func digest(_ bytes: [UInt8]) -> [UInt8] { AttestDigest.sha256(bytes) }
    let hash = digest(data)
    let base64 = Base64Text.encode(data)
    let url = Base64Text.encodeURL(data)
    let hex = Array(AttestDigest.hex(data).utf8)
    return [
      .init("the hash passed as data", "data-is-hash", .data(hash), hash),
      .init(
        "data signed without a hash", "data-is-hash", .data(Array(data.prefix(32))),
        Array(data.prefix(32))),
      .init("data passed as a hash", "hash-is-data", .hash(hash), digest(hash)),
      .init("base64 passed, bytes signed", "decode-base64", .data(base64), hash),
      .init("base64url passed, bytes signed", "decode-base64", .data(url), hash),
      .init("bytes passed, base64 signed", "encode-base64", .data(data), digest(base64)),
      .init("hex passed, bytes signed", "decode-hex", .data(hex), hash),
      .init("bytes passed, hex signed", "encode-hex", .data(data), digest(hex)),
      .init("quotes around it", "trim", .data([0x22] + data + [0x22]), hash),
      .init("a line feed behind it", "trim", .data(data + [0x0a]), hash),
      .init("a NUL behind it", "trim", .data(data + [0]), hash),
      .init("hashed twice by the app", "double-hash", .data(data), digest(hash)),
    ]
  }
}

/// The location of a challenge in client data, and whether it is found (ASR-10).
struct ChallengePlace {
  let name: String
  let verifier: String
  let clientData: [UInt8]
  var isHash = false
  /// The challenge; `nil` if it cannot be found, or is not searched for.
  let challenge: [UInt8]?
  let isFound: Bool

  /// SHA-256 of the client data.
  var hash: [UInt8] { AttestDigest.sha256(clientData) }

  /// The document's facts about the challenge.
  var facts: CaseFixture.Facts {
    guard isFound else { return [] }
    guard let challenge else { return [("challenge", "unchecked")] }
    return [("challenge.sha256", .text(AttestDigest.hex(AttestDigest.sha256(challenge))))]
  }

  private init(
    _ name: String, _ verifier: String, _ text: String, _ challenge: [UInt8]?,
    isHash: Bool = false
  ) {
    self.name = "\(name) at \(verifier)"
    self.verifier = "attest-challenge-" + verifier
    clientData = Array(text.utf8)
    self.isHash = isHash
    self.challenge = challenge
    isFound = isHash || challenge != nil
  }

  static let all: [ChallengePlace] = {
    let secret = Array("0123456789abcdef?>~~".utf8)
    func json(_ text: String) -> String { "{\"n\":1,\"proof\":{\"challenge\":\"\(text)\"}}" }
    let base64 = secret.base64Text
    let url = String(decoding: Base64Text.encodeURL(secret), as: UTF8.self)
    let hex = AttestDigest.hex(secret)
    let plain = "{\"n\":1}"
    return [
      .init("anything", "whole", plain, Array(plain.utf8)),
      .init("a text", "text", json("open sesame"), Array("open sesame".utf8)),
      .init("a text with an escape", "text", json("a\\u0041b"), Array("aAb".utf8)),
      .init("base64", "base64", json(base64), secret),
      .init("base64url", "base64url", json(url), secret),
      .init("hex", "hex", json(hex), secret),
      .init("a hash given", "whole", plain, nil, isHash: true),
      .init("a hash given", "text", json("open sesame"), nil, isHash: true),
      .init("base64url", "base64", json(url), nil),
      .init("base64", "base64url", json(base64), nil),
      .init("base64 with a line break", "base64", json(base64 + "\\n"), nil),
      .init("an odd number of digits", "hex", json(String(hex.dropLast())), nil),
      .init("a letter past f", "hex", json("0g"), nil),
      .init("an empty text", "text", json(""), nil),
      .init("no such member", "text", "{\"proof\":{\"other\":\"x\"}}", nil),
      .init("no outer member", "text", plain, nil),
      .init("a number", "text", "{\"proof\":{\"challenge\":5}}", nil),
      .init("a null", "text", "{\"proof\":{\"challenge\":null}}", nil),
      .init("an object", "text", "{\"proof\":{\"challenge\":{\"a\":\"b\"}}}", nil),
      .init("a text on the way", "text", "{\"proof\":\"challenge\"}", nil),
      .init("a list on the way", "text", "{\"proof\":[{\"challenge\":\"x\"}]}", nil),
      .init("a dotted name", "text", "{\"proof.challenge\":\"x\"}", nil),
      .init("no JSON", "text", "challenge=x", nil),
      .init("JSON with text behind", "text", json("x") + "x", nil),
      .init("the member twice", "text", "{\"proof\":{},\"proof\":{\"challenge\":\"x\"}}", nil),
    ]
  }()
}
