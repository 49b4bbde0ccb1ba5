@_spi(AssaySwift) import Assay
import AssayAuthority

/// Runs the table against the library in this process, for the Swift tests and the mutants.
public struct CaseRun: Sendable {
  public typealias Made = (verifier: Verifier?, document: Document)

  public let table: CaseTable
  /// The verifiers by name; one that could not be made is missing.
  public let verifiers: [String: Verifier]
  private let make: @Sendable ([UInt8]) -> Made
  private let judge: @Sendable (Document, EvidenceCase) -> Void

  /// Makes the verifiers of a table.
  ///
  /// - Parameters:
  ///   - make: Makes a verifier of a configuration.
  ///   - judge: Receives every document that a case compares.
  public init(
    _ table: CaseTable, make: @escaping @Sendable ([UInt8]) -> Made = { Verifier.make($0) },
    judge: @escaping @Sendable (Document, EvidenceCase) -> Void = { _, _ in }
  ) {
    self.table = table
    self.make = make
    self.judge = judge
    var built: [String: Verifier] = [:]
    for (name, config) in table.verifiers { built[name] = make(config.bytes).verifier }
    verifiers = built
  }

  /// Returns the differences from the case's expectation; empty if there are none.
  public func faults(_ entry: EvidenceCase) -> [String] {
    do {
      return try answer(to: entry)
    } catch {
      return [error.what]
    }
  }

  /// An input that a case needs and that is missing.
  private struct Missing: Error { let what: String }

  private func verifier(_ name: String) throws(Missing) -> Verifier {
    guard let found = verifiers[name] else { throw Missing(what: "no verifier \(name)") }
    return found
  }

  private func answer(to entry: EvidenceCase) throws(Missing) -> [String] {
    switch entry.call {
    case .verifyJWS(let name, let kind, let jws, let now):
      return compare(
        entry, try verifier(name).verifyJWS(jws.bytes, kind: kind.library, nowMs: now))
    case .verifyReceipt(let name, let kind, let receipt, let subject, let now):
      return compare(
        entry,
        try verifier(name).verifyReceipt(
          receipt.bytes, kind: kind.library, subject: subject, nowMs: now))
    case .verifyAttestation(let name, let attestation, let keyId, let kind, let data, let now):
      return compare(
        entry,
        try verifier(name).verifyAttestation(
          attestation.bytes, keyId: keyId,
          clientData: ClientDataInput(kind: kind, bytes: data.bytes), nowMs: now))
    case .verifyAssertion(
      let name, let assertion, let key, let counter, let kind, let data, let now):
      return compare(
        entry,
        try verifier(name).verifyAssertion(
          assertion.bytes, publicKey: key, counter: counter,
          clientData: ClientDataInput(kind: kind, bytes: data.bytes), nowMs: now))
    case .verifyToken(let name, let jwks, let earlier, let token, let now):
      let verifier = try verifier(name)
      guard let keyset = Keyset.make(jwks.bytes).keyset else {
        throw Missing(what: "no key set")
      }
      for text in earlier {
        _ = verifier.verifyToken(text.token.bytes, keyset: keyset, nowMs: text.now)
      }
      return compare(entry, verifier.verifyToken(token.bytes, keyset: keyset, nowMs: now))
    case .keysetNew(let jwks):
      let (keyset, document) = Keyset.make(jwks.bytes)
      return compare(entry, document, made: keyset != nil)
    case .exchange(let name, let request, let evidence, let now):
      return try converse(entry, name, request, evidence, now, [])
    case .transcript(let name, let request, let evidence, let now, let steps):
      return try converse(entry, name, request, evidence, now, steps)
    case .triage(let name, let blob, let now):
      return compare(entry, try verifier(name).triage(blob.bytes, nowMs: now))
    case .readVerifyReceiptResponse(let name, let body, let now):
      return compare(entry, try verifier(name).readVerifyReceiptResponse(body.bytes, nowMs: now))
    case .decide(let name, let evidence, let account, let now):
      let documents = try verified(evidence, by: name, now)
      return compare(
        entry,
        try verifier(name).decide(
          documents, account: account.map { Array($0.utf8) }, nowMs: now))
    case .checkExpiry(let expires, let grace, let revoked, let now):
      let status = checkExpiry(
        expiresAtMs: expires ?? noDate, gracePeriodMs: grace ?? noDate,
        revokedAtMs: revoked ?? noDate, nowMs: now)
      return differing("status", "\(status.name)", entry.expect.status)
    case .verifierNew(let config):
      let (verifier, document) = make(config.bytes)
      return compare(entry, document, made: verifier != nil)
    }
  }

  /// Compares the document before each reply with the step's expectation, and the one after the
  /// last reply with the case's. An exchange that ends early accepts no reply.
  private func converse(
    _ entry: EvidenceCase, _ name: String, _ request: EvidenceText,
    _ evidence: [EvidenceCase.Evidence], _ now: Int64, _ steps: [EvidenceCase.Step]
  ) throws(Missing) -> [String] {
    let documents = try verified(evidence, by: name, now)
    var (exchange, document) = try verifier(name).startExchange(
      request.bytes, evidence: documents, nowMs: now)
    var faults: [String] = []
    if (exchange != nil) != (document.status.family == .pending) {
      faults.append("an exchange where none is pending, or none")
    }
    for (place, step) in steps.enumerated() {
      var said = entry
      said.name += ", step \(place + 1)"
      said.expect = step.expect
      faults += compare(said, document).map { "step \(place + 1): \($0)" }
      guard let open = exchange else { throw Missing(what: "no step \(place + 1)") }
      document = open.step(step.answer.bytes, nowMs: step.now)
    }
    exchange = nil
    return faults + compare(entry, document)
  }

  /// Verifies every piece of evidence, by the verifier of that name unless the piece names one.
  private func verified(
    _ evidence: [EvidenceCase.Evidence], by name: String, _ now: Int64
  ) throws(Missing) -> [Document] {
    var documents: [Document] = []
    for piece in evidence {
      let verifier = try verifier(piece.verifier ?? name)
      switch piece.proof {
      case .jws(let kind, let jws):
        documents.append(verifier.verifyJWS(jws, kind: kind.library, nowMs: now))
      case .receipt(let kind, let receipt):
        documents.append(
          verifier.verifyReceipt(receipt, kind: kind.library, subject: nil, nowMs: now))
      case .answer(let body): documents.append(verifier.readVerifyReceiptResponse(body, nowMs: now))
      case .keyset(let jwks): documents.append(Keyset.make(jwks).document)
      case .attestation(let attestation, let keyId, let data):
        documents.append(
          verifier.verifyAttestation(
            attestation, keyId: keyId, clientData: ClientDataInput(kind: 1, bytes: data),
            nowMs: now))
      case .assertion(let assertion, let key, let counter, let data):
        documents.append(
          verifier.verifyAssertion(
            assertion, publicKey: key, counter: counter,
            clientData: ClientDataInput(kind: 1, bytes: data), nowMs: now))
      }
    }
    return documents
  }

  // MARK: comparing

  private func compare(
    _ entry: EvidenceCase, _ document: Document, made: Bool? = nil
  ) -> [String] {
    judge(document, entry)
    let expect = entry.expect
    var faults = differing("status", "\(document.status.name)", expect.status)
    faults += differing("status.name", document.text("status.name"), expect.status)
    if let made { faults += differing("made", made, expect.status == "ok") }
    if let check = expect.check {
      faults += differing("error.check", document.text("error.check"), check)
    }
    if let place = expect.at { faults += differing("error.at", document.text("error.at"), place) }
    if let hint = expect.hint, document.text("error.hint")?.hasPrefix(hint) != true {
      faults += differing("error.hint", document.text("error.hint"), hint)
    }
    for (path, fact) in expect.facts {
      switch fact {
      case .text(let text): faults += differing(path, document.text(path), text)
      case .integer(let number): faults += differing(path, document.integer(path), number)
      case .flag(let flag): faults += differing(path, document.flag(path), flag)
      case .null:
        faults += differing(path, document.text(path), nil)
        faults += differing(path, document.integer(path), nil)
      }
    }
    if !faults.isEmpty, let message = document.text("error.message") { faults.append(message) }
    return faults
  }

  private func differing<Value: Equatable>(
    _ what: String, _ found: Value?, _ expected: Value?
  ) -> [String] {
    if found == expected { return [] }
    func shown(_ value: Value?) -> String { value.map { "\($0)" } ?? "nothing" }
    return ["\(what): \(shown(found)) instead of \(shown(expected))"]
  }
}

extension Document {
  /// Returns the boolean at a dotted path, in which numbers are indexes of arrays; `nil` if the
  /// value is no boolean.
  public func flag(_ path: String) -> Bool? {
    var value = value
    for step in path.split(separator: ".") {
      let children = value?.children ?? []
      if value?.isArray == true {
        let place = Int(step) ?? -1
        value = children.indices.contains(place) ? children[place].value : nil
      } else {
        value = children.first { $0.name == step }?.value
      }
    }
    return value?.boolean
  }
}

extension EvidenceKind {
  /// The library's case for the same kind.
  public var library: StoreKitKind {
    switch self {
    case .transaction: .transaction
    case .renewalInfo: .renewalInfo
    case .notification: .notification
    case .appTransaction: .appTransaction
    case .realtimeRequest: .realtimeRequest
    }
  }
}

extension ReceiptEvidenceKind {
  /// The library's case for the same kind.
  public var library: ReceiptKind {
    switch self {
    case .transactionReceipt: .transaction
    case .appReceipt: .app
    case .attestReceipt: .attest
    }
  }
}
