/// The path of an App Attest receipt: signer and intermediate from the receipt, root pinned
/// (FRC-4). Dates are checked for every receipt.
enum AttestReceiptPath {
  /// Returns the bytes from the first certificate to the signer's serial number, as a cache key.
  /// Equal bytes have the same chain, whatever the rest of the receipt is.
  static func spelling(_ message: SignedMessage) -> ArraySlice<UInt8> {
    guard let first = message.certificates.first,
      first.lowerBound < message.signer.serial.upperBound
    else { return [] }
    return message.slice(first.lowerBound..<message.signer.serial.upperBound)
  }

  /// Opens the path from the certificate with the signer's issuer and serial number, in any
  /// position, with every certificate whose subject is its issuer as a candidate.
  static func open(_ message: SignedMessage) throws(Refusal) -> CandidatePath {
    let profile = ChainProfile.attestReceipt
    var bag: [Certificate] = []
    for (index, range) in message.certificates.enumerated() {
      let place = "certificates[" + String(index) + "]"
      bag.append(try profile.embedded(Array(message.slice(range)), at: place))
    }
    let issuer = message.slice(message.signer.issuer)
    let serial = message.slice(message.signer.serial)
    let found = bag.first { $0.bytes($0.issuer) == issuer && $0.bytes($0.serial) == serial }
    guard let signer = found else { throw Refusal(.rejectedChainNames, "FRC-4", at: "signer") }
    var path = CandidatePath(profile, leaf: signer)
    // An empty name is encoded in two bytes, 30 00.
    for other in bag where issuer.count > 2 && other.der != signer.der {
      path.addCandidate(other, at: profile.locations.intermediate)
    }
    try path.requireCandidate("FRC-4")
    return path
  }
}
