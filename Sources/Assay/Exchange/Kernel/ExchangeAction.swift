/// What a conversation does next.
enum ExchangeAction {
  /// The host sends this.
  case request(HTTPRequest)
  /// The host comes back later.
  case wait(ExchangeWait)
  /// Everything was verified. `capacity`: bytes that the result takes, about.
  case accepted(VerifiedEvidence, capacity: Int)
  case refused(ExchangeRefusal)
}

/// A request for the host's HTTP client (EXC-6).
struct HTTPRequest {
  let method: StaticString
  let url: StaticString
  let headers: [(name: StaticString, value: StaticString)]
  /// JSON.
  let body: SecretBytes
  let timeoutMs: Int64
  let maxResponseBytes: Int64
  /// Headers of the answer that it is worth something to have, in lower case.
  let wantHeaders: [StaticString]
  /// Paths that must not be logged (EXC-22).
  let secret: [StaticString]

  /// The value of `request`.
  func write(id: Int64, _ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("id", integer: id)
    writer.member("method", method)
    writer.member("url", url)
    writer.name("headers")
    writer.beginArray()
    for header in headers {
      writer.beginArray()
      writer.string(header.name)
      writer.string(header.value)
      writer.endArray()
    }
    writer.endArray()
    writer.name("body")
    writer.beginObject()
    writer.name("text")
    writer.string(utf8: body.bytes)
    writer.endObject()
    writer.member("timeoutMs", integer: timeoutMs)
    writer.member("maxResponseBytes", integer: maxResponseBytes)
    HTTPRequest.write("wantHeaders", wantHeaders, &writer)
    HTTPRequest.write("secret", secret, &writer)
    writer.endObject()
  }

  private static func write(
    _ name: StaticString, _ list: [StaticString], _ writer: inout JSONWriter
  ) {
    writer.name(name)
    writer.beginArray()
    for entry in list { writer.string(entry) }
    writer.endArray()
  }
}

struct ExchangeWait {
  enum Reason {
    case rateLimited, retry

    var name: StaticString {
      switch self {
      case .rateLimited: return "rate-limited"
      case .retry: return "retry"
      }
    }
  }

  /// Milliseconds since 1970 UTC.
  let notBeforeMs: Int64
  let reason: Reason
  /// The end of a conversation whose deadline comes before (EXC-16).
  let otherwise: Refusal
}

struct ExchangeRefusal {
  let refusal: Refusal
  /// `.answer`: nothing usable came; `.result`: what came says no.
  let check: ExchangeCheck
  /// nil: the kind's own back-off (`Conversing.repeatsAt`).
  var notBeforeMs: Int64? = nil
  var reason = ExchangeWait.Reason.retry

  init(_ refusal: Refusal, _ check: ExchangeCheck, notBeforeMs: Int64? = nil) {
    self.refusal = refusal
    self.check = check
    self.notBeforeMs = notBeforeMs
  }

  /// The end of a conversation that cannot wait so long.
  init(_ wait: ExchangeWait) {
    self.init(wait.otherwise, .answer, notBeforeMs: wait.notBeforeMs)
    reason = wait.reason
  }
}

/// At most one change of Apple's environment in a conversation: whoever follows both
/// without counting is sent back and forth for ever.
struct OneHop: Equatable {
  /// 0 or 1.
  private(set) var count: Int64 = 0

  /// Whether this hop is allowed; the first one is.
  mutating func take() -> Bool {
    guard count == 0 else { return false }
    count = 1
    return true
  }
}
