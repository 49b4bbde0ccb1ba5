/// One kind's side of a conversation: a value whose state says what it waits for. It
/// is given the result of a step and says what comes next; ids, the deadline and the
/// JSON of steps are the kernel's.
protocol Conversing {
  /// The first step.
  mutating func begin(nowMs: Int64) -> ExchangeAction

  /// What follows the answer to the open step. An answer that does not have the form
  /// of that step never gets here.
  mutating func take(_ answer: ExchangeAnswer, nowMs: Int64) -> ExchangeAction

  /// EXC-18: when a whole new conversation is worth a try.
  func repeatsAt(nowMs: Int64) -> Int64

  /// The members of the result, after `kind` and `state`.
  func write(_ writer: inout JSONWriter)

  func writeWarnings(_ writer: inout JSONWriter)
}
