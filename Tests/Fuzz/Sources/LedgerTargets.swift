import CAssay

@testable import Assay
@testable import AssayAuthority
@testable import AssayCases

/// A target for `assay_exchange_step`: exchanges with a ledger, and databases with any replies.
enum LedgerTargets {
  private static let engines: [LedgerEngine] = [.sqlite, .postgres, .mariadb, .dynamodb, .redis]

  /// The verifiers by engine.
  private static let verifiers: [OpaquePointer] = engines.map { engine in
    var block: JSONText = [
      "engine": .string("\(engine.name)"), "keepEvidence": true, "transfer": "confirm",
      "failOpen": ["meters": ["free"], "planMaxAgeMs": 60_000],
      "forgetKey": .string(utf8: Base64Text.encode((0..<32).map { UInt8($0) })),
    ]
    if engine == .dynamodb { block = block.setting("table", "T") }
    return FuzzFixture.verifier(
      FuzzFixture.shared.cases.standardConfig.setting([
        ("quotas", ["free": ["free": 5], "premium": ["free": 5, "premium": 3]]),
        ("appStoreServerApi", FuzzFixture.shared.cases.appStoreServerApiBlock),
        ("ledger", block),
      ]).bytes)
  }

  private static let kinds = Operation.allCases.filter { $0.row.engines != nil }

  /// Runs an exchange. The first byte selects the operation and the second the engine; its higher
  /// bits select among requests. The lines after them are replies: `s` and bytes for
  /// `HostileStore`, `r` and the JSON of results, `f` and an error's code, `0` for no reply, `g`
  /// for the host's reply to a grant, `w` for the end of a wait, and anything else unchanged.
  static func ledgerMachine(_ input: [UInt8]) {
    guard input.count > 2 else { return }
    let kind = kinds[Int(input[0]) % kinds.count]
    let engine = engines[Int(input[1] & 7) % engines.count]
    let lines = input.dropFirst(2).split(separator: 0x0a, omittingEmptySubsequences: false)
    play(Start(kind, engine, choice: Int(input[1] >> 3)), lines)
  }

  private struct Start {
    let kind: Operation
    let engine: LedgerEngine
    let choice: Int

    init(_ kind: Operation, _ engine: LedgerEngine, choice: Int) {
      (self.kind, self.engine, self.choice) = (kind, engine, choice)
    }
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
      let next = step(exchange, line, answer)
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
    if !isOpen(answer) { checkOver(exchange, answer) }
    answer.free()
  }

  private static func isOpen(_ answer: Answer) -> Bool { answer.status & 0xff == 9 }

  /// Checks that an ended exchange stays ended, with the same document.
  private static func checkOver(_ exchange: OpaquePointer, _ answer: Answer) {
    let again = step(exchange, ArraySlice("w".utf8), answer)
    demand(again.status & 0xff == 5 || again.json == answer.json, "it goes on after its end")
    again.free()
    if answer.isOK {
      demand(answer.text("exchange.step") == "done", "no end")
    }
  }

  // MARK: requests

  private static func begin(_ start: Start) -> (OpaquePointer?, Answer) {
    let place = engines.firstIndex(of: start.engine) ?? 0
    let (exchange, answer) = Calls.begin(
      verifiers[place], request(start).bytes, evidence: evidence(start))
    // A completed sign-up has nothing to release, and Redis has no tables.
    let isSettled = answer.isOK && [.finishSignup, .createSchema].contains(start.kind)
    demand(
      isOpen(answer) || isSettled || answer.text("status.name")?.hasPrefix("config.ledger") == true,
      "no exchange: \(String(decoding: answer.json, as: UTF8.self))")
    return (exchange, answer)
  }

  private static let hash = String(repeating: "ab", count: 32)
  private static let attempt = "00112233445566778899aabbccddeeff"

  private static func request(_ start: Start) -> JSONText {
    let isOdd = start.choice & 1 != 0
    let request: JSONText = ["operation": .string("\(start.kind.row.name)")]
    let tried = request.setting("attemptId", .string(attempt))
    let owned = request.setting("account", "alice")
    switch start.kind {
    case .claim:
      let modes: [String] = ["lease", "transaction"]
      return tried.setting("account", "alice")
        .setting("grantMode", .string(modes[start.choice & 1]))
    case .resume: return tried.setting("account", "alice").setting("purchaseKey", purchaseKey)
    case .resumeExpired, .leaseDueSubscriptions: return tried
    case .complete:
      return owned.setting("purchaseKey", purchaseKey).setting("grantId", purchaseKey)
        .setting("fencingToken", 1)
    case .find:
      return isOdd ? owned : request
    case .updateSubscriptions, .getPlan, .deactivateSubscriptions, .registerDeviceKey,
      .advanceDeviceKeyCounter:
      return owned
    case .consumeQuota:
      return owned.setting("meter", isOdd ? "free" : "premium").setting("plan", "premium")
    case .releaseQuota: return request.setting("ticket", ticket(.take))
    case .acquireRatePermit:
      return request.setting("appStoreOperation", "get-transaction-history").setting(
        "environment", "Production"
      )
      .setting("bundleId", "com.example.app")
    case .beginSignup:
      return request.setting("address", "192.0.2.7").setting("username", "u_00112233445566ff")
        .setting("passwordBytes", 12)
    case .finishSignup:
      return request.setting("ticket", ticket(.admit))
        .setting("result", isOdd ? "created" : "provider-error")
    case .issueChallenge, .consumeChallenge:
      return request.setting("purpose", "attest").setting("subject", "alice")
        .setting("challenge", .string(challenge)).setting(
          start.kind == .consumeChallenge ? "usedBy" : "purpose", "attest")
    case .updateDeviceKeyReceipt: return request
    case .revoke, .applyEvent:
      let modes: [String] = ["none", "lease", "transaction"]
      return tried.setting("grantMode", .string(modes[start.choice % modes.count]))
    case .completeRevocation:
      return request.setting("purchaseKey", purchaseKey).setting("takeId", .string(hash + "-0"))
        .setting("fencingToken", 1)
    case .resumeExpiredRevocations: return tried
    case .retireDeviceKey: return owned.setting("keyId", keyId)
    case .getDeviceKey:
      return isOdd ? owned.setting("keyId", keyId) : request.setting("keyId", keyId)
    case .recordEvent: return tried.setting("id", "promotion-1")
    case .mergeAccounts: return tried.setting("from", "alice").setting("to", "bob")
    case .forgetAccount: return tried.setting("account", "alice")
    case .getEvidence: return request.setting("sha256", [.string(hash)])
    case .checkSchema: return request
    case .createSchema: return request.setting("lineage", .string(attempt))
    default: return request
    }
  }

  private static let challenge = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
  private static let keyId: JSONText = .string(
    utf8: Base64Text.encode((0..<32).map { UInt8($0) }))
  private static let purchaseKey: JSONText = .string(hash)

  private static func ticket(_ operation: MeterTicket.Operation) -> JSONText {
    let isTake = operation == .take
    let meter = Meter(
      scope: isTake ? "USER#alice" : "SIGNUP_IP#192.0.2.7", .day(FuzzFixture.instant),
      isTake ? "premium" : "created")
    return .string(utf8: MeterTicket(operation, meter, units: 1).text.utf8)
  }

  // MARK: evidence

  private static func evidence(_ start: Start) -> [OpaquePointer?] {
    let proofs = proofs[engines.firstIndex(of: start.engine) ?? 0]
    switch start.kind {
    case .claim, .updateSubscriptions: return [proofs.purchase]
    case .revoke: return [proofs.refund]
    case .applyEvent: return [start.choice & 4 != 0 ? proofs.refund : proofs.purchase]
    case .find: return start.choice & 1 != 0 ? [] : [proofs.purchase]
    case .registerDeviceKey: return [proofs.attestation]
    case .advanceDeviceKeyCounter: return [proofs.assertion]
    case .updateDeviceKeyReceipt: return [proofs.receipt]
    default: return []
    }
  }

  private struct Proofs {
    let purchase, refund, receipt, attestation, assertion: OpaquePointer?

    init(_ verifier: OpaquePointer) throws {
      let cases = FuzzFixture.shared.cases
      let fixture = AttestFixture.shared
      var refunded = cases.purchase
      refunded.revocationDate = FuzzFixture.instant - 60_000
      refunded.revocationReason = 0
      let bytes = try cases.attest.receipt(cases.receiptFacts())
      let kept = ReceiptFixture.shared.verify(verifier, AttestFixture.receiptKind, bytes)
      let attested = fixture.verifyAttestation(
        verifier, fixture.attestation(), keyId: fixture.device.keyId)
      let asserted = fixture.verifyAssertion(
        verifier, AttestTargets.goodAssertions[0].whole, key: fixture.device.point)
      demand(kept.isOK && attested.isOK && asserted.isOK, "no evidence")
      purchase = try Proofs.transaction(cases.purchase, verifier)
      refund = try Proofs.transaction(refunded, verifier)
      receipt = kept.handle
      (attestation, assertion) = (attested.handle, asserted.handle)
    }

    private static func transaction(
      _ purchase: Purchase, _ verifier: OpaquePointer
    ) throws -> OpaquePointer? {
      let jws = try FuzzFixture.shared.cases.authority.mint(purchase.transactionPayload)
      let answer = FuzzFixture.shared.verify(verifier, 1, jws)
      demand(answer.isOK, "a purchase was refused")
      return answer.handle
    }
  }

  /// The evidence by engine.
  private static let proofs: [Proofs] = verifiers.map {
    guard let proofs = try? Proofs($0) else { fatalError("no evidence") }
    return proofs
  }

  // MARK: answers

  private static func step(
    _ exchange: OpaquePointer, _ line: ArraySlice<UInt8>, _ open: Answer
  ) -> Answer {
    let form = open.tree?.member("exchange")
    let now = form?.member("notBeforeMs")?.integer ?? FuzzFixture.instant
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
