/// The result of a kind without steps: made of its request, or refused.
protocol CallResult {
  init(_ context: KindContext) throws(Refusal)

  /// Octets of a secret in it: a document that grows leaves copies behind.
  var room: Int { get }

  var warnings: [Warning] { get }

  /// The members of the result, after `kind` and `state`.
  func write(_ writer: inout JSONWriter)
}

extension CallResult {
  var room: Int { 0 }
  var warnings: [Warning] { [] }

  static func document(_ context: KindContext) -> Document {
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
