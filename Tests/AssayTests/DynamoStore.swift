import AssayAuthority
import Testing

@testable import Assay

/// A host's DynamoDB table in memory, with its two indexes. It runs the calls of steps one after
/// another and refuses what the service refuses: unused names and values, a row named twice in a
/// transaction, empty sets and empty keys.
final class DynamoStore {
  typealias Item = [String: DynamoValue]

  private let verifier: Verifier
  private(set) var items: [String: Item] = [:]
  /// The faults of steps, by their number from 1 on.
  var faults: [Int: Fault] = [:]
  private(set) var steps = 0
  /// The calls of all steps, in order.
  private(set) var calls: [String] = []
  /// The host's own items of a grant step.
  var grants: [String: String] = [:]

  enum Fault {
    case lost(carriedOut: Bool)
    /// The call fails with this engine code.
    case failed(String)
    case answer(String)
    /// Another client makes a change before the step.
    case meanwhile((DynamoStore) -> Void)
  }

  init(_ changes: [(String, JSONText)] = []) throws {
    let stores: JSONText = ["engine": "dynamodb", "table": "assay"]
    verifier = try Minted.verifier(SQLiteStore.catalogue + [("ledger", stores)] + changes)
  }

  // MARK: exchanges

  @discardableResult
  func run(
    _ request: JSONText, _ evidence: [Document] = [], now: Int64 = Minted.now,
    grant: (DynamoStore, Document) -> String = { $0.grantAnswer($1) }
  ) throws -> Document {
    var (exchange, document) = verifier.startExchange(
      request.bytes, evidence: evidence, nowMs: now)
    var clock = now
    while let open = exchange, document.status.family == .pending {
      let answer: String
      switch document.status {
      case .pendingExchangeWait:
        clock = try require(document.integer("exchange.notBeforeMs"))
        answer = "{}"
      case .pendingExchangeGrant: answer = grant(self, document)
      default:
        let root = try JSONReader.readObject(document.json, caps: .evidence).root
        answer = try carryOut(try require(root.member("exchange")?.member("database")))
      }
      document = open.step(Array(answer.utf8), nowMs: clock)
      if document.status.family == .misuse { break }
    }
    exchange = nil
    return document
  }

  func transaction(_ change: (inout Purchase) -> Void = { _ in }) throws -> Document {
    var purchase = Minted.purchase
    change(&purchase)
    let document = verifier.verifyJWS(
      try Minted.authority().mint(purchase.transactionPayload), kind: .transaction,
      nowMs: Minted.now)
    checkEqual(document.status, .ok, "\(document.text("error.message") ?? "")")
    return document
  }

  /// Runs a host's TransactWriteItems: the library's item and one of the host, with the grant's
  /// key.
  func grantAnswer(_ document: Document) -> String {
    let id = document.integer("exchange.grant.id") ?? 0
    guard let root = try? JSONReader.readObject(document.json, caps: .evidence).root,
      let item = root.member("exchange")?.member("grant")?.member("item"),
      let reasons = try? transact([item])
    else { return "{\"id\":\(id),\"code\":500}" }
    if reasons.isEmpty {
      grants[document.text("exchange.grant.grantId") ?? ""] = document.text(
        "exchange.grant.account")
      return "{\"id\":\(id),\"code\":200}"
    }
    return "{\"id\":\(id),\"code\":200,\"results\":[{\"error\":\(reasons)}]}"
  }

  private func carryOut(_ step: JSONValue) throws -> String {
    steps += 1
    let id = try require(step.member("id")?.integer)
    switch faults[steps] {
    case .answer(let text): return text.replacing("ID", with: "\(id)")
    case .failed(let code):
      return "{\"id\":\(id),\"code\":500,\"error\":{\"code\":\"\(code)\",\"executed\":\"no\"}}"
    case .lost(carriedOut: false): return "{\"id\":\(id),\"code\":0}"
    case .meanwhile(let change): change(self)
    case .lost(carriedOut: true), nil: break
    }
    var results: [String] = []
    for call in try require(step.member("calls")).children {
      let api = try require(call.member("api")?.text).string
      calls.append(api)
      results.append(try self.call(api, try require(call.member("input"))))
    }
    if case .lost = faults[steps] { return "{\"id\":\(id),\"code\":0}" }
    return "{\"id\":\(id),\"code\":200,\"results\":[\(results.joined(separator: ","))]}"
  }

  // MARK: the service

  func put(_ item: Item) { items[DynamoStore.place(item)] = item }

  func item(_ partition: String, _ sort: String) -> Item? { items[partition + "|" + sort] }

  private static func place(_ key: Item) -> String {
    guard case .text(let partition) = key["PK"], case .text(let sort) = key["SK"] else { return "" }
    return partition + "|" + sort
  }

  private func call(_ api: String, _ input: JSONValue) throws -> String {
    check(api == "TransactWriteItems" || input.member("TableName")?.text == "assay")
    switch api {
    case "GetItem":
      checkEqual(input.member("ConsistentRead")?.boolean, true)
      let key = try DynamoValue.item(try require(input.member("Key")))
      guard let item = items[DynamoStore.place(key)] else { return "{\"output\":{}}" }
      return "{\"output\":{\"Item\":\(DynamoValue.json(item))}}"
    case "Query": return try query(input)
    case "TransactWriteItems":
      let reasons = try transact(Array(try require(input.member("TransactItems")).children))
      return reasons.isEmpty ? "{\"output\":{}}" : "{\"error\":\(reasons)}"
    default: return try change(api, input)
    }
  }

  private func change(_ api: String, _ input: JSONValue) throws -> String {
    let verb = try require(
      ["PutItem": "Put", "UpdateItem": "Update", "DeleteItem": "Delete"][api])
    let change = try DynamoChange(verb, input)
    let old = items[change.place]
    guard try change.holds(old) else {
      let shown = change.showsRow ? old : nil
      let item = shown.map { ",\"item\":" + DynamoValue.json($0) } ?? ""
      return "{\"error\":{\"type\":\"ConditionalCheckFailedException\"\(item)}}"
    }
    items[change.place] = try change.applied(to: old)
    let returns = input.member("ReturnValues")?.text.map { $0.string }
    let shown = returns == "ALL_NEW" ? items[change.place] : returns == "ALL_OLD" ? old : nil
    return "{\"output\":{\(shown.map { "\"Attributes\":" + DynamoValue.json($0) } ?? "")}}"
  }

  /// Runs a transaction. Returns the error; empty if there is none.
  private func transact(_ elements: [JSONValue]) throws -> String {
    var changes: [DynamoChange] = []
    for element in elements {
      let entry = try require(Array(element.children).first)
      checkEqual(entry.member("TableName")?.text, "assay")
      changes.append(try DynamoChange(entry.name.string, entry))
    }
    check(changes.count <= 100)
    checkEqual(Set(changes.map { $0.place }).count, changes.count, "a row twice")
    var reasons: [String] = []
    var isMade = true
    for change in changes {
      let old = items[change.place]
      if try change.holds(old) {
        reasons.append("{\"code\":\"None\"}")
      } else {
        isMade = false
        let shown = old.map { ",\"item\":" + DynamoValue.json($0) } ?? ""
        reasons.append(
          "{\"code\":\"ConditionalCheckFailed\",\"message\":\"The conditional request failed\"\(shown)}"
        )
      }
    }
    guard isMade else {
      return
        "{\"type\":\"TransactionCanceledException\",\"reasons\":[\(reasons.joined(separator: ","))]}"
    }
    for change in changes { items[change.place] = try change.applied(to: items[change.place]) }
    return ""
  }

  private func query(_ input: JSONValue) throws -> String {
    let expression = try DynamoExpression(
      input, texts: [try require(input.member("KeyConditionExpression")?.text).string])
    let index = input.member("IndexName")?.text?.string
    let order = index == "assay-owner" ? "owner_sk" : index == "assay-due" ? "due_at_ms" : "SK"
    checkEqual(index == nil, (input.member("ConsistentRead")?.boolean == true))
    var found: [Item] = []
    for item in items.values where try expression.holds(0, item) { found.append(item) }
    found.sort { ($0[order] ?? .text("")).precedes($1[order] ?? .text("")) }
    if input.member("ScanIndexForward")?.boolean == false { found.reverse() }
    found = Array(found.prefix(Int(try require(input.member("Limit")?.integer))))
    let shown = found.map { item in
      let kept = item.filter { ["PK", "SK", "due_pk", "due_at_ms"].contains($0.key) }
      return DynamoValue.json(index == "assay-due" ? kept : item)
    }
    return "{\"output\":{\"Items\":[\(shown.joined(separator: ","))],\"Count\":\(shown.count)}}"
  }
}
