/// What a code was exchanged for (AID-22).
struct AppleIDTokens {
  private let accessToken: SecretBytes
  private let refreshToken: SecretBytes
  private let expiresMs: Int64
  /// Not verified; nil: there is none.
  let identity: Text?

  private static let lives: ClosedRange<Int64> = 1...315_360_000

  /// - Parameter nowMs: from when on the lifetime counts.
  /// - Throws: `unavailable.appleid.response`.
  init(_ answer: HTTPAnswer, nowMs: Int64) throws(Refusal) {
    let refusals = MemberRefusals(.unavailableAppleidResponse, "AID-24")
    let root = try MemberNode.read(answer.body, .evidence, refusals)
    func secret(_ name: StaticString) throws(Refusal) -> SecretBytes {
      SecretBytes(try root.required(name).text(1...AppleIDRequest.answerCap).utf8)
    }
    accessToken = try secret("access_token")
    refreshToken = try secret("refresh_token")
    _ = try root.required("token_type").text()
    expiresMs = nowMs &+ (try root.required("expires_in").integer(Self.lives)) &* 1000
    identity = try root.present("id_token")?.text(1...AppleIDRequest.answerCap)
  }

  /// Octets of the secrets: a document that grows leaves copies behind.
  var room: Int { accessToken.bytes.count &+ refreshToken.bytes.count &* 2 }

  /// The value of `tokens`.
  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.name("accessToken")
    writer.string(utf8: accessToken.bytes)
    writer.name("refreshToken")
    writer.string(utf8: refreshToken.bytes)
    writer.member("expiresMs", integer: expiresMs)
    writer.endObject()
  }
}
