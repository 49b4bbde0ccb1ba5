/// The INFO of a Redis server (STO-83): managed services allow INFO and forbid CONFIG. Clients
/// return its text, or the names and values parsed from it.
struct RedisInfo {
  private var fields: [(name: Text, value: Text)] = []

  static func calls(_ sections: [Text]) -> [DatabaseCall] {
    sections.map { .command(["INFO", $0]) }
  }

  /// - Throws: `unavailable.database.unexpected-reply`.
  init(_ results: some Sequence<DatabaseResult>) throws(LedgerSuspension) {
    for result in results {
      guard case .reply(let values) = result else { throw .shape("reply") }
      if values.count == 1, case .text(let text)? = values.first {
        addSubscriptions(text)
      } else {
        addPairs(values)
      }
    }
  }

  /// Returns a field; `nil` if the server does not report the field.
  subscript(_ name: StaticString) -> Text? {
    fields.first { $0.name.utf8[...].elementsEqual(name) }?.value
  }

  private mutating func addSubscriptions(_ text: Text) {
    for line in text.utf8.split(separator: 0x0a) {
      let line = line.last == 0x0d ? line.dropLast() : line
      guard let colon = line.firstIndex(of: 0x3a) else { continue }
      fields.append((Text(Array(line[..<colon])), Text(Array(line[(colon &+ 1)...]))))
    }
  }

  private mutating func addPairs(_ values: [DatabaseValue]) {
    for place in stride(from: 0, to: values.count &- 1, by: 2) {
      guard case .text(let name) = values[place] else { continue }
      switch values[place &+ 1] {
      case .text(let text): fields.append((name, text))
      case .integer(let number): fields.append((name, Text(String(number))))
      case .null: continue
      }
    }
  }
}
