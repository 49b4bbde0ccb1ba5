import CAssay

@testable import Assay
@testable import AssayAuthority

/// Target over `assay_exchange_step`: conversations about a receipt, a device, the keys of an
/// issuer and Sign in with Apple, and hostile answers.
enum ConversationTargets {
  private static let secret = "fedcba9876543210fedcba9876543210"

  private static let verifier: OpaquePointer? = FuzzBench.verifier(
    FuzzBench.shared.cases.standardConfig.setting([
      ("receipts.sharedSecrets", ["*": .string(secret)]),
      ("deviceCheck", FuzzBench.shared.cases.deviceCheckBlock),
      ("tokens", TokenAuthority.configuration),
      ("appleId", FuzzBench.shared.cases.appleIdBlock),
    ]).bytes)

  /// An unsigned receipt, so that an answer about any purchase of ours fits.
  private static let receipt = Base64Text.encode(
    Array("{\"signature\" = \"AAAA\"; \"purchase-info\" = \"AAAA\";}".utf8))

  /// What a device sent.
  private static let token = Base64Text.encode((0..<90).map { UInt8($0 * 2 + 1) })

  /// What Apple gave to the app.
  private static let code = Array("c0de-of-a-customer".utf8)

  /// With the most steps that each may have (EXC-15). The bits of the first byte from the
  /// third on pick one.
  private static let kinds: [(name: String, maxSteps: Int)] = [
    ("verifyReceipt", 8), ("deviceCheck.query", 6), ("deviceCheck.update", 6),
    ("deviceCheck.validate", 6), ("jwks", 2), ("appleid.exchange-code", 1),
    ("appleid.revoke", 5),
  ]

  private static func place(_ first: UInt8) -> Int { Int(first >> 2 & 7) % kinds.count }

  private static func kind(_ first: UInt8) -> (name: String, maxSteps: Int) {
    kinds[place(first)]
  }

  /// The first byte picks the request; the lines after it are answers: `h` + HTTP status +
  /// space + body for one that came over the network, `w` for the end of a wait, and
  /// anything else as it is.
  static func conversation(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let lines = input.dropFirst().split(separator: 0x0a, omittingEmptySubsequences: false)
    let once = play(first, lines)
    demand(once == play(first, lines), "two plays of one transcript differ")
  }

  /// Everything that was answered, one document after the other.
  private static func play(_ first: UInt8, _ lines: [ArraySlice<UInt8>]) -> [UInt8] {
    var (exchange, answer) = begin(first)
    defer { assay_exchange_free(exchange) }
    var said = answer.repeatable
    var open = Open(answer)
    var steps = open == nil ? 0 : 1
    for line in lines {
      let next = step(exchange, line, open)
      said += next.repeatable
      if next.status & 0xff == 5 {
        demand(next.source("exchange") == Array("null".utf8), "misuse tells something")
        next.free()
        continue
      }
      demand(open != nil, "a conversation that is over goes on")
      let found = Open(next)
      // The same step again is not a new one.
      if let found, found.isStep(open) == false { steps += 1 }
      demand(steps <= kind(first).maxSteps, "\(steps) steps")
      answer.free()
      (answer, open) = (next, found)
    }
    if answer.isOK { check(answer, place(first)) }
    answer.free()
    return said
  }

  private static func check(_ answer: Answer, _ place: Int) {
    switch place {
    case 0: checkVerdict(answer)
    case 1, 2, 3: checkDevice(answer)
    case 4: checkKeys(answer)
    case 5:
      demand(answer.text("exchange.tokens.refreshToken")?.isEmpty == false, "no token")
      demand(answer.text("exchange.token.subject") == nil, "an identity that nobody verified")
    default: demand(answer.source("exchange.revoked") == Array("true".utf8), "not revoked")
    }
  }

  private static func request(_ first: UInt8) -> JSONText {
    let isOdd = first & 1 != 0
    switch place(first) {
    case 0:
      let request: JSONText = ["kind": "verifyReceipt", "receipt": .string(utf8: receipt)]
      return isOdd ? request.appending("start", "Sandbox") : request
    case 4:
      let request: JSONText = ["kind": "jwks", "issuer": .string(TokenAuthority.pool)]
      let state: JSONText = [
        "triedMs": .integer(FuzzBench.instant - 28_000), "etag": "\"1\"",
      ]
      return isOdd
        ? request.appending("state", state).appending("keyset", .string(utf8: keyset)) : request
    case 5:
      return [
        "kind": "appleid.exchange-code", "code": .string(utf8: code),
        "clientId": "com.example.app",
      ]
    case 6:
      return [
        "kind": "appleid.revoke", "token": .string(utf8: code), "clientId": "com.example.app",
        "hint": isOdd ? "access_token" : "refresh_token",
      ]
    default: return device(first, isOdd)
    }
  }

  /// The set that a host has of the pool.
  private static let keyset =
    (try? FuzzBench.shared.cases.tokens.keyset(issuer: TokenAuthority.pool).bytes) ?? []

  private static func device(_ first: UInt8, _ isOdd: Bool) -> JSONText {
    let request: JSONText = [
      "kind": .string(kind(first).name), "deviceToken": .string(utf8: token),
      "transactionId": "t",
    ]
    switch place(first) {
    case 1: return isOdd ? request.appending("offer", true) : request
    case 2: return request.appending(isOdd ? "bit1" : "bit0", .boolean(isOdd))
    default: return request
    }
  }

  private static func begin(_ first: UInt8) -> (OpaquePointer?, Answer) {
    var request = self.request(first)
    if first & 2 != 0 {
      request = request.appending("deadlineMs", .integer(FuzzBench.instant + 3000))
    }
    var document: OpaquePointer? = nil
    var exchange: OpaquePointer? = nil
    let status = request.bytes.withUnsafeBytes {
      assay_exchange_new(
        verifier, $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count, nil, 0,
        FuzzBench.instant, &exchange, &document)
    }
    demand(exchange != nil, "no conversation")
    return (exchange, Answer(status, document))
  }

  private static func step(
    _ exchange: OpaquePointer?, _ line: ArraySlice<UInt8>, _ open: Open?
  ) -> Answer {
    let now = open?.notBefore ?? FuzzBench.instant
    let text = answer(line, to: open?.id ?? 0)
    var document: OpaquePointer? = nil
    let status = text.withUnsafeBytes {
      assay_exchange_step(
        exchange, $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count, now, &document)
    }
    let answer = Answer(status, document)
    if answer.text("exchange.state") != "request" {
      demand(
        answer.json.firstRange(of: Array(secret.utf8)) == nil, "the shared secret is disclosed")
      demand(answer.json.firstRange(of: receipt) == nil, "the receipt is disclosed")
      demand(answer.json.firstRange(of: token) == nil, "the device token is disclosed")
      demand(answer.json.firstRange(of: Array("Bearer ".utf8)) == nil, "our token is disclosed")
      demand(answer.json.firstRange(of: code) == nil, "the code is disclosed")
      demand(
        answer.json.firstRange(of: Array("client_secret".utf8)) == nil, "our secret is disclosed")
    }
    return answer
  }

  private static func answer(_ line: ArraySlice<UInt8>, to id: Int64) -> [UInt8] {
    switch line.first {
    case 0x77: return Array("{}".utf8)
    case 0x68:
      let rest = line.dropFirst()
      let digits = rest.prefix { $0 >= 0x30 && $0 <= 0x39 }.prefix(3)
      let status = Int64(String(decoding: digits, as: UTF8.self)) ?? 200
      let body = Array(rest.dropFirst(digits.count).dropFirst())
      let answer: JSONText = [
        "id": .integer(id), "status": .integer(status),
        "headers": [["Retry-After", "2"], ["ETag", "\"2\""]],
        "body": ["base64": .string(utf8: Base64Text.encode(body))],
      ]
      return answer.bytes
    default: return Array(line)
    }
  }

  /// The step that is open.
  private struct Open {
    let id: Int64?
    let notBefore: Int64?

    init?(_ answer: Answer) {
      guard answer.status & 0xff == 9 else { return nil }
      let step = answer.tree?.member("exchange")
      id = step?.member("request")?.member("id")?.integer
      notBefore = step?.member("notBeforeMs")?.integer
      demand((id == nil) != (notBefore == nil), "a step of no form")
    }

    func isStep(_ other: Open?) -> Bool {
      other.map { $0.id == id && $0.notBefore == notBefore } ?? false
    }
  }

  /// An accepted answer is about an app of ours, and a decision can be made of it.
  private static func checkVerdict(_ answer: Answer) {
    let bundleId = answer.text("exchange.verifyReceipt.bundleId") ?? ""
    demand(bundleId.hasPrefix("com.example."), "an app of somebody else: \(bundleId)")
    demand(
      answer.text("exchange.verifyReceipt.evidence") == "apple-answer", "evidence of no class")
    var document: OpaquePointer? = nil
    let evidence: [OpaquePointer?] = [answer.handle]
    let status = evidence.withUnsafeBufferPointer {
      assay_decide(verifier, $0.baseAddress, 1, nil, 0, FuzzBench.instant, &document)
    }
    Answer(status, document).free()
  }

  /// An answer about a device says one of four things, and proves no purchase.
  private static func checkDevice(_ answer: Answer) {
    let outcome = answer.text("exchange.deviceCheck.outcome") ?? ""
    demand(["bits", "no-bits", "updated", "valid"].contains(outcome), "the outcome \(outcome)")
    demand(
      answer.text("exchange.deviceCheck.offer") != "device-used", "a used device gets an offer")
    var document: OpaquePointer? = nil
    let evidence: [OpaquePointer?] = [answer.handle]
    let status = evidence.withUnsafeBufferPointer {
      assay_decide(verifier, $0.baseAddress, 1, nil, 0, FuzzBench.instant, &document)
    }
    demand(status & 0xff == 5, "decided about a device")
    Answer(status, document).free()
  }

  /// A set of keys is one, says whose it is, and is of now.
  private static func checkKeys(_ answer: Answer) {
    let text = Array((answer.text("exchange.keyset") ?? "").utf8)
    var (keys, document): (OpaquePointer?, OpaquePointer?) = (nil, nil)
    let status = text.withUnsafeBytes {
      assay_keyset_new(
        $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count, &keys, &document)
    }
    let found = Answer(status, document)
    demand(found.isOK, "keys that cannot be read again")
    demand(found.text("keyset.issuer") == TokenAuthority.pool, "keys of somebody else")
    found.free()
    assay_keyset_free(keys)
  }

  // MARK: seeds

  /// A transcript of the case table as this target takes it.
  static func seed(_ request: EvidenceText, _ steps: [EvidenceCase.Step]) -> [UInt8] {
    let name = (try? JSONReader.readObject(request.bytes, caps: Answer.caps).root)?
      .member("kind")?.text?.string
    var input = [UInt8(kinds.firstIndex { $0.name == name } ?? 0) << 2]
    for (place, step) in steps.enumerated() {
      guard case .bytes(let answer) = step.answer else { continue }
      if place > 0 { input.append(0x0a) }
      input += line(answer)
    }
    return input
  }

  private static func line(_ answer: [UInt8]) -> [UInt8] {
    guard let root = try? JSONReader.readObject(answer, caps: Answer.caps).root,
      let status = root.member("status")?.integer
    else { return answer.elementsEqual("{}".utf8) ? [0x77] : answer }
    let body = root.member("body")?.member("text")?.text?.utf8 ?? []
    return Array("h\(status) ".utf8) + body.filter { $0 != 0x0a }
  }
}

extension Answer {
  /// What is the same in every play: of a step with a token, which is signed anew, its body.
  fileprivate var repeatable: [UInt8] {
    if text("exchange.request.headers.0.1") == "application/x-www-form-urlencoded" {
      return Array((text("exchange.request.url") ?? "").utf8)
    }
    guard text("exchange.request.headers.0.0") == "Authorization" else { return json }
    return Array((text("exchange.request.body.text") ?? "").utf8)
  }
}
