/// The value of `signature` in a transaction receipt: version, RSA signature,
/// length of the certificate, certificate (receipts.md §2.5).
struct SignatureBlob: Sendable {
  enum Version: Int64, Sendable {
    /// RSA-1024, until 2016.
    case v2 = 2
    /// RSA-2048.
    case v3 = 3

    var signatureByteCount: Int { self == .v2 ? 128 : 256 }
  }

  /// The longest blob that is looked at.
  static let byteCap = 4096

  let version: Version
  let bytes: [UInt8]

  /// RCP-17: the lengths fit each other and fill the blob.
  init(_ bytes: [UInt8]) throws(Refusal) {
    try require(bytes.count <= SignatureBlob.byteCap, .tooLargeReceiptSignature, "RCP-17")
    guard let first = bytes.first else {
      throw Refusal(.malformedReceiptSignatureLayout, "RCP-17", at: "byte 0")
    }
    guard let version = Version(rawValue: Int64(first)) else {
      throw Refusal(
        .unsupportedReceiptVersion, "RCP-17", at: "byte 0",
        hint: BlobForm.isPrintable(bytes[...]) ? SignatureBlob.isText : nil)
    }
    let lengthAt = 1 &+ version.signatureByteCount
    guard bytes.count >= lengthAt &+ 4 else {
      throw Refusal(.malformedReceiptSignatureLayout, "RCP-17", at: "byte " + String(bytes.count))
    }
    var length = 0
    for byte in bytes[lengthAt..<lengthAt &+ 4] { length = length << 8 | Int(byte) }
    try require(
      length == bytes.count &- lengthAt &- 4, .malformedReceiptSignatureLayout, "RCP-17",
      at: "byte " + String(lengthAt))
    self.version = version
    self.bytes = bytes
  }

  /// A placeholder: no version of Apple's will be text.
  private static let isText: StaticString =
    "the signature is text: the client's copy is not a receipt, and will never be one"

  var signature: ArraySlice<UInt8> { bytes[1..<1 &+ version.signatureByteCount] }

  /// The leaf, as DER if it is genuine.
  var certificate: ArraySlice<UInt8> { bytes[(5 &+ version.signatureByteCount)...] }
}
