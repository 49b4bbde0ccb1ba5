import AssayAuthority
import Testing

@testable import Assay

/// A ledger exchange whose replies are written by the test.
final class LedgerScript {
  private let exchange: Exchange?
  /// The last document.
  private(set) var document: Document
  private var clock: Int64

  init(
    _ verifier: Verifier, _ request: JSONText, _ evidence: [Document] = [],
    now: Int64 = Minted.now
  ) {
    clock = now
    (exchange, document) = verifier.startExchange(
      request.bytes, evidence: evidence, nowMs: now)
  }

  /// The id of the open step.
  var step: Int64? { document.integer("exchange.database.id") }

  /// Returns the JSON of a part of the document.
  func source(_ path: String) -> String {
    String(decoding: document.tree?.at(path)?.source ?? [], as: UTF8.self)
  }

  /// Returns the arguments of the call with this number.
  func arguments(_ call: Int = 0) -> String { source("exchange.database.calls.\(call).args") }

  func sql(_ call: Int = 0) -> String? { document.text("exchange.database.calls.\(call).sql") }

  /// Replies with the results of the open step, separated by commas.
  @discardableResult
  func answer(_ results: String, after milliseconds: Int64 = 0) throws -> Document {
    try raw("{\"id\":\(try require(step)),\"code\":200,\"results\":[\(results)]}", milliseconds)
  }

  /// Replies with the refusal of the engine.
  @discardableResult
  func fail(_ code: String, executed: String = "unknown") throws -> Document {
    let id = try require(step)
    return try raw(
      "{\"id\":\(id),\"code\":500,\"error\":{\"code\":\"\(code)\",\"executed\":\"\(executed)\"}}")
  }

  /// Replies that no response arrived.
  @discardableResult
  func lose() throws -> Document { try raw("{\"id\":\(try require(step)),\"code\":0}") }

  /// Continues when the wait is over.
  @discardableResult
  func wait(late milliseconds: Int64 = 0) throws -> Document {
    clock = try require(document.integer("exchange.wait.notBeforeMs") ?? waitEnd)
    return try raw("{}", milliseconds)
  }

  private var waitEnd: Int64? { document.integer("exchange.notBeforeMs") }

  /// The end of the open wait, in milliseconds since 1970 UTC.
  var waitsUntil: Int64? { document.integer("exchange.wait.notBeforeMs") ?? waitEnd }

  @discardableResult
  func raw(_ answer: String, _ milliseconds: Int64 = 0) throws -> Document {
    let open = try require(exchange)
    clock += milliseconds
    document = open.step(utf8(answer), nowMs: clock)
    return document
  }

  func expect(
    _ status: String, _ outcome: String? = nil, at place: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    Exchanges.expect(document, status, at: place, sourceLocation: sourceLocation)
    checkEqual(document.text("exchange.outcome"), outcome, sourceLocation: sourceLocation)
  }
}

/// Replies of the engines.
enum StoreAnswer {
  static let engines: [LedgerEngine] = [.sqlite, .postgres, .mariadb, .dynamodb, .redis]

  static func stores(_ engine: LedgerEngine, _ more: [(String, JSONText)] = []) -> JSONText {
    var block: JSONText = ["engine": .string("\(engine.name)")]
    if engine == .dynamodb { block = block.setting([("table", "T")]) }
    return block.setting(more)
  }

  /// Returns the reply for a counter that went up or down; `isNew` if it did not exist before.
  static func counted(
    _ engine: LedgerEngine, _ count: Int, meter: String = "premium", isNew: Bool = false,
    isRefund: Bool = false
  ) -> String {
    switch engine {
    case .sqlite, .postgres: return "{\"rows\":[[\(count)]]}"
    case .mariadb: return (isRefund ? "{}," : "{},{},") + "{\"rows\":[[1,\(count)]]}"
    case .dynamodb:
      return """
        {"output":{"Attributes":{"PK":{"S":"a"},"SK":{"S":"b"},"ttl":{"N":"1"},\
        "count_other":{"N":"5"},"count_\(meter)":{"N":"\(count)"}}}}
        """
    case .redis: return "{\"reply\":[\"\(isNew ? 1 : 2)\",\"used\",\"\(count)\"]}"
    }
  }

  /// Returns the reply for a counter that is unchanged.
  static func full(_ engine: LedgerEngine, isRefund: Bool = false) -> String {
    switch engine {
    case .sqlite, .postgres: return "{\"rows\":[]}"
    case .mariadb: return (isRefund ? "{}," : "{},{},") + "{\"rows\":[[0,77]]}"
    case .dynamodb:
      return """
        {"error":{"type":"ConditionalCheckFailedException",\
        "item":{"PK":{"S":"a"},"count_premium":{"N":"20"}}}}
        """
    case .redis: return "{\"reply\":[\"0\",\"used\",\"20\"]}"
    }
  }

  /// Returns the reply with a row, as the second call of a step, or as the only one of DynamoDB and
  /// Redis. Texts begin with a quotation mark.
  static func row(
    _ engine: LedgerEngine, _ columns: [StaticString], _ values: [String], isMade: Bool
  ) -> String {
    switch engine {
    case .sqlite, .postgres, .mariadb:
      return "{},{\"rows\":[[\(values.joined(separator: ","))]]}"
    case .dynamodb:
      let item = "{\(members(columns, values).joined(separator: ","))}"
      return isMade
        ? "{\"output\":{\"Attributes\":\(item)}}"
        : "{\"error\":{\"type\":\"ConditionalCheckFailedException\",\"item\":\(item)}}"
    case .redis:
      let fields = zip(columns, values).map { column, value in
        let text = value == "null" ? "\"\"" : value.hasPrefix("\"") ? value : "\"\(value)\""
        return "\"\(column)\",\(text)"
      }
      return "{\"reply\":[\"\(isMade ? 2 : 0)\",\(fields.joined(separator: ","))]}"
    }
  }

  private static func members(_ columns: [StaticString], _ values: [String]) -> [String] {
    zip(columns, values).compactMap { column, value in
      if value == "null" { return nil }
      return value.hasPrefix("\"")
        ? "\"\(column)\":{\"S\":\(value)}" : "\"\(column)\":{\"N\":\"\(value)\"}"
    }
  }

  /// Returns the reply if there is no row.
  static func absent(_ engine: LedgerEngine, isRead: Bool = false) -> String {
    switch engine {
    case .sqlite, .postgres, .mariadb: return isRead ? "{\"rows\":[]}" : "{},{\"rows\":[]}"
    case .dynamodb:
      return isRead
        ? "{\"output\":{}}" : "{\"error\":{\"type\":\"ConditionalCheckFailedException\"}}"
    case .redis: return "{\"reply\":[\"0\"]}"
    }
  }
}
