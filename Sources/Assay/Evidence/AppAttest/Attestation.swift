/// A verified attestation: a key in the Secure Enclave of a genuine device, made
/// by one of our apps (docs/spec/app-attest.md §5). Only a verification makes one.
final class Attestation: Sendable {
  /// SHA-256 of the key, 32 octets.
  let keyId: [UInt8]
  /// `04 ‖ x ‖ y`, from the certificate.
  let publicKey: [UInt8]
  let appId: Text
  let isProduction: Bool
  /// SHA-256 of the challenge in the client data; nil: the host checks it.
  let challenge: [UInt8]?
  /// EXC-13: judged at the date of its receipt, not live (ATT-40).
  let isStored: Bool
  /// nil: not looked at (`attest.receipt` is "ignore").
  let receipt: AttestReceipt?
  private let object: AttestationObject
  private let nonce: [UInt8]
  private let leaf: Certificate
  private let information: LeafInformation
  private let warnings: [Warning]

  init(
    _ object: AttestationObject, _ leaf: Certificate, keyId: [UInt8], nonce: [UInt8],
    appId: Text, isProduction: Bool, _ information: LeafInformation, challenge: [UInt8]?,
    isStored: Bool,
    receipt: AttestReceipt?, warnings: [Warning]
  ) {
    self.object = object
    self.leaf = leaf
    self.keyId = keyId
    self.nonce = nonce
    self.appId = appId
    self.isProduction = isProduction
    self.information = information
    self.challenge = challenge
    self.isStored = isStored
    self.receipt = receipt
    self.warnings = warnings
    publicKey = Array(leaf.bytes(leaf.key))
  }

  func writeWarnings(_ writer: inout JSONWriter) { Warning.write(warnings, &writer) }

  /// The value of `attestation`.
  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("keyId", base64: keyId)
    writer.name("publicKey")
    writer.beginObject()
    writer.member("x963", base64: publicKey)
    writer.member("spki", base64: AttestedKey.infoPrefix + publicKey)
    writer.endObject()
    writer.member("appId", appId)
    writer.member("environment", AttestEnvironment.name(production: isProduction))
    writer.member("aaguid", hex: Array(object.authData.aaguid))
    writer.member("flags", integer: Int64(object.authData.flags))
    writer.member("counter", integer: Int64(object.authData.counter))
    object.extensions.write(&writer)
    writer.member("nonce", hex: nonce)
    writer.name("os")
    writer.beginObject()
    writer.member("version", information.systemVersion)
    writer.member("build", information.systemBuild)
    writer.member("platform", information.platform)
    writer.endObject()
    writer.name("acl")
    if let octets = information.accessControl {
      writer.string(utf8: Hex.encode(octets))
    } else {
      writer.null()
    }
    writer.challenge(challenge)
    writer.name("leaf")
    leaf.writeReport(&writer)
    writer.name("receipt")
    if let receipt {
      writer.beginObject()
      receipt.writeMembers(&writer)
      writer.member("bytes", base64: receipt.bytes)
      writer.endObject()
    } else {
      writer.null()
    }
    // ATT-35: the certificates name no address to ask.
    writer.member("revocation", "not-available")
    writer.name("warnings")
    writer.beginArray()
    writeWarnings(&writer)
    writer.endArray()
    writer.endObject()
  }
}
