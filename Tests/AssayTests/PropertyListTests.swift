import AssayAuthority
import Testing

@testable import Assay

@Suite("Property list")
struct PropertyListTests {
  private func read(
    _ text: String, _ limits: PropertyList.Limits = .outer
  ) -> Result<PropertyList, Refusal> {
    read(utf8(text), limits)
  }

  private func read(
    _ bytes: [UInt8], _ limits: PropertyList.Limits = .outer
  ) -> Result<PropertyList, Refusal> {
    do throws(Refusal) {
      return .success(try PropertyList(bytes, limits: limits))
    } catch {
      return .failure(error)
    }
  }

  private func status(_ text: String) -> Status? { status(utf8(text)) }

  private func status(
    _ bytes: [UInt8], _ limits: PropertyList.Limits = .outer
  ) -> Status? {
    guard case .failure(let refusal) = read(bytes, limits) else { return nil }
    return refusal.status
  }

  private func place(_ text: String) -> String? {
    guard case .failure(let refusal) = read(text) else { return nil }
    return refusal.place
  }

  private func value(_ text: String, _ key: StaticString = "a") -> [UInt8]? {
    guard case .success(let list) = read(text) else { return nil }
    return list.value(key).map { Array($0) }
  }

  private let good = "{\n\t\"a\" = \"b\";\n\t\"c\" = \"d\";\n}"

  @Test("RCP-6 keys, values and their order come back from every way of writing them")
  func styles() throws {
    let text = PropertyListText([
      .init("signature", "AAAA"), .init("purchase-info", "ewo="), .init("pod", "100"),
      .init("empty", ""),
    ])
    for (name, style) in PropertyListText.Style.all {
      var written = text
      written.style = style
      let list = try PropertyList(written.bytes, limits: .outer)
      checkEqual(
        list.entries.map { Text(Array($0.key)) }, ["signature", "purchase-info", "pod", "empty"],
        "\(name)")
      checkEqual(
        list.entries.map { Text(Array($0.value)) }, ["AAAA", "ewo=", "100", ""], "\(name)")
      checkEqual(list.hasAppleLayout, (style.open == "{\n" && style.quote == nil), "\(name)")
    }
  }

  @Test("RCP-6 texts without quotation marks are marked, and may hold only these signs")
  func bareTexts() throws {
    let list = try PropertyList(utf8("{a=Az09_$/:.-;'b'=\"x\";}"), limits: .outer)
    checkEqual(list.entry("a").map { Array($0.value) }, utf8("Az09_$/:.-"))
    checkEqual(list.entry("a")?.isBare, true)
    checkEqual(list.entry("b")?.isBare, false)
    check(list.entry("c") == nil)
    for sign in "!#%&*+,?@^`|~\\)>]}" {
      checkEqual(status("{a=x\(sign)y;}"), .malformedPlistSyntax, "\(sign)")
    }
    checkEqual(status("{a=;}"), .malformedPlistSyntax)
  }

  @Test("RCP-6 every escape stands for its byte")
  func escapes() {
    let all: [(String, [UInt8])] = [
      ("\\a", [7]), ("\\b", [8]), ("\\f", [12]), ("\\n", [10]), ("\\r", [13]), ("\\t", [9]),
      ("\\v", [11]), ("\\\"", [0x22]), ("\\'", [0x27]), ("\\\\", [0x5c]), ("\\\n", [10]),
      ("\\1", [1]), ("\\101", [0x41]), ("\\1018", [0x41, 0x38]), ("\\177", [0x7f]),
      ("\\U0041", [0x41]), ("\\U00e9", [0xc3, 0xa9]), ("\\U20AC", [0xe2, 0x82, 0xac]),
    ]
    for (escape, bytes) in all {
      checkEqual(value("{a=\"x\(escape)y\";}"), [0x78] + bytes + [0x79], "\(escape)")
    }
    // Escapes work in keys too, in single quotation marks too, and twice in a list.
    checkEqual(value("{'\\141'='\\142';c=\"\\144\";}"), [0x62])
    checkEqual(value("{'\\141'='\\142';c=\"\\144\";}", "c"), [0x64])
    checkEqual(value("{a='\"';}"), [0x22])
    checkEqual(value("{a=\"'\";}"), [0x27])
  }

  @Test("RCP-6 an invalid escape is refused")
  func wrongEscapes() {
    for escape in ["\\c", "\\x41", "\\u0041", "\\8", "\\200", "\\777", "\\U004", "\\U00g1"] {
      checkEqual(status("{a=\"\(escape)\";}"), .malformedPlistSyntax, "\(escape)")
    }
    checkEqual(status("{a=\"\\"), .malformedPlistSyntax)
  }

  @Test("RCP-6 valid UTF-8 without NUL and without surrogates")
  func encoding() {
    checkEqual(value("{a=\"é€😀\";}"), utf8("é€😀"))
    let wrong: [[UInt8]] = [
      [0], [0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80],
    ]
    for bytes in wrong {
      let list = utf8("{a=\"") + bytes + utf8("\";}")
      checkEqual(status(list), .malformedPlistEncoding, "\(bytes)")
    }
    for escape in ["\\U0000", "\\0", "\\000", "\\UD800", "\\UDFFF"] {
      checkEqual(status("{a=\"\(escape)\";}"), .malformedPlistEncoding, "\(escape)")
    }
    check(status("{a=\"\\UD7FF\\UE000\";}") == nil)
    // A fault anywhere in the text, whatever its length.
    for length in 1...40 {
      for at in 0..<length {
        var bytes = [UInt8](repeating: 0x20, count: length)
        bytes[at] = 0
        checkEqual(status(bytes), .malformedPlistEncoding)
        bytes[at] = 0x80
        checkEqual(status(bytes), .malformedPlistEncoding)
      }
    }
  }

  @Test("RCP-7 a semicolon behind every pair, also the last")
  func semicolons() {
    checkEqual(status("{\"a\"=\"b\";\"c\"=\"d\"}"), .malformedPlistSyntax)
    checkEqual(status("{\"a\"=\"b\"\"c\"=\"d\";}"), .malformedPlistSyntax)
    checkEqual(status("{\"a\"=\"b\",\"c\"=\"d\";}"), .malformedPlistSyntax)
    checkEqual(status("{;}"), .malformedPlistSyntax)
    checkEqual(status("{\"a\"-\"b\";}"), .malformedPlistSyntax)
    checkEqual(status("{\"a\"=\"b\";;}"), .malformedPlistSyntax)
    check(status("{}") == nil)
  }

  @Test("RCP-7 nothing but white space behind the list, and the place is named")
  func trailing() {
    for tail in ["x", "}", "{}", ";", "\"\"", "// a", "/* a */"] {
      checkEqual(status(good + tail), .malformedPlistSyntax, "\(tail)")
      checkEqual(place(good + " \n" + tail), "byte \(good.utf8.count + 2)", "\(tail)")
    }
    check(status(good + " \t\r\n\u{0b}\u{0c}\u{2028}\u{2029}") == nil)
    checkEqual(status(good + "\u{2027}"), .malformedPlistSyntax)
    checkEqual(status(good + "\u{a0}"), .malformedPlistSyntax)
    checkEqual(status("\u{feff}" + good), .malformedPlistSyntax)
  }

  @Test("RCP-7 a text that ends too early is refused, wherever it ends")
  func truncation() {
    let bytes = utf8("{\n\t\"a\\\"\" = 'b\\101';\n\tc = d;\n}")
    check(status(bytes) == nil)
    for count in 0..<bytes.count {
      let part = String(decoding: bytes.prefix(count), as: UTF8.self)
      checkEqual(status(part), .malformedPlistSyntax, "\(count)")
      checkEqual(place(part), "byte \(count)")
    }
  }

  @Test("RCP-8 what belongs to the wider engine is named so")
  func constructs() {
    let all = [
      "{\"a\"=(\"b\");}", "{\"a\"=<62>;}", "{\"a\"={\"b\"=\"c\";};}", "{\"a\"=[1];}",
      "{(a)=b;}", "{{a=b;}=c;}", "{<61>=b;}", "{[a]=b;}",
      "{\"a\";}", "{a;}", "{\"a\":\"b\"}", "{\"a\" : 1}", "{\"a\":{\"b\":1}}",
      "(a,b)", "[1]", "<61>", "\"a\"=\"b\";", "a = b;", "'a' = b;",
      "// x\n{}", "/* x */{}", "{// x\n}", "{/* x */}", "{a /**/=b;}", "{a=/**/b;}",
      "{a= // x\nb;}", "{\"a\"=\"b\"/**/;}", "{\"a\"=\"b\";// x\n}", "{\"a\"=\"b\";/*",
      "<?xml version=\"1.0\"?><plist/>", "bplist00",
    ]
    for text in all { checkEqual(status(text), .malformedPlistConstruct, "\(text)") }
    checkEqual(status(utf8("bplist00") + [0xd1, 0, 0xff]), .malformedPlistConstruct)
    // A slash without another one begins no comment.
    checkEqual(value("{a=/b/c;}"), utf8("/b/c"))
    checkEqual(value("{a=b//c;}"), utf8("b//c"))
    // Texts that are no list of any kind.
    for text in ["{a/**/=b;}", "abc", "\"abc\"", "com.example.1", "=", "x y", "}"] {
      checkEqual(status(text), .malformedPlistSyntax, "\(text)")
    }
  }

  @Test("RCP-9 a duplicate key is refused, however it is written")
  func duplicates() {
    checkEqual(status("{\"a\"=\"b\";\"a\"=\"b\";}"), .malformedPlistDuplicateKey)
    checkEqual(status("{\"a\"=\"b\";a=c;}"), .malformedPlistDuplicateKey)
    checkEqual(status("{\"a\"=\"b\";\"\\141\"=c;}"), .malformedPlistDuplicateKey)
    checkEqual(status("{\"\\141\"=\"b\";'\\U0061'=c;}"), .malformedPlistDuplicateKey)
    checkEqual(status("{\"\"=\"b\";\"\"=c;}"), .malformedPlistDuplicateKey)
    checkEqual(place("{\"a\"=\"b\";\"c\"=\"d\";\"a\"=\"b\";}"), "byte 17")
    // Keys of the same length and with the same first, middle and last letter differ.
    check(status("{aXbca=1;aYbca=2;}") == nil)
    checkEqual(status("{aXbca=1;aYbca=2;aXbca=3;}"), .malformedPlistDuplicateKey)
    check(status("{a=1;A=2;}") == nil)
  }

  @Test("RCP-6 as many entries and as long ones as the limits allow")
  func limits() {
    func list(_ count: Int) -> [UInt8] {
      utf8("{" + (0..<count).map { "k\($0)=v;" }.joined() + "}")
    }
    check(status(list(64)) == nil)
    checkEqual(status(list(65)), .tooLargePlistEntry)
    for quote in ["\"", "'", ""] {
      func entry(_ key: Int, _ value: Int) -> [UInt8] {
        let (key, value) = (
          String(repeating: "k", count: key), String(repeating: "v", count: value)
        )
        return utf8("{\(quote)\(key)\(quote)=\(quote)\(value)\(quote);}")
      }
      check(status(entry(64, 1)) == nil)
      checkEqual(status(entry(65, 1)), .tooLargePlistEntry)
      check(status(entry(1, 4096), .info) == nil)
      checkEqual(status(entry(1, 4097), .info), .tooLargePlistEntry)
      check(status(entry(1, 12_288)) == nil)
      checkEqual(status(entry(1, 12_289)), .tooLargePlistEntry)
    }
    // The cap counts the unescaped bytes.
    func escaped(_ count: Int) -> [UInt8] {
      utf8("{a=\"" + String(repeating: "\\101", count: count) + "\";}")
    }
    check(status(escaped(4096), .info) == nil)
    checkEqual(status(escaped(4097), .info), .tooLargePlistEntry)
    checkEqual(PropertyList.Limits.outer(receiptBytes: 16_384).valueBytes, 12_288)
    checkEqual(PropertyList.Limits.outer(receiptBytes: 65_536).valueBytes, 49_152)
    checkEqual(PropertyList.Limits.outer(receiptBytes: 16).valueBytes, 12_288)
  }

  @Test("RCP-10 a hundred thousand opening braces cost no stack")
  func nesting() {
    let bytes = [UInt8](repeating: 0x7b, count: 100_000)
    checkEqual(status(bytes), .malformedPlistConstruct)
  }

  @Test("Apple's own layout is distinguished from a rewritten one")
  func layout() throws {
    func isApples(_ text: String) throws -> Bool {
      try PropertyList(utf8(text), limits: .info).hasAppleLayout
    }
    try check(isApples(good))
    try check(isApples("{\n}"))
    for other in [
      "{}", good + "\n", " " + good, "{\t\"a\" = \"b\";\n}", "{\n\"a\" = \"b\";\n}",
      "{\n\t\"a\"=\"b\";\n}", "{\n\t\"a\" = \"b\"; \n}", "{\n\ta = \"b\";\n}",
      "{\n\t\"a\" = b;\n}", "{\n\t'a' = \"b\";\n}", "{\n\t\"a\" = \"\\142\";\n}",
      "{\r\n\t\"a\" = \"b\";\r\n}", "{\n\t\"a\" = \"b\";\n\n}",
    ] {
      try check(!isApples(other), "\(other)")
    }
  }

  @Test("no bit flip and no byte out of place ends the process")
  func hostile() {
    let bytes = utf8("{\n\t\"a\\\"\" = 'b\\101\\U0041';\n\tc = d;\u{2028}}")
    var refused = 0
    for at in bytes.indices {
      for bit in 0..<8 {
        var other = bytes
        other[at] ^= 1 << UInt8(bit)
        switch read(other) {
        case .success(let list):
          for entry in list.entries { check(entry.value.count <= other.count) }
        case .failure: refused += 1
        }
      }
    }
    check(refused > bytes.count)
  }
}
