import AssayCases
import Testing

@testable import Assay

/// The instant of all evidence in these tests: 2026-11-21 UTC.
private let instant: Int64 = 1_795_219_200_000

/// The table with its verifiers, made once for all cases.
enum Table {
  static let made = Result { try CaseTable.make(now: instant) }
  static let run = made.map {
    CaseRun($0, make: Verifier.alone) {
      HintGate.judge($0, of: $1)
      judgeOrder($0, of: $1)
    }
  }

  /// Checks that nothing but the facts follows the warnings, so that a host can read the facts
  /// without the rest (DOC-7).
  private static func judgeOrder(_ document: Document, of entry: EvidenceCase) {
    let names = document.tree?.children.map { $0.name.string } ?? []
    let facts = names.drop { $0 != "warnings" }.dropFirst()
    let beside = ["triage": ["unverified"], "configuration": ["digests"]]
    let allowed = [[], beside[document.text("kind") ?? ""] ?? []]
    check(!facts.isEmpty && allowed.contains(Array(facts.dropFirst())), "\(entry.name): \(names)")
  }

  static var verifiers: [String: Verifier] { (try? run.get())?.verifiers ?? [:] }
}

extension EvidenceCase: CustomTestStringConvertible {
  public var testDescription: String { name }
}

@Suite("Case table")
struct CaseTableTests {
  @Test("the table is made, its verifiers build, its names are unique")
  func tableIsSound() throws {
    let table = try Table.made.get()
    check(table.cases.count > 1000)
    for (name, _) in table.verifiers {
      check(Table.verifiers[name] != nil, "verifier \(name)")
    }
    var seen: Set<String> = []
    for entry in table.cases {
      check(seen.insert(entry.name).inserted, "twice: \(entry.name)")
    }
  }

  @Test("the JSON form is strict JSON with as many cases")
  func jsonIsSound() throws {
    let table = try Table.made.get()
    let caps = JSONCaps(members: 1 << 20, elements: 1 << 20, values: .max)
    let json = try JSONReader.readObject(table.json, caps: caps)
    let cases = json.root.children.first { $0.isNamed("cases") }
    var count = 0
    for _ in try require(cases).children { count += 1 }
    checkEqual(count, table.cases.count)
  }

  @Test(
    "case, and DOC-7 its facts as the last member",
    arguments: (try? Table.made.get())?.cases ?? [])
  func holds(_ entry: EvidenceCase) throws {
    try checkEqual(Table.run.get().faults(entry), [], "\(entry.name)")
  }
}
