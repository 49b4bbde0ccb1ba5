import AssayAuthority
import Foundation

extension CaseFixture {
  /// Adds the exchanges with real databases that Tests/Stores/record.py recorded.
  func addRecordedCases() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    for engine in ["sqlite", "dynamodb", "redis"] {
      let path = folder.appendingPathComponent("Recorded/\(engine).tsv")
      var reading = RecordedExchange(self)
      for line in try String(contentsOf: path, encoding: .utf8).split(separator: "\n") {
        let cells = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        guard reading.take(cells) else {
          throw RecordingFault(what: "\(engine).tsv: no such row: \(line.prefix(80))")
        }
      }
      reading.end()
    }
  }
}

private struct RecordingFault: Error { let what: String }

/// The rows of one exchange, until the next begins.
private struct RecordedExchange {
  private let fixture: CaseFixture
  private var head: [String] = []
  private var evidence: [EvidenceCase.Evidence] = []
  private var steps: [EvidenceCase.Step] = []
  /// The expectation of the last document.
  private var expect: EvidenceCase.Expectation?

  init(_ fixture: CaseFixture) { self.fixture = fixture }

  /// Reads one row. Returns whether its kind is known.
  mutating func take(_ cells: [String]) -> Bool {
    switch (cells[0], cells.count) {
    case ("verifier", 3): fixture.configure(cells[1], .text(cells[2]))
    case ("case", 6):
      end()
      head = cells
    case ("evidence", 3...):
      guard let proof = RecordedExchange.proof(cells) else { return false }
      evidence.append(.init(proof))
    case ("document", 2...):
      let pairs = stride(from: 2, to: cells.count - 1, by: 2)
      let facts = pairs.compactMap { place in
        RecordedExchange.fact(cells[place + 1]).map { (path: cells[place], value: $0) }
      }
      expect = .init(cells[1], facts: facts)
      return facts.count * 2 + 2 == cells.count
    case ("step", 3):
      guard let now = Int64(cells[1]), let before = expect else { return false }
      let answer = EvidenceText.bytes(Array(cells[2].utf8))
      steps.append(.init(expect: before.inside("exchange"), answer: answer, now: now))
    default: return false
    }
    return true
  }

  /// Adds the case that the rows so far describe.
  mutating func end() {
    if let expect, let now = Int64(head[4]) {
      fixture.add(
        head[1], head[2],
        .transcript(
          verifier: head[3], request: .bytes(Array(head[5].utf8)), evidence: evidence, now: now,
          steps: steps), expect)
    }
    self = RecordedExchange(fixture)
  }

  private static func proof(_ cells: [String]) -> EvidenceCase.Evidence.Proof? {
    let octets = cells.map { Data(base64Encoded: $0).map(Array.init) ?? [] }
    switch (cells[1], cells.count) {
    case ("transaction", 3): return .jws(.transaction, Array(cells[2].utf8))
    case ("app-transaction", 3): return .jws(.appTransaction, Array(cells[2].utf8))
    case ("notification", 3): return .jws(.notification, Array(cells[2].utf8))
    case ("attest-receipt", 3): return .receipt(.attestReceipt, octets[2])
    case ("attestation", 5):
      return .attestation(octets[2], keyId: octets[3], clientData: Array(cells[4].utf8))
    case ("assertion", 6):
      return UInt32(cells[5]).map {
        .assertion(
          octets[2], publicKey: octets[3], counter: $0, clientData: Array(cells[4].utf8))
      }
    default: return nil
    }
  }

  /// Returns the fact in a cell: a letter for the type, then the value.
  private static func fact(_ cell: String) -> EvidenceCase.Fact? {
    let value = String(cell.dropFirst())
    switch cell.first {
    case "t": return .text(value)
    case "i": return Int64(value).map { .integer($0) }
    case "b": return .flag(value == "true")
    case "n": return .null
    default: return nil
    }
  }
}
