/// The parameters of an exchange that all operations have.
struct ExchangeOptions: Sendable {
  let kind: Operation
  /// The digest of the verifier's configuration.
  let configuration: [UInt8]
  /// The time after which no HTTP or database step begins, in milliseconds since 1970 UTC
  /// (EXC-16).
  private(set) var deadlineMs: Int64
  /// The number of this exchange among the exchanges for the same request, 1 … 64 (EXC-18).
  let attempt: Int64
  /// The most steps of the exchange, by the operation's row and the size of the request (EXC-15).
  var maxSteps: Int
  /// The request as a deferred one repeats it, without the text of evidence and without tokens.
  /// Empty if the operation is not repeatable.
  private let repeated: [UInt8]
  /// The omitted members, which the host adds to the repeated request.
  private let without: [StaticString]

  /// The accepted distance of the deadline in milliseconds: a second to a day.
  private static let allowed: ClosedRange<Int64> = 1000...86_400_000
  static let standard: Int64 = 600_000
  private static let attemptCap: Int64 = 64

  /// - Throws: `misuse.exchange.request`.
  init(_ request: ExchangeRequest, configuration: [UInt8], nowMs: Int64) throws(Refusal) {
    kind = request.kind
    let row = kind.row
    maxSteps = row.steps.most()
    self.configuration = configuration
    let (first, last) = (
      nowMs &+ ExchangeOptions.allowed.lowerBound, nowMs &+ ExchangeOptions.allowed.upperBound
    )
    let deadline = try request["deadlineMs"]?.refusing(.misuseExchangeRequest, "EXC-16")
      .integer(first...last)
    deadlineMs = deadline ?? nowMs &+ ExchangeOptions.standard
    let number = row.hasAttemptId ? nil : request["attempt"]
    attempt =
      try number?.refusing(.misuseExchangeRequest, "EXC-18")
      .integer(1...ExchangeOptions.attemptCap) ?? 1
    guard row.isRepeatable else {
      (without, repeated) = ([], [])
      return
    }
    // The deadline is omitted as well: it will have passed when the request is repeated.
    let left = row.withheld + ["deadlineMs"]
    without = left.filter { request[$0] != nil }
    repeated = request.json(without: left + ["attempt"], attempt: nextAttempt(attempt))
  }

  /// Brings the deadline forward to `nowMs` + `span` if that is earlier (STO-76).
  mutating func end(within span: Int64?, of nowMs: Int64) {
    guard let span else { return }
    deadlineMs = min(deadlineMs, Milliseconds.sum(nowMs, span))
  }

  /// Returns the pause before a new exchange in milliseconds: 16 s × 4^(attempt − 1), at most an
  /// hour (VRR-4).
  static func pause(attempt: Int64) -> Int64 {
    var pause: Int64 = 16_000
    for _ in 1..<max(1, min(attempt, 8)) { pause = pause &* 4 }
    return min(pause, 3_600_000)
  }

  /// Writes the member `retry`: the request that a host which cannot wait puts into its own
  /// queue.
  func writeRetry(
    notBeforeMs: Int64, _ reason: ExchangeWait.Reason, _ writer: inout JSONWriter
  ) {
    writer.name("retry")
    guard kind.row.isRepeatable else {
      writer.null()
      return
    }
    writer.beginObject()
    writer.name("request")
    writer.raw(repeated)
    writer.name("omitted")
    writer.beginArray()
    for name in without { writer.string(name) }
    writer.endArray()
    writer.member("notBeforeMs", integer: notBeforeMs)
    writer.member("attempt", integer: nextAttempt(attempt))
    writer.member("reason", reason.name)
    writer.endObject()
  }
}

/// Returns the number of the exchange after this one (EXC-18).
private func nextAttempt(_ attempt: Int64) -> Int64 { min(attempt &+ 1, 64) }
