import Testing

@testable import Assay

/// Tests accepted and refused texts of the strict reader beyond the case table, each refused text
/// beside an accepted one that differs in one thing (JWS-6).
@Suite("JSON reader")
struct JSONReaderTests {
  private func fault(_ bytes: [UInt8], _ caps: JSONCaps = .evidence) -> JSONFault.Reason? {
    do {
      _ = try JSONReader.readObject(bytes, caps: caps)
      return nil
    } catch {
      return error.reason
    }
  }

  private func fault(_ text: String) -> JSONFault.Reason? { fault(utf8(text)) }

  private func root(_ text: String) throws -> JSONValue {
    try JSONReader.readObject(utf8(text)).root
  }

  @Test("JWS-6 a good object is taken, with its values and their order")
  func goodObject() throws {
    let value = try root(
      #" { "a" : [ 1 , "x" , true , false , null , {} , [] ] , "b" : {"c":-0} } "#)
    checkEqual(value.kind, .object)
    checkEqual(value.count, 2)
    let list = try require(value.member("a"))
    checkEqual(list.count, 7)
    checkEqual(
      list.children.map(\.kind), [.number, .string, .boolean, .boolean, .null, .object, .array])
    checkEqual(list.children.map(\.boolean), [nil, nil, true, false, nil, nil, nil])
    checkEqual(value.member("b")?.member("c")?.integer, 0)
    checkEqual(value.member("b")?.source.elementsEqual(#"{"c":-0}"#), true)
    checkEqual(value.children.map { $0.name.string }, ["a", "b"])
    check(value.member("c") == nil)
  }

  @Test("JWS-6 nothing after the object but white space")
  func trailing() {
    check(fault("{} \t\r\n") == nil)
    for text in ["{}{}", "{},", "{}x", "{} []", "{}//"] { checkEqual(fault(text), .trailing) }
    checkEqual(fault([0x7b, 0x7d, 0]), .nul)
    checkEqual(fault([0x7b, 0x7d, 0x0c]), .trailing)
  }

  @Test(
    "JWS-6 UTF-8 is checked",
    arguments: [
      ([0x80], false), ([0xbf], false), ([0xc2], false), ([0xc1, 0xbf], false),
      ([0xc0, 0x80], false), ([0xc2, 0x80], true), ([0xc2, 0x7f], false), ([0xdf, 0xbf], true),
      ([0xe0, 0x9f, 0xbf], false), ([0xe0, 0xa0, 0x80], true), ([0xed, 0x9f, 0xbf], true),
      ([0xed, 0xa0, 0x80], false), ([0xee, 0x80, 0x80], true), ([0xef, 0xbf, 0xbf], true),
      ([0xe2, 0x82], false), ([0xe2, 0x28, 0xac], false), ([0xe2, 0x82, 0x28], false),
      ([0xf0, 0x8f, 0xbf, 0xbf], false), ([0xf0, 0x90, 0x80, 0x80], true),
      ([0xf4, 0x8f, 0xbf, 0xbf], true), ([0xf4, 0x90, 0x80, 0x80], false),
      ([0xf5, 0x80, 0x80, 0x80], false), ([0xf0, 0x90, 0x80], false), ([0xff], false),
    ] as [([UInt8], Bool)])
  func encoding(bytes: [UInt8], isGood: Bool) {
    checkEqual(fault(utf8("{\"a\":\"") + bytes + utf8("\"}")), (isGood ? nil : .utf8))
    checkEqual(fault(utf8("{\"") + bytes + utf8("\":1}")), (isGood ? nil : .utf8))
    checkEqual(UTF8Sequence.isValid(bytes), isGood)
    // Compares with the standard library's own validation.
    checkEqual(String(validating: bytes, as: UTF8.self) != nil, isGood)
  }

  @Test("JWS-6 no name twice, after unescaping, at any depth")
  func duplicateNames() {
    for text in [
      #"{"a":1,"a":2}"#, #"{"a":1,"\u0061":2}"#, #"{"\u0061":1,"a":1}"#,
      #"{"x":{"a":1,"b":2,"a":3}}"#, #"{"x":[{"a":1,"a":1}]}"#, #"{"":1,"":1}"#,
      #"{"\ud83d\ude00":1,"😀":1}"#, #"{"a\/b":1,"a/b":1}"#, #"{"a":{"q":1},"b":[2],"a":1}"#,
    ] {
      checkEqual(fault(text), .duplicateName, "\(text)")
    }
    for text in [
      #"{"a":1,"A":2}"#, #"{"a":1,"b":{"a":2}}"#, #"{"a":[{"a":1},{"a":1}]}"#,
      "{\"\u{e9}\":1,\"e\u{301}\":2}", #"{"a":1,"a\u0020":2}"#,
    ] {
      check(fault(text) == nil, "\(text)")
    }
  }

  @Test("JWS-6 no NUL, neither as a byte nor as an escape")
  func nul() {
    checkEqual(fault([0x7b, 0, 0x7d]), .nul)
    checkEqual(fault(utf8("{\"a\":") + [0] + utf8("}")), .nul)
    checkEqual(fault(utf8("{\"a") + [0] + utf8("\":1}")), .nul)
    checkEqual(fault(utf8("{\"a\":1") + [0] + utf8("}")), .nul)
    checkEqual(fault(#"{"a":"\u0000"}"#), .nul)
    checkEqual(fault(#"{"\u0000":1}"#), .nul)
    check(fault(#"{"a":"\u0001"}"#) == nil)
    check(fault(#"{"a":"\\u0000"}"#) == nil)
  }

  @Test("JWS-6 depth 32 is taken, 33 is not", arguments: [0x5b, 0x7b] as [UInt8])
  func depth(bracket: UInt8) {
    func nest(_ count: Int) -> [UInt8] {
      let opening = bracket == 0x5b ? utf8("[") : utf8("{\"a\":")
      let inner = bracket == 0x5b ? utf8("[]") : utf8("{}")
      var text = utf8("{\"a\":")
      for _ in 0..<(count - 2) { text += opening }
      text += inner
      for _ in 0..<(count - 2) { text.append(bracket == 0x5b ? 0x5d : 0x7d) }
      return text + utf8("}")
    }
    check(fault(nest(31)) == nil)
    check(fault(nest(32)) == nil)
    checkEqual(fault(nest(33)), .depth)
    checkEqual(
      fault([UInt8](repeating: bracket, count: 100_000)), (bracket == 0x5b ? .depth : .syntax))
  }

  @Test("JWS-6 1,024 elements are taken, 1,025 are not")
  func elements() {
    func array(_ count: Int, _ element: String) -> String {
      "{\"a\":[" + [String](repeating: element, count: count).joined(separator: ",") + "]}"
    }
    for element in ["[]", "{}", "\"\""] {
      check(fault(array(1024, element)) == nil)
      checkEqual(fault(array(1025, element)), .elements)
    }
  }

  @Test("JWS-6 names of 256 bytes are taken, of 257 not, counted after unescaping")
  func names() {
    func object(_ name: String) -> String { "{\"\(name)\":1}" }
    check(fault(object(String(repeating: "é", count: 128))) == nil)
    checkEqual(fault(object(String(repeating: "é", count: 128) + "n")), .name)
    check(fault(object(String(repeating: "\\u006e", count: 256))) == nil)
    checkEqual(fault(object(String(repeating: "\\u006e", count: 257))), .name)
  }

  @Test(
    "JWS-6 numbers are spelt as RFC 8259 says",
    arguments: [
      ("0", true), ("-0", true), ("10", true), ("0.5", true), ("1e5", true), ("1E+5", true),
      ("1e-05", true), ("-1.50e10", true), ("01", false), ("-", false), ("+1", false),
      (".5", false), ("5.", false), ("1e", false), ("1e+", false), ("0x1", false),
      ("-01", false), ("1.e5", false), ("NaN", false), ("Infinity", false), ("1_0", false),
    ])
  func numberSpelling(text: String, isGood: Bool) {
    checkEqual(fault("{\"a\":\(text)}"), (isGood ? nil : .syntax))
  }

  @Test(
    "JWS-6 no leniency",
    arguments: [
      "{\"a\":1,}", "{,}", "{\"a\"}", "{\"a\":}", "{\"a\" 1}", "{a:1}", "{'a':1}", "{\"a\":[1,]}",
      "{\"a\":[,1]}", "{\"a\":[1 2]}", "{\"a\":1 \"b\":2}", "{\"a\":[1}", "{\"a\":{]}", "{\"a\":1",
      "{\"a", "{\"a\":tru}", "{\"a\":True}", "{\"a\":nul}", "{\"a\":truee}", "{/**/}",
      "{\"a\":\"\t\"}",
      "{\"a\":\"\n\"}", "{\"a\":\"\\x\"}", "{\"a\":\"\\u12\"}", "{\"a\":\"\\u12G4\"}",
      "{\"a\":\"\\\"}",
      "{\"a\":\"\\U0041\"}", "{1:1}", "{\"a\"::1}", "}", "{\u{a0}}", "{\"a\":[}", "{null:1}",
    ])
  func syntax(text: String) {
    checkEqual(fault(text), .syntax, "\(text)")
  }

  @Test("JWS-6 escapes stand for their characters")
  func escapes() throws {
    let value = try root(#"{"a":"\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\ud83d\ude00z"}"#)
    let text = try require(value.member("a")?.text)
    checkEqual(text, Text("\"\\/\u{8}\u{c}\n\r\tAé€😀z"))
    try checkEqual(root(#"{"\u0061lg":1}"#).member("alg")?.integer, 1)
  }

  @Test("JWS-6 surrogates only in pairs")
  func surrogates() throws {
    for text in [
      #"\ud800"#, #"\udc00"#, #"\ud800x"#, #"\ud800\u0041"#, #"\udc00\ud800"#, #"\ud800\ud800"#,
      #"\ud800\n"#, #"\udbff"#, #"\ud83d\ude0"#,
    ] {
      let reason = fault("{\"a\":\"\(text)\"}")
      checkEqual(reason, .utf8, "\(text)")
    }
    let edges = try root(#"{"a":"\ud800\udc00","b":"\udbff\udfff","c":"\ud7ff","d":"\ue000"}"#)
    checkEqual(edges.member("a")?.text, Text("\u{10000}"))
    checkEqual(edges.member("b")?.text, Text("\u{10ffff}"))
    checkEqual(edges.member("c")?.text, Text("\u{d7ff}"))
    checkEqual(edges.member("d")?.text, Text("\u{e000}"))
  }

  @Test(
    "JWS-103 integers are exact, and only integers",
    arguments: [
      ("0", 0), ("-0", 0), ("9007199254740993", 9_007_199_254_740_993),
      ("9223372036854775807", .max), ("-9223372036854775808", .min),
      ("9223372036854775808", nil), ("-9223372036854775809", nil), ("1.0", nil), ("1e3", nil),
      ("1E0", nil), ("99999999999999999999999", nil), ("1000000000000000000000000000000", nil),
    ] as [(String, Int64?)])
  func integers(text: String, expected: Int64?) throws {
    try checkEqual(root("{\"a\":\(text)}").member("a")?.integer, expected)
    try check(root("{\"a\":\"\(text)\"}").member("a")?.integer == nil)
  }

  @Test(
    "JWS-81 numbers are cut to their whole part by text",
    arguments: [
      ("1697679936056.485", 1_697_679_936_056), ("1697679936056", 1_697_679_936_056),
      ("0.999", 0), ("-1.9", -1), ("1.5e3", 1500), ("15e-1", 1),
      ("1.6976799360564859e12", 1_697_679_936_056),
      ("1e18", 1_000_000_000_000_000_000), ("1e19", nil), ("1e30", nil), ("1e99999999999", nil),
      ("0e99999999999", 0), ("1e-99999999999", 0), ("-62135769600000", -62_135_769_600_000),
      ("9223372036854775807.9", .max), ("9223372036854775808.0", nil),
      ("0.0000000000000000001e19", 1), ("-9223372036854775808.5", .min),
    ] as [(String, Int64?)])
  func truncation(text: String, expected: Int64?) throws {
    try checkEqual(root("{\"a\":\(text)}").member("a")?.truncated, expected)
  }

  @Test("PAY-3 null is absent for `present`, and only for it")
  func null() throws {
    let value = try root(#"{"a":null,"b":0}"#)
    checkEqual(value.member("a")?.isNull, true)
    check(value.present("a") == nil)
    checkEqual(value.present("b")?.integer, 0)
  }

  @Test("JWS-6 every prefix of a text, and every byte of it changed, is judged without a trap")
  func mutations() throws {
    let text = utf8(#"{"a":[1,-2.5e3,"\u00e9\ud83d\ude00\n"],"b":{"c":null,"d":true},"e":"é"}"#)
    var taken = 0
    for end in 0..<text.count {
      check(fault(Array(text[..<end])) != nil)
      for byte in [0x00, 0x22, 0x5c, 0x7b, 0x7d, 0x2c, 0x39, 0x80, 0xff] as [UInt8] {
        var other = text
        other[end] = byte
        if let json = try? JSONReader.readObject(other) {
          taken += 1
          // An accepted text can be walked to its last value.
          checkEqual(walk(json.root), json.nodes.count)
        }
      }
    }
    check(taken > 0)
  }

  private func walk(_ value: JSONValue) -> Int {
    _ = (value.text, value.integer, value.truncated, value.name, value.boolean)
    return value.children.reduce(1) { $0 + walk($1) }
  }
}
