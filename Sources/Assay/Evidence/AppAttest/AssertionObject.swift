/// A decoded assertion; nothing in it is verified (docs/spec/app-attest.md §6).
///
///     { "signature": bytes, "authenticatorData": bytes }
struct AssertionObject: Sendable {
  let signature: ECDSASignature
  let authData: AuthenticatorData
  let extensions: AttestExtensions

  /// The longest assertion object that is read, in bytes (ASR-1).
  static let byteCap = 4096
  private static let forms = AttestForms.assertion

  /// Decodes a map with exactly these two members, in any order (ASR-1). Extensions follow the
  /// counter whatever the flags are (ASR-2), and the signature is strict DER (ASR-4).
  init(_ object: [UInt8]) throws(Refusal) {
    let forms = AssertionObject.forms
    let cbor = try forms.read(object, 0..<object.count, trailing: forms.cbor)
    guard let root = cbor.root, root.kind == .map else {
      throw Refusal(forms.statement, "ASR-1", at: "byte 0")
    }
    var signature: CBOR.Item? = nil
    var data: CBOR.Item? = nil
    for (key, value) in try forms.named(root, cbor) {
      let isBytes = value.kind == .bytes
      if isBytes, cbor.bytes(key).elementsEqual("signature") {
        signature = value
      } else if isBytes, cbor.bytes(key).elementsEqual("authenticatorData") {
        data = value
      } else {
        throw Refusal(forms.statement, "ASR-1", at: "byte " + String(key.start))
      }
    }
    guard let signature else { throw Refusal(forms.statement, "ASR-1", at: "signature") }
    guard let data else { throw Refusal(forms.statement, "ASR-1", at: "authenticatorData") }
    authData = AuthenticatorData(object, data.content)
    try authData.checkAssertedForm()
    extensions = try authData.extensions(after: AuthenticatorData.assertedBytes, forms)
    guard let value = ECDSASignature(der: cbor.bytes(signature), .p256) else {
      throw Refusal(.malformedAssertionSignature, "ASR-4", at: "signature")
    }
    self.signature = value
  }
}
