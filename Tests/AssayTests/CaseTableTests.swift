import AssayAuthority
import Testing

@testable import Assay

/// The instant around which everything in these tests lies: 2026-11-21 UTC.
private let instant: Int64 = 1_795_219_200_000

/// The table with its verifiers, made once for all cases.
private enum Table {
  static let made = Result { try CaseTable.make(now: instant) }
  static let verifiers: [String: Verifier] = {
    var built: [String: Verifier] = [:]
    for (name, config) in (try? made.get())?.verifiers ?? [] {
      built[name] = Verifier.make(config.bytes).verifier
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
    let caps = JSONCaps(members: 1 << 20, elements: 1 << 20)
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
    case .decide(let name, let evidence, let account, let now):
      let verifier = try #require(Table.verifiers[name])
      let documents = try evidence.map { piece in
        let own = try #require(Table.verifiers[piece.verifier ?? name])
        return own.verifyJWS(piece.jws, kind: try #require(piece.kind.storeKit), nowMs: now)
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
      let (verifier, document) = Verifier.make(config.bytes)
      #expect((verifier != nil) == (entry.expect.status == "ok"), "\(entry.name)")
      expect(entry, document)
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
    for (path, fact) in entry.expect.facts {
      switch fact {
      case .text(let text): #expect(document.text(path) == text, "\(name): \(path)")
      case .integer(let number): #expect(document.integer(path) == number, "\(name): \(path)")
      case .null:
        #expect(document.text(path) == nil, "\(name): \(path)")
        #expect(document.integer(path) == nil, "\(name): \(path)")
      }
    }
  }
}

extension EvidenceKind {
  /// The library's name of the same kind.
  var storeKit: StoreKitKind? {
    StoreKitKind.allCases.first { "\($0.name)" == rawValue }
  }
}
