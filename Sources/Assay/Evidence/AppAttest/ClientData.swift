/// The client data of a call: the bytes that the app signed, or their hash (ATT-4).
struct ClientData: Sendable {
  let bytes: [UInt8]
  let isHash: Bool
  /// The hash that becomes part of the nonce.
  let hash: [UInt8]

  /// The longest client data, 1 MiB.
  static let byteCap = 1 << 20
  /// The lengths accepted for a hash, in bytes. Apple's two published samples have a text of 21
  /// and 24 bytes where the hash belongs.
  static let hashLengths = 16...64

  init(_ input: ClientDataInput) throws(Refusal) {
    bytes = input.bytes
    switch input.kind {
    case 1:
      try require(!bytes.isEmpty, .misuseAttestClientData, "ATT-4", at: "client_data")
      try require(
        bytes.count <= ClientData.byteCap, .tooLargeAttestClientData, "ATT-4", at: "client_data")
      isHash = false
      hash = Digest.sha256.of(bytes)
    case 2:
      try require(
        ClientData.hashLengths.contains(bytes.count), .misuseAttestClientData, "ATT-4",
        at: "client_data")
      isHash = true
      hash = bytes
    default: throw Refusal(.misuseAttestClientData, "ATT-4", at: "client_data_kind")
    }
  }

  /// Whether the hash is used although its length is not that of a SHA-256.
  var hasOddHash: Bool { isHash && bytes.count != 32 }

  /// Returns the SHA-256 of the challenge in the client data; `nil` if the host checks the
  /// challenge, or passed a hash, which contains none (ASR-10).
  func challenge(
    _ place: AttestPolicy.Challenge, _ status: Status
  ) throws(Refusal) -> [UInt8]? {
    guard !isHash else { return nil }
    switch place {
    case .host: return nil
    case .whole: return hash
    case .json(let path, let encoding):
      let found = try challenge(at: path, encoding, status)
      return Digest.sha256.of(found)
    }
  }

  private func challenge(
    at path: [Text], _ encoding: AttestPolicy.Challenge.Encoding, _ status: Status
  ) throws(Refusal) -> [UInt8] {
    let json: JSON
    do {
      json = try JSONReader.readObject(bytes, caps: .clientData)
    } catch {
      throw Refusal(status, "ASR-10", at: "client_data/byte " + String(error.offset))
    }
    var value = json.root
    for name in path {
      guard let member = value.children.first(where: { $0.name == name }) else {
        throw Refusal(status, "ASR-10", at: "client_data", detail: "no member of that path")
      }
      value = member
    }
    guard let text = value.text?.utf8[...], let found = encoding.decode(text), !found.isEmpty
    else { throw Refusal(status, "ASR-10", at: "client_data", detail: "no text of that encoding") }
    return found
  }
}

extension AttestPolicy.Challenge.Encoding {
  /// Returns the bytes that `text` encodes; `nil` if the text is not of this encoding.
  func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    switch self {
    case .text: return Array(text)
    case .base64: return Base64.decodeStandard(text)
    case .base64url: return Base64.decodeURL(text)
    case .hex: return Hex.decode(Array(text))
    }
  }
}

extension JSONWriter {
  /// Writes the member `challenge`: its SHA-256, or "unchecked" (ASR-10).
  mutating func challenge(_ sha256: [UInt8]?) {
    name("challenge")
    guard let sha256 else {
      string("unchecked")
      return
    }
    beginObject()
    member("sha256", hex: sha256)
    endObject()
  }
}
