/// The result of an operation without steps, which is computed from its request or refused.
protocol CallResult {
  init(_ context: OperationContext) throws(Refusal)

  /// The number of bytes of secrets in the result. The document reserves them, because a buffer
  /// that grows leaves copies behind.
  var room: Int { get }

  var warnings: [Warning] { get }

  /// Writes the members of the result that follow `kind` and `state`.
  func write(_ writer: inout JSONWriter)
}

extension CallResult {
  var room: Int { 0 }
  var warnings: [Warning] { [] }

  static func document(_ context: OperationContext) -> Document {
    do throws(Refusal) {
      let result = try Self(context)
      return context.answer.done(
        room: result.room, warnings: { Warning.write(result.warnings, &$0) },
        { result.write(&$0) })
    } catch {
      return context.answer.refused(error)
    }
  }
}
