/// What the host carries out in its store: statements in order, in one go (STO-2).
struct StoreStep {
  /// Marks for the executor, which opens, commits and rolls back (EXC-24).
  enum Transaction {
    case begin, inside, commit
    /// All of it in this one step.
    case whole

    var name: StaticString {
      switch self {
      case .begin: return "begin"
      case .inside: return "inside"
      case .commit: return "commit"
      case .whole: return "whole"
      }
    }
  }

  var calls: [StoreCall]
  /// After an unclear failure it must not be repeated (docs/spec/stores.md §6).
  var isOnce = false
  /// Nothing may run on the connection between its statements.
  var needsOneConnection = false
  var transaction: Transaction? = nil
  /// The engine's code for what is not there, which is an answer like another (`.done`).
  var absentCode: StaticString? = nil
  /// STO-76, where it is not the configured one: milliseconds.
  var statementMs: Int64? = nil

  /// The value of `store`.
  func write(id: Int64, _ context: StoreContext, _ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("id", integer: id)
    writer.member("dialect", context.dialect.name)
    writer.member("class", isOnce ? "once" : "idempotent")
    let isTied = needsOneConnection || transaction != nil
    writer.member("connection", isTied ? "same" : "any")
    writer.name("transaction")
    if let transaction { writer.string(transaction.name) } else { writer.null() }
    writer.name("limits")
    writer.beginObject()
    writer.member("statementMs", integer: statementMs ?? context.policy.statementMs)
    writer.member("lockMs", integer: context.policy.lockMs)
    writer.endObject()
    writer.name("run")
    writer.beginArray()
    for call in calls { call.write(context, &writer) }
    writer.endArray()
    writer.endObject()
  }
}
