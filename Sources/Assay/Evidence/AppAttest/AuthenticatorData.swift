/// The authenticator data of an attestation or assertion. Offsets are constants: no length from
/// the input is added to one (ATT-13, ASR-2).
struct AuthenticatorData: Sendable {
  /// The object that contains the data, which are at `range`.
  private let object: [UInt8]
  private let range: Range<Int>

  static let byteCap = 1024
  /// The length in an assertion, without extensions.
  static let assertedBytes = 37
  /// The length in an attestation, without extensions.
  static let attestedBytes = 164

  init(_ object: [UInt8], _ range: Range<Int>) {
    self.object = object
    self.range = range.clamped(to: 0..<object.count)
  }

  /// Requires the length of an attested key, and a credential id of 32 bytes (ATT-13).
  func checkAttestedForm() throws(Refusal) {
    try require(
      (AuthenticatorData.attestedBytes...AuthenticatorData.byteCap).contains(range.count),
      .malformedAttestAuthData, "ATT-13", at: "authData")
    try require(
      slice(53..<55).elementsEqual([0x00, 0x20]), .malformedAttestAuthData, "ATT-13",
      at: "authData/byte 53")
  }

  /// Requires the length of an assertion's authenticator data (ASR-1).
  func checkAssertedForm() throws(Refusal) {
    try require(
      (AuthenticatorData.assertedBytes...AuthenticatorData.byteCap).contains(range.count),
      .malformedAssertionAuthData, "ASR-1", at: "authenticatorData")
  }

  /// The data as sent, from which the nonce is made.
  var bytes: ArraySlice<UInt8> { object[range] }

  /// The SHA-256 of the App ID.
  var rpIdHash: ArraySlice<UInt8> { slice(0..<32) }
  var flags: UInt8 { slice(32..<33).first ?? 0 }
  var counter: UInt32 { slice(33..<37).reduce(0) { $0 << 8 | UInt32($1) } }
  var aaguid: ArraySlice<UInt8> { slice(37..<53) }
  var credentialId: ArraySlice<UInt8> { slice(55..<87) }
  var coseKey: ArraySlice<UInt8> { slice(87..<164) }

  /// The flag of attested credential data (ATT-14).
  static let attestedFlag: UInt8 = 0x40

  /// Returns the map after the first `count` bytes; without entries if nothing follows. The flags
  /// do not announce extensions (ATT-14, ASR-2).
  func extensions(after count: Int, _ forms: AttestForms) throws(Refusal) -> AttestExtensions {
    guard range.count > count else { return AttestExtensions() }
    // Reads a copy, so that locations are offsets into the authenticator data.
    let data = Array(bytes)
    do throws(Refusal) {
      let cbor = try forms.read(data, count..<data.count, trailing: forms.authData)
      return try AttestExtensions(cbor, forms)
    } catch {
      throw error.inside(forms.authDataName)
    }
  }

  private func slice(_ part: Range<Int>) -> ArraySlice<UInt8> {
    guard part.upperBound <= range.count else { return [] }
    return object[range.lowerBound &+ part.lowerBound..<range.lowerBound &+ part.upperBound]
  }
}
