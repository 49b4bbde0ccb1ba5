/// A change or read of one row, as the low-level client takes it (docs/spec/ledger-statements.md
/// §3).
///
/// In the expressions `#name` is the attribute of that name, and `:name` the value of that name.
/// The names and values to send are found in the expressions: DynamoDB refuses one that no
/// expression uses (STM-10).
struct DynamoRequest {
  enum Action {
    case get, put, update, delete

    var api: StaticString {
      switch self {
      case .get: return "GetItem"
      case .put: return "PutItem"
      case .update: return "UpdateItem"
      case .delete: return "DeleteItem"
      }
    }

    /// The name of the action in an element of TransactWriteItems.
    fileprivate var element: StaticString {
      switch self {
      case .get: return "Get"
      case .put: return "Put"
      case .update: return "Update"
      case .delete: return "Delete"
      }
    }
  }

  typealias Values = [(name: StaticString, value: DatabaseValue)]

  let action: Action
  let key: DynamoKey
  /// The attributes of a put beside the key; null ones are omitted.
  var item: Values = []
  /// The update expression: `SET … REMOVE … ADD …`.
  var update: [UInt8] = []
  var condition: StaticString = ""
  var values: Values = []
  /// The values that are sets of text.
  var sets: [(name: StaticString, texts: [Text])] = []
  /// The attributes whose names differ from those in the expressions.
  var attributes: [(name: StaticString, attribute: Text)] = []
  /// Whether the stored row is returned if the condition fails (STM-11).
  var showsRow = true
  /// Whether an update returns the row before it instead of the one after it.
  var givesOld = false

  static func get(_ key: DynamoKey) -> DynamoRequest { DynamoRequest(action: .get, key: key) }

  static func put(
    _ key: DynamoKey, _ item: Values, if condition: StaticString = "", _ values: Values = []
  ) -> DynamoRequest {
    DynamoRequest(action: .put, key: key, item: item, condition: condition, values: values)
  }

  /// Returns the put of a row that must not exist yet.
  static func insert(_ key: DynamoKey, _ item: Values) -> DynamoRequest {
    put(key, item, if: "attribute_not_exists(#PK)")
  }

  /// Returns an update, whose reply contains the row after the change.
  static func update(
    _ key: DynamoKey, _ update: StaticString = "", if condition: StaticString = "",
    _ values: Values = []
  ) -> DynamoRequest {
    DynamoRequest(
      action: .update, key: key, update: Text(stringLiteral: update).utf8,
      condition: condition, values: values)
  }

  static func delete(
    _ key: DynamoKey, if condition: StaticString = "", _ values: Values = []
  ) -> DynamoRequest {
    DynamoRequest(action: .delete, key: key, condition: condition, values: values)
  }

  /// Sets each of the columns, and removes those that are null.
  ///
  /// - Parameter others: Further assignments, each begun by a comma, and then further clauses.
  mutating func set(_ columns: Values, _ others: StaticString = "") {
    var (set, remove): ([UInt8], [UInt8]) = ([], [])
    for (name, value) in columns {
      let name = Text(stringLiteral: name).utf8
      if value == .null {
        remove += (remove.isEmpty ? " REMOVE #".utf8 : ", #".utf8) + name
      } else {
        set += (set.isEmpty ? "SET #".utf8 : ", #".utf8) + name + " = :".utf8 + name
      }
    }
    update = set + Text(stringLiteral: others).utf8 + remove
    values += columns
  }

  // MARK: JSON

  func call(_ table: Text) -> DatabaseCall {
    var writer = JSONWriter(capacity: 1024)
    writer.beginObject()
    write(table, &writer)
    switch action {
    case .get: writer.member("ConsistentRead", boolean: true)
    case .update: writer.member("ReturnValues", givesOld ? "ALL_OLD" : "ALL_NEW")
    case .put, .delete: break
    }
    writer.endObject()
    return .dynamo(api: action.api, input: writer.bytes)
  }

  /// Writes the request as an element of TransactWriteItems.
  func writeElement(_ table: Text, _ writer: inout JSONWriter) {
    writer.beginObject()
    writer.name(action.element)
    writer.beginObject()
    write(table, &writer)
    writer.endObject()
    writer.endObject()
  }

  private func write(_ table: Text, _ writer: inout JSONWriter) {
    writer.member("TableName", table)
    writer.name(action == .put ? "Item" : "Key")
    writer.beginObject()
    key.writeMembers(&writer)
    if action == .put {
      for (name, value) in item where value != .null {
        writer.name(name)
        DynamoRequest.write(value, &writer)
      }
    }
    writer.endObject()
    if !update.isEmpty {
      writer.name("UpdateExpression")
      writer.string(utf8: update)
    }
    let condition = Text(stringLiteral: condition)
    if !condition.isEmpty { writer.member("ConditionExpression", condition) }
    writeMeanings([update, condition.utf8], &writer)
    if !condition.isEmpty && showsRow {
      writer.member("ReturnValuesOnConditionCheckFailure", "ALL_OLD")
    }
  }

  /// Writes the attributes and values that the `#names` and `:names` of the expressions mean.
  func writeMeanings(_ expressions: [[UInt8]], _ writer: inout JSONWriter) {
    let names = DynamoRequest.words(expressions, after: 0x23)
    if !names.isEmpty {
      writer.name("ExpressionAttributeNames")
      writer.beginObject()
      for name in names {
        let known = attributes.first { name.dropFirst().elementsEqual($0.name) }?.attribute
        writer.name(Text(Array(name)))
        writer.string(known ?? Text(Array(name.dropFirst())))
      }
      writer.endObject()
    }
    let words = DynamoRequest.words(expressions, after: 0x3a)
    if !words.isEmpty {
      writer.name("ExpressionAttributeValues")
      writer.beginObject()
      for word in words {
        writer.name(Text(Array(word)))
        write(valueNamed: word.dropFirst(), &writer)
      }
      writer.endObject()
    }
  }

  private func write(valueNamed name: ArraySlice<UInt8>, _ writer: inout JSONWriter) {
    if let set = sets.first(where: { name.elementsEqual($0.name) }) {
      writer.beginObject()
      writer.texts("SS", set.texts)
      writer.endObject()
      return
    }
    let value = values.first { name.elementsEqual($0.name) }?.value
    DynamoRequest.write(value ?? .null, &writer)
  }

  /// Writes a value with its type; numbers are decimal text.
  private static func write(_ value: DatabaseValue, _ writer: inout JSONWriter) {
    writer.beginObject()
    switch value {
    case .text(let text): writer.member("S", text)
    case .integer(let number): writer.member("N", Text(String(number)))
    case .null: writer.member("NULL", boolean: true)
    }
    writer.endObject()
  }

  /// Returns every word that begins with `mark`, once, the mark included.
  private static func words(
    _ expressions: [[UInt8]], after mark: UInt8
  ) -> [ArraySlice<UInt8>] {
    var words: [ArraySlice<UInt8>] = []
    for text in expressions {
      var rest = text[...]
      while let start = rest.firstIndex(of: mark) {
        rest = rest[start...]
        let length = 1 &+ rest.dropFirst().prefix(while: isWordByte).count
        let word = rest.prefix(length)
        if !words.contains(where: { $0.elementsEqual(word) }) { words.append(word) }
        rest = rest.dropFirst(length)
      }
    }
    return words
  }

  private static func isWordByte(_ byte: UInt8) -> Bool {
    (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x41 && byte <= 0x5a)
      || (byte >= 0x30 && byte <= 0x39) || byte == 0x5f
  }
}
