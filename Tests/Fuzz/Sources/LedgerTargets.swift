import CAssay

@testable import Assay
@testable import AssayAuthority
@testable import AssayCases

/// A target for `assay_exchange_step`: exchanges with a ledger, begun as those of the case table that
/// were recorded with real databases, and databases with any replies.
enum LedgerTargets {
  private static let engines: [LedgerEngine] = [.sqlite, .postgres, .mariadb, .dynamodb, .redis]
  /// The engines on which a recording on SQLite is begun as well.
  private static let others: [LedgerEngine] = [.postgres, .mariadb, .redis]

  /// A recorded exchange, on its engine or on another.
  private struct Start {
    let recording: Recording
    let engine: LedgerEngine

    var row: OperationRow { recording.operation.row }
  }

  /// The recorded exchanges by operation.
  private static let starts: [[Start]] = {
    let fixture = FuzzFixture.shared.cases
    let before = fixture.cases.count
    guard (try? fixture.addRecordedCases()) != nil else { fatalError("no recordings") }
    let kinds = Operation.allCases.filter { $0.row.engines != nil }
    var found: [[Start]] = kinds.map { _ in [] }
    var made: [String: OpaquePointer] = [:]

    func verifier(_ name: String, _ recorded: LedgerEngine, _ engine: LedgerEngine)
      -> OpaquePointer?
    {
      guard let config = fixture.verifiers.first(where: { $0.name == name })?.config else {
        return nil
      }
      let text = String(decoding: config.bytes, as: UTF8.self).replacing(
        "\"engine\": \"\(recorded.name)\"", with: "\"engine\": \"\(engine.name)\"")
      let verifier = made[text] ?? FuzzFixture.verifier(Array(text.utf8))
      made[text] = verifier
      return verifier
    }

    for entry in fixture.cases[before...] {
      let recorded = engines.first { entry.name.contains(" \($0.name): ") }
      guard let recorded else { fatalError("a recording of no engine: \(entry.name)") }
      for engine in [recorded] + (recorded == .sqlite ? others : []) {
        guard let recording = Recording(entry, { verifier($0, recorded, engine) }),
          let place = kinds.firstIndex(of: recording.operation)
        else { continue }
        found[place].append(Start(recording: recording, engine: engine))
      }
    }
    for (kind, starts) in zip(kinds, found) {
      demand(!starts.isEmpty, "no recording of \(kind.row.name)")
    }
    return found
  }()

  /// Runs an exchange. The first byte selects the operation and the second one of its recordings.
  /// The lines after them are replies: `s` and bytes for `HostileStore`, `r` and the JSON of
  /// results, `f` and an error's code, `0` for no reply, `g` for the host's reply to a grant, `h`
  /// and `b` for Apple's responses as in `StateMachineTargets`, `t` for the recorded reply to this
  /// step, or to the one whose number follows, `w` for the end of a wait, and anything else
  /// unchanged.
  static func ledgerMachine(_ input: [UInt8]) {
    guard input.count > 2 else { return }
    let recordings = starts[Int(input[0]) % starts.count]
    let lines = input.dropFirst(2).split(separator: 0x0a, omittingEmptySubsequences: false)
    play(recordings[Int(input[1]) % recordings.count], lines)
  }

  private static func play(_ start: Start, _ lines: [ArraySlice<UInt8>]) {
    var (exchange, answer) = begin(start)
    defer { assay_exchange_free(exchange) }
    let isRefused = start.engine == .redis && start.row.engines != .any
    demand(!isRefused || !isOpen(answer), "Redis is asked for what it cannot promise")
    guard let exchange else { return answer.free() }
    var steps = 1
    for line in lines {
      guard isOpen(answer) else { break }
      let next = step(exchange, reply(line, answer, start, steps), answer, start.recording.now)
      // The exchange goes on, unless the grant has ended its transaction (STO-38).
      if next.status & 0xff == 5, next.text("status.name") != "misuse.ledger.transaction" {
        demand(next.source("exchange") == Array("null".utf8), "misuse tells something")
        next.free()
        continue
      }
      if isOpen(next) { steps += 1 }
      demand(steps <= max(1294, start.row.steps.most()), "\(steps) steps")
      demand(
        start.recording.operation != .reconcile || next.text("exchange.step") != "grant",
        "a run pays")
      answer.free()
      answer = next
    }
    if !isOpen(answer) { checkOver(exchange, answer, start.recording.now) }
    answer.free()
  }

  private static func isOpen(_ answer: Answer) -> Bool { answer.status & 0xff == 9 }

  /// Checks that an ended exchange stays ended, with the same document.
  private static func checkOver(_ exchange: OpaquePointer, _ answer: Answer, _ now: Int64) {
    let again = step(exchange, [:], answer, now)
    demand(again.status & 0xff == 5 || again.json == answer.json, "it goes on after its end")
    again.free()
    if answer.isOK {
      demand(answer.text("exchange.step") == "done", "no end")
    }
  }

  /// Begins the exchange. It is refused only if the engine cannot keep what it asks for, or needs
  /// another setting.
  private static func begin(_ start: Start) -> (OpaquePointer?, Answer) {
    let (exchange, answer) = start.recording.begin()
    demand(
      isOpen(answer) || answer.isOK
        || answer.text("status.name")?.hasPrefix("config.ledger") == true,
      "no exchange: \(String(decoding: answer.json, as: UTF8.self))")
    return (exchange, answer)
  }

  // MARK: answers

  private static func step(
    _ exchange: OpaquePointer, _ reply: JSONText, _ open: Answer, _ begun: Int64
  ) -> Answer {
    let now = open.tree?.member("exchange")?.member("notBeforeMs")?.integer ?? begun
    return Calls.step(exchange, reply.bytes, now: now)
  }

  /// Returns the reply that a line describes.
  ///
  /// - Parameter steps: The number of steps so far.
  private static func reply(
    _ line: ArraySlice<UInt8>, _ open: Answer, _ start: Start, _ steps: Int
  ) -> JSONText {
    let form = open.tree?.member("exchange")
    let store = form?.member("database")
    let id = (store ?? form?.member("grant") ?? form?.member("http"))?.member("id")?.integer ?? 0
    let answer: JSONText = ["id": .integer(id)]
    let rest = line.dropFirst()
    switch line.first {
    case UInt8(ascii: "s"):
      guard let store else { return answer.setting("code", 200) }
      var hostile = HostileStore(rest)
      return answer.setting("code", 200).setting("results", hostile.results(store))
    case UInt8(ascii: "r"): return answer.setting("code", 200).setting("results", .raw(Array(rest)))
    case UInt8(ascii: "f"):
      return answer.setting("code", 500).setting(
        "error",
        [
          "code": .string(utf8: Array(rest.dropFirst())),
          "executed": rest.first == UInt8(ascii: "n") ? "no" : "unknown",
        ])
    case UInt8(ascii: "0"): return answer.setting("code", 0)
    case UInt8(ascii: "g"): return answer.setting("code", rest.isEmpty ? 200 : 500)
    case UInt8(ascii: "h"), UInt8(ascii: "b"):
      return .raw(StateMachineTargets.answer(line, to: id))
    case UInt8(ascii: "t"):
      return start.recording.reply(rest.first.map { Int($0) } ?? steps - 1, to: id)
    case UInt8(ascii: "w"): return [:]
    default: return .raw(Array(line))
    }
  }
}
