/// A statement as an engine accepts it: its constant text with the placeholders of the host's
/// driver, and one argument per occurrence (docs/spec/ledger-statements.md).
enum SQLText {
  typealias Values = [(name: StaticString, value: DatabaseValue)]

  /// Writes `"sql":…,"args":[…]`.
  ///
  /// - Parameter text: The statement with `:name` parameters and tables that begin with `assay_`;
  ///   it contains nothing that JSON escapes.
  static func write(
    _ text: StaticString, _ values: Values, _ policy: LedgerPolicy, _ writer: inout JSONWriter
  ) {
    let source = Text(stringLiteral: text).utf8
    let style = policy.placeholders ?? .qmark
    let prefix = policy.prefix.utf8
    // Table names are searched only if the prefix is not the standard one.
    let table: UInt8 = prefix == standardPrefix ? 0x3a : 0x61
    // Arguments are written beside the text, so that no value is copied.
    var arguments = JSONWriter(capacity: 32 &* values.count)
    var (count, next) = (0, 0)
    arguments.beginArray()
    writer.name("sql")
    writer.beginText()
    // Text between names and prefixes is copied in one go.
    var (at, copied) = (0, 0)
    while true {
      at = ByteScan.first(0x3a, or: table, in: source.span, from: at)
      guard at < source.count else { break }
      if source[at] == 0x3a, at &+ 1 < source.count, isNameByte(source[at &+ 1]) {
        let name = source[(at &+ 1)...].prefix(while: isNameByte)
        writer.extendText(source[copied..<at])
        write(name, values, &next, &arguments)
        count &+= 1
        writePlaceholder(style, count, &writer)
        at = name.endIndex
        copied = at
      } else if beginsPrefix(source, at) {
        writer.extendText(source[copied..<at])
        writer.extendText(prefix[...])
        at &+= standardPrefix.count
        copied = at
      } else {
        at &+= 1
      }
    }
    writer.extendText(source[copied...])
    writer.endText()
    arguments.endArray()
    writer.name("args")
    writer.raw(arguments.bytes)
  }

  /// Writes the value of that name. The search starts after the last value written, because most
  /// statements name values in the order in which they are given.
  ///
  /// - Parameter next: The index after the value written last.
  private static func write(
    _ name: ArraySlice<UInt8>, _ values: Values, _ next: inout Int, _ writer: inout JSONWriter
  ) {
    for step in 0..<values.count {
      let place = (next &+ step) % values.count
      guard name.elementsEqual(values[place].name) else { continue }
      next = place &+ 1
      return values[place].value.write(&writer)
    }
    writer.null()
  }

  private static func writePlaceholder(
    _ style: LedgerPolicy.Placeholders, _ number: Int, _ writer: inout JSONWriter
  ) {
    switch style {
    case .qmark: writer.extendText(0x3f)
    case .dollar:
      writer.extendText(0x24)
      for digit in String(number).utf8 { writer.extendText(digit) }
    case .format:
      writer.extendText(0x25)
      writer.extendText(0x73)
    }
  }

  private static let standardPrefix: [UInt8] = Array("assay_".utf8)

  private static func isNameByte(_ byte: UInt8) -> Bool {
    (byte >= 0x61 && byte <= 0x7a) || byte == 0x5f
  }

  /// Whether the standard prefix begins at this index, and a word with it.
  private static func beginsPrefix(_ source: [UInt8], _ at: Int) -> Bool {
    source[at...].starts(with: standardPrefix) && (at == 0 || !isNameByte(source[at &- 1]))
  }
}
