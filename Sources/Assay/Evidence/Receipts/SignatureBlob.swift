/// The value of `signature` in a transaction receipt: version, RSA signature, length of the
/// certificate, certificate (docs/spec/receipts.md §2.5).
struct SignatureBlob: Sendable {
  enum Version: Int64, Sendable {
    /// RSA-1024, until 2016.
    case v2 = 2
    /// RSA-2048.
    case v3 = 3

    var signatureByteCount: Int { self == .v2 ? 128 : 256 }
  }

  /// The longest blob that is read, in bytes.
  static let byteCap = 4096

  let version: Version
  let bytes: [UInt8]

  /// The length of the shortest blob of any version in bytes: version 2, without its certificate.
  private static let leastByteCount = 133

  /// Whether the bytes are text of an unknown version or too short for any signature. Such a blob
  /// was made by hand and is rejected; a genuine unknown version is unsupported, and worth
  /// another try.
  static func isPlaceholder(_ bytes: [UInt8]) -> Bool {
    guard let first = bytes.first, Version(rawValue: Int64(first)) == nil else { return false }
    return bytes.count < leastByteCount || ASCII.isPrintable(bytes[...])
  }

  /// Reads a blob whose lengths agree with each other and with its size (RCP-17).
  init(_ bytes: [UInt8]) throws(Refusal) {
    try require(
      bytes.count <= SignatureBlob.byteCap, .tooLargeTransactionReceiptSignature, "RCP-17")
    guard let first = bytes.first else {
      throw Refusal(.malformedTransactionReceiptSignatureLayout, "RCP-17", at: "byte 0")
    }
    guard !SignatureBlob.isPlaceholder(bytes) else {
      throw Refusal(
        .rejectedTransactionReceiptSignature, "RCP-18", at: "signature",
        hint: ASCII.isPrintable(bytes[...]) ? .textSignature : nil)
    }
    guard let version = Version(rawValue: Int64(first)) else {
      throw Refusal(.unsupportedTransactionReceiptVersion, "RCP-17", at: "byte 0")
    }
    let lengthAt = 1 &+ version.signatureByteCount
    guard bytes.count >= lengthAt &+ 4 else {
      throw Refusal(
        .malformedTransactionReceiptSignatureLayout, "RCP-17", at: "byte " + String(bytes.count))
    }
    var length = 0
    for byte in bytes[lengthAt..<lengthAt &+ 4] { length = length << 8 | Int(byte) }
    try require(
      length == bytes.count &- lengthAt &- 4, .malformedTransactionReceiptSignatureLayout, "RCP-17",
      at: "byte " + String(lengthAt))
    self.version = version
    self.bytes = bytes
  }

  var signature: ArraySlice<UInt8> { bytes[1..<1 &+ version.signatureByteCount] }

  /// The leaf certificate, not yet parsed.
  var certificate: ArraySlice<UInt8> { bytes[(5 &+ version.signatureByteCount)...] }
}
