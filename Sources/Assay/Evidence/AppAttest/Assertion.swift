/// A verified assertion: an attested key signed this request, with a counter above the last
/// stored one (docs/spec/app-attest.md §6). Created only by a verification.
final class Assertion: Sendable {
  let appId: Text
  let counter: UInt32
  let previousCounter: UInt32
  /// The SHA-256 of the challenge in the client data, 32 bytes; `nil` if the host checks the
  /// challenge itself.
  let challenge: [UInt8]?
  /// Whether the assertion was verified under `attest.time` "stored" instead of live (EXC-13).
  let isStored: Bool
  private let flags: UInt8
  private let extensions: AttestExtensions
  private let nonce: [UInt8]
  private let hasOddHash: Bool

  init(
    _ object: AssertionObject, appId: Text, previousCounter: UInt32, nonce: [UInt8],
    challenge: [UInt8]?, isStored: Bool, hasOddHash: Bool
  ) {
    self.appId = appId
    counter = object.authData.counter
    self.previousCounter = previousCounter
    self.challenge = challenge
    self.isStored = isStored
    flags = object.authData.flags
    extensions = object.extensions
    self.nonce = nonce
    self.hasOddHash = hasOddHash
  }

  func writeWarnings(_ writer: inout JSONWriter) {
    if hasOddHash { Warning.write([.clientDataHashLength], &writer) }
  }

  /// Writes the value of the member `assertion`.
  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("appId", appId)
    writer.member("counter", integer: Int64(counter))
    writer.member("previousCounter", integer: Int64(previousCounter))
    writer.member("flags", integer: Int64(flags))
    extensions.write(&writer)
    writer.member("nonce", hex: nonce)
    writer.challenge(challenge)
    writer.name("warnings")
    writer.beginArray()
    writeWarnings(&writer)
    writer.endArray()
    writer.endObject()
  }
}
