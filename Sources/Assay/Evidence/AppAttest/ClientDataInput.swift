/// How client data is handed in, and its bytes.
public struct ClientDataInput: Sendable {
  /// 1: the bytes, hashed here; 2: a hash of 16…64 bytes, used as it stands.
  public let kind: Int32
  public let bytes: [UInt8]

  public init(kind: Int32, bytes: [UInt8]) {
    self.kind = kind
    self.bytes = bytes
  }

  /// ASSAY_CLIENT_DATA.
  public static func data(_ bytes: [UInt8]) -> ClientDataInput {
    ClientDataInput(kind: 1, bytes: bytes)
  }

  /// ASSAY_CLIENT_DATA_HASH.
  public static func hash(_ bytes: [UInt8]) -> ClientDataInput {
    ClientDataInput(kind: 2, bytes: bytes)
  }

  /// What should be reported even with a refusal, which it may explain (ATT-4).
  func writeWarnings(_ writer: inout JSONWriter) {
    guard kind == 2, bytes.count != 32, ClientData.hashLengths.contains(bytes.count) else {
      return
    }
    Warning.write([.clientDataHashLength], &writer)
  }
}
