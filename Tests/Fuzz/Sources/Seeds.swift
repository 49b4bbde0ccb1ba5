import Glibc
import CLibCrypto

@testable import AssayAuthority
@testable import AssayCases

/// Writes the inputs from which the corpora grow: the case table, taken apart
/// into what each target puts together again.
enum Seeds {
  private static let bench = FuzzBench.shared
  private static var folder = ""
  private static var count = 0

  static func write(to path: String) {
    folder = path
    do {
      try writeTable(try CaseTable.make(now: FuzzBench.instant))
      try writeOthers()
      try writeReceipts()
      writeAttest()
    } catch {
      fatalError("no seeds: \(error)")
    }
    print("\(count) seeds below \(path)")
  }

  static func add(_ target: String, _ bytes: [UInt8]) {
    _ = mkdir(folder + "/" + target, 0o755)
    let name = folder + "/" + target + "/" + Authority.fingerprint(bytes).prefix(16)
    guard bytes.count <= 8192, let file = fopen(name, "wb") else { return }
    fwrite(bytes, 1, bytes.count, file)
    fclose(file)
    count += 1
  }

  private static func writeTable(_ table: CaseTable) throws {
    for entry in table.cases {
      switch entry.call {
      case .verifyJWS(let verifier, let kind, let jws, _):
        guard case .bytes(let text) = jws else { continue }
        writePayload(verifier, kind, text)
      case .decide(let verifier, let evidence, let account, _):
        guard let place = FuzzBench.names.firstIndex(of: verifier) else { continue }
        var input = [UInt8(place)] + Array((account ?? "").utf8)
        for piece in evidence {
          guard case .jws(let kind, let jws) = piece.proof, let payload = payload(of: jws),
            !payload.contains(0)
          else { continue }
          input += [0, UInt8(number(kind) - 1)] + payload
        }
        add("decide", input)
      case .verifierNew(let config):
        guard case .bytes(let text) = config else { continue }
        add("verifier-new", certificateStandIns(text))
        add("receipts-config", standIns(text, TriageTargets.configTexts))
        add("attest-config", standIns(text, ExchangeTargets.configTexts))
      case .verifyReceipt(_, let kind, let receipt, _, _):
        guard case .bytes(let bytes) = receipt else { continue }
        if kind == .attestReceipt { writeAttestReceipt(bytes) } else { writeReceipt(kind, bytes) }
      case .verifyAttestation(_, let object, _, _, _, _):
        if case .bytes(let bytes) = object { writeAttestation(bytes) }
      case .verifyAssertion(_, let object, _, _, _, _, _):
        if case .bytes(let bytes) = object { writeAssertion(bytes) }
      case .verifyToken(_, let jwks, _, let token, _):
        guard case .bytes(let text) = token else { continue }
        for seed in TokenTargets.seeds(text, jwks.bytes) { add("verify-token", seed) }
      case .keysetNew(let jwks):
        if case .bytes(let text) = jwks { add("keyset-new", text) }
      case .exchange(_, let request, _, _):
        if case .bytes(let bytes) = request { add("exchange", [0] + bytes) }
      case .conversation(_, let request, _, _, let steps):
        if case .bytes(let bytes) = request, bytes.count < 2000 {
          add("exchange", [0] + bytes)
        }
        add("conversation", ConversationTargets.seed(request, steps))
        guard entry.rule.hasPrefix("OCSP-") else { continue }
        for step in steps {
          guard case .bytes(let answer) = step.answer else { continue }
          for seed in RevocationTargets.seeds(answer) { add("ocsp-response", seed) }
        }
      case .triage(_, let blob, _):
        guard case .bytes(let bytes) = blob else { continue }
        add("triage", [0] + ReceiptBench.marked(bytes, TriageTargets.pieces))
        add("transport", [2] + bytes.prefix(256))
      case .readVerifyReceipt(_, let body, _):
        if case .bytes(let bytes) = body { add("receipt-response", [0] + bytes) }
      case .checkExpiry(let expires, let grace, let revoked, let now):
        let dates = [expires ?? .min, grace ?? .min, revoked ?? .min, now]
        let bytes = dates.flatMap { date in
          (0..<8).map { UInt8(truncatingIfNeeded: date >> (8 * Int64($0))) }
        }
        add("check-expiry", bytes + [1, 2, 0, 0])
      }
    }
    for (_, config) in table.verifiers {
      add("verifier-new", certificateStandIns(config.bytes))
      add("attest-config", standIns(config.bytes, ExchangeTargets.configTexts))
    }
  }

  private static func number(_ kind: EvidenceKind) -> Int32 {
    Int32((EvidenceKind.allCases.firstIndex(of: kind) ?? 0) + 1)
  }

  private static func payload(of jws: [UInt8]) -> [UInt8]? {
    let parts = jws.split(separator: 0x2e)
    return parts.count == 3 ? decoded(parts[1]) : nil
  }

  /// base64url without any strictness.
  private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    var group = 0
    var bits = 0
    for character in text {
      let value: Int
      switch character {
      case 0x41...0x5a: value = Int(character) - 0x41
      case 0x61...0x7a: value = Int(character) - 0x61 + 26
      case 0x30...0x39: value = Int(character) - 0x30 + 52
      case 0x2d: value = 62
      case 0x5f: value = 63
      default: return nil
      }
      group = group << 6 | value
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(group >> bits & 0xff))
      }
    }
    return bytes
  }

  private static func writePayload(_ verifier: String, _ kind: EvidenceKind, _ jws: [UInt8]) {
    guard let payload = payload(of: jws) else {
      add("verify-jws", [0] + jws.prefix(64))
      return
    }
    let place = FuzzBench.names.firstIndex(of: verifier) ?? 0
    if kind == .notification {
      writeNotification(place, payload)
    } else {
      add("signed-payload", [FuzzBench.selector(verifier: place, kind: number(kind))] + payload)
    }
    add("json", [0] + payload)
    if let header = decoded(jws.split(separator: 0x2e)[0]) { writeHeader(header) }
  }

  /// Nested JWS become payloads of their own after a NUL.
  private static func writeNotification(_ verifier: Int, _ payload: [UInt8]) {
    let mark = Array("\"eyJ".utf8)
    var outer: [UInt8] = [UInt8(verifier)]
    var nested: [[UInt8]] = []
    var rest = payload[...]
    while let start = rest.firstRange(of: mark), nested.count < 3,
      let end = rest[start.upperBound...].firstIndex(of: 0x22),
      let inner = self.payload(of: Array(rest[start.lowerBound + 1..<end]))
    {
      nested.append(inner)
      outer += rest[...start.lowerBound] + [UInt8(nested.count)]
      rest = rest[end...]
    }
    outer += rest
    for inner in nested { outer += [0] + inner }
    add("signed-notification", outer)
  }

  /// Certificates in base64 become the bytes that stand for the good ones; what
  /// is left of a changed certificate goes to the target of certificates.
  private static func writeHeader(_ header: [UInt8]) {
    var short: [UInt8] = [0]
    var rest = header[...]
    var place: UInt8 = 0
    while let start = rest.firstRange(of: Array("\"MII".utf8)),
      let end = rest[start.upperBound...].firstIndex(of: 0x22)
    {
      place += 1
      short += rest[...start.lowerBound] + [min(place, 4)]
      rest = rest[end...]
    }
    add("header", short + rest)
  }

  private static func certificateStandIns(_ config: [UInt8]) -> [UInt8] {
    var short: [UInt8] = []
    var rest = config[...]
    while let start = rest.firstRange(of: Array("\"MII".utf8)),
      let end = rest[start.upperBound...].firstIndex(of: 0x22)
    {
      short += rest[...start.lowerBound] + [1]
      rest = rest[end...]
    }
    return short + rest
  }

  // MARK: what is in no case

  private static func writeOthers() throws {
    for (payload, signature) in [(2, 3), (4, 5), (6, 7), (8, 11), (12, 15)] as [(UInt8, UInt8)] {
      for kind in 1...5 as ClosedRange<Int32> {
        let selector = FuzzBench.selector(verifier: 0, kind: kind)
        add("verify-jws", [selector, 1, 0x2e, payload, 0x2e, signature])
      }
    }
    let xcode = FuzzBench.names.firstIndex(of: "xcode") ?? 0
    add(
      "verify-jws",
      [FuzzBench.selector(verifier: xcode, kind: 1), 0x0e, 0x2e, 16, 0x2e, 17])
    add("header", [3] + Array("{\"alg\":\"ES256\",\"x5c\":[\"\u{4}\"]}".utf8))
    try writeCertificates()
    for seed in StoreTargets.seeds { add("store-conversation", seed) }
    for path in [
      "transaction.productId", "transaction.payload.list.3.1.four", "checks.0.id", "kind",
      "transaction.payload.a\"b\\c\u{e9}\u{1}", "transaction.payload.spaced.a.1",
      "transaction.payload.spaced.b", "transaction.payload.", "transaction.chain.leaf.notAfter",
      "notification.transaction.payload.price", "error.at", "status.code", "..", "checks.-0",
    ] {
      for document in 0..<3 as Range<UInt8> { add("document-path", [document] + path.utf8) }
    }
    for text in [
      "0", "-0", "1e3", "1697679936056.485", "-62135769600000", "9223372036854775807",
      "-9223372036854775808", "9223372036854775808", "1.5e-3", "12345e-2", "0.1E+30",
      "[1,[2,[3,{\"a\":null}]],true,false,\"\\ud83d\\ude00\\n\\u0041\"]",
      "{\"a\":1,\"\\u0061b\":{\"\":[]},\"\u{e9}\":\"\u{1F600}\"}",
    ] {
      add("json", [0] + text.utf8)
    }
    for seed in HostileNames.seeds {
      for caps in 0..<4 as Range<UInt8> { add("json", [caps] + seed) }
      for mode in [2, 3] { add("triage", [Selector.byte(mode: mode)] + seed) }
    }
    for text in ["", "QQ==", "QUI=", "QUJD", "QUJDRA", "a-_b", "a+/b", "0aF9", "e30.e30.AA"] {
      add("base64", Array(text.utf8))
    }
  }

  private static func writeCertificates() throws {
    let authority = bench.authority
    let standIn = CertificateTargets.QuickChain.standIn
    let models = [authority.root, authority.intermediate, authority.leaf, authority.xcode]
    for (place, model) in models.enumerated() {
      let template = CertificateTargets.QuickChain.template(model, standIn)
      let body = template.toBeSigned
      let key = CertificateTargets.quick.rootKey
      add("certificate", [0] + (try model.signed(by: key)))
      add("certificate", [0] + (try template.signed(by: key)))
      add("der", try template.signed(by: key))
      add("der", template.toBeSigned)
      switch place {
      case 1: add("certificate", [4] + body)
      case 2: add("certificate", [3] + body)
      default: add("certificate", [5] + body)
      }
    }
    add("certificate", [1] + CertificateTargets.quick.leaf)
    add("certificate", [2] + CertificateTargets.quick.intermediate)
    for text in ["261121000000Z", "20261121000000Z", "491231235959Z", "500101000000Z"] {
      add("der", Array(text.utf8))
    }
    let signature = try CertificateTargets.quick.rootKey.sign([1], .sha256)
    add("der", signature)
    add("der", try ECDSASignature(der: signature).raw(width: 32))
    add("der", try ECDSASignature(der: signature).raw(width: 48))
    for value in [
      "0101ff", "010100", "02010a", "0500", "06032a0304", "0c0141", "30030201ff",
      "3106020101020102", "a003020102", "0303045010", "30800000", "040201ff", "1f0100",
    ] {
      add("der", P256.bytes(value.uppercased()))
    }
  }
}
