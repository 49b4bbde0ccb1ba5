import CAssay

@testable import Assay
@testable import AssayAuthority
@testable import AssayCases

/// A target for `assay_exchange_step`: exchanges of every operation with HTTP steps, and hostile
/// replies.
enum StateMachineTargets {
  private static let secret = "fedcba9876543210fedcba9876543210"

  private static let verifier: OpaquePointer? = FuzzFixture.verifier(
    FuzzFixture.shared.cases.standardConfig.setting([
      ("receipts.sharedSecrets", ["*": .string(secret)]),
      ("deviceCheck", FuzzFixture.shared.cases.deviceCheckBlock),
      ("appStoreServerApi", FuzzFixture.shared.cases.appStoreServerApiBlock),
    ]).bytes)

  /// An unsigned receipt, so that a response about any purchase of the fixture is accepted.
  private static let receipt = Base64Text.encode(
    Array("{\"signature\" = \"AAAA\"; \"purchase-info\" = \"AAAA\";}".utf8))

  /// A device token as a device sends it.
  private static let token = Base64Text.encode((0..<90).map { UInt8($0 * 2 + 1) })

  /// Secrets that no document except a request may contain.
  private static let secrets = [
    (Array(secret.utf8), "the shared secret"), (receipt, "the receipt"),
    (token, "the device token"), (Array("Bearer eyJhbGciOiJFUzI1NiI".utf8), "our token"),
  ]

  /// The operations whose requests are written here: their fixtures are about the device token, the
  /// receipt and the secrets above.
  private static let own: [(name: String, maxSteps: Int)] = [
    ("call-verify-receipt", 8), ("query-device-bits", 6), ("update-device-bits", 6),
    ("validate-device-token", 6),
  ]

  /// The other operations over the network, begun as in the case table.
  private static let recordings: [(name: String, maxSteps: Int, recordings: [Recording])] = {
    let fixture = FuzzFixture.shared.cases
    let before = fixture.cases.count
    guard (try? fixture.addTranscripts()) != nil else { fatalError("no transcripts") }
    var made: [String: OpaquePointer] = [:]
    let all = fixture.cases[before...].compactMap { entry in
      Recording(entry) { name in
        if let verifier = made[name] { return verifier }
        let config = fixture.verifiers.first { $0.name == name }?.config
        made[name] = config.map { FuzzFixture.verifier($0.bytes) }
        return made[name]
      }
    }
    let named =
      own.map(\.name) + AppStoreEndpointTable.rows.map { Text(stringLiteral: $0.name).string }
    return Operation.allCases.compactMap { operation in
      let (row, name) = (operation.row, Text(stringLiteral: operation.row.name).string)
      guard row.engines == nil, row.steps.most() > 0, !named.contains(name) else { return nil }
      let found = all.filter { $0.operation == operation }
      demand(!found.isEmpty, "no transcript of \(name)")
      return (name, row.steps.most(), found)
    }
  }()

  /// The operations with the most steps that each may have (EXC-15). The bits of the first byte
  /// from the second on select one.
  private static let kinds: [(name: String, maxSteps: Int)] =
    own
    + AppStoreEndpointTable.rows.map {
      // Two pages of three attempts, for operations that have pages and attempts.
      (
        Text(stringLiteral: $0.name).string,
        $0.isRepeatable ? AppStoreEndpoint.steps(pages: $0.paging == nil ? 1 : 2, attempts: 3) : 3
      )
    } + recordings.map { ($0.name, $0.maxSteps) }

  private static func kind(_ first: UInt8) -> (name: String, maxSteps: Int) {
    kinds[Int(first >> 2) % kinds.count]
  }

  /// Returns the recording that the second byte selects; `nil` if the request is written here.
  private static func recording(_ first: UInt8, _ second: UInt8) -> Recording? {
    let place = Int(first >> 2) % kinds.count - (kinds.count - recordings.count)
    guard place >= 0 else { return nil }
    let found = recordings[place].recordings
    return found[Int(second) % found.count]
  }

  private static func endpoint(_ first: UInt8) -> AppStoreEndpoint? {
    AppStoreEndpointTable.rows.first {
      Text(kind(first).name).utf8[...].elementsEqual($0.name)
    }
  }

  /// Runs an exchange. The first byte selects the request; where that is one of several recordings,
  /// the second byte selects one. The lines after them are replies: `h` + HTTP status + space + body
  /// for a response, `b` for one in base64, `w` for the end of a wait, and anything else unchanged.
  static func machine(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let recording = recording(first, input.dropFirst().first ?? 0)
    let lines = input.dropFirst(recording == nil ? 1 : 2).split(
      separator: 0x0a, omittingEmptySubsequences: false)
    let once = play(first, recording, lines)
    // One input in eight is repeated, because a second run takes as long as the first.
    guard input.count % 8 == 0 else { return }
    demand(once == play(first, recording, lines), "two plays of one transcript differ")
  }

  /// Returns all documents of an exchange, one after another.
  private static func play(
    _ first: UInt8, _ recording: Recording?, _ lines: [ArraySlice<UInt8>]
  ) -> [UInt8] {
    var (exchange, answer) = begin(first, recording)
    let now = recording?.now ?? FuzzFixture.instant
    defer { assay_exchange_free(exchange) }
    var said = answer.repeatable
    var open = Open(answer)
    var steps = open == nil ? 0 : 1
    for line in lines {
      let next = step(exchange, line, open, now)
      said += next.repeatable
      if next.status & 0xff == 5 {
        demand(next.source("exchange") == Array("null".utf8), "misuse tells something")
        next.free()
        continue
      }
      demand(open != nil, "an exchange that is over goes on")
      let found = Open(next)
      // A repeated step is not a new one.
      if let found, found.isStep(open) == false { steps += 1 }
      demand(steps <= kind(first).maxSteps, "\(steps) steps")
      answer.free()
      (answer, open) = (next, found)
    }
    if answer.isOK { check(answer, first, recording) }
    answer.free()
    return said
  }

  private static func check(_ answer: Answer, _ first: UInt8, _ recording: Recording?) {
    switch kind(first).name {
    case "call-verify-receipt": checkVerdict(answer)
    case "check-revocation":
      checkRevocation(answer, isRequired: recording?.asks("mode") == "required")
    case "refresh-attest-receipt": demand(false, "a receipt that nobody signed")
    case "fetch-keyset": checkKeys(answer, of: recording?.asks("issuer"))
    case "exchange-authorization-code":
      demand(answer.text("exchange.tokens.refreshToken")?.isEmpty == false, "no token")
      demand(answer.text("exchange.token.subject") == nil, "an identity that nobody verified")
    case "revoke-apple-token":
      demand(answer.source("exchange", "revoked") == Array("true".utf8), "not revoked")
    default: endpoint(first) == nil ? checkDevice(answer) : checkStore(answer)
    }
  }

  /// Returns a good request for an endpoint of the App Store Server API.
  private static func request(_ endpoint: AppStoreEndpoint, isOdd: Bool) -> JSONText {
    var request: JSONText = [
      "operation": .string(Text(stringLiteral: endpoint.name).string),
      "bundleId": "com.example.app",
      "environment": isOdd ? hop(endpoint.rule) : start(endpoint.rule),
      "options": ["pages": 2, "partial": .boolean(isOdd)],
    ]
    for member in endpoint.members where member.isRequired {
      request = request.appending(Text(stringLiteral: member.name).string, value(member))
    }
    if endpoint.rule == .report { return request.setting("status", "NO_LINE_ITEM") }
    guard endpoint.rule == .notifications else { return request }
    return request.setting("endDate", .integer(FuzzFixture.instant))
  }

  /// Returns the environment of an odd request: both, where that is allowed.
  private static func hop(_ rule: AppStoreRule) -> JSONText {
    rule.isMessaging || rule.isCommerce || rule == .reported ? "Sandbox" : "auto"
  }

  private static func start(_ rule: AppStoreRule) -> JSONText {
    rule == .performanceTest ? "Sandbox" : "Production"
  }

  private static func value(_ member: AppStoreMember) -> JSONText {
    let one = value(member.form)
    return member.isList ? [one] : one
  }

  private static func value(_ form: AppStoreMember.Form) -> JSONText {
    switch form {
    case .id: return .string(FuzzFixture.shared.cases.production.transactionId)
    case .order, .text, .characters: return "M1"
    case .locale: return "en-US"
    case .https: return "https://a.example/"
    case .png:
      return "iVBORw0KGgoAAAANSUhEUgAADwAAAACgCAIAAAAAAAAAAAAAAElEQVQAAAAA"
    case .jws: return "e30.e30.AA"
    case .object(let schema):
      return schema.members.filter { $0.isRequired }.reduce([:]) {
        $0.appending(Text(stringLiteral: $1.name).string, value($1))
      }
    case .name(let values):
      return .string(values.first.map { Text(stringLiteral: $0).string } ?? "")
    case .uuid, .account: return "0f8fad5b-d9cb-469f-a165-70867728950e"
    case .time: return .integer(FuzzFixture.instant - 86_400_000)
    case .boolean, .consent: return true
    case .number(let range, _): return .integer(range.lowerBound)
    }
  }

  private static func request(_ first: UInt8) -> JSONText {
    let isOdd = first & 1 != 0
    if let endpoint = endpoint(first) { return request(endpoint, isOdd: isOdd) }
    switch kind(first).name {
    case "call-verify-receipt":
      let request: JSONText = [
        "operation": "call-verify-receipt", "receipt": .string(utf8: receipt),
      ]
      return isOdd ? request.appending("start", "Sandbox") : request
    default: return device(first, isOdd)
    }
  }

  private static func device(_ first: UInt8, _ isOdd: Bool) -> JSONText {
    let request: JSONText = [
      "operation": .string(kind(first).name), "deviceToken": .string(utf8: token),
      "transactionId": "t",
    ]
    switch kind(first).name {
    case "query-device-bits": return isOdd ? request.appending("offer", true) : request
    case "update-device-bits":
      return request.appending(isOdd ? "bit1" : "bit0", .boolean(isOdd))
    default: return request
    }
  }

  private static func begin(
    _ first: UInt8, _ recording: Recording?
  ) -> (OpaquePointer?, Answer) {
    let hasDeadline = first & 2 != 0
    if let recording {
      return recording.begin(deadlineMs: hasDeadline ? recording.now + 3000 : nil)
    }
    var request = self.request(first)
    if hasDeadline {
      request = request.appending("deadlineMs", .integer(FuzzFixture.instant + 3000))
    }
    let (exchange, answer) = Calls.begin(verifier, request.bytes, evidence: [])
    demand(exchange != nil, "no exchange")
    return (exchange, answer)
  }

  private static func step(
    _ exchange: OpaquePointer?, _ line: ArraySlice<UInt8>, _ open: Open?, _ begun: Int64
  ) -> Answer {
    let now = open?.notBefore ?? begun
    let answer = Calls.step(exchange, answer(line, to: open?.id ?? 0), now: now)
    if answer.text("exchange.step") != "http" {
      for (text, name) in secrets {
        demand(!answer.holds(text), "\(name) is disclosed")
      }
    }
    return answer
  }

  static func answer(_ line: ArraySlice<UInt8>, to id: Int64) -> [UInt8] {
    switch line.first {
    case 0x77: return Array("{}".utf8)
    case 0x62, 0x68:
      let rest = line.dropFirst()
      let digits = rest.prefix { $0 >= 0x30 && $0 <= 0x39 }.prefix(3)
      let status = Int64(String(decoding: digits, as: UTF8.self)) ?? 200
      let body = Array(rest.dropFirst(digits.count).dropFirst())
      let answer: JSONText = [
        "id": .integer(id), "status": .integer(status),
        "headers": [
          ["Retry-After", "2"], ["Content-Type", "application/json"], ["ETag", "\"2\""],
        ],
        "body": [
          "base64": .string(utf8: line.first == 0x62 ? body : Base64Text.encode(body))
        ],
      ]
      return answer.bytes
    default: return Array(line)
    }
  }

  /// The open step.
  private struct Open {
    let id: Int64?
    let notBefore: Int64?

    init?(_ answer: Answer) {
      guard answer.status & 0xff == 9 else { return nil }
      let step = answer.tree?.member("exchange")
      id = step?.member("http")?.member("id")?.integer
      notBefore = step?.member("notBeforeMs")?.integer
      demand((id == nil) != (notBefore == nil), "a step of no form")
    }

    func isStep(_ other: Open?) -> Bool {
      other.map { $0.id == id && $0.notBefore == notBefore } ?? false
    }
  }

  /// Checks an unsigned response: at best the revocation status is unknown.
  private static func checkRevocation(_ answer: Answer, isRequired: Bool) {
    for place in ["leaf", "intermediate"] {
      let status = answer.text("exchange.revocation.\(place).status") ?? ""
      demand(status == "undetermined" && !isRequired, "\(place) is \(status), and nobody signed")
    }
  }

  /// Checks that an accepted response is about an app of the fixture, and allows a decision.
  private static func checkVerdict(_ answer: Answer) {
    let bundleId = answer.text("exchange.verifyReceipt.bundleId") ?? ""
    demand(bundleId.hasPrefix("com.example."), "an app of somebody else: \(bundleId)")
    demand(
      answer.text("exchange.verifyReceipt.evidence") == "apple-answer", "evidence of no class")
    Calls.decide(verifier, [answer.handle]).free()
  }

  /// Checks that a response about a device has one of four outcomes and proves no purchase.
  private static func checkDevice(_ answer: Answer) {
    let outcome = answer.text("exchange.deviceCheck.outcome") ?? ""
    demand(["bits", "no-bits", "updated", "valid"].contains(outcome), "the outcome \(outcome)")
    demand(
      answer.text("exchange.deviceCheck.offer") != "device-used", "a used device gets an offer")
    let decision = Calls.decide(verifier, [answer.handle])
    demand(decision.status & 0xff == 5, "decided about a device")
    decision.free()
  }

  /// Checks that everything in an App Store response was verified, and is of the requested app and
  /// environment.
  private static func checkStore(_ answer: Answer) {
    let environment = answer.text("exchange.environment") ?? ""
    demand(answer.text("exchange.result.refused.0.at") == nil, "accepted in part")
    for (place, list) in ["transactions", "renewals", "notifications"].enumerated() {
      for index in 0..<4 {
        let path = "exchange.result.\(list).\(index)."
        guard let found = answer.text(path + "environment") else { break }
        demand(found == environment, "\(list) of another environment")
        guard place != 1 else { continue }
        demand(answer.text(path + "bundleId") == "com.example.app", "\(list) of another app")
      }
    }
    Calls.decide(verifier, [answer.handle]).free()
  }

  /// Checks that a result is a key set with its issuer and the current time.
  private static func checkKeys(_ answer: Answer, of issuer: String?) {
    let text = Array((answer.text("exchange.keyset") ?? "").utf8)
    let (keys, found) = Calls.keyset(text)
    demand(found.isOK, "keys that cannot be read again")
    demand(found.text("keyset.issuer") == issuer, "keys of somebody else")
    found.free()
    assay_keyset_free(keys)
  }
}

extension Answer {
  /// Searches with a loop of its own: Swift's search takes most of the time under AddressSanitizer,
  /// and through memcmp libFuzzer would learn the secret and send it.
  fileprivate func holds(_ text: [UInt8]) -> Bool {
    guard let first = text.first, json.count >= text.count else { return false }
    return json.withUnsafeBytes { json in
      for at in 0...(json.count - text.count) where json[at] == first {
        if json[at..<(at + text.count)].elementsEqual(text) { return true }
      }
      return false
    }
  }

  /// The bytes that are equal in every run: for a step with a token, which is signed anew, only its
  /// body.
  fileprivate var repeatable: [UInt8] {
    if text("exchange.http.headers.0.1") == "application/x-www-form-urlencoded" {
      return Array((text("exchange.http.url") ?? "").utf8)
    }
    guard text("exchange.http.headers.0.0") == "Authorization" else { return json }
    return Array((text("exchange.http.body.text") ?? "").utf8)
  }
}
