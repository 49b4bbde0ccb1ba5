/// What an answer says that is no success (docs/spec/app-store-server-api.md §7).
struct AppStoreFailure {
  /// HTTP; 0: no answer.
  let status: Int64
  /// Apple's number; nil: the body has none.
  let code: Int64?
  /// Whether the body is JSON at all.
  let isJSON: Bool
  private let message: Text?
  /// When the same may be asked again, milliseconds since 1970 UTC; only after a 429.
  let retryAtMs: Int64?

  private static let caps = JSONCaps()
  private static let messageCap = 1024

  init(_ answer: HTTPAnswer, nowMs: Int64) {
    status = answer.status
    let root = try? JSONReader.readObject(answer.body, caps: AppStoreFailure.caps).root
    isJSON = root != nil
    code = root?.present("errorCode")?.integer
    message = root?.present("errorMessage")?.text.flatMap {
      $0.count <= AppStoreFailure.messageCap ? $0 : nil
    }
    retryAtMs =
      answer.status == 429
      ? AppStoreFailure.retryAt(answer.header("retry-after"), nowMs: nowMs) : nil
  }

  /// API-51: a UNIX time in milliseconds; a small number is seconds from now. What makes no
  /// sense is a minute.
  private static func retryAt(_ text: Text?, nowMs: Int64) -> Int64 {
    let otherwise = nowMs &+ Milliseconds.minute
    guard let text, text.isDecimal, text.count <= 15,
      let number = JSONValue.integer(text.utf8[...])
    else { return otherwise }
    let time = number < 1_000_000_000 ? nowMs &+ number &* 1000 : number
    let isSoon = time >= nowMs && time <= nowMs &+ 60 &* Milliseconds.minute
    return isSoon ? time : otherwise
  }

  /// API-50.
  var isRetryable: Bool {
    switch code {
    case 4_040_002, 4_040_004, 4_040_006, 5_000_001: return true
    case 5_000_000: return false
    default: return status == 0 || status == 429 || (500...599).contains(status)
    }
  }

  /// API-2: Apple's word for an id that it does not have there.
  func saysElsewhere(_ rule: AppStoreRule) -> Bool {
    switch code {
    case 4_040_010, 4_040_005: return true
    default: break
    }
    guard rule == .consumption || rule == .consumptionV1 else { return false }
    return status == 404 && !isJSON
  }

  /// What it is refused as, once it is the last word.
  var refusal: Refusal {
    let detail = describe()
    if status == 429 {
      return Refusal(.unavailableApiRateLimited, "API-52", at: "status", detail: detail)
    }
    if isRetryable || (500...599).contains(status) {
      return Refusal(.unavailableApiNoAnswer, "API-52", at: "status", detail: detail)
    }
    switch status {
    case 400: return Refusal(.rejectedApiBadRequest, "API-50", at: "status", detail: detail)
    case 403: return Refusal(.rejectedApiForbidden, "API-50", at: "status", detail: detail)
    case 404: return Refusal(.rejectedApiNotFound, "API-50", at: "status", detail: detail)
    case 409: return Refusal(.rejectedApiConflict, "API-50", at: "status", detail: detail)
    // Not Apple's: a proxy's, or one that this version does not know.
    default: return Refusal(.malformedApiResponse, "API-30", at: "status", detail: detail)
    }
  }

  private func describe() -> String {
    guard status != 0 else { return "" }
    guard let code else { return "HTTP status " + String(status) }
    return "Apple's error " + String(code)
  }

  /// The value of `api`. `other`: what Sandbox answered, where that is not the reason.
  func write(other: AppStoreFailure?, _ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("httpStatus", integer: status)
    writer.member("errorCode", integer: code)
    writer.name("errorName")
    if let name = code.flatMap({ AppStoreErrorName.of($0) }) {
      writer.string(name)
    } else {
      writer.null()
    }
    writer.member("errorMessage", message)
    writer.member("retryable", boolean: isRetryable)
    writer.member("retryAtMs", integer: retryAtMs)
    if let other {
      writer.name("other")
      writer.beginObject()
      writer.member("httpStatus", integer: other.status)
      writer.member("errorCode", integer: other.code)
      writer.endObject()
    }
    writer.endObject()
  }
}
