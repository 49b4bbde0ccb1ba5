/// Client data as a host passes them: the bytes, and whether they are a hash.
public struct ClientDataInput: Sendable {
  /// 1 if `bytes` are hashed here; 2 if they are a hash of 16 to 64 bytes, used unchanged.
  public let kind: Int32
  public let bytes: [UInt8]

  public init(kind: Int32, bytes: [UInt8]) {
    self.kind = kind
    self.bytes = bytes
  }

  /// Returns client data to be hashed here (ASSAY_CLIENT_DATA).
  public static func data(_ bytes: [UInt8]) -> ClientDataInput {
    ClientDataInput(kind: 1, bytes: bytes)
  }

  /// Returns a hash of client data, used unchanged (ASSAY_CLIENT_DATA_HASH).
  public static func hash(_ bytes: [UInt8]) -> ClientDataInput {
    ClientDataInput(kind: 2, bytes: bytes)
  }

  /// Writes the warning about the hash's length, also beside a refusal, which it may explain
  /// (ATT-4).
  func writeWarnings(_ writer: inout JSONWriter) {
    guard kind == 2, bytes.count != 32, ClientData.hashLengths.contains(bytes.count) else {
      return
    }
    Warning.write([.clientDataHashLength], &writer)
  }
}
