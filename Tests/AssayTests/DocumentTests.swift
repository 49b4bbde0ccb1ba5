import AssayAuthority
import AssayCases
import Testing

@testable import Assay

/// Tests the envelope, its checks, and the getters (DOC-1 … DOC-5).
@Suite("Documents")
struct DocumentTests {
  private static let checkIds = [
    "jws.size", "jws.form", "jws.header", "chain.root", "chain.certificates", "chain.shape",
    "chain.signatures", "jws.signature", "payload.json", "payload.kind", "chain.validity",
    "freshness", "identity.environment", "identity.bundle", "identity.app", "nested", "account",
    "revocation",
  ]

  private func names(_ value: JSONValue?) -> [String] {
    (value?.children).map { $0.map { $0.name.string } } ?? []
  }

  private func payload(_ kind: StoreKitKind) throws -> JSONText {
    let evidence = try require(EvidenceKind(rawValue: "\(kind.name)"))
    return try Minted.authority().payload(evidence, Minted.purchase)
  }

  // MARK: envelope

  @Test(
    "DOC-1 an accepted document has these members in this order", arguments: StoreKitKind.allCases)
  func accepted(kind: StoreKitKind) throws {
    let document = try Minted.verify(payload(kind), kind)
    let facts = [
      "transaction", "renewalInfo", "notification", "appTransaction", "realtimeRequest",
    ][
      Int(kind.rawValue) - 1]
    let tree = try require(document.tree)
    checkEqual(names(tree), ["assay", "kind", "ok", "status", "checks", "warnings", facts])
    checkEqual(tree.member("assay")?.integer, 1)
    checkEqual(tree.string("kind"), "\(kind.name)")
    checkEqual(tree.member("ok")?.boolean, true)
    checkEqual(tree.at("status.code")?.integer, 0)
    checkEqual(tree.at("status.name")?.text, "ok")
    checkEqual(names(tree.member("status")), ["code", "name"])
    checkEqual(tree.member(kind.factsMember)?.kind, .object)
  }

  @Test("DOC-1 a refused document has an error and null facts", arguments: StoreKitKind.allCases)
  func refused(kind: StoreKitKind) throws {
    let verifier = try Minted.verifier()
    let document = verifier.verifyJWS(utf8("a.b"), kind: kind, nowMs: Minted.now)
    let tree = try require(document.tree)
    checkEqual(
      names(tree),
      ["assay", "kind", "ok", "status", "error", "checks", "warnings", "\(kind.factsMember)"])
    checkEqual(tree.member("ok")?.boolean, false)
    checkEqual(tree.member(kind.factsMember)?.isNull, true)
    for name in ["message", "check", "at", "hint", "retryClass"] {
      check(tree.at("error." + name) != nil, "\(name)")
    }
    checkEqual(tree.string("kind"), "\(kind.name)")
    checkEqual(tree.at("error.check")?.text, "jws.form")
    checkEqual(tree.at("status.name")?.text, "malformed.jws.form")
    checkEqual(tree.at("error.retryClass")?.text, "never")
    check(document.evidence == nil)
  }

  @Test("DOC-1 the facts of a transaction stand in the order of the specification")
  func factsOrder() throws {
    let facts = try Minted.verify(payload(.transaction), .transaction).tree?.member("transaction")
    let names = names(facts)
    checkEqual(
      Array(names.prefix(6)),
      [
        "payload", "environment", "environmentSource", "bundleId", "appAppleId", "effectiveDate",
      ])
    checkEqual(Array(names.suffix(3)), ["keys", "chain", "warnings"])
    checkEqual(Set(names).count, names.count)
    checkEqual(self.names(facts?.member("chain")), ["leaf", "intermediate", "root", "cached"])
    for link in ["leaf", "intermediate", "root"] {
      checkEqual(
        self.names(facts?.at("chain." + link)), ["sha256", "serial", "notBefore", "notAfter"])
    }
    checkEqual(
      self.names(facts?.member("keys")), ["transaction", "purchase", "subscription", "app"])
    checkEqual(self.names(facts?.member("effectiveDate")), ["ms", "source"])
  }

  @Test("JWS-45 the chain is reported as it is")
  func chain() throws {
    let authority = try Minted.authority()
    let document = try Minted.verify(payload(.transaction), .transaction)
    for (name, der) in zip(["leaf", "intermediate", "root"], authority.chain.certificates) {
      let place = "transaction.chain.\(name)."
      let certificate = try require(Certificate(der))
      checkEqual(document.text(place + "sha256"), Authority.fingerprint(der))
      checkEqual(document.integer(place + "notBefore"), certificate.notBefore * 1000)
      checkEqual(document.integer(place + "notAfter"), certificate.notAfter * 1000)
      let serial = Hex.encode(
        Array(certificate.bytes(certificate.serial).drop { $0 == 0 }), upper: true)
      checkEqual(document.text(place + "serial"), String(decoding: serial, as: UTF8.self))
    }
    checkEqual(document.integer("transaction.effectiveDate.ms"), Minted.purchase.signedDate)
    checkEqual(document.text("transaction.effectiveDate.source"), "signedDate")
    let app = try Minted.verify(payload(.appTransaction), .appTransaction)
    checkEqual(app.text("appTransaction.effectiveDate.source"), "receiptCreationDate")
  }

  // MARK: checks

  private func outcomes(_ document: Document) throws -> [(id: String, ok: Bool?, why: String)] {
    try require(document.tree?.member("checks")).children.map {
      ($0.string("id"), $0.member("ok")?.boolean, $0.string("reason"))
    }
  }

  @Test("DOC-5 every check is listed, in order; those that do not apply are null and say why")
  func acceptedChecks() throws {
    for kind in StoreKitKind.allCases {
      let checks = try outcomes(try Minted.verify(payload(kind), kind))
      checkEqual(checks.map(\.id), Self.checkIds)
      for made in checks {
        check(made.ok != false)
        checkEqual(made.ok == nil, !made.why.isEmpty, "\(made)")
      }
      func why(_ id: String) -> String { checks.first { $0.id == id }?.why ?? "" }
      let doesNotApply = "\(CheckLog.Reason.doesNotApply.text)"
      let noBundle = kind == .renewalInfo || kind == .realtimeRequest
      checkEqual(why("identity.bundle"), (noBundle ? doesNotApply : ""))
      checkEqual(why("nested"), (kind == .notification ? "" : doesNotApply))
      checkEqual(why("freshness"), "\(CheckLog.Reason.notConfigured.text)")
      checkEqual(why("revocation"), "\(CheckLog.Reason.noInput.text)")
      check(!why("account").isEmpty)
    }
  }

  @Test("DOC-5 JWS-62 a refusal passes what came before, fails at its check, leaves the rest null")
  func refusedChecks() throws {
    var seen: Set<String> = []
    for entry in try Table.made.get().cases {
      // One case of each check.
      guard case .verifyJWS(let name, let kind, let jws, let now) = entry.call,
        let id = entry.expect.check, let place = Self.checkIds.firstIndex(of: id),
        seen.insert(id).inserted
      else { continue }
      let verifier = try require(Table.verifiers[name])
      let checks = try outcomes(
        verifier.verifyJWS(jws.bytes, kind: kind.library, nowMs: now))
      checkEqual(checks.map(\.id), Self.checkIds)
      for (index, made) in checks.enumerated() {
        if index < place { check(made.ok != false, "\(id): \(made)") }
        if index == place { checkEqual(made.ok, false, "\(id): \(made)") }
        if index > place {
          check(
            made.ok == nil && made.why == "\(CheckLog.Reason.earlierFailed.text)", "\(id): \(made)"
          )
        }
      }
    }
    check(seen.count > 12, "\(seen)")
  }

  @Test("DOC-1 misused calls answer with documents too")
  func misuse() throws {
    checkEqual(Document.misuse("decision").status, .misuseCallArgument)
    let unknown = Document.misuse(nil as StoreKitKind?)
    checkEqual(unknown.status, .misuseCallKind)
    check(unknown.tree != nil)
    let known = Document.misuse(StoreKitKind.appTransaction)
    checkEqual(known.status, .misuseCallArgument)
    checkEqual(known.tree?.member("appTransaction")?.isNull, true)
  }

  // MARK: values

  @Test("DOC-2 the payload passes through byte for byte, whatever its spelling")
  func byteForByte() throws {
    let spelled = Minted.purchase.transactionPayload
      .appending("z", .text("[ 1.50 , -0 , 1E2,\"\\u00e9\\/\\ud83d\\ude00\" ,{ } ]"))
    let bytes = utf8(" ") + spelled.bytes + utf8("\n")
    let jws = try JWSTemplate(payload: bytes, chain: try Minted.authority().chain).signed()
    let document = try Minted.verifier().verifyJWS(jws, kind: .transaction, nowMs: Minted.now)
    checkEqual(document.status, .ok)
    let text = String(decoding: document.json, as: UTF8.self)
    check(text.contains("{\"payload\":" + String(decoding: bytes, as: UTF8.self)))
  }

  @Test("DOC-2 integers past 2^53 are strings beside the payload")
  func largeIntegers() throws {
    for (value, isText) in [
      (9_007_199_254_740_992, false), (9_007_199_254_740_993, true), (Int64.max, true),
      (.min, true),
    ] as [(Int64, Bool)] {
      let document = try Minted.verify(
        Minted.purchase.transactionPayload.setting("revocationPercentage", .integer(value)),
        .transaction)
      let place = "transaction.revocationPercentage"
      checkEqual(document.integer(place), (isText ? nil : value))
      checkEqual(document.text(place), (isText ? "\(value)" : nil))
      checkEqual(document.integer("transaction.payload.revocationPercentage"), value)
    }
  }

  @Test("DOC-3 no text of the evidence appears in a refusal")
  func nothingLeaks() throws {
    let marks = Minted.purchase.with {
      $0.accountToken = "5ec4e700-0000-4000-8000-5ec4e75ec4e7"
      $0.transactionId = "5318008531800853"
      $0.originalTransactionId = "5318008531800854"
      $0.appTransactionId = "5318008531800855"
      $0.productId = "secret.product"
    }
    let authority = try Minted.authority()
    let good = marks.transactionPayload.setting("deviceVerificationNonce", "SECRET-NONCE")
    let verifier = try Minted.verifier([("decision.accountToken", "required")])
    var texts: [[UInt8]] = []
    for (path, value) in [
      ("bundleId", "secret.bundle"), ("environment", "SecretEnvironment"), ("quantity", "secret"),
      ("signedDate", "secret"), ("signedDate", 5), ("appAccountToken", "secret-account"),
      ("type", ["secret"]),
      ("notificationType", "SECRET"), ("receiptType", "Secret"), ("purchaseDate", -1),
    ] as [(String, JSONText)] {
      texts.append(try authority.mint(good.setting(path, value)))
    }
    for signature in [
      JWSTemplate.SignatureForm.octets([UInt8](repeating: 7, count: 64)), .der, .prefix(63),
      .looseBits,
    ] {
      var template = JWSTemplate(payload: good.bytes, chain: authority.chain)
      template.signature = signature
      texts.append(try template.signed())
    }
    for (name, value) in [
      ("alg", "SECRET"), ("crit", ["secret"]), ("x5c", "secret"), ("x5c", ["secret"]),
    ] as [(String, JSONText)] {
      var template = JWSTemplate(payload: good.bytes, chain: authority.chain)
      template.header = template.header.setting(name, value)
      texts.append(try template.signed())
    }
    texts.append(utf8("secret"))
    texts.append(utf8("{\"signedPayload\":\"secret\"}"))
    texts.append(try authority.mint(marks.renewalPayload))
    texts.append(
      try authority.mint(
        NotificationPayload("DID_RENEW", signedDate: marks.signedDate).payload(
          (
            "data",
            NotificationPayload.data(
              marks, transaction: try authority.mint(good.setting("bundleId", "secret")),
              renewal: nil)
          ))))
    for kind in [StoreKitKind.transaction, .notification] {
      for (index, text) in texts.enumerated() {
        let document = verifier.verifyJWS(text, kind: kind, nowMs: Minted.now)
        check(document.status != .ok, "\(index)")
        let shown = String(decoding: document.json, as: UTF8.self).lowercased()
        for mark in ["secret", "5ec4e7", "53180085"] {
          check(!shown.contains(mark), "\(index) shows \(mark): \(document.name)")
        }
        let segments = text.split(separator: 0x2e).map {
          String(decoding: $0.prefix(24), as: UTF8.self)
        }
        for segment in segments where segment.count == 24 {
          check(!shown.contains(segment.lowercased()), "\(index)")
        }
      }
    }
  }

  // MARK: getters

  @Test("DOC-2 members by path: objects, arrays, escapes, absent ones, other types")
  func getters() throws {
    let odd: JSONText = [
      "a\"b": "quoted", "é": "accent", "": "empty", "n\nl": "line",
      "deep": [["x": [1, [2, "three"]]]],
      "t": true, "f": .text("1.5"), "z": .text("\"\\u0041\\ud83d\\ude00\\/\""), "0": "zero",
      "big": .text("9223372036854775808"), "neg": -7, "empty": [], "none": [:], "nul": .null,
    ]
    let document = try Minted.verify(
      Minted.purchase.transactionPayload.appending("odd", odd), .transaction)
    checkEqual(document.status, .ok)
    func text(_ path: String) -> String? { document.text("transaction.payload.odd." + path) }
    func integer(_ path: String) -> Int64? { document.integer("transaction.payload.odd." + path) }
    checkEqual(text("a\"b"), "quoted")
    checkEqual(text("é"), "accent")
    checkEqual(text(""), "empty")
    checkEqual(text("n\nl"), "line")
    checkEqual(text("z"), "A😀/")
    checkEqual(text("0"), "zero")
    checkEqual(text("deep.0.x.1.1"), "three")
    checkEqual(integer("deep.0.x.0"), 1)
    checkEqual(integer("deep.0.x.1.0"), 2)
    checkEqual(integer("neg"), -7)
    for path in [
      "absent", "t", "f", "nul", "empty", "none", "deep", "deep.0", "deep.1", "deep.0.x.2",
      "deep.x", "deep.-1",
      "deep.0x", "deep.", ".deep", "deep..0", "t.x", "z.0", "none.x", "empty.0", "neg.0", "a\\\"b",
      "deep.99999999999999999999", "deep.0.x.1.2", "é.x", "e\u{301}",
    ] {
      check(text(path) == nil, "\(path)")
      check(integer(path) == nil, "\(path)")
    }
    check(
      integer("f") == nil && integer("big") == nil && text("big") == nil && text("neg") == nil)
    checkEqual(document.text("checks.0.id"), "jws.size")
    checkEqual(document.text("checks.17.id"), "revocation")
    check(document.text("checks.18.id") == nil)
    // An index has a single spelling.
    check(document.text("checks.00.id") == nil && document.text("checks.-0.id") == nil)
    checkEqual(document.integer("assay"), 1)
    for path in [
      "", ".", "..", "kind.", "transaction.payload.odd.deep" + String(repeating: ".0", count: 5000),
    ] {
      check(document.text(path) == nil, "\(path.prefix(20))")
    }
    check(document.integer(path: [0xff, 0xfe]) == nil)
    check(document.integer(path: [0]) == nil)
    check(document.integer(path: [UInt8](repeating: 0x2e, count: 100_000)) == nil)
  }

  @Test("DOC-2 a getter finds what the strict reader finds, for every member of a document")
  func everyMember() throws {
    let payload = try payload(.notification)
    let document = try Minted.verify(payload, .notification)
    var count = 0
    func visit(_ value: JSONValue, _ path: String) {
      switch value.kind {
      case .object:
        for child in value.children {
          visit(child, path.isEmpty ? child.name.string : path + "." + child.name.string)
        }
      case .array:
        for (index, child) in value.children.enumerated() { visit(child, path + "." + "\(index)") }
      default:
        count += 1
        if document.text(path) != value.text?.string || document.integer(path) != value.integer {
          Issue.record("\(path)")
        }
      }
    }
    visit(try require(document.tree), "")
    check(count > 150)
  }

  @Test("DOC-2 stored texts live as long as the document, each copied once, with a NUL behind")
  func storedTexts() throws {
    let document = try Minted.verify(payload(.transaction), .transaction)
    let path = utf8("transaction.productId")
    guard let first = unsafe document.storedText(path: path),
      let second = unsafe document.storedText(path: path), let whole = unsafe document.storedJSON
    else {
      Issue.record("no stored text")
      return
    }
    let isSame = unsafe first.baseAddress == second.baseAddress
    let text = unsafe String(decoding: first, as: UTF8.self)
    let isEnded = unsafe Self.isEnded(first) && Self.isEnded(whole)
    let json = unsafe Array(whole)
    check(isSame)
    checkEqual(text, Minted.purchase.productId)
    check(isEnded)
    checkEqual(json, document.json)
    let isAbsent = unsafe document.storedText(path: utf8("transaction.signedDate")) == nil
    check(isAbsent)
  }

  /// Whether a NUL follows the text.
  private static func isEnded(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let start = text.baseAddress else { return false }
    return unsafe start[text.count] == 0
  }
}
