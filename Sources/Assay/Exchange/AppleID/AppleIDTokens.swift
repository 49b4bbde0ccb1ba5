/// The tokens for which a code was exchanged (AID-22).
struct AppleIDTokens {
  private let accessToken: SecretBytes
  private let refreshToken: SecretBytes
  private let expiresAtMs: Int64
  /// The identity token, not yet verified; `nil` if the response has none.
  let identity: Text?

  private static let lives: ClosedRange<Int64> = 1...315_360_000

  /// - Parameter nowMs: the time from which the lifetime counts, in milliseconds since 1970 UTC.
  /// - Throws: `unavailable.apple-id.response`.
  init(_ answer: HTTPResponse, nowMs: Int64) throws(Refusal) {
    let refusals = MemberRefusals(.unavailableAppleIdResponse, "AID-24")
    let root = try MemberNode.read(answer.body, .evidence, refusals)
    func secret(_ name: StaticString) throws(Refusal) -> SecretBytes {
      SecretBytes(try root.required(name).text(1...AppleIDRequest.answerCap).utf8)
    }
    accessToken = try secret("access_token")
    refreshToken = try secret("refresh_token")
    _ = try root.required("token_type").text()
    expiresAtMs = nowMs &+ (try root.required("expires_in").integer(Self.lives)) &* 1000
    identity = try root.present("id_token")?.text(1...AppleIDRequest.answerCap)
  }

  /// The number of bytes of the secrets. The document reserves them, because a buffer that grows
  /// leaves copies behind.
  var room: Int { accessToken.bytes.count &+ refreshToken.bytes.count &* 2 }

  /// Writes the value of `tokens`.
  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.name("accessToken")
    writer.string(utf8: accessToken.bytes)
    writer.name("refreshToken")
    writer.string(utf8: refreshToken.bytes)
    writer.member("expiresAtMs", integer: expiresAtMs)
    writer.endObject()
  }
}
