/// A response that is no success (docs/spec/app-store-server-api.md §7).
struct AppStoreFailure {
  /// The HTTP status; 0 if there was no response.
  let status: Int64
  /// Apple's error number; `nil` if the body has none.
  let code: Int64?
  /// Whether the body is a JSON object.
  let isJSON: Bool
  private let message: Text?
  /// What is wrong with a report about external purchases, as Apple lists it (EXP-5).
  private let errors: JSONValue?
  /// The time at which Apple accepts the request again, in milliseconds since 1970 UTC; `nil`
  /// except after a 429.
  let retryAtMs: Int64?

  private static let caps = JSONCaps()
  private static let messageCap = 1024

  init(_ answer: HTTPResponse, nowMs: Int64) {
    status = answer.status
    let root = try? JSONReader.readObject(answer.body, caps: AppStoreFailure.caps).root
    isJSON = root != nil
    code = root?.present("errorCode")?.integer
    errors = root?.present("errors").flatMap { $0.kind == .array ? $0 : nil }
    message = root?.present("errorMessage")?.text.flatMap {
      $0.count <= AppStoreFailure.messageCap ? $0 : nil
    }
    retryAtMs =
      answer.status == 429
      ? AppStoreFailure.retryAt(answer.header("retry-after"), nowMs: nowMs) : nil
  }

  /// Reads Retry-After, in which Apple sends milliseconds since 1970 UTC. A small number counts
  /// as seconds from now, as in HTTP; a value that is unreadable or not within the next hour
  /// counts as a minute (API-51).
  private static func retryAt(_ text: Text?, nowMs: Int64) -> Int64 {
    let otherwise = nowMs &+ Milliseconds.minute
    guard let text, text.isDecimal, text.count <= 15,
      let number = JSONValue.integer(text.utf8[...])
    else { return otherwise }
    let time = number < 1_000_000_000 ? nowMs &+ number &* 1000 : number
    let isSoon = time >= nowMs && time <= nowMs &+ 60 &* Milliseconds.minute
    return isSoon ? time : otherwise
  }

  /// Whether Apple's list has this number (EXP-6).
  private func lists(_ number: Int64) -> Bool {
    errors?.children.contains { $0.present("errorCode")?.integer == number } ?? false
  }

  /// Whether Apple does not have the report that was asked for.
  var saysNoReport: Bool { status == 400 && lists(3) }

  /// Whether another attempt may succeed: Apple's error number decides before the HTTP status
  /// (API-50).
  var isRetryable: Bool {
    // Two reports with line items of the same ids at once.
    if status == 400, lists(26) { return true }
    switch code {
    case 4_040_002, 4_040_004, 4_040_006, 5_000_001: return true
    case 5_000_000: return false
    default: return status == 0 || status == 429 || (500...599).contains(status)
    }
  }

  /// Whether the response means that this environment does not have the id (API-2).
  func saysElsewhere(_ rule: AppStoreRule) -> Bool {
    switch code {
    case 4_040_010, 4_040_005: return true
    default: break
    }
    guard rule == .consumption || rule == .consumptionV1 else { return false }
    return status == 404 && !isJSON
  }

  /// Whether the response means that an earlier request, whose end is not known, was executed
  /// (ENP-4).
  func saysDone(_ method: StaticString) -> Bool {
    switch code {
    case 4_090_000, 4_090_001: return method.hasSameBytes(as: "PUT")
    case 4_040_014, 4_040_015, 4_040_020, 4_040_021: return method.hasSameBytes(as: "DELETE")
    default: return false
    }
  }

  /// The refusal to report when no attempt is left.
  var refusal: Refusal {
    let detail = describe()
    if code == 4_000_097 {
      return Refusal(.rejectedAppStoreRepeatedReference, "ACA-2", at: "status", detail: detail)
    }
    if status == 429 {
      return Refusal(.unavailableAppStoreRateLimited, "API-52", at: "status", detail: detail)
    }
    if isRetryable || (500...599).contains(status) {
      return Refusal(.unavailableAppStoreNoResponse, "API-52", at: "status", detail: detail)
    }
    if saysNoReport {
      return Refusal(.rejectedAppStoreNotFound, "EXP-5", at: "status", detail: detail)
    }
    if status == 400, errors != nil {
      return Refusal(.rejectedExternalPurchaseReport, "EXP-5", at: "status", detail: detail)
    }
    switch status {
    case 400: return Refusal(.rejectedAppStoreBadRequest, "API-50", at: "status", detail: detail)
    case 403: return Refusal(.rejectedAppStoreForbidden, "API-50", at: "status", detail: detail)
    case 404: return Refusal(.rejectedAppStoreNotFound, "API-50", at: "status", detail: detail)
    case 409: return Refusal(.rejectedAppStoreConflict, "API-50", at: "status", detail: detail)
    // The status is not one of Apple's: a proxy answered, or Apple has added the status.
    default: return Refusal(.malformedAppStoreResponse, "API-30", at: "status", detail: detail)
    }
  }

  private func describe() -> String {
    guard status != 0 else { return "" }
    guard let code else { return "HTTP status " + String(status) }
    return "Apple's error " + String(code)
  }

  /// Writes the value of `api`. `other` is Sandbox's failure if the reason is Production's.
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
    if let errors {
      writer.name("errors")
      writer.raw(errors.source)
    }
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
