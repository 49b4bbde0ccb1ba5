import AssayAuthority
import AssayCases
import Testing

@testable import Assay

/// Checks `error.hint` in every document that the case table makes, whatever its kind (DOC-3).
enum HintGate {
  /// The hints in statuses.tsv: status → kind → hint; `any` for a hint that fits every kind.
  static let rows: [String: [String: String]] = {
    var found: [String: [String: String]] = [:]
    var status = ""
    for line in text("contract/statuses.tsv").split(separator: "\n") where !line.hasPrefix("#") {
      let columns = line.split(separator: "\t").map { String($0) }
      guard line.hasPrefix("\t") else {
        status = columns[0]
        continue
      }
      for kind in columns[0].split(separator: ",") {
        found[status, default: [:]][String(kind)] = columns.count > 1 ? columns[1] : ""
      }
    }
    return found
  }()

  /// The kinds of evidence that give a status, by the calls of the case table.
  static let kinds: [String: Set<String>] = {
    var found: [String: Set<String>] = [:]
    for entry in (try? Table.made.get())?.cases ?? [] where entry.expect.status != "ok" {
      if let kind = entry.call.hintKind { found[entry.expect.status, default: []].insert(kind) }
    }
    return found
  }()

  /// The path of every member of a configuration.
  static let members: Set<String> = {
    var found: Set<String> = []
    func walk(_ schema: JSONValue, _ path: String) {
      if let items = schema.member("items") { walk(items, path) }
      guard let properties = schema.member("properties") else { return }
      for member in properties.children {
        let inner = (path.isEmpty ? "" : path + ".") + member.name.string
        found.insert(inner)
        walk(member, inner)
      }
    }
    let schema = Array(text("docs/config.schema.json").utf8)
    if let root = try? JSONReader.readObject(schema).root { walk(root, "") }
    return found
  }()

  static func text(_ path: String) -> String {
    String(decoding: Vectors.packageFile(path) ?? [], as: UTF8.self)
  }

  // MARK: words of each kind

  private static let attest = ["attestation", "assertion", "attest-receipt", "embedded-receipt"]
  private static let receipts = ["transaction-receipt", "app-receipt", "verify-receipt-response"]

  /// Returns words that hints of this kind must not have, because they belong to other areas.
  static func foreignWords(_ kind: String) -> [String] {
    let ofAttest = ["App Attest", "assertion", "SubjectPublicKeyInfo", "DeviceCheck"]
    if attest.contains(kind) {
      return ["StoreKit", "Xcode", "App Store", "JWS", "transaction", "purchase", "notification"]
    }
    if receipts.contains(kind) { return ofAttest + ["JWS", "x5c"] }
    switch kind {
    case "jws": return ofAttest + ["verifyReceipt"]
    case "decision": return ofAttest + ["Xcode"]
    case "risk", "exchange": return ["StoreKit", "Xcode", "JWS", "x5c"]
    case "token", "keyset": return ofAttest + ["StoreKit", "Xcode", "receipt"]
    default: return []
    }
  }

  /// Returns the configuration blocks whose members a hint of this kind may name, beside those that
  /// all kinds share.
  static func blocks(_ kind: String) -> Set<String> {
    // The refresh is signed with the key of the block deviceCheck (RFR-4).
    if kind == "attest-receipt" { return ["attest", "deviceCheck"] }
    if attest.contains(kind) { return ["attest"] }
    switch kind {
    case "jws": return ["storekit", "decision"]
    // The certificates of Xcode are pinned in one place for both (CFG-2).
    case "app-receipt": return ["receipts", "storekit.xcodeCertificates"]
    case "transaction-receipt", "verify-receipt-response": return ["receipts"]
    case "triage": return ["receipts", "storekit"]
    // The setting with which nested JWS of a notification are verified (NTF-8).
    case "decision": return ["decision", "storekit.nested"]
    // A claim keeps the policy of decisions about purchases that a family shares (STO-25), and
    // answer-verify-receipt verifies a receipt (VRE-13).
    case "risk", "exchange":
      return [
        "risk", "refunds", "deviceCheck", "storekit.ocspHosts", "ledger", "decision.familySharing",
        "receipts",
      ]
    case "token", "keyset": return ["tokens"]
    default:
      return [
        "storekit", "receipts", "attest", "decision", "risk", "refunds", "deviceCheck", "tokens",
        "appStoreServerApi", "appleId", "session", "ledger",
      ]
    }
  }

  static let sharedMembers: Set<String> = [
    "apps", "environments", "products", "plans", "quotas", "clockSkewMs",
  ]

  // MARK: checking

  /// Returns the words of a hint that are paths: "attest.maxAgeMs", "error.at".
  static func paths(in hint: String) -> [String] {
    hint.split { !($0.isLetter || $0.isNumber || $0 == "." || $0 == "/" || $0 == "-") }
      .map { String($0).trimmed(of: ".") }
      .filter { $0.contains(".") && !$0.contains("/") && $0 != "assay.h" && $0 != "config.json" }
      .filter { $0.first?.isLowercase == true }
  }

  /// Returns the fault of a hint for that kind; `nil` if there is none.
  static func fault(_ hint: String, _ kind: String, in document: Document?) -> String? {
    if hint.isEmpty { return "no hint" }
    for word in foreignWords(kind) + ["error.hint", "daily", "see error.at", "has the path"]
    where hint.contains(word) {
      return "a word of another kind: \(word)"
    }
    for path in paths(in: hint) {
      let head = String(path.prefix { $0 != "." })
      if members.contains(path) {
        let allowed = blocks(kind)
        guard sharedMembers.contains(head) || allowed.contains(head) || allowed.contains(path)
        else { return "a member of another block: \(path)" }
      } else if let document,
        DocumentMember.find(document.json, Array(path.utf8)) == nil
          || document.text(path)?.isEmpty == true
          || path == "error.at" && document.text(path) == nil
      {
        return "neither a member of the configuration nor of the document: \(path)"
      }
    }
    return nil
  }

  /// Checks the hint of one document: that of its kind, or one that the code has derived.
  static func judge(_ document: Document, of entry: EvidenceCase) {
    guard document.status != .ok, let called = entry.call.hintKind else { return }
    let status = "\(document.status.name)"
    let isEmbedded =
      called == "attestation" && document.text("error.at")?.hasPrefix("receipt") == true
    // The start of an exchange is checked before its kind is known.
    let asked = called == "risk" ? document.text("kind") ?? called : called
    let kind = isEmbedded ? "embedded-receipt" : asked
    let hint = document.text("error.hint") ?? ""
    check(fault(hint, kind, in: document) == nil, "\(entry.name): \(kind): \(hint)")
    let told = rows[status] ?? [:]
    if kinds[status, default: []].union([kind]).count > 1 {
      check(
        told["any"] != nil || told[kind] != nil,
        "statuses.tsv has nothing for \(status) of \(kind): \(entry.name)")
    }
    let table = told[kind] ?? StatusTable.entry(document.status.code).map { "\($0.hint)" }
    // Apple's own error code follows the hint (AID-24).
    let isQuoting =
      document.status == .unavailableAppleIdResponse && hint.hasPrefix((table ?? "?") + ": ")
    check(
      hint == table || isQuoting || explained.contains { hint.hasPrefix($0) },
      "\(entry.name): \(hint)")
  }

  /// Beginnings of hints that contain more than the table can.
  private static let explained = [
    // Hints about client data (DIA-1 to DIA-3).
    "data-is-hash: ", "hash-is-data: ", "decode-base64: ", "encode-base64: ", "decode-hex: ",
    "encode-hex: ", "trim: ", "double-hash: ", "other-challenge: ", "object-altered: ",
    "other-key: ", "configured-app-id: ",
    // Hints about validity (ATT-40).
    "the receipt is from a time when the certificate was not valid",
    "error.at names one of Apple's own certificates",
    // A hint about the signature blob (RCP-17).
    "the signature is text",
    // Hints about a configuration's text (CNF-1).
    "a configuration has at most 1 MiB", "no JSON begins here",
    // A hint about chains of a test authority (JWS-20, PTH-2, PTH-5, ATT-30, FRC-4).
    "signed by a test authority of `assay mint`",
    // Hints about another environment (JWS-70, APR-16, RCP-28, RCP-29).
    "evidence of Production at", "evidence of Sandbox at", "evidence of StoreKit testing in Xcode",
    // A hint about a catalogue that lacks a product (DCD-5).
    "products lacks a product of the evidence",
    // Hints about a text that is not evidence (JWS-2, RCP-2).
    "no evidence begins here", "white space stands before or after the text",
    // A hint about the text of a token (TOK-5).
    "remove the word Bearer",
    // Hints about HTTP status 401 (API-54, API-55).
    "no release in Production yet, or keys: ask Sandbox",
    "key: compare key id, issuer id, bundle id and the host's clock",
    // Hints about HTTP status 403 and 404 (RTM-1, ACA-10).
    "this app has no access to retention messaging", "exchange.api.errorName says why; without",
  ]
}

@Suite("Hints")
struct HintTests {
  @Test("DOC-3 each kind of evidence is named in the library and in statuses.tsv alike")
  func kinds() {
    for kind in HintKind.allCases where kind != .jws && kind != .embeddedReceipt {
      checkEqual(HintKind(document: kind.name), kind)
    }
    for kind in StoreKitKind.allCases { checkEqual(HintKind(document: kind.name), .jws) }
    check(HintKind(document: "unknown") == nil)
    let known = Set(HintKind.allCases.map { "\($0.name)" } + ["any"])
    for (name, told) in HintGate.rows { check(known.isSuperset(of: told.keys), "\(name)") }
  }

  @Test("DOC-3 the library has the hints of statuses.tsv, and no others")
  func inStep() {
    for code in StatusTable.codes {
      let told = HintGate.rows["\(Status(code: code).name)"] ?? [:]
      for kind in HintKind.allCases {
        let hint = StatusTable.hint(code, kind).map { "\($0)" }
        checkEqual(hint, told["\(kind.name)"], "\(Status(code: code).name) \(kind)")
      }
    }
  }

  @Test("DOC-3 a status that several kinds of evidence give has a hint for each")
  func everyKind() {
    check(HintGate.kinds.count > 150)
    for (status, kinds) in HintGate.kinds where kinds.count > 1 {
      let told = HintGate.rows[status] ?? [:]
      let missing = kinds.filter { kind in
        // The receipt inside an attestation is in the attestation's document.
        told[kind] == nil && !(kind == "attestation" && told["embedded-receipt"] != nil)
      }
      check(told["any"] != nil || missing.isEmpty, "\(status): \(missing)")
    }
  }

  @Test("DOC-3 no hint speaks of another kind's words or of members that do not exist")
  func words() {
    check(HintGate.members.contains("attest.challenge.mode"))
    for (status, told) in HintGate.rows {
      for (kind, hint) in told where kind != "any" {
        let fault = HintGate.fault(hint, kind, in: nil)
        check(fault == nil, "\(status) \(kind): \(hint)")
      }
    }
    // The table's hint names no block if kinds of several blocks give the status.
    for code in StatusTable.codes {
      let told = HintGate.rows["\(Status(code: code).name)"] ?? [:]
      let kinds = told["any"] == nil ? Set(told.keys) : HintGate.kinds["\(Status(code: code).name)"]
      for kind in kinds ?? [] {
        let hint = StatusTable.entry(code).map { "\($0.hint)" } ?? ""
        let fault = HintGate.fault(hint, kind, in: nil)
        check(fault == nil, "\(Status(code: code).name) \(kind): \(hint)")
      }
    }
  }

  @Test("DOC-3 the gate sees a hint from another area, and a member that does not exist")
  func gate() {
    for (hint, kind) in [
      ("add it to storekit.anchors", "attestation"), ("an Xcode receipt", "attest-receipt"),
      ("raise receipts.maxAgeMs", "assertion"), ("see error.hint", "jws"),
      ("raise attest.maxAge", "attestation"), ("have the client retry daily", "triage"),
      ("set attest.time:\"stored\"", "app-receipt"), ("", "jws"),
    ] {
      check(
        HintGate.fault(hint, kind, in: Document.misuse(StoreKitKind.transaction)) != nil, "\(hint)")
    }
    let fine = "set attest.time:\"stored\""
    check(
      HintGate.fault(fine, "attestation", in: Document.misuse(StoreKitKind.transaction)) == nil)
  }

  @Test("JWS-20 PTH-2 evidence of a test authority at Apple's roots is said to be that")
  func testAuthority() throws {
    let now: Int64 = 1_795_219_200_000
    let purchase = Purchase(now: now)
    let config: JSONText = [
      "apps": [["bundleId": "com.example.app", "appAppleId": 1_234_567_890]],
      "environments": ["Production", "Sandbox"],
    ]
    for x5cRoot in ["must-match", "ignored"] {
      let verifier = try require(
        Verifier.alone(config.setting("storekit.x5cRoot", .string(x5cRoot)).bytes).verifier)
      let jws = try Authority(now: now).mint(purchase.transactionPayload)
      let receipts = try ReceiptAuthority()
      let shown = [
        verifier.verifyJWS(jws, kind: .transaction, nowMs: now),
        verifier.verifyReceipt(
          try receipts.transactionTemplate(purchase).signed(), kind: .transaction, nowMs: now),
        verifier.verifyReceipt(
          try receipts.appTemplate(AppReceiptFacts([purchase], like: purchase)).signed(),
          kind: .app, nowMs: now),
      ]
      for document in shown {
        check("\(document.status.name)".hasPrefix("rejected.chain."), "\(document.status.name)")
        let hint = document.text("error.hint") ?? ""
        check(hint.contains("test authority") && hint.contains("assay mint"), "\(hint)")
        check(!hint.contains("nchors") && !hint.contains("intermediates"), "\(hint)")
      }
      // The hint for a forger's root, even with Apple's names, stays.
      let named = try Authority(now: now, names: .apple).mint(purchase.transactionPayload)
      let hint = verifier.verifyJWS(named, kind: .transaction, nowMs: now).text("error.hint")
      checkEqual(hint?.hasPrefix("a forged chain, or a new Apple root"), true, "\(hint ?? "")")
    }
  }

  @Test("JWS-2 RCP-2 the name of a file and white space around a text are said to be that")
  func mistakenTexts() throws {
    let verifier = try Minted.verifier()
    let jws = try Minted.authority().mint(Minted.purchase.transactionPayload)
    func hint(_ text: [UInt8]) -> String {
      let document = verifier.verifyJWS(text, kind: .transaction, nowMs: Minted.now)
      checkEqual(document.status, .malformedJwsForm)
      return document.text("error.hint") ?? ""
    }
    for text in [jws + [0x0a], jws + [0x0d, 0x0a], [0x20] + jws] {
      check(hint(text).hasPrefix("white space stands before or after"), "\(hint(text))")
    }
    let file = "no evidence begins here: pass what the file holds"
    for name in ["purchase.jws", "/tmp/a b.txt\n", "receipts/r.b64"] {
      check(hint(utf8(name)).hasPrefix(file), "\(name): \(hint(utf8(name)))")
      let receipt = verifier.verifyReceipt(utf8(name), kind: .app, nowMs: Minted.now)
      checkEqual(receipt.status, .malformedTransportBase64, "\(name)")
      checkEqual(receipt.text("error.hint")?.hasPrefix(file), true, "\(name)")
    }
    for text in ["", ".jws", "purchase", "{\"signedPayload\":\"x\"}", "eyJ\n.eyJ.x"] {
      check(hint(utf8(text)).hasPrefix("pass the JWS alone"), "\(text): \(hint(utf8(text)))")
    }
  }

  @Test("DCD-5 a decision without a plan says that the catalogue lacks a product")
  func unknownProduct() throws {
    for (products, isUnknown) in [
      ([:], true), (["com.example.app.premium.monthly": ["type": "auto-renewable"]], false),
    ] as [(JSONText, Bool)] {
      let verifier = try Minted.verifier([("products", products)])
      let jws = try Minted.authority().mint(Minted.purchase.transactionPayload)
      let decision = verifier.decide(
        [verifier.verifyJWS(jws, kind: .transaction, nowMs: Minted.now)], account: nil,
        nowMs: Minted.now)
      checkEqual(decision.status, .rejectedDecisionNotEntitled)
      let hint = decision.text("error.hint") ?? ""
      checkEqual(hint.hasPrefix("products lacks a product of the evidence"), isUnknown, "\(hint)")
    }
  }

  @Test("JWS-70 APR-16 RCP-29 the hint says of which environment the evidence is")
  func environments() throws {
    let now: Int64 = 1_795_219_200_000
    let (authority, receipts) = (try Authority(now: now), try ReceiptAuthority())
    for (accepted, other) in [("Sandbox", "Production"), ("Production", "Sandbox")] {
      let config: JSONText = [
        "apps": [["bundleId": "com.example.app", "appAppleId": 1_234_567_890]],
        "environments": [.string(accepted)],
        "products": ["com.example.app.premium.monthly": ["type": "auto-renewable"]],
        "storekit": ["anchors": [.string(authority.anchor)]], "receipts": receipts.configuration,
      ]
      let verifier = try require(Verifier.alone(config.bytes).verifier)
      let purchase = Purchase(now: now).with {
        $0.environment = other
        $0.transactionId = other == "Production" ? "180000900000001" : "2000000900000001"
        $0.originalTransactionId = $0.transactionId
      }
      for document in [
        verifier.verifyJWS(
          try authority.mint(purchase.transactionPayload), kind: .transaction, nowMs: now),
        verifier.verifyReceipt(
          try receipts.appTemplate(AppReceiptFacts([purchase], like: purchase)).signed(),
          kind: .app, nowMs: now),
        verifier.verifyReceipt(
          try receipts.transactionTemplate(purchase).signed(), kind: .transaction, nowMs: now),
      ] {
        checkEqual(document.status, .rejectedEnvironmentNotAccepted, "\(document.status.name)")
        let hint = document.text("error.hint") ?? ""
        check(hint.hasPrefix("evidence of \(other) at"), "\(accepted): \(hint)")
        check(hint.contains("\(accepted)-only"), "\(accepted): \(hint)")
      }
    }
  }

  @Test("DOC-1 an unknown kind constant: the hint names the constants of that call")
  func unknownKind() {
    let jws = Document.misuse(nil as StoreKitKind?).text("error.hint")
    let receipt = Document.misuse(nil as ReceiptKind?).text("error.hint")
    checkEqual(jws?.contains("ASSAY_JWS"), true)
    checkEqual(receipt?.contains("ASSAY_RECEIPT"), true)
  }
}

extension EvidenceCase.Call {
  /// The kind of evidence that the document is about; `nil` if there is none.
  fileprivate var hintKind: String? {
    switch self {
    case .verifyJWS: return "jws"
    case .verifyReceipt(_, let kind, _, _, _): return kind.rawValue
    case .verifyAttestation: return "attestation"
    case .verifyAssertion: return "assertion"
    case .verifyToken: return "token"
    case .keysetNew: return "keyset"
    case .exchange(_, let request, _, _):
      let isRisk = String(decoding: request.bytes, as: UTF8.self).contains("assess-risk")
      return isRisk ? "risk" : "exchange"
    case .transcript(_, let request, _, _, _):
      let text = String(decoding: request.bytes, as: UTF8.self)
      if text.contains("refresh-attest-receipt") { return "attest-receipt" }
      return text.contains("call-verify-receipt") ? "verify-receipt-response" : "exchange"
    case .decide: return "decision"
    case .triage: return "triage"
    case .readVerifyReceiptResponse: return "verify-receipt-response"
    case .verifierNew: return "configuration"
    case .checkExpiry: return nil
    }
  }
}

extension String {
  fileprivate func trimmed(of mark: Character) -> String {
    var rest = self[...]
    while rest.last == mark { rest.removeLast() }
    return String(rest)
  }
}
