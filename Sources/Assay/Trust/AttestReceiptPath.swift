/// The chain above an App Attest receipt: the signer and its intermediate out of the
/// receipt, the root pinned (FRC-4). Dates are judged for every receipt anew.
enum AttestReceiptPath {
  /// The certificates and who of them signed, as one run of bytes. Equal bytes
  /// lead to one chain, whatever stands around them.
  static func spelling(_ message: SignedMessage) -> ArraySlice<UInt8> {
    guard let first = message.certificates.first,
      first.lowerBound < message.signer.serial.upperBound
    else { return [] }
    return message.slice(first.lowerBound..<message.signer.serial.upperBound)
  }

  /// Finds the certificate that the signer names by issuer and serial, wherever
  /// in the bag it stands, and every one whose name its issuer is.
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
    // 30 00: a name without parts.
    for other in bag where issuer.count > 2 && other.der != signer.der {
      path.add(other, at: profile.places.intermediate)
    }
    try path.checkIssuer("FRC-4")
    return path
  }
}
