/// The result of one call of a step (STO-3). A failed condition is a result, not a failure.
enum DatabaseResult {
  case rows([DatabaseRow])
  /// The end of a statement that returns no rows.
  case done
  /// DynamoDB's output, an object.
  case output(JSONValue)
  /// A failed condition of a DynamoDB call, with the stored item.
  case conditionFailed(item: JSONValue?)
  /// A cancelled DynamoDB transaction, with the reason of each item.
  case cancelled([(code: Text, item: JSONValue?)])
  case reply([DatabaseValue])
}

extension DatabaseResult {
  /// - Throws: `misuse.exchange.reply`.
  init(_ entry: MemberNode) throws(Refusal) {
    if entry.value.kind == .object && entry.value.count == 0 {
      self = .done
      return
    }
    let entry = try entry.object(["rows", "output", "error", "reply"])
    try require(entry.value.count <= 1, entry)
    if let rows = entry["rows"] {
      self = .rows(try rows.elements().map { row throws(Refusal) in DatabaseRow(try values(row)) })
    } else if let output = entry["output"] {
      try require(output.value.kind == .object, output, .type)
      self = .output(output.value)
    } else if let reply = entry["reply"] {
      self = .reply(try values(reply))
    } else {
      self = try DatabaseResult(refused: try entry.required("error"))
    }
  }

  private init(refused error: MemberNode) throws(Refusal) {
    let error = try error.object(["type", "item", "reasons"])
    let names: [StaticString] = ["ConditionalCheckFailedException", "TransactionCanceledException"]
    if try error.required("type").choice(names) == 0 {
      self = .conditionFailed(item: error.present("item")?.value)
      return
    }
    self = .cancelled(
      try error.required("reasons").elements().map { reason throws(Refusal) in
        let reason = try reason.object(["code", "item", "message"])
        return (try reason.present("code")?.text() ?? "None", reason.present("item")?.value)
      })
  }
}

extension DatabaseResult {
  /// The reason why DynamoDB cancelled a transaction, if it was none of our conditions but
  /// another transaction or a limit of the service; otherwise `nil`.
  var failure: DatabaseFailure? {
    guard case .cancelled(let reasons) = self else { return nil }
    let codes = reasons.map { $0.code }
    guard let code = codes.first(where: { $0 != "None" && $0 != "ConditionalCheckFailed" })
    else { return nil }
    return DatabaseFailure(reason: code)
  }
}

private func values(_ list: MemberNode) throws(Refusal) -> [DatabaseValue] {
  try require(list.value.kind == .array, list, .type)
  // Marks a value that no column can hold by U+0000: `DatabaseRow` refuses its row, whereas a reply
  // of a wrong form would be misuse by the host.
  return list.value.children.map { DatabaseValue($0) ?? .text("\u{0}") }
}
