/// The evidence of a purchase, as the ledger stores it (STO-15).
struct StoredEvidence: Sendable {
  /// SHA-256 of the verified bytes, lower-case hex.
  let sha256: Text
  /// The verified bytes; binary forms are stored as base64.
  private let bytes: [UInt8]
  private let isText: Bool
  /// The bundle id that the evidence lacks and its exchange knew (API-59); `nil` mostly.
  let assumedBundleId: Text?

  init(_ source: (bytes: [UInt8], isText: Bool), assumedBundleId: Text? = nil) {
    self.assumedBundleId = assumedBundleId
    (bytes, isText) = source
    sha256 = Text(Hex.encode(Digest.sha256.of(source.bytes)))
  }

  /// The evidence in the form in which a verification accepts it again (BCK-27).
  var body: Text { Text(isText ? bytes : Base64.encodeStandard(bytes)) }
}
