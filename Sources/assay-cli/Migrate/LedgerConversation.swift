import AssayAuthority

@_spi(AssaySwift) import Assay

/// Runs operations of the ledger, in the open transaction of a batch: the steps of an exchange are
/// the library's own statements, and a grant step is answered at once, because the shop has
/// delivered already.
struct LedgerConversation {
  let verifier: Verifier
  let connection: any DatabaseConnection
  /// The time of the run (MIG-5).
  let nowMs: Int64

  /// Runs an operation to its end and returns the result.
  ///
  /// - Parameter answersFaults: whether a failed statement is answered to the library, as outside a
  ///   transaction; otherwise it ends the batch.
  /// - Throws: `DatabaseFault`, also where the library would wait and try again: here the time
  ///   stands still, and the whole batch is what is repeated (MIG-35).
  func run(
    _ operation: String, _ members: [JSONText.Member] = [], evidence: [Document] = [],
    answersFaults: Bool = false
  ) throws -> Document {
    let request = JSONText.object(
      [.init("operation", .string(operation)), .init("engine", .string(connection.engine))]
        + members)
    let begun = verifier.startExchange(request.bytes, evidence: evidence, nowMs: nowMs)
    guard let exchange = begun.exchange else { return begun.document }
    var document = begun.document
    var fault = DatabaseFault(
      code: "conflict", message: "another session changed the rows", remedy: .repeats)
    while document.status.family == .pending, let step = document.value?.member("exchange") {
      let reply = try reply(to: step, answersFaults, &fault)
      document = exchange.step(reply.bytes, nowMs: nowMs)
    }
    return document
  }

  /// - Parameter fault: the reason for a wait; a fault that is answered takes its place.
  private func reply(
    to step: DocumentValue, _ answersFaults: Bool, _ fault: inout DatabaseFault
  ) throws(DatabaseFault) -> JSONText {
    if let grant = step.member("grant") {
      return .object([id(of: grant), .init("code", .integer(200))])
    }
    guard let database = step.member("database") else { throw fault }
    do {
      var results: [JSONText] = []
      for (_, call) in database.member("calls")?.children ?? [] {
        results.append(try run(call))
      }
      return .object([
        id(of: database), .init("code", .integer(200)), .init("results", .array(results)),
      ])
    } catch {
      guard answersFaults else { throw error }
      fault = error
      return .object([
        id(of: database), .init("code", .integer(500)),
        .init(
          "error",
          .object([
            .init("code", .string(error.code)), .init("text", .string(error.message)),
            .init("executed", .string("no")),
          ])),
      ])
    }
  }

  private func id(of step: DocumentValue) -> JSONText.Member {
    .init("id", .integer(step.member("id")?.integer ?? 0))
  }

  private func run(_ call: DocumentValue) throws(DatabaseFault) -> JSONText {
    let arguments = call.member("args")?.children.map { DatabaseValue($0.value) } ?? []
    let rows = try connection.run(call.member("sql")?.text ?? "", arguments)
    guard call.member("returnsRows")?.boolean == true else { return .object([]) }
    return .object([.init("rows", .array(rows.map { .array($0.map(\.json)) }))])
  }
}

extension DatabaseValue {
  fileprivate init(_ value: DocumentValue) {
    if let integer = value.signedInteger {
      self = .integer(integer)
    } else {
      self = value.text.map { .text($0) } ?? .null
    }
  }

  fileprivate var json: JSONText {
    switch self {
    case .text(let text): .string(text)
    case .integer(let integer): .integer(integer)
    case .null: .null
    }
  }
}
