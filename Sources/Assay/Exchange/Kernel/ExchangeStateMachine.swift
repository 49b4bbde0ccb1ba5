/// The part of an exchange that differs between operations: a value whose state is the step it
/// waits for. It receives the reply to that step and returns the next action. Ids, the deadline
/// and the JSON of steps belong to `ExchangeDriver`.
protocol ExchangeStateMachine {
  /// Returns the first action.
  mutating func start(nowMs: Int64) -> ExchangeAction

  /// Returns the action that follows the reply to the open step. The driver has already refused a
  /// reply that does not have the form of that step.
  mutating func receive(_ reply: ExchangeReply, nowMs: Int64) -> ExchangeAction

  /// Returns the time from which a new exchange is worth an attempt, in milliseconds since 1970
  /// UTC (EXC-18).
  func repeatsAt(nowMs: Int64) -> Int64

  /// Writes the members of the result that follow `kind` and `state`.
  func write(_ writer: inout JSONWriter)

  func writeWarnings(_ writer: inout JSONWriter)
}
