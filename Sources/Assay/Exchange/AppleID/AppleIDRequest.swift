/// A form for Apple's token endpoints (AID-21).
struct AppleIDRequest {
  let url: StaticString
  let policy: AppleIDPolicy
  let clientId: Text
  /// The fields after the client's id and secret.
  let fields: [(name: StaticString, value: SecretBytes)]

  static let answerCap = 65_536

  /// Returns the HTTP request, with a client secret made for this step (AID-20).
  ///
  /// - Parameter nowMs: the time of this step in milliseconds since 1970 UTC.
  /// - Throws: `internal.sign.self-check`.
  func made(nowMs: Int64) throws(Refusal) -> HTTPRequest {
    let secret = try AppleIDSecret.standard(policy, clientId, nowMs: nowMs)
    let first: [(name: StaticString, value: SecretBytes)] = [
      ("client_id", SecretBytes(clientId.utf8)), ("client_secret", secret),
    ]
    return HTTPRequest(
      method: "POST", url: Text(stringLiteral: url),
      headers: [
        ("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "application/json"),
      ],
      body: FormBody.make(first + fields), timeoutMs: 30_000,
      maxResponseBytes: Int64(AppleIDRequest.answerCap), responseHeaders: [],
      sensitivePaths: ["body"])
  }

  /// Refuses every response except a 200 of acceptable length (AID-24).
  static func check(_ answer: HTTPResponse) throws(Refusal) {
    let status = answer.status
    let detail = status == 0 ? "" : "HTTP status " + String(status)
    try require(
      status != 0 && status != 429 && !(500...599).contains(status),
      .unavailableAppleIdNoResponse, "AID-24", at: "status", detail: detail)
    try require(
      !answer.isTruncated && answer.body.count <= answerCap, .tooLargeAppleIdResponse, "AID-21",
      at: answer.isTruncated ? "truncated" : "body")
    guard status != 200 else { return }
    throw refusal(answer, detail)
  }

  private static func refusal(_ answer: HTTPResponse, _ detail: String) -> Refusal {
    var error: Text? = nil
    if (400...499).contains(answer.status) {
      error = (try? JSONReader.readObject(answer.body))?.root.member("error")?.text
    }
    let word = answer.status == 400 ? error?.utf8[...] ?? [] : []
    if word.elementsEqual("invalid_grant") {
      return Refusal(.rejectedAppleIdGrant, "AID-24", at: "error")
    }
    if word.elementsEqual("invalid_client") || word.elementsEqual("unauthorized_client") {
      return Refusal(.rejectedAppleIdClient, "AID-24", at: "error")
    }
    for known in ["invalid_request", "unsupported_grant_type", "invalid_scope"] as [StaticString]
    where word.elementsEqual(known) {
      return Refusal(.rejectedAppleIdRequest, "AID-24", at: "error")
    }
    var refusal = Refusal(
      .unavailableAppleIdResponse, "AID-24", at: error == nil ? "status" : "error",
      detail: detail)
    refusal.said = error.flatMap { shown($0) }
    return refusal
  }

  /// Returns the first 64 visible ASCII characters; `nil` if there are none.
  private static func shown(_ text: Text) -> Text? {
    let visible = text.utf8.filter { $0 > 0x20 && $0 < 0x7f }.prefix(64)
    return visible.isEmpty ? nil : Text(Array(visible))
  }
}
