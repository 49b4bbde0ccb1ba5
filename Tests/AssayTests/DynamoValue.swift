import Testing

@testable import Assay

/// A typed value of DynamoDB.
enum DynamoValue: Equatable {
  case text(String)
  case number(Int64)
  case texts(Set<String>)

  init(_ value: JSONValue) throws {
    checkEqual(value.count, 1)
    if let text = value.member("S")?.text {
      self = .text(text.string)
    } else if let digits = value.member("N")?.text {
      self = .number(try require(Int64(digits.string)))
    } else {
      let set = try require(value.member("SS"))
      self = .texts(Set(set.children.compactMap { $0.text?.string }))
      check(set.count > 0, "an empty set")
    }
  }

  static func item(_ value: JSONValue) throws -> DynamoStore.Item {
    var item: DynamoStore.Item = [:]
    for child in value.children { item[child.name.string] = try DynamoValue(child) }
    for name in ["PK", "SK", "owner_pk", "owner_sk", "due_pk"] {
      check(item[name] != .text(""), "an empty key")
    }
    return item
  }

  func precedes(_ other: DynamoValue) -> Bool {
    switch (self, other) {
    case (.text(let left), .text(let right)): return left < right
    case (.number(let left), .number(let right)): return left < right
    default: return false
    }
  }

  var json: String {
    var writer = JSONWriter()
    writer.beginObject()
    switch self {
    case .text(let text): writer.member("S", Text(text))
    case .number(let number): writer.member("N", Text("\(number)"))
    case .texts(let texts): writer.texts("SS", texts.sorted().map { Text($0) })
    }
    writer.endObject()
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  static func json(_ item: DynamoStore.Item) -> String {
    let members = item.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value.json)" }
    return "{" + members.joined(separator: ",") + "}"
  }
}
