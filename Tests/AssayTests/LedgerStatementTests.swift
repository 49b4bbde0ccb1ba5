import AssayAuthority
import Testing

@testable import Assay

/// Tests the text and arguments of statements (docs/spec/ledger-statements.md).
@Suite("Stores: statements")
struct LedgerStatementTests {
  private static let engines: [LedgerEngine] = [.sqlite, .postgres, .mariadb]

  private static let texts: [String] = engines.flatMap { engine in
    let statements = SQLStatement.allCases.compactMap { $0.text(engine) }
    let tables = SchemaTable.allCases.compactMap { $0.create(engine) }
    let indexes = SchemaTable.allCases.flatMap { $0.indexes }
    return (statements + tables + indexes).map { "\($0)" }
  }

  private func policy(_ more: [(String, JSONText)]) throws -> LedgerPolicy {
    try require(
      try ConfigurationReader.read(
        try Minted.config([("ledger", StoreAnswer.stores(.sqlite, more))]).bytes
      ).ledger)
  }

  /// Returns `"sql"` and `"args"` of a statement.
  private func written(
    _ text: StaticString, _ values: SQLText.Values, _ policy: LedgerPolicy
  ) throws -> (sql: String, arguments: String) {
    var writer = JSONWriter()
    writer.beginObject()
    SQLText.write(text, values, policy, &writer)
    writer.endObject()
    let root = try JSONReader.readObject(writer.bytes, caps: .evidence).root
    return (
      try require(root.member("sql")?.text).string,
      String(decoding: try require(root.member("args")).source, as: UTF8.self)
    )
  }

  @Test("STO-5 the texts hold nothing that JSON escapes, and the prefix only before tables")
  func plain() {
    for text in Self.texts {
      let isPlain = text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f && $0 != 0x22 && $0 != 0x5c }
      check(isPlain, "\(text)")
      for part in text.components(of: "assay_").dropFirst() {
        checkEqual(part.first?.isLowercase, true, "\(text)")
      }
    }
    check(Self.texts.count > 200)
  }

  @Test(
    "STO-5 the configured prefix stands in place of every standard one, and of nothing else",
    arguments: ["assay_", "a", "shop_", "as"])
  func prefixes(_ prefix: String) throws {
    let policy = try policy([("prefix", .string(prefix))])
    for engine in Self.engines {
      for statement in SQLStatement.allCases {
        guard let text = statement.text(engine) else { continue }
        let plain = "\(text)".replacing("assay_", with: prefix)
        try checkEqual(written(text, [], policy).sql, Self.unnamed(plain), "\(text)")
      }
    }
    // In the middle of a word there is no table name.
    try checkEqual(
      written("SELECT my_assay_a, _assay_b, assa, assay FROM assay_c", [], policy).sql,
      "SELECT my_assay_a, _assay_b, assa, assay FROM \(prefix)c")
  }

  /// Returns the text with a question mark for each `:name`.
  private static func unnamed(_ text: String) -> String {
    var (result, isName) = ("", false)
    for character in text {
      let belongs = isName && (character.isLetter || character == "_")
      if belongs { continue }
      isName = character == ":"
      result += isName ? "?" : String(character)
    }
    return result
  }

  @Test("STO-2 one argument for each occurrence, in their order, whatever the order of the values")
  func arguments() throws {
    let text: StaticString = "SELECT :b, :a, :a_b, :b WHERE :a = ':' AND 1:1"
    let values: SQLText.Values = [
      ("a", .integer(1)), ("a_b", .text("x\"")), ("b", .null), ("c", .integer(3)),
    ]
    for (style, marks) in [
      ("qmark", ["?", "?", "?", "?", "?"]), ("dollar", ["$1", "$2", "$3", "$4", "$5"]),
      ("format", ["%s", "%s", "%s", "%s", "%s"]),
    ] {
      let engines: [String: JSONText] = ["dollar": "postgres", "format": "mariadb"]
      let policy = try policy([
        ("engine", engines[style] ?? "sqlite"), ("placeholders", .string(style)),
      ])
      for order in [values, values.reversed()] {
        let found = try written(text, order, policy)
        checkEqual(
          found.sql,
          "SELECT \(marks.prefix(4).joined(separator: ", ")) "
            + "WHERE \(marks[4]) = ':' AND 1:1")
        checkEqual(found.arguments, #"[null,1,"x\"",null,1]"#)
      }
    }
    // A missing argument becomes null.
    let missing = try written(":a,:z", [("a", .integer(1))], try policy([]))
    checkEqual(missing.arguments, "[1,null]")
    try checkEqual(written(":a", [], try policy([])).arguments, "[null]")
  }
}

extension String {
  fileprivate func components(of separator: String) -> [String] {
    var parts: [String] = []
    var rest = self[...]
    while let found = rest.firstRange(of: separator) {
      parts.append(String(rest[..<found.lowerBound]))
      rest = rest[found.upperBound...]
    }
    return parts + [String(rest)]
  }
}
