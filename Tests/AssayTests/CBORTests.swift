import AssayAuthority
import Testing

@testable import Assay

/// Tests the strict reader with hand-made texts and the examples of RFC 8949 (CBR-1 … CBR-3).
@Suite("CBOR")
struct CBORTests {
  private func read(_ bytes: [UInt8]) -> Result<CBOR, CBOR.Fault> {
    Result { () throws(CBOR.Fault) in try CBOR(bytes, 0..<bytes.count) }
  }

  private func offset(_ bytes: [UInt8]) -> Int? {
    if case .failure(let fault) = read(bytes) { return fault.offset }
    return nil
  }

  private func item(_ text: CBORText) throws -> (cbor: CBOR, root: CBOR.Item) {
    let cbor = try read(text.encoded).get()
    return (cbor, try require(cbor.root))
  }

  @Test("integers of every width")
  func integers() throws {
    for number in [
      0, 1, 23, 24, 255, 256, 65_535, 65_536, 4_294_967_295, 4_294_967_296, UInt64.max,
    ] as [UInt64] {
      try checkEqual(item(.unsigned(number)).root.argument, number)
      try checkEqual(item(.unsigned(number)).root.kind, .unsigned)
      try checkEqual(item(.negative(number)).root.argument, number)
      try checkEqual(item(.negative(number)).root.kind, .negative)
    }
  }

  @Test("strings, arrays and maps keep their order, and contents are slices")
  func containers() throws {
    let (cbor, root) = try item(
      .map([
        .init("b", .array([.bytes([1, 2]), .text("ü"), .array([])])),
        .init(.unsigned(1), .map([])), .init(.negative(1), .unsigned(7)),
      ]))
    checkEqual(root.kind, .map)
    let pairs = cbor.pairs(of: root)
    checkEqual(pairs.map { $0.key.kind }, [.text, .unsigned, .negative])
    checkEqual(Array(cbor.bytes(pairs[0].key)), utf8("b"))
    let elements = cbor.elements(of: pairs[0].value)
    checkEqual(elements.map { $0.kind }, [.bytes, .text, .array])
    checkEqual(Array(cbor.bytes(elements[0])), [1, 2])
    checkEqual(Array(cbor.bytes(elements[1])), utf8("ü"))
    checkEqual(Array(cbor.encoding(elements[1])), [0x62] + utf8("ü"))
    checkEqual(Array(cbor.encoding(elements[2])), [0x80])
    check(cbor.pairs(of: pairs[1].value).isEmpty)
    checkEqual(Array(cbor.encoding(pairs[2].value)), [0x07])
    // An accessor for the other kind of container returns nothing.
    check(cbor.elements(of: root).isEmpty)
    check(cbor.pairs(of: pairs[0].value).isEmpty)
  }

  @Test(
    "CBR-1 what the subset leaves out",
    arguments: [
      ("indefinite bytes", [0x5f, 0x41, 0x00, 0xff]), ("indefinite text", [0x7f, 0xff]),
      ("indefinite array", [0x9f, 0xff]), ("indefinite map", [0xbf, 0xff]),
      ("reserved 28", [0x1c]), ("reserved 29", [0x5d]), ("reserved 30", [0x9e]),
      ("reserved 28 and 16 octets", [0x1c] + [UInt8](repeating: 1, count: 16)),
      ("tag", [0xc0, 0x00]), ("false", [0xf4]), ("true", [0xf5]), ("null", [0xf6]),
      ("undefined", [0xf7]), ("simple 32", [0xf8, 0x20]), ("half", [0xf9, 0x00, 0x00]),
      ("float", [0xfa, 0, 0, 0, 0]), ("double", [0xfb, 0, 0, 0, 0, 0, 0, 0, 0]),
      ("break", [0xff]), ("nothing", []), ("text of broken UTF-8", [0x61, 0xff]),
      ("17 in two octets", [0x18, 0x17]), ("255 in three", [0x19, 0x00, 0xff]),
      ("65535 in five", [0x1a, 0x00, 0x00, 0xff, 0xff]),
      ("2^32-1 in nine", [0x1b, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]),
      ("wasteful length", [0x58, 0x01, 0x00]), ("head cut off", [0x19, 0x01]),
      ("string cut off", [0x42, 0x00]), ("array cut off", [0x82, 0x00]),
      ("map cut off", [0xa1, 0x00]), ("value missing", [0xa2, 0x00, 0x00, 0x01]),
    ] as [(String, [UInt8])])
  func refused(_ name: String, _ bytes: [UInt8]) {
    guard case .failure(.unclean(let offset)) = read(bytes) else {
      Issue.record("\(name) was read")
      return
    }
    check(offset <= bytes.count)
    // The text inside an array is refused too.
    check(!read([0x81] + bytes).isRead)
  }

  @Test("CBR-1 bytes after the outer item, by the offset of the first")
  func trailing() {
    guard case .failure(.trailing(1)) = read([0x00, 0x00]) else {
      Issue.record("trailing byte")
      return
    }
    check(read([0x00]).isRead)
  }

  @Test("CBR-1 duplicate keys, whatever their type")
  func duplicates() {
    let one = CBORText.map([.init("a", .unsigned(1)), .init("a", .unsigned(2))])
    checkEqual(offset(one.encoded), 4)
    for key in [CBORText.unsigned(500), .negative(500), .bytes([1]), .text("x")] {
      let twice = CBORText.map([
        .init(key, .array([.unsigned(1)])), .init("other", .map([.init("a", .unsigned(1))])),
        .init(key, .unsigned(1)),
      ])
      check(!read(twice.encoded).isRead)
    }
    // Equal keys of two maps, and keys equal to values, are not duplicates.
    let good = CBORText.map([
      .init("a", .map([.init("a", .text("a"))])), .init("b", .text("a")),
      .init(.bytes(utf8("a")), .unsigned(0)),
    ])
    check(read(good.encoded).isRead)
  }

  @Test("CBR-1 containers as keys")
  func containerKeys() {
    for key in [CBORText.array([]), .map([])] {
      check(!read(CBORText.map([.init(key, .unsigned(1))]).encoded).isRead)
    }
  }

  @Test("CBR-1 four levels of nesting and 64 items are the most")
  func limits() {
    func nested(_ depth: Int) -> CBORText {
      (1..<depth).reduce(CBORText.array([])) { inner, _ in .array([inner]) }
    }
    check(read(nested(4).encoded).isRead)
    checkEqual(offset(nested(5).encoded), 4)
    check(!read([UInt8](repeating: 0x81, count: 10_000)).isRead)
    check(!read([UInt8](repeating: 0xa1, count: 10_000)).isRead)
    func numbers(_ count: Int) -> [UInt8] {
      CBORText.array([CBORText](repeating: .unsigned(0), count: count)).encoded
    }
    check(read(numbers(63)).isRead)
    checkEqual(offset(numbers(64)), 65)
  }

  @Test("CBR-2 claimed lengths up to 2^64 are compared with what is there")
  func claims() {
    for major in [CBORText.Major.bytes, .text, .array, .map] {
      for count in [2, 1 << 16, 1 << 32, 1 << 60, 1 << 62, 1 << 63, UInt64.max] as [UInt64] {
        checkEqual(offset(CBORText.head(major, count) + [0x00]), 0, "\(major) \(count)")
      }
    }
  }

  @Test("no prefix of a good text is one, and no two ranges are mixed up")
  func prefixes() throws {
    let text = CBORText.map([
      .init("key", .bytes([UInt8](repeating: 7, count: 300))), .init("n", .unsigned(1 << 40)),
    ]).encoded
    for count in text.indices { check(!read(Array(text[..<count])).isRead) }
    let framed = [0xff, 0xff] + text + [0xff]
    let inner = try CBOR(framed, 2..<framed.count - 1)
    checkEqual(inner.pairs(of: try require(inner.root)).count, 2)
    checkEqual(inner.root?.start, 2)
  }

  @Test("RFC 8949 appendix A: read where the subset has it, refused elsewhere")
  func appendixA() throws {
    guard let examples = Vectors.json("corpora/cbor/appendix_a.json", for: "CBOR") else { return }
    var accepted = 0
    for example in examples.children {
      let hex = example.string("hex")
      let bytes = try require(Hex.decode(utf8(hex)))
      let isRead = read(bytes).isRead
      checkEqual(isRead, CBORTests.isInSubset(bytes), "\(hex)")
      if isRead { accepted += 1 }
    }
    check(accepted >= 30)
  }

  @Test("RFC 8949 appendix F: nothing that is not well-formed is read")
  func appendixF() throws {
    guard let list = Vectors.json("corpora/cbor/appendix_f.json", for: "CBOR") else { return }
    let cases = list.member("cases").map { Array($0.children) } ?? []
    check(cases.count > 50)
    for entry in cases {
      let bytes = try require(Hex.decode(utf8(entry.string("hex"))))
      check(!read(bytes).isRead, "\(entry.string("hex"))")
    }
  }

  /// Whether a text is well-formed, by a second, recursive reader of the same rules.
  private static func isInSubset(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    func item(_ depth: Int) -> Bool {
      guard let first = rest.popFirst(), first >> 5 < 6 else { return false }
      var count = Int(first & 31)
      if count >= 24 {
        guard count <= 27 else { return false }
        let octets = 1 << (count - 24)
        count = rest.prefix(octets).reduce(0) { $0 << 8 | Int($1) }
        rest = rest.dropFirst(octets)
      }
      switch first >> 5 {
      case 0, 1: return true
      case 2, 3:
        rest = rest.dropFirst(count)
        return true
      default:
        guard depth < 4 else { return false }
        return (0..<(first >> 5 == 5 ? 2 * count : count)).allSatisfy { _ in item(depth + 1) }
      }
    }
    return item(0) && rest.isEmpty
  }
}

extension Result where Success == CBOR {
  fileprivate var isRead: Bool {
    if case .success = self { return true }
    return false
  }
}
