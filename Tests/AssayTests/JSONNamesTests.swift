import Testing

@testable import Assay

/// Counts, without timing, the cost of finding a duplicate name in texts made to be slow (JWS-104).
@Suite("JSON names")
struct JSONNamesTests {
  /// Ways to make names of members hard to distinguish.
  enum Kind: CaseIterable {
    case plain, colliding, escaped, longPrefix

    func names(_ count: Int) -> [String] {
      switch self {
      case .plain: return (0..<count).map { "name\($0)" }
      case .colliding: return Array(JSONNamesTests.colliding.prefix(count))
      case .escaped: return JSONNamesTests.colliding.prefix(count).map { "\\" + $0 }
      case .longPrefix:
        return (0..<count).map { String(repeating: "\\u0061", count: 240) + String($0) }
      }
    }
  }

  private static let caps = JSONCaps(members: 8192, elements: 8192, values: 1 << 20)

  /// 4,096 names with the same FNV-1a hash. Each of twelve blocks has two variants that lead from
  /// one state to the same next state, found as a collision among some 80,000.
  private static let colliding: [String] = {
    let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8)
    func block(_ number: Int) -> [UInt8] {
      // Scattered, because consecutive numbers would never collide.
      var scattered = UInt64(number) &* 0x9e37_79b9_7f4a_7c15
      return (0..<5).map { _ in
        defer { scattered <<= 8 }
        return letters[(Int(scattered >> 56) * letters.count) >> 8]
      }
    }
    var state = JSON.hash(JSON.hashStart, 0x2f)
    var names = ["/"]
    for _ in 0..<12 {
      var seen: [UInt32: Int] = [:]
      var number = 0
      while true {
        let next = block(number).reduce(state) { JSON.hash($0, $1) }
        if let other = seen.updateValue(number, forKey: next) {
          let pair = [other, number].map { String(decoding: block($0), as: UTF8.self) }
          names = names.flatMap { name in pair.map { name + $0 } }
          state = next
          break
        }
        number += 1
      }
    }
    return names
  }()

  private func object(_ names: [String]) -> String {
    "{" + names.map { "\"\($0)\":1" }.joined(separator: ",") + "}"
  }

  private func comparisons(_ text: String) throws -> Int {
    var count = 0
    _ = try JSONReader.readValue(
      Array(text.utf8), caps: JSONNamesTests.caps, comparisons: &count)
    return count
  }

  private func fault(_ text: String) -> JSONFault? {
    do {
      _ = try JSONReader.readValue(Array(text.utf8), caps: JSONNamesTests.caps)
      return nil
    } catch {
      return error
    }
  }

  @Test("JWS-104 the names that collide do, and are different")
  func made() {
    let names = JSONNamesTests.colliding
    checkEqual(names.count, 4096)
    checkEqual(Set(names).count, 4096)
    let hashes = names.map { $0.utf8.reduce(JSON.hashStart) { JSON.hash($0, $1) } }
    checkEqual(Set(hashes).count, 1)
  }

  @Test("JWS-104 n names cost O(n log n) comparisons, whatever they are", arguments: Kind.allCases)
  func members(kind: Kind) throws {
    for (count, logarithm) in [(32, 5), (64, 6), (256, 8), (1024, 10), (4096, 12)] {
      let made = try comparisons(object(kind.names(count)))
      check(made <= 2 * count * (logarithm + 3) + 32 * 31, "\(count) members: \(made)")
    }
  }

  @Test("JWS-104 many objects cost as much as their members", arguments: Kind.allCases)
  func objects(kind: Kind) throws {
    for count in [16, 31, 33, 256] {
      let one = object(kind.names(count))
      let single = try comparisons(one)
      let list = "[" + [String](repeating: one, count: 64).joined(separator: ",") + "]"
      try checkEqual(comparisons(list), 64 * single)
      check(single <= 32 * count)
    }
  }

  @Test("JWS-6 a duplicate name is reported at its place, however many names there are")
  func place() {
    for kind in Kind.allCases {
      for (count, first, second) in [(40, 0, 39), (300, 7, 8), (4000, 1, 2), (33, 31, 32)] {
        var names = kind.names(count)
        names[second] = names[first]
        let text = object(names)
        let before = object(Array(names[..<second])).utf8.count
        checkEqual(fault(text), JSONFault(reason: .duplicateName, offset: before))
      }
    }
  }

  @Test("JWS-6 the same name with and without escapes is one among many, too")
  func escapes() {
    var names = (0..<100).map { "name\($0)" }
    check(fault(object(names)) == nil)
    names[90] = "n\\u0061me10"
    checkEqual(
      fault(object(names)),
      JSONFault(reason: .duplicateName, offset: object(Array(names[..<90])).utf8.count))
    names[90] = "n\\u0061me100"
    check(fault(object(names)) == nil)
  }

  @Test("JWS-6 of several faults the first is reported, even in an object that is still open")
  func first() {
    var names = (0..<50).map { "name\($0)" }
    names[40] = names[3]
    let text = object(names)
    let expected = JSONFault(
      reason: .duplicateName, offset: object(Array(names[..<40])).utf8.count)
    checkEqual(fault(String(text.dropLast())), expected)
    checkEqual(fault(text.dropLast() + ",\"x\":{\"y\":1,\"y\":2}}"), expected)
    checkEqual(fault(text.dropLast() + ",\"x\":[tru]}"), expected)
    checkEqual(fault("{\"a\":[1,}" + text)?.reason, .syntax)
    names[45] = names[2]
    checkEqual(fault(object(names)), expected)
  }

  @Test("JWS-104 two names of one hash among few are both kept, and found")
  func fewCollide() throws {
    let names = Array(JSONNamesTests.colliding.prefix(3)) + ["x"]
    check(fault(object(names)) == nil)
    checkEqual(
      fault(object(names + [names[1]])),
      JSONFault(reason: .duplicateName, offset: object(names).utf8.count))
    let json = try JSONReader.readValue(Array(object(["\\/ab", "b\\u0061"]).utf8))
    check(json.root.member("/ab") != nil)
    check(json.root.member("ba") != nil)
    check(json.root.member("b") == nil)
    check(json.root.member("bac") == nil)
  }

  @Test("JWS-104 every text has a cap on its values")
  func values() {
    func list(_ count: Int) -> [UInt8] {
      let one = "[" + [String](repeating: "1", count: 127).joined(separator: ",") + "]"
      return Array(("[" + [String](repeating: one, count: count).joined(separator: ",") + "]").utf8)
    }
    for (caps, lists) in [
      (JSONCaps.evidence, 127), (.clientData, 1023), (.transport, 2047), (.configuration, 2047),
      (.receiptAnswer, 8191),
    ] as [(JSONCaps, Int)] {
      // With the list itself, one more value would exceed the cap.
      check((try? JSONReader.readValue(list(lists), caps: caps)) != nil)
      #expect(throws: JSONFault.self) { try JSONReader.readValue(list(lists + 1), caps: caps) }
    }
  }
}
