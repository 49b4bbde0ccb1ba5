import CAssay
import CReference

@testable import Assay
@testable import AssayAuthority
@testable import AssayCases

/// Targets for `assay_exchange_new`, `assay_call` and the blocks `attest`, `deviceCheck` and `risk`
/// of a configuration.
enum ExchangeTargets {
  private static let fixture = AttestFixture.shared

  private static let privateKey: [UInt8] = {
    guard let pem = try? SigningKey.generate(.p256).pem() else { fatalError("no key") }
    return pem
  }()

  /// The PEM text as a JSON string contains it.
  private static let escapedKey: [UInt8] = privateKey.flatMap {
    $0 == 0x0a ? Array("\\n".utf8) : [$0]
  }

  // MARK: exchanges

  private static let configurations: [JSONText] = {
    let standard = FuzzFixture.shared.cases.standardConfig.setting(
      "deviceCheck",
      [
        "keyId": "KEYID12345", "teamId": "ABCDE12345", "privateKey": .string(utf8: privateKey),
        "bits": [
          "bit0": ["name": "promo-used", "resetAfterMonths": 12], "bit1": ["name": "abuse"],
        ],
      ])
    let whole = standard.setting([
      ("appStoreServerApi", FuzzFixture.shared.cases.appStoreServerApiBlock),
      ("appleId", FuzzFixture.shared.cases.appleIdBlock),
      ("session", FuzzFixture.shared.cases.sessionBlock),
    ])
    return [whole, standard.removing("deviceCheck")]
  }()

  private static let verifiers = configurations.map { FuzzFixture.verifier($0.bytes) }

  /// Reads any bytes as a request. The first byte selects whether DeviceCheck is configured, and
  /// whether a document is passed.
  static func exchange(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let verifier = verifiers[Int(first & 1)]
    let request = Array(input.dropFirst())
    let evidence = first & 2 == 0 ? [] : [document(verifier)]
    let answer = fixture.exchange(verifier, request, evidence: evidence)
    let again = fixture.exchange(verifier, request, evidence: evidence)
    demand(answer.isSigned || answer.json == again.json, "two answers to one request differ")
    again.free()
    checkCall(Calls.call(verifier, request, evidence: evidence), answer)
    if answer.isOK || hasResult(answer) { checkAnswered(answer, request) }
    demand(
      !answer.isOK || evidence.isEmpty || answer.text("exchange.operation") == "issue-session",
      "took evidence that it is not about")
    answer.free()
    evidence.forEach { assay_doc_free($0) }
  }

  /// Checks that `assay_call` returns the same, or that the operation has steps.
  private static func checkCall(_ called: Answer, _ answer: Answer) {
    let isAtOnce = called.text("status.name") != "misuse.exchange.operation"
    demand(
      called.isSigned || called.json == answer.json || !isAtOnce, "a call differs: \(called)")
    demand(answer.status & 0xff != 9 || !isAtOnce, "a call takes steps")
    called.free()
  }

  private static func document(_ verifier: OpaquePointer?) -> OpaquePointer? {
    fixture.verifyAttestation(
      verifier, AttestTargets.good[0].whole, keyId: fixture.device.keyId
    ).handle
  }

  private static func hasResult(_ answer: Answer) -> Bool {
    guard let tree = answer.tree else { return false }
    return tree.member("risk")?.isNull == false || tree.member("exchange")?.isNull == false
  }

  /// Checks that cJSON reads the document, too, and that its result has its members.
  private static func checkAnswered(_ answer: Answer, _ request: [UInt8]) {
    let json = request.asText { reference_json_read($0, $1) }
    demand(json != nil, "cJSON does not read an answered request")
    reference_json_free(json)
    guard let tree = answer.tree else { fatalError("no tree") }
    if let risk = tree.member("risk"), !risk.isNull {
      let verdict = risk.member("verdict")?.text?.string
      demand(
        (verdict == "allow") == answer.isOK, "\(verdict ?? "no verdict") with \(answer.status)")
    }
    if let exchange = tree.member("exchange"), !exchange.isNull {
      let isDone = exchange.member("step")?.text == "done"
      demand(isDone == (answer.status & 0xff != 9), "a step is open, and it is done")
    }
  }

  // MARK: configurations

  private static let configTexts: [UInt8: [UInt8]] = [
    1: Base64Text.encode(fixture.authority.rootCertificate),
    2: Base64Text.encode(fixture.authority.receiptChain.root),
    3: Array(FuzzFixture.shared.authority.anchor.utf8), 4: escapedKey,
    5: Base64Text.encode(fixture.authority.intermediateCertificate),
    6: Array(ReceiptFixture.shared.authority.anchor.utf8),
  ]

  /// Reads any bytes as a configuration: bytes 1 … 6 are replaced by certificates and a private
  /// key, which no document may contain.
  static func attestConfig(_ input: [UInt8]) {
    configure(input, configTexts) { verifier, config, answer in
      demand(
        answer.json.firstRange(of: Array(escapedKey.prefix(80))) == nil, "the key is disclosed")
      if verifier != nil { use(verifier, config) }
    }
  }

  private static func use(_ verifier: OpaquePointer?, _ config: [UInt8]) {
    let good = AttestTargets.good[0].whole
    let attested = fixture.verifyAttestation(verifier, good, keyId: fixture.device.keyId)
    if attested.isOK {
      demand(config.firstRange(of: configTexts[1] ?? []) != nil, "accepted under another root")
      demand(
        config.firstRange(of: Array("com.example.app".utf8)) != nil, "accepted for no app of ours")
    }
    attested.free()
    let assertion = AttestTargets.goodAssertions[0].whole
    fixture.verifyAssertion(verifier, assertion, key: fixture.device.point).free()
    let receipt = ReceiptFixture.shared.verify(
      verifier, AttestFixture.receiptKind, AttestReceiptTargets.good[0])
    demand(
      !receipt.isOK || config.firstRange(of: configTexts[2] ?? []) != nil,
      "accepted a receipt under another root")
    receipt.free()
    for request in requests { fixture.exchange(verifier, Array(request.utf8)).free() }
  }

  private static let requests = [
    "{\"operation\":\"assess-risk\",\"observations\":{\"request\":\"promo\"}}",
    "{\"operation\":\"read-device-check-response\",\"call\":\"query\",\"status\":200,"
      + "\"body\":{\"text\":\"{\\\"bit0\\\":true,\\\"bit1\\\":false,\\\"last_update_time\\\":\\\"2026-10\\\"}\"},"
      + "\"offer\":true}",
    "{\"operation\":\"normalize-device-token\",\"deviceToken\":\"QUJDRA==\"}",
    "{\"operation\":\"normalize-key-id\","
      + "\"keyId\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"}",
  ]
}

extension Answer {
  /// Whether the document has a signature or a random number, and so differs at each call.
  fileprivate var isSigned: Bool {
    ["token", "jws", "signature", "clientSecret", "http.headers.0.1"].contains {
      text("exchange." + $0) != nil
    } || text("exchange.body")?.contains("promotionalOfferSignatureV2") == true
  }
}
