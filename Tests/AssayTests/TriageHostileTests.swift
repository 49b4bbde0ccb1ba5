import Testing

@testable import Assay

private typealias Fixture = TriageFixture
private typealias Receipt = TriageFixture.Receipt

@Suite("Triage: hostile input")
struct TriageHostileTests {
  static let samples: [(name: String, blob: [UInt8])] = [
    ("transaction receipt", Receipt().blob64), ("the same, undecoded", utf8(Receipt().text)),
    ("app receipt", Fixture.base64(Fixture.appReceipt())),
    ("the same, undecoded", Fixture.appReceipt()),
    ("App Attest receipt", Fixture.base64(Fixture.attestReceipt())),
    ("JWS", Fixture.jws(Fixture.transaction)),
  ]

  /// Whether the document is strict JSON with a status other than ok.
  private func answers(_ blob: [UInt8]) -> Bool {
    let document = Fixture.look(blob).document(configuration: [])
    guard document.status != .ok, let tree = document.tree else { return false }
    return tree.at("triage.category")?.text != nil && tree.member("unverified") != nil
  }

  @Test("a blob that was cut at any byte has an answer", arguments: samples)
  func truncated(_ name: String, _ blob: [UInt8]) {
    for length in 0..<blob.count {
      let result = Fixture.look(Array(blob.prefix(length)))
      check(result.refusal.status != .ok)
      check(result.category != .foreign, "\(name) cut to \(length)")
      if length % 16 == 0 { check(answers(Array(blob.prefix(length)))) }
    }
  }

  @Test("TRI-4 a receipt that was cut short is sent again, never dropped")
  func truncatedDisposition() {
    for blob in [Receipt().blob64, Fixture.base64(Fixture.appReceipt())] {
      for length in 8..<blob.count {
        let result = Fixture.look(Array(blob.prefix(length)))
        check(result.disposition != .drop, "cut to \(length)")
      }
    }
  }

  @Test("flipped bits have an answer", arguments: samples)
  func flipped(_ name: String, _ blob: [UInt8]) {
    var numbers = SystemRandomNumberGenerator()
    for _ in 0..<3000 {
      var spoilt = blob
      for _ in 0..<Int.random(in: 1...4, using: &numbers) {
        let place = Int.random(in: 0..<blob.count, using: &numbers)
        spoilt[place] ^= 1 << UInt8.random(in: 0..<8, using: &numbers)
      }
      check(answers(spoilt), "\(name): \(spoilt)")
    }
  }

  @Test("flipped bits inside the base64 have an answer")
  func flippedInside() {
    var numbers = SystemRandomNumberGenerator()
    for inner in [utf8(Receipt().text), Fixture.appReceipt(), utf8(Receipt().compact)] {
      for _ in 0..<3000 {
        var spoilt = inner
        let place = Int.random(in: 0..<inner.count, using: &numbers)
        spoilt[place] = UInt8.random(in: 0...255, using: &numbers)
        check(answers(Fixture.base64(spoilt)))
      }
    }
  }

  /// The size at which any cost that is not linear becomes noticeable.
  static let size = 393_216

  /// Inputs that might slow down or crash a reader.
  static let heavy: [(name: String, make: @Sendable () -> [UInt8])] = [
    ("zeros", { [UInt8](repeating: 0, count: size) }),
    ("A", { [UInt8](repeating: 0x41, count: size) }),
    ("spaces", { [UInt8](repeating: 0x20, count: size - 1) + [0x41] }),
    ("braces", { [UInt8](repeating: 0x7b, count: size) }),
    ("quotation marks", { [0x7b] + [UInt8](repeating: 0x22, count: size - 1) }),
    ("backslashes", { [0x7b, 0x22] + [UInt8](repeating: 0x5c, count: size - 2) }),
    ("spaces between digits", { repeated("A ") }),
    ("pluses", { repeated("+/ -_") }),
    ("short pairs", { utf8("{") + repeated(#""a"="b";"#).dropFirst() }),
    ("nested JSON", { repeated(#"{"a":"#) }),
    ("wide JSON", { utf8(#"{"a":["#) + repeated("1,").dropFirst(6) }),
    ("indefinite lengths", { repeated("\u{30}\u{80}").map { $0 == 0xc2 ? 0x30 : $0 } }),
    ("a container of nothing", { Fixture.container([[UInt8](repeating: 5, count: 110_000)]) }),
    (
      "a container of small attributes",
      { Fixture.container((0..<8000).map { _ in Fixture.attribute(17, [0x31, 0]) }) }
    ),
    ("three long parts", { repeated("a").map { $0 } + utf8(".b.c") }),
    ("dots", { [UInt8](repeating: 0x2e, count: size) }),
    ("eyJ", { utf8("eyJ.") + repeated("eyJ").dropFirst(6) + utf8(".a") }),
  ]

  private static func repeated(_ text: String) -> [UInt8] {
    let unit = utf8(text)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(size)
    while bytes.count + unit.count <= size { bytes += unit }
    return bytes
  }

  @Test("the longest text that is looked at has an answer, and a longer one too")
  func longest() {
    for count in [3_145_728, 3_145_729] {
      check(answers([UInt8](repeating: 0x41, count: count)))
    }
  }

  @Test("long junk, as it is and encoded, has an answer", arguments: heavy.indices)
  func junk(_ index: Int) {
    let blob = Self.heavy[index].make()
    check(answers(blob), "\(Self.heavy[index].name)")
    let part = Fixture.base64(Array(blob.prefix(Self.size / 4 * 3)))
    check(answers(part), "\(Self.heavy[index].name), encoded")
    check(answers(Fixture.base64(Array(part.prefix(Self.size / 4 * 3)))))
  }

  @Test("lengths that are claimed and not there ask for no memory")
  func claimedLengths() {
    for length: [UInt8] in [
      [0x84, 0x7f, 0xff, 0xff, 0xff], [0x84, 0xff, 0xff, 0xff, 0xff], [0x83, 0xff, 0xff, 0xff],
      [0x80],
    ] {
      let oid: [UInt8] = [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02]
      let result = Fixture.look([0x30] + length + oid + [0xa0] + length + [0x30] + length)
      checkEqual(result.category, .malformed)
    }
  }

  @Test("the same blob gives the same document")
  func repeatable() {
    for (_, blob) in Self.samples {
      checkEqual(
        Fixture.look(blob).document(configuration: []).json,
        Fixture.look(blob).document(configuration: []).json)
    }
  }
}
