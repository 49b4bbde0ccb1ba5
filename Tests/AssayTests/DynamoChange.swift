import Testing

@testable import Assay

/// A change of one row, in a single call or in a transaction.
struct DynamoChange {
  let place: String
  let showsRow: Bool
  private let verb: String
  /// The whole row of a put, otherwise the key.
  private let item: DynamoStore.Item
  private let expression: DynamoExpression
  private let hasCondition: Bool

  init(_ verb: String, _ input: JSONValue) throws {
    self.verb = verb
    item = try DynamoValue.item(try require(input.member(verb == "Put" ? "Item" : "Key")))
    guard case .text(let partition) = item["PK"], case .text(let sort) = item["SK"] else {
      throw DynamoExpression.Fault(text: "no key")
    }
    place = partition + "|" + sort
    let condition = input.member("ConditionExpression")?.text?.string
    let update = input.member("UpdateExpression")?.text?.string
    checkEqual(verb == "Update", (update != nil))
    hasCondition = condition != nil
    showsRow = input.member("ReturnValuesOnConditionCheckFailure")?.isText("ALL_OLD") == true
    expression = try DynamoExpression(input, texts: [condition ?? "", update ?? ""])
  }

  func holds(_ old: DynamoStore.Item?) throws -> Bool {
    try !hasCondition || expression.holds(0, old ?? [:])
  }

  func applied(to old: DynamoStore.Item?) throws -> DynamoStore.Item? {
    switch verb {
    case "Put": return item
    case "Delete": return nil
    default: return try expression.updated(1, old ?? item)
    }
  }
}

/// DynamoDB expressions, as far as the library uses them.
struct DynamoExpression {
  struct Fault: Error { let text: String }

  private let words: [[String]]
  private var names: [String: String] = [:]
  private var values: [String: DynamoValue] = [:]

  init(_ input: JSONValue, texts: [String]) throws {
    words = texts.map(DynamoExpression.split)
    for name in input.member("ExpressionAttributeNames")?.children ?? JSONValue.none {
      names[name.name.string] = name.text?.string
    }
    for value in input.member("ExpressionAttributeValues")?.children ?? JSONValue.none {
      values[value.name.string] = try DynamoValue(value)
    }
    let used = Set(words.joined())
    // DynamoDB refuses unused names and unused values.
    checkEqual(used.filter { $0.hasPrefix("#") }, Set(names.keys))
    checkEqual(used.filter { $0.hasPrefix(":") }, Set(values.keys))
    check(!texts.contains { $0.contains("((") })
  }

  private static func split(_ text: String) -> [String] {
    var words: [String] = []
    var word = ""
    for character in text {
      if character.isLetter || character.isNumber || "#:_".contains(character) {
        word.append(character)
        continue
      }
      if !word.isEmpty { words.append(word) }
      word = ""
      if character == "=" || character == ">", let last = words.last, "<>".contains(last) {
        words[words.count - 1] = last + String(character)
      } else if character != " " {
        words.append(String(character))
      }
    }
    return word.isEmpty ? words : words + [word]
  }

  // MARK: conditions

  func holds(_ number: Int, _ item: DynamoStore.Item) throws -> Bool {
    var rest = words[number][...]
    let result = try disjunction(&rest, item)
    guard rest.isEmpty else { throw Fault(text: rest.joined(separator: " ")) }
    return result
  }

  private func disjunction(_ rest: inout ArraySlice<String>, _ item: DynamoStore.Item) throws
    -> Bool
  {
    var result = try conjunction(&rest, item)
    while rest.first == "OR" {
      rest.removeFirst()
      let next = try conjunction(&rest, item)
      result = result || next
    }
    return result
  }

  private func conjunction(_ rest: inout ArraySlice<String>, _ item: DynamoStore.Item) throws
    -> Bool
  {
    var result = try term(&rest, item)
    while rest.first == "AND" {
      rest.removeFirst()
      let next = try term(&rest, item)
      result = result && next
    }
    return result
  }

  private func term(_ rest: inout ArraySlice<String>, _ item: DynamoStore.Item) throws -> Bool {
    switch rest.first {
    case "(":
      rest.removeFirst()
      let result = try disjunction(&rest, item)
      try skip(")", &rest)
      return result
    case "attribute_not_exists", "attribute_exists":
      let wanted = rest.removeFirst() == "attribute_exists"
      let arguments = try list(&rest)
      return (item[try name(arguments.first)] != nil) == wanted
    case "begins_with":
      rest.removeFirst()
      let arguments = try list(&rest)
      guard case .text(let text)? = item[try name(arguments.first)],
        case .text(let prefix)? = values[arguments.last ?? ""]
      else { return false }
      return text.hasPrefix(prefix)
    default: return try comparison(&rest, item)
    }
  }

  private func comparison(
    _ rest: inout ArraySlice<String>, _ item: DynamoStore.Item
  ) throws -> Bool {
    let left = item[try name(rest.popFirst())]
    let operation = rest.popFirst()
    if operation == "IN" {
      let choices = try list(&rest).map { try value($0) }
      return left.map { choices.contains($0) } ?? false
    }
    let right = try value(rest.popFirst())
    guard let left else { return operation == "<>" }
    switch operation {
    case "=": return left == right
    case "<>": return left != right
    case "<": return left.precedes(right)
    case "<=": return left == right || left.precedes(right)
    case ">": return right.precedes(left)
    case ">=": return left == right || right.precedes(left)
    default: throw Fault(text: operation ?? "end")
    }
  }

  private func list(_ rest: inout ArraySlice<String>) throws -> [String] {
    try skip("(", &rest)
    var words: [String] = []
    while let word = rest.popFirst(), word != ")" { if word != "," { words.append(word) } }
    return words
  }

  private func skip(_ word: String, _ rest: inout ArraySlice<String>) throws {
    guard rest.popFirst() == word else { throw Fault(text: "no " + word) }
  }

  private func name(_ word: String?) throws -> String {
    guard let name = names[word ?? ""] else { throw Fault(text: "name " + (word ?? "")) }
    return name
  }

  private func value(_ word: String?) throws -> DynamoValue {
    guard let value = values[word ?? ""] else { throw Fault(text: "value " + (word ?? "")) }
    return value
  }

  // MARK: updates

  func updated(_ number: Int, _ old: DynamoStore.Item) throws -> DynamoStore.Item {
    var rest = words[number][...]
    var (item, clause, clauses) = (old, "", [String]())
    var changed: Set<String> = []
    while let word = rest.popFirst() {
      if ["SET", "REMOVE", "ADD", "DELETE"].contains(word) {
        clause = word
        clauses.append(word)
        continue
      }
      if word == "," { continue }
      let name = try name(word)
      check(changed.insert(name).inserted, "\(name) twice")
      switch clause {
      case "SET":
        try skip("=", &rest)
        item[name] = try operand(&rest, old)
      case "REMOVE": item[name] = nil
      default: item[name] = try combined(old[name], clause, try value(rest.popFirst()))
      }
    }
    checkEqual(Set(clauses).count, clauses.count, "a clause twice")
    return item
  }

  /// Returns a value, a path with its substitute if the path is absent, or the sum of two.
  private func operand(
    _ rest: inout ArraySlice<String>, _ old: DynamoStore.Item
  ) throws -> DynamoValue {
    var found: DynamoValue
    if rest.first == "if_not_exists" {
      rest.removeFirst()
      let arguments = try list(&rest)
      found = try old[try name(arguments.first)] ?? operand(arguments.last, old)
    } else {
      found = try operand(rest.popFirst(), old)
    }
    guard rest.first == "+" else { return found }
    rest.removeFirst()
    guard case .number(let left) = found, case .number(let right) = try operand(&rest, old) else {
      throw Fault(text: "sum")
    }
    found = .number(left + right)
    return found
  }

  private func operand(_ word: String?, _ old: DynamoStore.Item) throws -> DynamoValue {
    guard let word, word.hasPrefix("#") else { return try value(word) }
    guard let found = old[try name(word)] else { throw Fault(text: "no " + word) }
    return found
  }

  private func combined(
    _ old: DynamoValue?, _ clause: String, _ value: DynamoValue
  ) throws -> DynamoValue? {
    switch (clause, old, value) {
    case ("ADD", .number(let old)?, .number(let number)): return .number(old + number)
    case ("ADD", .texts(let old)?, .texts(let texts)): return .texts(old.union(texts))
    case ("ADD", nil, _): return value
    case ("DELETE", .texts(let old)?, .texts(let texts)):
      let left = old.subtracting(texts)
      return left.isEmpty ? nil : .texts(left)
    case ("DELETE", nil, _): return nil
    default: throw Fault(text: clause)
    }
  }
}

extension JSONValue {
  fileprivate static var none: JSONValue.Children {
    JSONValue.Children(json: JSON(bytes: [], nodes: []), parent: -1)
  }
}
