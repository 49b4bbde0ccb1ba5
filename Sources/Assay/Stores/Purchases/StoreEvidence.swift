/// The evidence of a purchase (STO-15).
struct StoreEvidence: Sendable {
  /// SHA-256 of what was verified, in lower-case hex.
  let sha256: Text
  /// What was verified; binary forms go out as base64.
  private let bytes: [UInt8]
  private let isText: Bool

  init(_ source: (bytes: [UInt8], isText: Bool)) {
    (bytes, isText) = source
    sha256 = Text(Hex.encode(Digest.sha256.of(source.bytes)))
  }

  /// As a verification takes it again (BCK-27).
  var body: Text { Text(isText ? bytes : Base64.encodeStandard(bytes)) }
}
