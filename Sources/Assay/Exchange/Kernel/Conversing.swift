/// One kind's side of a conversation: a value whose state says what it waits for. It
/// is told what a step brought and says what comes next; it knows of no ids, no
/// deadline and no JSON of steps, which are the kernel's.
protocol Conversing {
  /// The first step.
  mutating func begin(nowMs: Int64) -> ExchangeAction

  /// What follows on the answer to the open step. An answer of another form than
  /// that step's never gets here.
  mutating func take(_ answer: ExchangeAnswer, nowMs: Int64) -> ExchangeAction

  /// EXC-18: when a whole new conversation is worth a try.
  func repeatsAt(nowMs: Int64) -> Int64

  /// The members of the result, behind `kind` and `state`.
  func write(_ writer: inout JSONWriter)

  func writeWarnings(_ writer: inout JSONWriter)
}
