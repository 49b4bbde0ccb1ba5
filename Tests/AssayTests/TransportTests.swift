import AssayAuthority
import Testing

@testable import Assay

@Suite("Transport")
struct TransportTests {
  private static let cap = 1 << 16
  /// A list whose base64 contains `+`, `/` and padding.
  private static let list: [UInt8] = {
    let blob = (0..<600).map { UInt8(truncatingIfNeeded: $0 &* 251 &+ 249) }
    return PropertyListText([
      .init("signature", bytes: Base64Text.encode(blob)), .init("purchase-info", "ewo="),
      .init("note", "~~~???>>>"),
    ]).bytes + utf8("\n")
  }()
  /// A SEQUENCE that fills the bytes.
  private static let container: [UInt8] =
    [0x30, 0x82, 0x01, 0x00] + (0..<256).map { UInt8(truncatingIfNeeded: $0 &* 13 &+ 1) }

  private func read(_ input: [UInt8], cap: Int = TransportTests.cap) throws -> Transport {
    try Transport(input, cap: cap)
  }

  private func refusal(_ input: [UInt8], cap: Int = TransportTests.cap) -> Refusal? {
    do throws(Refusal) {
      _ = try Transport(input, cap: cap)
      return nil
    } catch {
      return error
    }
  }

  private func status(_ input: [UInt8], cap: Int = TransportTests.cap) -> Status? {
    refusal(input, cap: cap)?.status
  }

  @Test("RCP-1 raw bytes are taken as they are")
  func raw() throws {
    for (bytes, form) in [
      (Self.list, BlobForm.list), (utf8(" \r\n{}"), .list), (Self.container, .container),
      ([0x30, 0x80, 0, 0], .container), ([0x30, 0x84, 0, 0, 0, 0], .container),
      (utf8("eyJh.eyJi.c2ln"), .jws),
    ] {
      let transport = try read(bytes)
      checkEqual(transport.bytes, bytes)
      checkEqual(transport.form, form)
      checkEqual(transport.levels, 0)
    }
    // 30 7f and 30 85 are not a SEQUENCE of the lengths that receipts have.
    checkEqual(status([0x30, 0x7f] + [UInt8](repeating: 1, count: 9)), .malformedTransportBase64)
    checkEqual(status([0x30, 0x85] + [UInt8](repeating: 1, count: 9)), .malformedTransportBase64)
  }

  @Test("RCP-1 a JWS has exactly two dots and no other character")
  func tokens() throws {
    try checkEqual(read(utf8(" eyJh.eyJi.c2ln\n")).bytes, utf8("eyJh.eyJi.c2ln"))
    try checkEqual(read(utf8("abcd.eyJi.c2ln")).form, .unknown)
    for text in ["eyJh.eyJi", "eyJh.eyJi.c2ln.c2ln", "eyJh.ey+i.c2ln", "eyJh.eyJi.c2ln="] {
      checkEqual(status(utf8(text)), .malformedTransportBase64, "\(text)")
    }
  }

  @Test("RCP-2 what is no base64")
  func notBase64() {
    for text in [
      "=", "==", "A", "A===", "AB===", "ABC==", "ABCD=", "ABCD====", "AB=C", "=ABC", "AB==CD==",
      "ABCDE", "ew.o", "ewo*", "ewo,", "+-==", "AA+/_-AA", "é",
    ] {
      check(TolerantBase64.decode(utf8(text)[...]) == nil, "\(text)")
      checkEqual(status(utf8(text)), .malformedTransportBase64, "\(text)")
    }
    // Texts with unused bits.
    for text in ["AB", "AB==", "ABC", "ABC=", "A B\n", "Zh", "Zm9"] {
      check(TolerantBase64.decode(utf8(text)[...]) == nil, "\(text)")
    }
    for (text, bytes) in [
      ("AA", [0]), ("AA=", [0]), ("AA==", [0]), ("AAA", [0, 0]), ("AAA=", [0, 0]),
      ("A A\r\nA\tA", [0, 0, 0]), ("-_-_", [0xfb, 0xff, 0xbf]), ("+/+/", [0xfb, 0xff, 0xbf]),
      ("", []), (" \n", []),
    ] as [(String, [UInt8])] {
      checkEqual(TolerantBase64.decode(utf8(text)[...]), bytes, "\(text)")
      checkEqual(TolerantBase64.decode((utf8("..") + utf8(text))[2...]), bytes, "\(text)")
    }
  }

  @Test("RCP-2 a fault is named by its byte, and percent escapes by what they are")
  func faults() {
    checkEqual(refusal(utf8("ewo*"))?.place, "byte 3")
    checkEqual(refusal(utf8("\r\newo\u{7f}"))?.place, "byte 5")
    checkEqual(refusal(utf8("ewoAA"))?.place, "")
    let escaped = refusal(TransportForm.percentEscaped.encode(Self.list))
    checkEqual(escaped?.status, .malformedTransportBase64)
    checkEqual(escaped?.detail, "form field not decoded")
    for text in ["ew%2Bo", "ewo%3d"] {
      checkEqual(refusal(utf8(text))?.detail, "form field not decoded")
    }
    for text in ["ew%2", "ew%", "ew%xxo", "ew%2xo"] {
      checkEqual(refusal(utf8(text))?.detail, "")
    }
  }

  @Test("RCP-2 nothing but CR, LF, TAB and spaces may stand around a text either")
  func around() throws {
    for end in [" ", "\t", "\r\n"] { try checkEqual(read(utf8("AAAA" + end)).bytes, [0, 0, 0]) }
    for end in ["\u{0b}", "\u{0c}"] {
      checkEqual(status(utf8("AAAA" + end)), .malformedTransportBase64)
      checkEqual(status(utf8(end + "AAAA")), .malformedTransportBase64)
    }
  }

  @Test("RCP-5 three parts of digits that begin as a property list does are that")
  func parts() throws {
    try checkEqual(read(utf8("bplist00.a.b ")).form, .binaryPropertyList)
    try checkEqual(read(utf8("eyJ.a.b ")).form, .jws)
    try checkEqual(read(utf8("abc.a.b ")).form, .unknown)
  }

  @Test("RCP-3 spaces are removed when that gives a whole form, and are + otherwise")
  func spaces() throws {
    let text = Base64Text.encode(Self.list)
    // A space where there was no `+`.
    var spaced = text
    spaced.insert(0x20, at: 100)
    try checkEqual(read(spaced).bytes, Self.list)
    try check(!read(spaced).spaceAsPlus)
    // Line breaks with spaces around them are line breaks.
    var indented = TransportForm.wrappedLF.encode(Self.list)
    indented = utf8("  ") + indented.flatMap { $0 == 0x0a ? utf8("  \n    ") : [$0] }
    try checkEqual(read(indented).bytes, Self.list)
    // Neither reading has a known format: the first one wins.
    let unknown = utf8("AA AAAA ")
    try checkEqual(read(unknown).form, .unknown)
    try check(!read(unknown).spaceAsPlus)
    // Only the second reading is base64 at all.
    try check(read(utf8("AA AA A")).spaceAsPlus)
    // Neither reading is base64.
    checkEqual(status(utf8("AAAA B")), .malformedTransportBase64)
    checkEqual(status(utf8("A* A")), .malformedTransportBase64)
  }

  @Test("RCP-3 a container cut short by lost spaces is not taken for whole")
  func containerSpaces() throws {
    // The base64 has four `+`, so that the text without them is base64 too, with the same end.
    let body: [UInt8] = [0xfb, 0xef, 0xbe] + [UInt8](repeating: 0x55, count: 141)
    let definite: [UInt8] = [0x30, 0x81, 0x93, 0x04, 0x81, 0x90] + body
    let indefinite: [UInt8] = [0x30, 0x80, 0x04, 0x81, 0x91, 0x41] + body + [0, 0]
    for bytes in [definite, indefinite] {
      let lost = TransportForm.spaceForPlus.encode(bytes)
      checkEqual(lost.count(where: { $0 == 0x20 }), 4)
      checkEqual(TolerantBase64.decode(lost[...])?.suffix(2), bytes.suffix(2))
      try checkEqual(read(lost).bytes, bytes)
      try check(read(lost).spaceAsPlus)
    }
  }

  @Test("RCP-4 base64 twice, never three times")
  func levels() throws {
    for bytes in [
      Self.list, Self.container, utf8("{\"a\":1}"), utf8("eyJh.eyJi.c2ln"),
      [0xa3, 0x63] + utf8("fmt and more"), [0xa2, 0x69] + utf8("signature and more"),
      utf8("bplist00abc"),
      utf8("<?xml version=\"1.0\"?>"), utf8("com.urus.iap.12345678"),
    ] {
      let once = Base64Text.encode(bytes)
      let twice = Base64Text.encode(once)
      try checkEqual(read(once).bytes, bytes)
      try checkEqual(read(once).levels, 1)
      try checkEqual(read(twice).bytes, bytes)
      try checkEqual(read(twice).levels, 2)
    }
    checkEqual(status(TransportForm.tripled.encode(Self.list)), .malformedTransportLevels)
    checkEqual(status(TransportForm.tripled.encode(Self.container)), .malformedTransportLevels)
    // Base64 of base64 of unknown bytes is one level.
    let plain = Base64Text.encode(Base64Text.encode(utf8("hello, world")))
    try checkEqual(read(plain).levels, 1)
    try checkEqual(read(plain).form, .unknown)
  }

  @Test("RCP-5 forms by their first bytes")
  func recognised() {
    let all: [([UInt8], BlobForm)] = [
      (utf8("{"), .list), (utf8("\n {"), .list), ([0x30, 0x80], .container),
      ([0x30, 0x82, 1], .container), ([0x30, 0x84], .container), ([0x30], .unknown),
      ([0x30, 0x7f], .unknown), ([0x30, 0x85], .unknown),
      ([0xa3, 0x63] + utf8("fmt"), .attestation), ([0xa3, 0x63] + utf8("fm"), .unknown),
      ([0xa2, 0x69] + utf8("signature"), .assertion), ([0xa2, 0x69] + utf8("sig"), .unknown),
      (utf8("<?xml"), .xmlPropertyList), (utf8(" <?xml"), .xmlPropertyList),
      (utf8("<?xm"), .unknown), (utf8("bplist"), .binaryPropertyList),
      (utf8("bplis"), .unknown), (utf8("eyJ.a.b"), .jws), (utf8("eyK.a.b"), .unknown),
      (utf8("eyJ.a"), .unknown), ([], .unknown), (utf8("  "), .unknown),
    ]
    for (bytes, form) in all { checkEqual(BlobForm(bytes), form, "\(bytes)") }
    // Known bytes that are no text are read raw.
    for bytes in [[0xa3, 0x63] + utf8("fmt"), utf8("<?xml ?>"), utf8("bplist00") + [0]] {
      checkEqual((try? read(bytes))?.levels, 0)
    }
  }

  @Test("RCP-5 the wrong call says what the blob looks like")
  func mismatch() throws {
    func refusal(_ input: [UInt8], _ other: [BlobForm] = []) throws -> Refusal? {
      let transport = try read(input)
      do throws(Refusal) {
        try transport.demand(.list, orNameBetter: other)
        return nil
      } catch {
        return error
      }
    }
    try check(refusal(Self.list) == nil)
    try check(refusal(utf8("AAAA")) == nil)
    let found = try refusal(Self.container)
    checkEqual(found?.status, .rejectedKindMismatch)
    checkEqual(found?.detail, "expected transaction receipt, looks like app receipt")
    try checkEqual(
      refusal(utf8("eyJh.eyJi.c2ln"))?.detail, "expected transaction receipt, looks like JWS")
    try checkEqual(refusal(utf8("<?xml ?>"))?.status, .rejectedKindMismatch)
    try check(refusal(utf8("<?xml ?>"), [.xmlPropertyList]) == nil)
  }

  @Test("no truncated and no changed text ends the process")
  func hostile() {
    var seen = 0
    for way in TransportForm.allCases {
      let text = way.encode(Self.container)
      for count in 0..<text.count {
        if (try? read(Array(text.prefix(count)))) != nil { seen += 1 }
        var other = text
        other[count] ^= 0x20
        if (try? read(other)) != nil { seen += 1 }
        other[count] ^= 0x90
        if (try? read(other)) != nil { seen += 1 }
      }
    }
    check(seen > 0)
  }
}
