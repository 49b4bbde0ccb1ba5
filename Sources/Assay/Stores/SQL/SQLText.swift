/// A statement as an engine takes it: its constant text with the placeholders of the
/// host's driver, and one argument per occurrence (docs/spec/store-statements.md).
struct SQLText {
  private(set) var text: [UInt8] = []
  private(set) var arguments: [StoreValue] = []

  init(
    _ statement: SQLStatement, _ values: [(name: StaticString, value: StoreValue)],
    _ context: StoreContext
  ) {
    let source = Text(stringLiteral: statement.text(context.dialect) ?? "").utf8
    let style = context.policy.placeholders ?? .qmark
    let prefix = context.policy.prefix.utf8
    // A table's name is looked for only where it is another.
    let table: UInt8 = prefix == SQLText.standardPrefix ? 0x3a : 0x61
    text.reserveCapacity(source.count &+ 32)
    var at = 0
    // What lies between names and prefixes is copied in one go.
    var copied = 0
    while true {
      at = ByteScan.first(0x3a, or: table, in: source.span, from: at)
      guard at < source.count else { break }
      if source[at] == 0x3a, at &+ 1 < source.count, SQLText.isNameByte(source[at &+ 1]) {
        let name = source[(at &+ 1)...].prefix(while: SQLText.isNameByte)
        text.append(contentsOf: source[copied..<at])
        arguments.append(SQLText.value(name, values, from: arguments.count))
        appendPlaceholder(style)
        at = name.endIndex
        copied = at
      } else if SQLText.beginsPrefix(source, at) {
        text.append(contentsOf: source[copied..<at])
        text.append(contentsOf: prefix)
        at &+= SQLText.standardPrefix.count
        copied = at
      } else {
        at &+= 1
      }
    }
    text.append(contentsOf: source[copied...])
  }

  /// Most statements name values in the order in which they are given.
  private static func value(
    _ name: ArraySlice<UInt8>, _ values: [(name: StaticString, value: StoreValue)], from place: Int
  ) -> StoreValue {
    if place < values.count, name.elementsEqual(values[place].name) { return values[place].value }
    return values.first { name.elementsEqual($0.name) }?.value ?? .null
  }

  func write(_ writer: inout JSONWriter) {
    writer.name("sql")
    writer.string(utf8: text)
    writer.name("args")
    writer.beginArray()
    for argument in arguments { argument.write(&writer) }
    writer.endArray()
  }

  private mutating func appendPlaceholder(_ style: StoresPolicy.Placeholders) {
    switch style {
    case .qmark: text.append(0x3f)
    case .dollar:
      text.append(0x24)
      text.append(contentsOf: String(arguments.count).utf8)
    case .format: text.append(contentsOf: [0x25, 0x73])
    }
  }

  private static let standardPrefix: [UInt8] = Array("assay_".utf8)

  private static func isNameByte(_ byte: UInt8) -> Bool {
    (byte >= 0x61 && byte <= 0x7a) || byte == 0x5f
  }

  /// At the beginning of a word.
  private static func beginsPrefix(_ source: [UInt8], _ at: Int) -> Bool {
    guard source[at] == 0x61, source[at...].starts(with: standardPrefix) else { return false }
    return at == 0 || !isNameByte(source[at &- 1])
  }
}
