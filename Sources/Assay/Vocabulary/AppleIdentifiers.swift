/// The markers in Apple's certificates.
extension ObjectIdentifier {
  /// 1.2.840.113635.100.6.11.1: marks the signer of receipts and JWS.
  static let receiptSigning: [UInt8] = [
    0x2a, 0x86, 0x48, 0x86, 0xf7, 0x63, 0x64, 0x06, 0x0b, 0x01,
  ]
  /// 1.2.840.113635.100.6.2.1: marks the Worldwide Developer Relations intermediate.
  static let developerRelations: [UInt8] = [
    0x2a, 0x86, 0x48, 0x86, 0xf7, 0x63, 0x64, 0x06, 0x02, 0x01,
  ]
  /// 1.2.840.113635.100.6.2.2: marks the iTunes Store intermediate.
  static let iTunesStore: [UInt8] = [
    0x2a, 0x86, 0x48, 0x86, 0xf7, 0x63, 0x64, 0x06, 0x02, 0x02,
  ]
  /// 1.2.840.113635.100.6.5.1: marks the signer of version 2 transaction receipts.
  static let storeReceiptSigning: [UInt8] = [
    0x2a, 0x86, 0x48, 0x86, 0xf7, 0x63, 0x64, 0x06, 0x05, 0x01,
  ]
}
