import AssayAuthority

@testable import Assay

/// A database whose replies follow the bytes of an input: in the form of the step, with its
/// arguments and with notable numbers and texts in the columns.
struct HostileStore {
  private var bytes: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

  private static func children(_ value: JSONValue?) -> [JSONValue] {
    value.map { Array($0.children) } ?? []
  }

  private mutating func next() -> Int { Int(bytes.popFirst() ?? 0) }

  /// Returns `results` of a reply to a step.
  mutating func results(_ step: JSONValue) -> JSONText {
    let calls = HostileStore.children(step.member("calls"))
    var results: [JSONText] = []
    for call in calls { results.append(result(call)) }
    return .array(results)
  }

  private mutating func result(_ call: JSONValue) -> JSONText {
    if let sql = call.member("sql")?.text?.string {
      guard call.member("returnsRows")?.boolean == true else { return [:] }
      return rows(HostileStore.columns(sql), HostileStore.children(call.member("args")))
    }
    if let api = call.member("api")?.text?.string {
      return output(api, call.member("input"))
    }
    let words = HostileStore.children(call.member("args") ?? call.member("command"))
    return ["reply": .array((0..<next() % 12).map { _ in value(nil, words) })]
  }

  // MARK: SQL

  /// Returns the names of a statement's result columns.
  private static func columns(_ sql: String) -> [Substring] {
    let words = sql.split(whereSeparator: { " \n".contains($0) })
    var list = ""
    if let place = words.lastIndex(where: { $0 == "RETURNING" }) {
      list = words[(place + 1)...].joined(separator: " ")
    } else if let place = words.firstIndex(where: { $0 == "SELECT" }) {
      list = words[(place + 1)...].prefix { $0 != "FROM" }.joined(separator: " ")
    }
    return list.split(separator: ",").map { $0.split(separator: " ").last ?? "" }
  }

  private mutating func rows(_ columns: [Substring], _ arguments: [JSONValue]) -> JSONText {
    let count = [1, 0, 2, 1, 7, 1, 1, 0][next() & 7]
    return [
      "rows": .array(
        (0..<count).map { _ in .array(columns.map { value($0, arguments) }) })
    ]
  }

  /// Returns a number for a numeric column, most of the time.
  private mutating func value(_ column: Substring?, _ arguments: [JSONValue]) -> JSONText {
    let pick = next()
    if pick & 0x80 != 0, !arguments.isEmpty {
      return .raw(Array(arguments[pick % arguments.count].source))
    }
    if pick == 0x7f { return .null }
    if pick == 0x7e { return .text(HostileNumbers.json[next() % HostileNumbers.json.count]) }
    let isNumber = column.map { HostileStore.integers.contains($0) }
    if isNumber ?? (pick & 1 == 0) {
      return .integer(HostileStore.numbers[pick % HostileStore.numbers.count])
    }
    return .string(HostileStore.texts[pick % HostileStore.texts.count])
  }

  /// The columns of all tables, with their types.
  private static let columns: [(name: Substring, type: Substring)] = SchemaTable.allCases
    .flatMap { table in
      let sql = "\(table.create(.sqlite) ?? "")"
      return sql.drop { $0 != "(" }.dropFirst().split(separator: ",").compactMap { column in
        let words = column.split(separator: " ")
        return words.count > 1 && words[0] != "PRIMARY" ? (words[0], words[1]) : nil
      }
    }
  private static let integers = Set(columns.filter { $0.type == "INTEGER" }.map { $0.name })
  /// Numbers of which the first are those of the ledger's own rows.
  private static let numbers: [Int64] =
    [
      0, 1, 2, -1, 100, FuzzFixture.instant, FuzzFixture.instant - 1, FuzzFixture.instant + 60_000,
      FuzzFixture.instant - 86_400_000, FuzzFixture.instant + 31_536_000_000, 1 << 53,
      (1 << 53) - 1,
      .max, .min,
    ] + HostileNumbers.integers
  private static let texts: [String] = [
    "", "granted", "claimed", "revoked", "held", "pending", "moved", "reversed", "gone", "open",
    "used", "active", "expired", "alice", "bob", "Production", "Sandbox", "premium", "free",
    "com.example.app", "com.example.app.coins", "com.example.app.premium.monthly", "M1",
    "7f3a5c00112233445566778899aabbcc", "apple", "-", "1", "0",
  ]

  // MARK: DynamoDB

  private mutating func output(_ api: String, _ input: JSONValue?) -> JSONText {
    let values = HostileStore.children(input?.member("ExpressionAttributeValues")) + keys(input)
    let names = HostileStore.children(input?.member("ExpressionAttributeNames")).map {
      $0.text?.string ?? ""
    }
    let pick = next()
    switch (api, pick & 7) {
    case ("TransactWriteItems", 4...7):
      return [
        "error": [
          "type": "TransactionCanceledException",
          "reasons": .array(reasons(input, names, values)),
        ]
      ]
    case (_, 6):
      return [
        "error": ["type": "ConditionalCheckFailedException", "item": item(names, values)]
      ]
    case (_, 7): return ["error": ["type": "ConditionalCheckFailedException"]]
    default: return ["output": found(api, pick, names, values)]
    }
  }

  private mutating func found(
    _ api: String, _ pick: Int, _ names: [String], _ values: [JSONValue]
  ) -> JSONText {
    switch api {
    case "GetItem": return pick & 1 == 0 ? ["Item": item(names, values)] : [:]
    case "Query":
      let items = (0..<(pick & 3)).map { _ in item(names, values) }
      return ["Items": .array(items), "Count": .integer(Int64(items.count))]
    default: return pick & 1 == 0 ? ["Attributes": item(names, values)] : [:]
    }
  }

  private func keys(_ input: JSONValue?) -> [JSONValue] {
    HostileStore.children(input?.member("Key") ?? input?.member("Item"))
  }

  private static let codes = [
    "None", "ConditionalCheckFailed", "TransactionConflict", "ThrottlingError",
  ]

  private mutating func reasons(
    _ input: JSONValue?, _ names: [String], _ values: [JSONValue]
  ) -> [JSONText] {
    HostileStore.children(input?.member("TransactItems")).map { _ in
      let pick = next()
      let code = HostileStore.codes[pick & 3]
      return pick & 4 == 0
        ? ["code": .string(code)] : ["code": .string(code), "item": item(names, values)]
    }
  }

  private mutating func item(_ names: [String], _ values: [JSONValue]) -> JSONText {
    var item: JSONText = [:]
    for name in names + HostileStore.attributes where next() & 3 != 0 {
      let pick = next()
      guard pick != 0x7f else { continue }
      let value: JSONText
      if pick & 0x80 != 0, !values.isEmpty {
        value = .raw(Array(values[pick % values.count].source))
      } else if pick & 1 == 0 {
        value = ["N": .string("\(HostileStore.numbers[pick % HostileStore.numbers.count])")]
      } else {
        value = ["S": .string(HostileStore.texts[pick % HostileStore.texts.count])]
      }
      item = item.setting(name, value)
    }
    return item
  }

  private static let attributes =
    ["PK", "SK"] + Array(Set(columns.map { String($0.name) })).sorted()
}
