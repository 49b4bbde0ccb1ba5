import Testing

@testable import Assay

@Suite("JSON writer")
struct JSONWriterTests {
  private func written(_ body: (inout JSONWriter) -> Void) -> String {
    var writer = JSONWriter()
    body(&writer)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  @Test("DOC-1 members stand in the order in which they are written, without spaces")
  func order() {
    let text = written {
      $0.beginObject()
      $0.member("b", "x")
      $0.member("a", integer: 1)
      $0.member("n", integer: nil)
      $0.member("t", boolean: true)
      $0.member("u", boolean: nil)
      $0.name("list")
      $0.beginArray()
      $0.integer(1)
      $0.beginObject()
      $0.endObject()
      $0.beginArray()
      $0.endArray()
      $0.null()
      $0.string("s" as StaticString)
      $0.endArray()
      $0.name(Text("é\""))
      $0.raw(Array("{\"r\":1.50}".utf8))
      $0.endObject()
    }
    checkEqual(
      text,
      #"{"b":"x","a":1,"n":null,"t":true,"u":null,"list":[1,{},[],null,"s"],"#
        + #""é\"":{"r":1.50}}"#)
  }

  @Test(
    "DOC-2 integers past 2^53 are strings",
    arguments: [
      (0, "0"), (-1, "-1"), (9_007_199_254_740_991, "9007199254740991"),
      (9_007_199_254_740_992, "9007199254740992"),
      (9_007_199_254_740_993, "\"9007199254740993\""),
      (-9_007_199_254_740_992, "-9007199254740992"),
      (-9_007_199_254_740_993, "\"-9007199254740993\""),
      (.max, "\"9223372036854775807\""), (.min, "\"-9223372036854775808\""),
    ] as [(Int64, String)])
  func integers(value: Int64, expected: String) {
    checkEqual(written { $0.integer(value) }, expected)
  }

  @Test("DOC-2 what is escaped is found at each place of a text, whatever stands around it")
  func places() {
    func isEscaped(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x22 || byte == 0x5c }
    for around in [0x20, 0x61, 0x7f, 0xff] as [UInt8] {
      for place in 0..<17 {
        for byte in UInt8.min...UInt8.max {
          var text = [UInt8](repeating: around, count: 17)
          text[place] = byte
          let first = isEscaped(byte) ? place : 17
          checkEqual(ByteScan.firstEscaped(in: text.span, from: 0), first)
          checkEqual(ByteScan.firstEscaped(in: text.span, from: place + 1), 17)
        }
      }
    }
  }

  @Test("DOC-2 every character of a text comes back from the strict reader")
  func escaping() throws {
    var all: [UInt8] = Array(1...0x7f)
    all += Array("é€😀\u{2028}\u{10ffff}".utf8)
    var writer = JSONWriter()
    writer.beginObject()
    writer.name(Text(all))
    writer.string(Text(all))
    writer.endObject()
    let root = try JSONReader.readObject(writer.bytes).root
    let member = try require(root.children.first { _ in true })
    checkEqual(member.name, Text(all))
    checkEqual(member.text, Text(all))
    check(!writer.bytes.contains { $0 < 0x20 })
    checkEqual(
      written { $0.string(Text("\u{1}\u{1f}\"\\\n\r\t/")) }, #""\u0001\u001f\"\\\n\r\t/""#)
  }
}
