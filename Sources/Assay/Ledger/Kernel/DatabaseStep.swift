/// A database step: calls that the host executes in order, without anything in between (STO-2).
struct DatabaseStep {
  /// The step's position in a transaction, which the executor opens, commits and rolls back
  /// (EXC-24).
  enum Transaction {
    case begin, within, commit
    /// A transaction that consists of this step only.
    case single

    var name: StaticString {
      switch self {
      case .begin: return "begin"
      case .within: return "within"
      case .commit: return "commit"
      case .single: return "single"
      }
    }
  }

  var calls: [DatabaseCall]
  /// Whether the step must not be repeated after an unclear failure (docs/spec/ledger.md §6).
  var isOnce = false
  /// Whether all calls need the same connection, with nothing else running on it in between.
  var needsOneConnection = false
  var transaction: Transaction? = nil
  /// The engine's error code for a missing object, which is a result (`.done`) in this step.
  var absentCode: StaticString? = nil
  /// The time limit of a statement in milliseconds; `nil` for the configured one (STO-76).
  var statementMs: Int64? = nil

  /// Writes the value of `database`.
  func write(id: Int64, _ context: LedgerContext, _ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("id", integer: id)
    writer.member("engine", context.engine.name)
    writer.member("repeatable", boolean: !isOnce)
    let isTied = needsOneConnection || transaction != nil
    writer.member("connection", isTied ? "same" : "any")
    writer.name("transaction")
    if let transaction { writer.string(transaction.name) } else { writer.null() }
    writer.name("limits")
    writer.beginObject()
    writer.member("statementMs", integer: statementMs ?? context.policy.statementMs)
    writer.member("lockMs", integer: context.policy.lockMs)
    writer.endObject()
    writer.name("calls")
    writer.beginArray()
    for call in calls { call.write(context, &writer) }
    writer.endArray()
    writer.endObject()
  }
}
