/// The statuses for malformed attestations or assertions, and the name of a member.
struct AttestForms: Sendable {
  let cbor: Status
  let statement: Status
  let authData: Status
  let extensions: Status
  let clientData: Status
  /// The name of the member that holds the authenticator data.
  let authDataName: String

  static let attestation = AttestForms(
    cbor: .malformedAttestCbor, statement: .malformedAttestStatement,
    authData: .malformedAttestAuthData, extensions: .malformedAttestExtensions,
    clientData: .malformedAttestClientData, authDataName: "authData")
  static let assertion = AttestForms(
    cbor: .malformedAssertionCbor, statement: .malformedAssertionStatement,
    authData: .malformedAssertionAuthData, extensions: .malformedAssertionExtensions,
    clientData: .malformedAssertionClientData, authDataName: "authenticatorData")

  /// Returns the pairs of a map whose keys are all texts (CBR-1).
  func named(
    _ map: CBOR.Item, _ cbor: CBOR
  ) throws(Refusal) -> [(key: CBOR.Item, value: CBOR.Item)] {
    let pairs = cbor.pairs(of: map)
    for (key, _) in pairs {
      try require(key.kind == .text, self.cbor, "CBR-1", at: "byte " + String(key.start))
    }
    return pairs
  }

  /// Decodes one item of strict CBOR; bytes after the item are refused with `trailing` (CBR-1).
  func read(
    _ bytes: [UInt8], _ range: Range<Int>, trailing: Status
  ) throws(Refusal) -> CBOR {
    do throws(CBOR.Fault) {
      return try CBOR(bytes, range)
    } catch {
      let place = "byte " + String(error.offset)
      switch error {
      case .unclean: throw Refusal(cbor, "CBR-1", at: place)
      case .trailing: throw Refusal(trailing, "CBR-1", at: place)
      }
    }
  }
}
