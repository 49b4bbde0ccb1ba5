/// The chain above an App Attest receipt: the signer and its intermediate out of the
/// receipt, the root pinned (FRC-4). Dates are judged afresh for every receipt.
enum AttestReceiptPath {
  /// The certificates and which of them signed, as one run of bytes. Equal bytes
  /// lead to one chain, whatever stands around them.
  static func spelling(_ message: SignedMessage) -> ArraySlice<UInt8> {
    guard let first = message.certificates.first,
      first.lowerBound < message.signer.serial.upperBound
    else { return [] }
    return message.slice(first.lowerBound..<message.signer.serial.upperBound)
  }

  /// Finds the certificate that the signer names by issuer and serial, wherever
  /// in the bag it stands, and every one with the name of its issuer.
  static func open(
    _ message: SignedMessage, _ cache: ChainCache
  ) throws(Refusal) -> PathStage<CandidatePath> {
    if let chain = cache.spellings.find(spelling(message)) {
      return .proven(ProvenPath(chain, chain.intermediates, isCached: true))
    }
    var bag: [Certificate] = []
    for (index, range) in message.certificates.enumerated() {
      bag.append(
        try ChainProfile.attestReceipt.embedded(
          Array(message.slice(range)), at: "certificates[" + String(index) + "]"))
    }
    let issuer = message.slice(message.signer.issuer)
    let serial = message.slice(message.signer.serial)
    let found = bag.first { $0.bytes($0.issuer) == issuer && $0.bytes($0.serial) == serial }
    guard let signer = found else { throw Refusal(.rejectedChainNames, "FRC-4", at: "signer") }
    var path = CandidatePath(.attestReceipt, leaf: signer)
    // 30 00: a name without parts.
    for other in bag where issuer.count > 2 && other.der != signer.der {
      path.add(other, at: "intermediate")
    }
    try path.checkIssuer()
    return .next(path)
  }
}
