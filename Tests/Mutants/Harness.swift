import AssayAuthority
import CProcess
import Glibc

@testable import Assay

// Runs the case table once for each removed check, each in a process of its own:
//
//   harness COUNT NUMBER …   of this many checks, prints "NUMBER killed WHAT" or
//                            "NUMBER survived" for each of these
//
// A check that no case reaches survives untested, and cases before the first that
// reaches it are not run. A crash or an endless loop is noticed, so it kills the mutant too.

@main
enum Harness {
  static let instant: Int64 = 1_795_219_200_000
  static let failed: Int32 = 1
  static let secondsForOne: UInt32 = 120

  static func main() throws {
    let numbers = CommandLine.arguments.dropFirst().compactMap { Int32($0) }
    guard let count = numbers.first, numbers.dropFirst().allSatisfy({ (1...count).contains($0) })
    else {
      print("0 called without COUNT NUMBER …")
      exit(2)
    }
    let table = try CaseTable.make(now: instant)
    let begins = firstToAsk(table, count: Int(count))
    for number in numbers.dropFirst() {
      fflush(stdout)
      guard let begin = begins[Int(number)] else {
        print("\(number) survived")
        continue
      }
      let child = process_fork(secondsForOne)
      if child == 0 {
        Mutants.removed = number
        guard let name = CaseRun(table).firstFailure(from: begin) else { _exit(0) }
        print("\(number) killed \(name)")
        fflush(stdout)
        _exit(failed)
      }
      let status = process_wait(child)
      if status == 0 { print("\(number) survived") }
      if status > 256 { print("\(number) killed signal \(status - 256)") }
    }
  }

  /// The place of the first case that asks each check, by number; nil where none
  /// does. Ends the process if the table does not hold without a mutant.
  private static func firstToAsk(_ table: CaseTable, count: Int) -> [Int?] {
    let asked = UnsafeMutablePointer<UInt8>.allocate(capacity: count + 1)
    asked.initialize(repeating: 0, count: count + 1)
    Mutants.reached = asked
    var first = [Int?](repeating: nil, count: count + 1)
    func note(_ place: Int) {
      for number in first.indices where asked[number] == 1 && first[number] == nil {
        first[number] = place
      }
    }
    let run = CaseRun(table)
    note(0)
    for (place, entry) in table.cases.enumerated() {
      if !run.holds(entry) {
        print("0 fails without any mutant: \(entry.name)")
        exit(2)
      }
      note(place)
    }
    Mutants.reached = nil
    return first
  }
}

/// The table against the library as it is in this process.
struct CaseRun {
  let table: CaseTable
  private let verifiers: [String: Verifier]

  init(_ table: CaseTable) {
    self.table = table
    var built: [String: Verifier] = [:]
    for (name, config) in table.verifiers { built[name] = Verifier.make(config.bytes).verifier }
    verifiers = built
  }

  /// The name of the first case from a place on whose answer is not what it must be.
  func firstFailure(from place: Int) -> String? {
    if verifiers.count != table.verifiers.count { return "a verifier of the table" }
    return table.cases[place...].first { !holds($0) }?.name
  }

  func holds(_ entry: EvidenceCase) -> Bool {
    switch entry.call {
    case .verifyJWS(let name, let kind, let jws, let now):
      guard let verifier = verifiers[name], let kind = kind.library else { return false }
      return matches(entry, verifier.verifyJWS(jws.bytes, kind: kind, nowMs: now))
    case .verifyReceipt(let name, let kind, let receipt, let subject, let now):
      guard let verifier = verifiers[name] else { return false }
      return matches(
        entry,
        verifier.verifyReceipt(receipt.bytes, kind: kind.library, subject: subject, nowMs: now))
    case .verifyAttestation(let name, let attestation, let keyId, let kind, let data, let now):
      guard let verifier = verifiers[name] else { return false }
      return matches(
        entry,
        verifier.verifyAttestation(
          attestation.bytes, keyId: keyId,
          clientData: ClientDataInput(kind: kind, bytes: data.bytes), nowMs: now))
    case .verifyAssertion(
      let name, let assertion, let key, let counter, let kind, let data, let now):
      guard let verifier = verifiers[name] else { return false }
      return matches(
        entry,
        verifier.verifyAssertion(
          assertion.bytes, publicKey: key, counter: counter,
          clientData: ClientDataInput(kind: kind, bytes: data.bytes), nowMs: now))
    case .verifyToken(let name, let jwks, let earlier, let token, let now):
      guard let verifier = verifiers[name], let keyset = Keyset.make(jwks.bytes).keyset
      else { return false }
      for text in earlier {
        _ = verifier.verifyToken(text.token.bytes, keyset: keyset, nowMs: text.now)
      }
      return matches(entry, verifier.verifyToken(token.bytes, keyset: keyset, nowMs: now))
    case .keysetNew(let jwks):
      let (keyset, document) = Keyset.make(jwks.bytes)
      return (keyset != nil) == (entry.expect.status == "ok") && matches(entry, document)
    case .exchange(let name, let request, let evidence, let now):
      guard let verifier = verifiers[name], let documents = verified(evidence, by: name, now)
      else { return false }
      let (exchange, document) = verifier.startExchange(
        request.bytes, evidence: documents, nowMs: now)
      return (exchange != nil) == (document.status.family == .pending)
        && matches(entry, document)
    case .conversation(let name, let request, let evidence, let now, let steps):
      guard let verifier = verifiers[name], let documents = verified(evidence, by: name, now)
      else { return false }
      var (exchange, document) = verifier.startExchange(
        request.bytes, evidence: documents, nowMs: now)
      for step in steps {
        var said = entry
        said.expect = step.expect
        guard matches(said, document), let open = exchange else { return false }
        document = open.step(step.answer.bytes, nowMs: step.now)
      }
      exchange = nil
      return matches(entry, document)
    case .triage(let name, let blob, let now):
      guard let verifier = verifiers[name] else { return false }
      return matches(entry, verifier.triage(blob.bytes, nowMs: now))
    case .readVerifyReceipt(let name, let body, let now):
      guard let verifier = verifiers[name] else { return false }
      return matches(entry, verifier.readVerifyReceipt(body.bytes, nowMs: now))
    case .decide(let name, let evidence, let account, let now):
      guard let verifier = verifiers[name], let documents = verified(evidence, by: name, now)
      else { return false }
      return matches(
        entry,
        verifier.decide(documents, account: account.map { Array($0.utf8) }, nowMs: now))
    case .checkExpiry(let expires, let grace, let revoked, let now):
      let status = checkExpiry(
        expiresMs: expires ?? noDate, gracePeriodMs: grace ?? noDate,
        revokedMs: revoked ?? noDate, nowMs: now)
      return "\(status.name)" == entry.expect.status
    case .verifierNew(let config):
      let (verifier, document) = Verifier.make(config.bytes)
      return (verifier != nil) == (entry.expect.status == "ok") && matches(entry, document)
    }
  }

  /// Every piece verified, by the verifier of that name unless it has its own.
  private func verified(
    _ evidence: [EvidenceCase.Evidence], by name: String, _ now: Int64
  ) -> [Document]? {
    var documents: [Document] = []
    for piece in evidence {
      guard let verifier = verifiers[piece.verifier ?? name],
        let document = verified(piece, by: verifier, now)
      else { return nil }
      documents.append(document)
    }
    return documents
  }

  private func verified(
    _ piece: EvidenceCase.Evidence, by verifier: Verifier, _ now: Int64
  ) -> Document? {
    switch piece.proof {
    case .jws(let kind, let jws):
      return kind.library.map { verifier.verifyJWS(jws, kind: $0, nowMs: now) }
    case .receipt(let kind, let receipt):
      return verifier.verifyReceipt(receipt, kind: kind.library, subject: nil, nowMs: now)
    case .answer(let body): return verifier.readVerifyReceipt(body, nowMs: now)
    case .keyset(let jwks): return Keyset.make(jwks).document
    }
  }

  private func matches(_ entry: EvidenceCase, _ document: Document) -> Bool {
    let expect = entry.expect
    guard "\(document.status.name)" == expect.status else { return false }
    if let check = expect.check, document.text("error.check") != check { return false }
    if let place = expect.at, document.text("error.at") != place { return false }
    if let hint = expect.hint, document.text("error.hint")?.hasPrefix(hint) != true { return false }
    return expect.facts.allSatisfy { path, fact in
      switch fact {
      case .text(let text): return document.text(path) == text
      case .integer(let number): return document.integer(path) == number
      case .flag(let flag): return document.flag(path) == flag
      case .null: return document.text(path) == nil && document.integer(path) == nil
      }
    }
  }
}

extension ReceiptEvidenceKind {
  /// The library's name of the same kind.
  var library: ReceiptKind {
    switch self {
    case .transactionReceipt: .transaction
    case .appReceipt: .app
    case .attestReceipt: .attest
    }
  }
}

extension Document {
  /// The boolean at a dotted path; nil where something else is.
  func flag(_ path: String) -> Bool? {
    guard let member = DocumentMember.find(json, Array(path.utf8)) else { return nil }
    let rest = json[member.start...]
    if rest.starts(with: "true".utf8) { return true }
    return rest.starts(with: "false".utf8) ? false : nil
  }
}

extension EvidenceKind {
  /// The library's name of the same kind.
  var library: StoreKitKind? { StoreKitKind.allCases.first { "\($0.name)" == rawValue } }
}
