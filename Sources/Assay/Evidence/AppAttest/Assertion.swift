/// A verified assertion: an attested key signed this request, later than the last
/// one (docs/spec/app-attest.md §6). Only a verification makes one.
final class Assertion: Sendable {
  let appId: Text
  let counter: UInt32
  let previousCounter: UInt32
  /// SHA-256 of the challenge in the client data; nil: the host checks it.
  let challenge: [UInt8]?
  /// EXC-13: judged under `attest.time` "stored", not live.
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

  /// The value of `assertion`.
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
