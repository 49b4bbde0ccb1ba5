import AssayAuthority
import Testing

@testable import Assay

/// The instant around which everything in these tests lies: 2026-11-21 UTC.
private let instant: Int64 = 1_795_219_200_000

/// The table with its verifiers, made once for all cases.
enum Table {
  static let made = Result { try CaseTable.make(now: instant) }
  static let verifiers: [String: Verifier] = {
    var built: [String: Verifier] = [:]
    for (name, config) in (try? made.get())?.verifiers ?? [] {
      built[name] = Verifier.alone(config.bytes).verifier
    }
    return built
  }()
}

extension EvidenceCase: CustomTestStringConvertible {
  public var testDescription: String { name }
}

@Suite("Case table")
struct CaseTableTests {
  @Test("the table is made, its verifiers build, its names are unique")
  func tableIsSound() throws {
    let table = try Table.made.get()
    #expect(table.cases.count > 1000)
    for (name, _) in table.verifiers {
      #expect(Table.verifiers[name] != nil, "verifier \(name)")
    }
    var seen: Set<String> = []
    for entry in table.cases {
      #expect(seen.insert(entry.name).inserted, "twice: \(entry.name)")
    }
  }

  @Test("the JSON form is strict JSON with as many cases")
  func jsonIsSound() throws {
    let table = try Table.made.get()
    let caps = JSONCaps(members: 1 << 20, elements: 1 << 20, values: .max)
    let json = try JSONReader.readObject(table.json, caps: caps)
    let cases = json.root.children.first { $0.isNamed("cases") }
    var count = 0
    for _ in try #require(cases).children { count += 1 }
    #expect(count == table.cases.count)
  }

  @Test("case", arguments: (try? Table.made.get())?.cases ?? [])
  func holds(_ entry: EvidenceCase) throws {
    switch entry.call {
    case .verifyJWS(let verifier, let kind, let jws, let now):
      let verifier = try #require(Table.verifiers[verifier])
      let kind = try #require(kind.storeKit)
      expect(entry, verifier.verifyJWS(jws.bytes, kind: kind, nowMs: now))
    case .verifyReceipt(let verifier, let kind, let receipt, let subject, let now):
      let verifier = try #require(Table.verifiers[verifier])
      expect(
        entry,
        verifier.verifyReceipt(receipt.bytes, kind: kind.library, subject: subject, nowMs: now))
    case .verifyAttestation(
      let verifier, let attestation, let keyId, let kind, let data, let now):
      let verifier = try #require(Table.verifiers[verifier])
      expect(
        entry,
        verifier.verifyAttestation(
          attestation.bytes, keyId: keyId,
          clientData: ClientDataInput(kind: kind, bytes: data.bytes), nowMs: now))
    case .verifyAssertion(
      let verifier, let assertion, let key, let counter, let kind, let data, let now):
      let verifier = try #require(Table.verifiers[verifier])
      expect(
        entry,
        verifier.verifyAssertion(
          assertion.bytes, publicKey: key, counter: counter,
          clientData: ClientDataInput(kind: kind, bytes: data.bytes), nowMs: now))
    case .verifyToken(let verifier, let jwks, let earlier, let token, let now):
      let verifier = try #require(Table.verifiers[verifier])
      let keyset = try #require(Keyset.make(jwks.bytes).keyset, "\(entry.name)")
      for text in earlier {
        _ = verifier.verifyToken(text.token.bytes, keyset: keyset, nowMs: text.now)
      }
      expect(entry, verifier.verifyToken(token.bytes, keyset: keyset, nowMs: now))
    case .keysetNew(let jwks):
      let (keyset, document) = Keyset.make(jwks.bytes)
      #expect((keyset != nil) == (entry.expect.status == "ok"), "\(entry.name)")
      expect(entry, document)
    case .exchange(let name, let request, let evidence, let now):
      let verifier = try #require(Table.verifiers[name])
      let documents = try evidence.map { piece in
        try verified(piece, by: try #require(Table.verifiers[piece.verifier ?? name]), now)
      }
      let (exchange, document) = verifier.startExchange(
        request.bytes, evidence: documents, nowMs: now)
      #expect((exchange != nil) == (document.status.family == .pending), "\(entry.name)")
      expect(entry, document)
    case .conversation(let name, let request, let evidence, let now, let steps):
      let verifier = try #require(Table.verifiers[name])
      let documents = try evidence.map { piece in
        try verified(piece, by: try #require(Table.verifiers[piece.verifier ?? name]), now)
      }
      var (exchange, document) = verifier.startExchange(
        request.bytes, evidence: documents, nowMs: now)
      for (place, step) in steps.enumerated() {
        var said = entry
        said.name += ", step \(place + 1)"
        said.expect = step.expect
        expect(said, document)
        document = try #require(exchange, "\(said.name)")
          .step(step.answer.bytes, nowMs: step.now)
      }
      expect(entry, document)
    case .triage(let verifier, let blob, let now):
      let verifier = try #require(Table.verifiers[verifier])
      expect(entry, verifier.triage(blob.bytes, nowMs: now))
    case .readVerifyReceipt(let verifier, let body, let now):
      let verifier = try #require(Table.verifiers[verifier])
      expect(entry, verifier.readVerifyReceipt(body.bytes, nowMs: now))
    case .decide(let name, let evidence, let account, let now):
      let verifier = try #require(Table.verifiers[name])
      let documents = try evidence.map { piece in
        try verified(piece, by: try #require(Table.verifiers[piece.verifier ?? name]), now)
      }
      expect(
        entry,
        verifier.decide(documents, account: account.map { Array($0.utf8) }, nowMs: now))
    case .checkExpiry(let expires, let grace, let revoked, let now):
      let status = checkExpiry(
        expiresMs: expires ?? noDate, gracePeriodMs: grace ?? noDate,
        revokedMs: revoked ?? noDate, nowMs: now)
      #expect("\(status.name)" == entry.expect.status, "\(entry.name)")
    case .verifierNew(let config):
      let (verifier, document) = Verifier.alone(config.bytes)
      #expect((verifier != nil) == (entry.expect.status == "ok"), "\(entry.name)")
      expect(entry, document)
    }
  }

  private func verified(
    _ piece: EvidenceCase.Evidence, by verifier: Verifier, _ now: Int64
  ) throws -> Document {
    switch piece.proof {
    case .jws(let kind, let jws):
      return verifier.verifyJWS(jws, kind: try #require(kind.storeKit), nowMs: now)
    case .receipt(let kind, let receipt):
      return verifier.verifyReceipt(receipt, kind: kind.library, subject: nil, nowMs: now)
    case .answer(let body): return verifier.readVerifyReceipt(body, nowMs: now)
    case .keyset(let jwks): return Keyset.make(jwks).document
    }
  }

  private func expect(_ entry: EvidenceCase, _ document: Document) {
    let name = entry.name
    let shown = "\(name): \(document.text("error.message") ?? "")"
    #expect("\(document.status.name)" == entry.expect.status, "\(shown)")
    #expect(document.text("status.name") == entry.expect.status, "\(shown)")
    if let check = entry.expect.check {
      #expect(document.text("error.check") == check, "\(shown)")
    }
    if let place = entry.expect.at {
      #expect(document.text("error.at") == place, "\(shown)")
    }
    if let hint = entry.expect.hint {
      #expect(document.text("error.hint")?.hasPrefix(hint) == true, "\(shown)")
    }
    HintGate.judge(document, of: entry)
    for (path, fact) in entry.expect.facts {
      switch fact {
      case .text(let text): #expect(document.text(path) == text, "\(name): \(path)")
      case .integer(let number): #expect(document.integer(path) == number, "\(name): \(path)")
      case .flag(let flag): #expect(document.flag(path) == flag, "\(name): \(path)")
      case .null:
        #expect(document.text(path) == nil, "\(name): \(path)")
        #expect(document.integer(path) == nil, "\(name): \(path)")
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
  var storeKit: StoreKitKind? {
    StoreKitKind.allCases.first { "\($0.name)" == rawValue }
  }
}
