@_spi(AssaySwift) import Assay
import AssayAuthority
import AssayCases
import AssaySwift
import Testing

typealias Verifier = AssaySwift.Verifier
/// The case table, minted once, with its verifiers.
enum Table {
  /// The table at 2026-11-21 UTC.
  static let made = Result { try CaseTable.make(now: 1_795_219_200_000) }
  static let verifiers: [String: Verifier] = {
    var built: [String: Verifier] = [:]
    for (name, config) in (try? made.get())?.verifiers ?? [] {
      built[name] = try? Verifier(String(decoding: config.bytes, as: UTF8.self))
    }
    return built
  }()
}

/// Tests that the typed facts equal the JSON: every member that the library writes has a property
/// with its value. The comparison uses the types themselves, so that no list of them is needed
/// here.
@Suite("Typed facts over the case table")
struct TypedTests {
  @Test("every case answers by types what it answers as a document")
  func table() throws {
    var seen: [String: Int] = [:]
    for entry in try Table.made.get().cases {
      guard let typed = try answer(to: entry) else { continue }
      let expected = entry.expect.status
      switch typed {
      case .refused(let refusal):
        #expect(refusal.status.description == expected, "\(entry.name)")
        #expect(refusal.description.hasPrefix(expected + ": "), "\(entry.name)")
        #expect(refusal.document?.text("error.hint") == refusal.hint, "\(entry.name)")
        if let place = entry.expect.at { #expect(refusal.at == place, "\(entry.name)") }
        if let check = entry.expect.check { #expect(refusal.check == check, "\(entry.name)") }
        seen["refusal", default: 0] += 1
      case .facts(let facts, let path):
        #expect(facts.document.status.description == expected, "\(entry.name)")
        var object = try #require(facts.document.value)
        for name in path { object = try #require(object.member(name), "\(entry.name)") }
        Comparison(name: entry.name).object(facts, object)
        if let finding = facts as? Triage {
          let claimed = facts.document.value?.member("unverified")
          #expect((finding.unverified == nil) == (claimed == nil), "\(entry.name)")
          if let claims = finding.unverified, let claimed {
            Comparison(name: entry.name).object(claims, claimed)
          }
        }
        #expect(facts.raw == object.json, "\(entry.name)")
        #expect(facts.payload == object.member("payload")?.json, "\(entry.name)")
        seen["\(type(of: facts))", default: 0] += 1
      }
    }
    for kind in [
      "Transaction", "RenewalInfo", "Notification", "AppTransaction", "RealtimeRequest",
      "TransactionReceipt", "AppReceipt", "AttestReceipt", "VerifyReceiptResponse", "Triage",
      "Attestation", "Assertion", "Decision", "Risk", "DeviceCheck", "Token", "IssuerKeys",
    ] {
      #expect(seen[kind, default: 0] >= 2, "\(kind)")
    }
    #expect(seen["refusal", default: 0] > 800)
  }

  enum Typed {
    case facts(any Facts, [StaticString])
    case refused(AssayError)
  }

  /// Returns the result of a case; `nil` if the types cannot express its call: text that is not
  /// text, or an unknown kind.
  private func answer(to entry: EvidenceCase) throws -> Typed? {
    do {
      return try call(entry)
    } catch let refusal as AssayError {
      return .refused(refusal)
    } catch let ended as Ended {
      #expect("\(ended.status)" == entry.expect.status, "\(entry.name)")
      return nil
    }
  }

  private func call(_ entry: EvidenceCase) throws -> Typed? {
    switch entry.call {
    case .verifyJWS(let name, let kind, let jws, let now):
      guard let text = String(validating: jws.bytes, as: UTF8.self) else { return nil }
      return try signed(try verifier(name), kind, text, Timestamp(milliseconds: now))
    case .verifyReceipt(let name, let kind, let receipt, let subject, let now):
      let verifier = try verifier(name)
      let now = Timestamp(milliseconds: now)
      switch kind {
      case .transactionReceipt:
        if subject != nil { return nil }
        return .facts(
          try verifier.verifyTransactionReceipt(receipt.bytes, at: now), ["transactionReceipt"])
      case .appReceipt:
        return .facts(
          try verifier.verifyAppReceipt(receipt.bytes, device: subject, at: now), ["appReceipt"])
      case .attestReceipt:
        return .facts(
          try verifier.verifyAttestReceipt(receipt.bytes, publicKey: subject, at: now),
          ["attestReceipt"])
      }
    case .verifyAttestation(let name, let object, let keyId, let kind, let data, let now):
      guard let key = String(validating: keyId, as: UTF8.self),
        let clientData = clientData(kind, data.bytes)
      else { return nil }
      return .facts(
        try verifier(name).verifyAttestation(
          object.bytes, keyId: key, clientData: clientData, at: Timestamp(milliseconds: now)),
        ["attestation"])
    case .verifyAssertion(let name, let object, let key, let counter, let kind, let data, let now):
      guard let clientData = clientData(kind, data.bytes) else { return nil }
      return .facts(
        try verifier(name).verifyAssertion(
          object.bytes, publicKey: key, counter: counter, clientData: clientData,
          at: Timestamp(milliseconds: now)), ["assertion"])
    case .verifyToken(let name, let jwks, let earlier, let token, let now):
      guard let text = String(validating: token.bytes, as: UTF8.self) else { return nil }
      let keys = try AssaySwift.Keyset(String(decoding: jwks.bytes, as: UTF8.self))
      for seen in earlier {
        _ = try? verifier(name).verifyToken(
          String(decoding: seen.token.bytes, as: UTF8.self), keys: keys,
          at: Timestamp(milliseconds: seen.now))
      }
      return .facts(
        try verifier(name).verifyToken(
          text, keys: keys, at: Timestamp(milliseconds: now)), ["token"])
    case .keysetNew(let jwks):
      guard let text = String(validating: jwks.bytes, as: UTF8.self) else { return nil }
      return .facts(try AssaySwift.Keyset(text).facts, ["keyset"])
    case .triage(let name, let blob, let now):
      return .facts(
        try verifier(name).triage(blob.bytes, at: Timestamp(milliseconds: now)), ["triage"])
    case .readVerifyReceiptResponse(let name, let body, let now):
      return .facts(
        try verifier(name).readVerifyReceiptResponse(body.bytes, at: Timestamp(milliseconds: now)),
        ["verifyReceipt"])
    case .decide(let name, let evidence, let account, let now):
      return try decided(name, evidence, account, Timestamp(milliseconds: now))
    case .exchange(let name, let request, let evidence, let now):
      if let found = try signedIn(try verifier(name), request, evidence, now) { return found }
      guard evidence.isEmpty, let text = String(validating: request.bytes, as: UTF8.self) else {
        return nil
      }
      return try exchanged(try verifier(name), text, Timestamp(milliseconds: now))
    case .transcript: return nil
    case .verifierNew(let config):
      guard let text = String(validating: config.bytes, as: UTF8.self) else { return nil }
      _ = try Verifier(text)
      #expect(entry.expect.status == "ok", "\(entry.name)")
      return nil
    case .checkExpiry(let expires, let grace, let revoked, let now):
      let status = AssaySwift.checkExpiry(
        expires: expires.map(Timestamp.init), gracePeriod: grace.map(Timestamp.init),
        revoked: revoked.map(Timestamp.init), at: Timestamp(milliseconds: now))
      #expect("\(status)" == entry.expect.status, "\(entry.name)")
      return nil
    }
  }

  /// Returns the result of a Sign in with Apple request that its methods can express.
  private func signedIn(
    _ verifier: Verifier, _ request: EvidenceText, _ evidence: [EvidenceCase.Evidence],
    _ now: Int64
  ) throws -> Typed? {
    guard evidence.count == 1, case .keyset(let jwks)? = evidence.first?.proof,
      let keys = try? AssaySwift.Keyset(String(decoding: jwks, as: UTF8.self)),
      let root = DocumentValue(json: request.bytes)
    else { return nil }
    let (names, now) = (Set(root.children.map(\.name)), Timestamp(milliseconds: now))
    let nonce = root.member("nonce")
    switch root.member("operation")?.text {
    case "verify-apple-identity-token":
      guard let token = root.member("token")?.text, nonce == nil || nonce?.text != nil,
        names.isSubset(of: ["operation", "token", "nonce"])
      else { return nil }
      return .facts(
        try verifier.verifyAppleIdentityToken(token, keys: keys, nonce: nonce?.text, at: now),
        ["exchange", "token"])
    case "verify-sign-in-notification":
      guard let payload = root.member("payload")?.text else { return nil }
      #expect(try !verifier.verifySignInNotification(payload, keys: keys, at: now).tokenId.isEmpty)
      return nil
    default: return nil
    }
  }

  private func verifier(_ name: String) throws -> Verifier {
    try #require(Table.verifiers[name], "\(name)")
  }

  private func clientData(_ kind: Int32, _ bytes: [UInt8]) -> ClientData? {
    switch kind {
    case 1: .data(bytes)
    case 2: .hash(bytes)
    default: nil
    }
  }

  private func signed(
    _ verifier: Verifier, _ kind: EvidenceKind, _ jws: String, _ now: Timestamp
  ) throws -> Typed? {
    switch kind.rawValue {
    case "transaction": .facts(try verifier.verifyTransaction(jws, at: now), ["transaction"])
    case "renewal-info":
      .facts(try verifier.verifyRenewalInfo(jws, at: now), ["renewalInfo"])
    case "notification": .facts(try verifier.verifyNotification(jws, at: now), ["notification"])
    case "app-transaction":
      .facts(try verifier.verifyAppTransaction(jws, at: now), ["appTransaction"])
    case "realtime-request":
      .facts(try verifier.verifyRealtimeRequest(jws, at: now), ["realtimeRequest"])
    default: nil
    }
  }

  private func decided(
    _ name: String, _ evidence: [EvidenceCase.Evidence], _ account: String?, _ now: Timestamp
  ) throws -> Typed? {
    var facts: [any PurchaseEvidence] = []
    for piece in evidence {
      let verifier = try verifier(piece.verifier ?? name)
      let found: Typed?
      do {
        switch piece.proof {
        case .jws(let kind, let jws):
          found = try signed(verifier, kind, String(decoding: jws, as: UTF8.self), now)
        case .receipt(.transactionReceipt, let bytes):
          found = .facts(try verifier.verifyTransactionReceipt(bytes, at: now), [])
        case .receipt(.appReceipt, let bytes):
          found = .facts(try verifier.verifyAppReceipt(bytes, at: now), [])
        case .receipt(.attestReceipt, _), .keyset, .attestation, .assertion: return nil
        case .answer(let body):
          found = .facts(try verifier.readVerifyReceiptResponse(body, at: now), [])
        }
      } catch is AssayError {
        return nil
      }
      // Evidence that is not about a purchase does not compile as such.
      guard case .facts(let one as any PurchaseEvidence, _) = found else { return nil }
      facts.append(one)
    }
    let decision = try verifier(name).decide(facts, account: account, at: now)
    #expect(decision.entitled == (decision.document.status == .ok))
    return .facts(decision, ["decision"])
  }

  /// Makes each request by its own call; a request that those cannot make as an exchange.
  private func exchanged(
    _ verifier: Verifier, _ text: String, _ now: Timestamp
  ) throws -> Typed? {
    guard let request = DocumentValue(json: Array(text.utf8)) else {
      throw Ended(status: try verifier.exchange(JSON(text: text), at: now).document.status)
    }
    let names = Set(request.children.map(\.name))
    switch request.member("operation")?.text {
    case "assess-risk":
      guard names == ["operation", "observations"], let given = request.member("observations")
      else {
        break
      }
      return .facts(try verifier.assessRisk(JSON(text: given.json), at: now), ["risk"])
    case "read-device-check-response":
      guard let body = request.member("body"), body.children.count == 1,
        let octets = body.member("text").flatMap({ $0.text.map { Array($0.utf8) } })
          ?? body.member("base64")?.octets,
        let status = request.member("status")?.signedInteger,
        let call = request.member("call")?.text,
        names.isSubset(of: ["operation", "call", "status", "body", "offer"])
      else { break }
      let offer = request.member("offer")
      if offer != nil, offer?.boolean == nil { break }
      do {
        let found = try verifier.readDeviceCheckResponse(
          octets, httpStatus: Int(status), call: DeviceCall(rawValue: call),
          offer: offer?.boolean ?? false, at: now)
        return .facts(found, ["exchange", "deviceCheck"])
      } catch {
        let found = error.document?.value?.member("exchange")?.member("deviceCheck")
        #expect((found == nil) == (error.deviceCheck == nil))
        if let found, let facts = error.deviceCheck {
          Comparison(name: "\(error.status)").object(facts, found)
        }
        throw error
      }
    case "normalize-key-id":
      guard names == ["operation", "keyId"], let text = request.member("keyId")?.text else { break }
      #expect(
        try verifier.normalizeKeyId(verifier.normalizeKeyId(text, at: now), at: now).count == 44)
      return nil
    case "normalize-device-token":
      guard names == ["operation", "deviceToken"], let text = request.member("deviceToken")?.text
      else { break }
      #expect(try !verifier.normalizeDeviceToken(text, at: now).isEmpty)
      return nil
    default: break
    }
    throw Ended(status: try verifier.exchange(JSON(text: text), at: now).document.status)
  }

  /// The result of an exchange, which has no facts of its own.
  struct Ended: Error {
    var status: Status
  }
}
