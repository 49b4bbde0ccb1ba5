import AssayAuthority
import Testing

@testable import Assay

/// Tests that secrets are wiped in place and share no memory (EXC-22). Tests/ABI/secrets.c checks
/// that the library leaves no other copy.
@Suite("Secret octets")
struct SecretBytesTests {
  private static let octets = utf8("{\"customerConsented\":true}")
  private static let nothing = [UInt8](repeating: 0, count: octets.count)

  /// Returns the text in memory of its own, so that a failing test does not affect the others.
  private func held() -> [UInt8] { Self.octets.map { $0 } }

  private func place(_ octets: [UInt8]) -> UInt {
    unsafe octets.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
  }

  @Test("EXC-22 what somebody else holds is not wiped: a request is sent again as it was")
  func shared() {
    let octets = held()
    for _ in 0..<2 { checkEqual(SecretBytes(octets).bytes, octets) }
    checkEqual(octets, Self.octets)
    var copy = octets
    Secret.wipe(&copy)
    check(octets == Self.octets && copy == Self.nothing)
  }

  @Test("EXC-22 the only holder's octets are wiped where they are")
  func alone() {
    var octets = held()
    let place = place(octets)
    Secret.wipe(&octets)
    checkEqual(octets, Self.nothing)
    checkEqual(self.place(octets), place)
  }

  @Test("EXC-22 the text of a document, and of a member, that a host keeps stays")
  func document() throws {
    var document: Document? = try Exchanges.verifyReceipt().1
    let json = try require(document?.json)
    let copy = json.map { $0 }
    document = nil
    checkEqual(json, copy)
    let member = held()
    let store = TextStore(isConfidential: true)
    _ = unsafe store.bytes(of: 7) { member }
    checkEqual(member, Self.octets)
  }

  @Test("EXC-22 a writer wipes what it wrote")
  func writer() {
    var writer = JSONWriter()
    writer.string(utf8: held())
    let json = writer.bytes
    let copy = json.map { $0 }
    writer.wipe()
    check(json == copy && writer.bytes.allSatisfy { $0 == 0 })
  }

  @Test("EXC-22 an answer's body is wiped by whoever read it, and stays with who gave it")
  func answer() throws {
    let body = held()
    var answer = HTTPResponse(status: 200, body: body)
    answer.wipe()
    check(body == Self.octets && answer.body == Self.nothing)
    let trust = try ReceiptTrust.make(AnswerSample.configuration())
    _ = VerifyReceiptOutcome.of(
      HTTPResponse(status: 200, body: body), from: .production, trust, nowMs: AnswerSample.now)
    checkEqual(body, Self.octets)
    let request = try ExchangeRequest(
      utf8(#"{"operation":"exchange-authorization-code","code":"c","clientId":"com.example.app"}"#))
    var machine = try AppleIDCodeStateMachine(
      request, [], try Signing.verifier().configuration, nowMs: Signing.now)
    _ = machine.start(nowMs: Signing.now)
    _ = machine.receive(.http(HTTPResponse(status: 200, body: body)), nowMs: Signing.now)
    checkEqual(body, Self.octets)
  }

  @Test("EXC-22 a device token and a signature are wiped apart from what they were made of")
  func made() throws {
    let octets = held()
    var token = try DeviceCheckToken(body: octets)
    token.wipe()
    check(octets == Self.octets && token.bytes == Self.nothing)
    let key = try SigningKey.generate(.p256)
    let der = try key.sign(octets, .sha256)
    let copy = der.map { $0 }
    var signature = Assay.ECDSASignature(der: der[...], .p256)
    signature?.wipe()
    check(der == copy && signature?.der.allSatisfy { $0 == 0 } == true)
  }
}
