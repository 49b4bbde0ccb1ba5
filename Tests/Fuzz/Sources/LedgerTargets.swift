import CAssay

@testable import Assay
@testable import AssayAuthority
@testable import AssayCases

/// A target for `assay_exchange_step`: exchanges with a ledger, begun as those of the case table that
/// were recorded with real databases, and databases with any replies.
enum LedgerTargets {
  /// The engines besides that of the recordings on SQLite for which each of those is begun as well.
  private static let others: [LedgerEngine] = [.postgres, .mariadb, .redis]

  /// One recorded exchange, as its host began it.
  private final class Start {
    let kind: Operation
    let engine: LedgerEngine
    let verifier: OpaquePointer
    let request: [UInt8]
    let now: Int64
    private let proofs: [EvidenceCase.Evidence.Proof]
    /// The verified evidence, which is kept.
    private(set) lazy var evidence = proofs.map { LedgerTargets.verify($0, by: verifier, now: now) }

    init(
      _ kind: Operation, _ engine: LedgerEngine, _ verifier: OpaquePointer, _ request: [UInt8],
      _ proofs: [EvidenceCase.Evidence.Proof], now: Int64
    ) {
      (self.kind, self.engine, self.verifier) = (kind, engine, verifier)
      (self.request, self.proofs, self.now) = (request, proofs, now)
    }
  }

  /// The recorded exchanges by operation.
  private static let starts: [[Start]] = {
    let fixture = FuzzFixture.shared.cases
    guard (try? fixture.addRecordedCases()) != nil else { fatalError("no recordings") }
    let kinds = Operation.allCases.filter { $0.row.engines != nil }
    var found: [[Start]] = kinds.map { _ in [] }
    var made: [String: OpaquePointer] = [:]
    for entry in fixture.cases {
      guard case .transcript(let name, let request, let evidence, let now, let steps) = entry.call,
        name.hasPrefix("recorded-"), !steps.isEmpty,
        let config = fixture.verifiers.first(where: { $0.name == name }),
        let form = try? JSONReader.readObject(request.bytes, caps: Answer.caps).root,
        let operation = form.member("operation")?.text,
        let place = kinds.firstIndex(where: { operation == Text(stringLiteral: $0.row.name) })
      else { continue }
      let recorded: LedgerEngine =
        name.hasPrefix("recorded-dynamodb")
        ? .dynamodb : name.hasPrefix("recorded-redis") ? .redis : .sqlite
      for engine in [recorded] + (recorded == .sqlite ? others : []) {
        let text = String(decoding: config.config.bytes, as: UTF8.self).replacing(
          "\"engine\": \"\(recorded.name)\"", with: "\"engine\": \"\(engine.name)\"")
        let verifier = made[text] ?? FuzzFixture.verifier(Array(text.utf8))
        made[text] = verifier
        found[place].append(
          Start(
            kinds[place], engine, verifier, request.bytes, evidence.map(\.proof), now: now))
      }
    }
    for (place, starts) in found.enumerated() {
      demand(!starts.isEmpty, "no recording of \(kinds[place].row.name)")
    }
    return found
  }()

  /// Runs an exchange. The first byte selects the operation and the second one of its recordings.
  /// The lines after them are replies: `s` and bytes for `HostileStore`, `r` and the JSON of
  /// results, `f` and an error's code, `0` for no reply, `g` for the host's reply to a grant, `w`
  /// for the end of a wait, and anything else unchanged.
  static func ledgerMachine(_ input: [UInt8]) {
    guard input.count > 2 else { return }
    let recordings = starts[Int(input[0]) % starts.count]
    let lines = input.dropFirst(2).split(separator: 0x0a, omittingEmptySubsequences: false)
    play(recordings[Int(input[1]) % recordings.count], lines)
  }

  private static func play(_ start: Start, _ lines: [ArraySlice<UInt8>]) {
    var (exchange, answer) = begin(start)
    defer { assay_exchange_free(exchange) }
    let isRefused = start.engine == .redis && start.kind.row.engines != .any
    demand(!isRefused || !isOpen(answer), "Redis is asked for what it cannot promise")
    guard let exchange else { return answer.free() }
    var steps = 1
    for line in lines {
      guard isOpen(answer) else { break }
      let next = step(exchange, line, answer, start.now)
      if next.status & 0xff == 5 {
        demand(next.source("exchange") == Array("null".utf8), "misuse tells something")
        next.free()
        continue
      }
      if isOpen(next) { steps += 1 }
      demand(steps <= 1294, "\(steps) steps")
      answer.free()
      answer = next
    }
    if !isOpen(answer) { checkOver(exchange, answer, start.now) }
    answer.free()
  }

  private static func isOpen(_ answer: Answer) -> Bool { answer.status & 0xff == 9 }

  /// Checks that an ended exchange stays ended, with the same document.
  private static func checkOver(_ exchange: OpaquePointer, _ answer: Answer, _ now: Int64) {
    let again = step(exchange, ArraySlice("w".utf8), answer, now)
    demand(again.status & 0xff == 5 || again.json == answer.json, "it goes on after its end")
    again.free()
    if answer.isOK {
      demand(answer.text("exchange.step") == "done", "no end")
    }
  }

  /// Begins the exchange. It is refused only if the engine cannot keep what it asks for, or needs
  /// another setting.
  private static func begin(_ start: Start) -> (OpaquePointer?, Answer) {
    let (exchange, answer) = Calls.begin(
      start.verifier, start.request, evidence: start.evidence, now: start.now)
    demand(
      isOpen(answer) || answer.isOK
        || answer.text("status.name")?.hasPrefix("config.ledger") == true,
      "no exchange: \(String(decoding: answer.json, as: UTF8.self))")
    return (exchange, answer)
  }

  private static func verify(
    _ proof: EvidenceCase.Evidence.Proof, by verifier: OpaquePointer, now: Int64
  ) -> OpaquePointer? {
    let fixture = AttestFixture.shared
    let answer: Answer
    switch proof {
    case .jws(_, let jws): answer = FuzzFixture.shared.verify(verifier, 1, jws, now: now)
    case .receipt(_, let receipt):
      answer = ReceiptFixture.shared.verify(verifier, AttestFixture.receiptKind, receipt, now: now)
    case .attestation(let object, let keyId, let data):
      answer = fixture.verifyAttestation(verifier, object, keyId: keyId, clientData: data, now: now)
    case .assertion(let object, let key, let counter, let data):
      answer = fixture.verifyAssertion(
        verifier, object, key: key, counter: counter, clientData: data, now: now)
    case .answer, .keyset: fatalError("no recording has such evidence")
    }
    demand(answer.isOK, "recorded evidence was refused")
    return answer.handle
  }

  // MARK: answers

  private static func step(
    _ exchange: OpaquePointer, _ line: ArraySlice<UInt8>, _ open: Answer, _ begun: Int64
  ) -> Answer {
    let form = open.tree?.member("exchange")
    let now = form?.member("notBeforeMs")?.integer ?? begun
    return Calls.step(exchange, answer(line, form).bytes, now: now)
  }

  private static func answer(_ line: ArraySlice<UInt8>, _ form: JSONValue?) -> JSONText {
    let store = form?.member("database")
    let id = (store ?? form?.member("grant"))?.member("id")?.integer ?? 0
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
    case UInt8(ascii: "w"): return [:]
    default: return .raw(Array(line))
    }
  }
}
