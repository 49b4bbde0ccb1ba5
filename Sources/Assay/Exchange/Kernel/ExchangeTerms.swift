/// What a conversation was started with, apart from what belongs to its kind.
struct ExchangeTerms: Sendable {
  let kind: ExchangeKind
  /// The fingerprint of the verifier's configuration.
  let configuration: [UInt8]
  /// EXC-16: milliseconds since 1970 UTC.
  private(set) var deadlineMs: Int64
  /// EXC-18: 1 … 64.
  let attempt: Int64
  /// EXC-15: of the row, or fewer, where the request says how many it asks for.
  var maxSteps: Int
  /// The request as a deferred one repeats it: no text of evidence, no token. Empty where the
  /// kind is not repeated.
  private let repeated: [UInt8]
  /// The members that the host adds to it.
  private let without: [StaticString]

  /// At least a second, at most a day.
  private static let allowed: ClosedRange<Int64> = 1000...86_400_000
  private static let standard: Int64 = 600_000
  private static let attemptCap: Int64 = 64

  /// - Throws: `misuse.exchange.request`.
  init(_ request: ExchangeRequest, configuration: [UInt8], nowMs: Int64) throws(Refusal) {
    kind = request.kind
    let row = kind.row
    maxSteps = row.steps.most()
    self.configuration = configuration
    let (first, last) = (
      nowMs &+ ExchangeTerms.allowed.lowerBound, nowMs &+ ExchangeTerms.allowed.upperBound
    )
    let deadline = try request["deadlineMs"]?.refusing(.misuseExchangeRequest, "EXC-16")
      .integer(first...last)
    deadlineMs = deadline ?? nowMs &+ ExchangeTerms.standard
    let number = row.hasAttemptId ? nil : request["attempt"]
    attempt =
      try number?.refusing(.misuseExchangeRequest, "EXC-18")
      .integer(1...ExchangeTerms.attemptCap) ?? 1
    guard row.isRepeatable else {
      (without, repeated) = ([], [])
      return
    }
    // A deadline is a point in time, which will have passed by then.
    let left = row.withheld + ["deadlineMs"]
    without = left.filter { request[$0] != nil }
    repeated = request.json(without: left + ["attempt"], attempt: nextAttempt(attempt))
  }

  /// STO-76: earlier, where that is.
  mutating func end(within span: Int64?, of nowMs: Int64) {
    guard let span else { return }
    deadlineMs = min(deadlineMs, Milliseconds.sum(nowMs, span))
  }

  /// 16 s × 4^(attempt − 1), at most an hour: before a whole new conversation (VRR-4).
  static func pause(attempt: Int64) -> Int64 {
    var pause: Int64 = 16_000
    for _ in 1..<max(1, min(attempt, 8)) { pause = pause &* 4 }
    return min(pause, 3_600_000)
  }

  /// `retry`, name and value: what a host that cannot wait puts into its own queue.
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
    writer.name("without")
    writer.beginArray()
    for name in without { writer.string(name) }
    writer.endArray()
    writer.member("notBeforeMs", integer: notBeforeMs)
    writer.member("attempt", integer: nextAttempt(attempt))
    writer.member("reason", reason.name)
    writer.endObject()
  }
}

/// EXC-18: of the conversation after this one.
private func nextAttempt(_ attempt: Int64) -> Int64 { min(attempt &+ 1, 64) }
