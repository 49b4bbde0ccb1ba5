/// The form of a client's blob, recognized by its first bytes (docs/spec/receipts-triage.md
/// §1.2). The remaining bytes need not have that form.
enum BlobForm: Sendable, Equatable {
  /// A transaction receipt or JSON: begins with `{`.
  case list
  /// A PKCS#7 container in DER or BER.
  case container
  case jws
  /// An App Attest attestation: CBOR with `fmt` first.
  case attestation
  /// An App Attest assertion: CBOR with `signature` first.
  case assertion
  case xmlPropertyList
  case binaryPropertyList
  case unknown

  init(_ bytes: [UInt8]) {
    self = BlobForm.byFirstBytes(bytes)
    if self == .unknown, BlobForm.isJWS(bytes[...]) { self = .jws }
  }

  /// The form in messages: "expected app receipt, looks like JWS" (RCP-5).
  var name: StaticString {
    switch self {
    case .list: return "transaction receipt"
    case .container: return "app receipt"
    case .jws: return "JWS"
    case .attestation: return "App Attest attestation"
    case .assertion: return "App Attest assertion"
    case .xmlPropertyList: return "XML property list"
    case .binaryPropertyList: return "binary property list"
    case .unknown: return "no known form"
    }
  }

  /// Returns the form that the first bytes determine; never `jws`.
  static func byFirstBytes(_ bytes: [UInt8]) -> BlobForm {
    guard let first = bytes.first else { return .unknown }
    switch first {
    case 0x30: return isContainer(bytes) ? .container : .unknown
    case 0xa3: return begins(bytes, "\u{63}fmt", after: 1) ? .attestation : .unknown
    case 0xa2: return begins(bytes, "\u{69}signature", after: 1) ? .assertion : .unknown
    case 0x62: return begins(bytes, "bplist", after: 0) ? .binaryPropertyList : .unknown
    default:
      guard let start = bytes.firstIndex(where: { !ASCII.isSpace($0) }) else { return .unknown }
      if bytes[start] == 0x7b { return .list }
      return begins(bytes, "<?xml", after: start) ? .xmlPropertyList : .unknown
    }
  }

  /// Whether the bytes begin with a SEQUENCE whose length is indefinite or has one to four bytes
  /// (RCP-1).
  static func isContainer(_ bytes: [UInt8]) -> Bool {
    bytes.count >= 2 && bytes[0] == 0x30 && bytes[1] >= 0x80 && bytes[1] <= 0x84
  }

  /// Whether the text is three parts of base64url characters, separated by dots.
  static func isThreeParts(_ text: ArraySlice<UInt8>) -> Bool {
    let (dots, stranger) = Base64.segments(Array(text))
    return stranger == nil && dots.count == 2
  }

  /// Whether the text has these three parts, of which the first begins as a JSON object does.
  static func isJWS(_ text: ArraySlice<UInt8>) -> Bool {
    text.prefix(3).elementsEqual("eyJ") && isThreeParts(text)
  }

  private static func begins(
    _ bytes: [UInt8], _ prefix: StaticString, after start: Int
  ) -> Bool {
    let end = start &+ prefix.utf8CodeUnitCount
    return end <= bytes.count && bytes[start..<end].elementsEqual(prefix)
  }
}
