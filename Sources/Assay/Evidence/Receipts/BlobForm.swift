/// What a blob is, judged by how its bytes begin (docs/spec/receipts-triage.md §1.2). It names a
/// form, and does not promise that the rest has it.
enum BlobForm: Sendable, Equatable {
  /// `{`: a transaction receipt, or JSON.
  case list
  /// DER or BER: a receipt in a PKCS#7 container.
  case container
  case jws
  /// App Attest: CBOR with `fmt` first.
  case attestation
  /// App Attest: CBOR with `signature` first.
  case assertion
  case xmlPropertyList
  case binaryPropertyList
  case unknown

  init(_ bytes: [UInt8]) {
    self = BlobForm.byFirstBytes(bytes)
    if self == .unknown, BlobForm.isJWS(bytes[...]) { self = .jws }
  }

  /// "expected app receipt, looks like JWS" (RCP-5).
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

  /// The form that a few first bytes already tell; never `jws`.
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

  /// RCP-1: a SEQUENCE whose length is indefinite or takes up to four bytes.
  static func isContainer(_ bytes: [UInt8]) -> Bool {
    bytes.count >= 2 && bytes[0] == 0x30 && bytes[1] >= 0x80 && bytes[1] <= 0x84
  }

  /// Three parts of base64url characters.
  static func isThreeParts(_ text: ArraySlice<UInt8>) -> Bool {
    let (dots, stranger) = Base64.segments(Array(text))
    return stranger == nil && dots.count == 2
  }

  /// The same, and the first part is that of a JSON object.
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
