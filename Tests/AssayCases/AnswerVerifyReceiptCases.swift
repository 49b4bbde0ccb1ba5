import AssayAuthority

extension CaseFixture {
  private static let secret = "0123456789abcdef0123456789abcdef"

  /// Adds answers to requests for Apple's verifyReceipt endpoint
  /// (docs/spec/verify-receipt-endpoint.md).
  func addAnswerVerifyReceiptCases() throws {
    let secrets: JSONText = ["com.example.app": .string(CaseFixture.secret)]
    configure("with-secret", standardConfig.setting("receipts.sharedSecrets", secrets))
    configure(
      "with-secret-of-all",
      standardConfig.setting("receipts.sharedSecrets", ["*": .string(CaseFixture.secret)]))
    try addAnswers()
    try addAnsweredRequests()
    try addAnsweredEncodings()
    try addAnsweredForms()
    try addAnsweredEnvironments()
    try addAnsweredPasswords()
    try addAnsweredPolicies()
    try addNewerEvidence()
    try addAnsweredEnds()
    try addAnsweredMisuse()
  }

  // MARK: parts

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  private func appText(_ facts: AppReceiptFacts? = nil) throws -> String {
    text(try receipts.appReceipt(facts ?? appFacts))
  }

  private func app(_ purchases: [Purchase]) throws -> String {
    try appText(AppReceiptFacts(purchases, like: purchases[0]))
  }

  private func older(_ purchase: Purchase? = nil) throws -> String {
    text(try receipts.transactionReceipt(purchase ?? self.purchase))
  }

  /// Adds a request with this body.
  private func answer(
    _ rule: String, _ name: String, body: JSONText, endpoint: String = "Sandbox",
    options: [(String, JSONText)] = [], evidence: [EvidenceCase.Evidence] = [],
    verifier: String = "standard", now: Int64? = nil, _ status: String = "ok",
    at: String? = nil, apple: Int64 = 0, facts: Facts = []
  ) {
    let asked: JSONText = [
      "operation": "answer-verify-receipt", "endpoint": .string(endpoint), "body": body,
    ]
    let number: Facts = [("answer.appleStatus", .integer(apple))]
    request(
      rule, "verifyReceipt of \(name)", asked.setting(options), verifier: verifier,
      evidence: evidence, now: now, status, at: at, facts: number + facts)
  }

  /// Adds a request about a receipt. A refused one is answered with its number and name alone.
  private func answer(
    _ rule: String, _ name: String, _ receipt: String,
    sending members: [(String, JSONText)] = [],
    endpoint: String = "Sandbox", options: [(String, JSONText)] = [],
    evidence: [EvidenceCase.Evidence] = [], verifier: String = "standard", now: Int64? = nil,
    _ status: String = "ok", at: String? = nil, apple: Int64 = 0, facts: Facts = []
  ) {
    let body: JSONText = ["receipt-data": .string(receipt)]
    let isMarked = !options.contains { $0.0 == "mark" }
    let mark = isMarked ? ",\"assay\":{\"version\":1,\"status\":\"\(status)\"}" : ""
    let whole: Facts =
      status == "ok"
      ? [] : [("answer.body", .text("{\"status\":\(apple)\(mark)}")), ("answer.style", .null)]
    answer(
      rule, name, body: ["text": .string(utf8: body.setting(members).bytes)],
      endpoint: endpoint, options: options, evidence: evidence, verifier: verifier, now: now,
      status, at: at, apple: apple, facts: whole + facts)
  }

  // MARK: verified receipts

  private func addAnswers() throws {
    let whole: Facts = [
      ("step", "done"), ("answer.httpStatus", 200), ("answer.contentType", "application/json"),
      ("answer.environment", "Sandbox"), ("answer.bundleId", "com.example.app"),
      ("answer.originalTransactionIds.0", "2000000900000001"),
      ("answer.originalTransactionIds.1", .null), ("answer.leftOut.0", .null),
      ("sensitivePaths.0", "answer.body"), ("sensitivePaths.1", .null),
    ]
    answer(
      "VRE-30", "an app receipt", try appText(),
      facts: whole + [
        ("answer.style", "ios7"), ("answer.missing.0", "renewals"),
        ("answer.missing.1", "later-transactions"), ("answer.missing.2", "refunds"),
        ("answer.missing.3", "ownership"), ("answer.missing.4", "offer-codes"),
        ("answer.missing.5", "groups"), ("answer.missing.6", "newer-receipt"),
      ])
    answer(
      "VRE-36", "a transaction receipt", try older(), facts: whole + [("answer.style", "ios6")])
    answer(
      "VRE-30", "an app receipt of Production", try app([production]), endpoint: "Production",
      facts: [("answer.environment", "Production")])
    answer(
      "VRE-36", "a transaction receipt of Production", try older(production),
      endpoint: "Production", facts: [("answer.style", "ios6")])
    let none = try appText(appFacts.with { $0.purchases = [] })
    answer(
      "VRE-30", "a receipt without purchases", none,
      facts: [
        ("answer.originalTransactionIds.0", .null), ("answer.missing.0", "later-transactions"),
        ("answer.missing.1", "newer-receipt"), ("answer.missing.2", .null),
      ])
    let coins = purchase.of("com.example.app.coins100", .consumable)
    answer(
      "VRE-30", "a receipt without subscriptions", try app([coins]),
      facts: [("answer.missing.0", "later-transactions"), ("answer.missing.1", "refunds")])
    answer(
      "VRE-36", "a transaction receipt of a consumable", try older(coins),
      facts: [("answer.missing.0", "later-transactions")])
    answer(
      "VRE-40", "a receipt without a mark", try appText(), options: [("mark", false)])
    let answered = try appText()
    for (name, member) in [("true", true), ("\"true\"", "true"), ("1", 1), ("0", 0)]
      as [(String, JSONText)]
    {
      answer(
        "VRE-11", "exclude-old-transactions \(name)", answered,
        sending: [("exclude-old-transactions", member)])
    }
    answer("VRE-11", "another member", answered, sending: [("device", ["model": "phone"])])
    answer("VRE-11", "a password that is null", answered, sending: [("password", .null)])
  }

  // MARK: the request (VRE-10, VRE-11)

  private func addAnsweredRequests() throws {
    let refused = "malformed.verify-receipt.request"
    let receipt = try appText()
    let bodies: [(String, String, String?)] = [
      ("nothing", "", nil), ("no object", "[]", nil),
      ("half an object", "{\"receipt-data\":\"", nil),
      ("a form", "receipt-data=MII", nil),
      ("no receipt", "{}", "receipt-data"),
      ("a receipt that is null", "{\"receipt-data\":null}", "receipt-data"),
      ("an empty receipt", "{\"receipt-data\":\"\"}", "receipt-data"),
      ("a receipt that is a number", "{\"receipt-data\":1}", "receipt-data"),
      ("a password that is a number", "{\"receipt-data\":\"MII\",\"password\":1}", "password"),
      (
        "a flag that is a text", "{\"receipt-data\":\"MII\",\"exclude-old-transactions\":\"yes\"}",
        "exclude-old-transactions"
      ),
    ]
    for (name, body, place) in bodies {
      answer(
        "VRE-11", name, body: ["text": .string(body)], refused, at: place, apple: 21002,
        facts: [
          (
            "answer.body",
            .text("{\"status\":21002,\"assay\":{\"version\":1,\"status\":\"\(refused)\"}}")
          )
        ])
    }
    let twice = "{\"receipt-data\":\"\(receipt)\",\"receipt-data\":\"\(receipt)\"}"
    answer("VRE-11", "two receipts", body: ["text": .string(twice)], refused, apple: 21002)
    answer(
      "VRE-11", "a body in base64",
      body: [
        "base64": .string(text(Base64Text.encode(Array("{\"receipt-data\":\"\(receipt)\"}".utf8))))
      ])
    let longest = 3_145_728
    for (name, count) in [("longest", longest), ("too long", longest + 1)] {
      let (head, tail) = (
        "{\"operation\":\"answer-verify-receipt\",\"endpoint\":\"Sandbox\",\"body\":{\"text\":\"",
        "\"}}"
      )
      let isLong = count > longest
      let facts: Facts =
        isLong
        ? [
          ("answer.httpStatus", 413), ("answer.appleStatus", .null), ("answer.body", ""),
        ]
        : [("answer.httpStatus", 200), ("answer.appleStatus", 21002)]
      add(
        "VRE-10", "exchange: verifyReceipt of a body that is \(name)",
        .exchange(
          verifier: "standard",
          request: .repeated(
            prefix: Array(head.utf8), unit: [0x61], count: count, suffix: Array(tail.utf8)),
          evidence: [], now: now),
        .init(isLong ? "too-large.verify-receipt.request" : refused, facts: facts))
    }
  }

  // MARK: base64 (VRE-12)

  private func addAnsweredEncodings() throws {
    let bytes = try receipts.appTemplate(appFacts).signed()
    let receipt = text(Base64Text.encode(bytes))
    let once = text(Base64Text.encode(Array(receipt.utf8)))
    let wrapped = receipt.prefix(76) + "\n" + receipt.dropFirst(76)
    let refused = "malformed.verify-receipt.request"
    for (name, given) in [
      ("wrapped", String(wrapped)), ("with a space before it", " " + receipt),
      ("in base64url", receipt.replacing("+", with: "-").replacing("/", with: "_")),
    ] {
      answer("VRE-12", "a receipt \(name)", given, refused, at: "receipt-data", apple: 21002)
      answer("VRE-12", "a receipt \(name), tolerated", given, options: [("base64", "tolerant")])
    }
    answer(
      "VRE-12", "a receipt twice encoded", once, "rejected.kind.mismatch", at: "receipt-data",
      apple: 21002)
    answer("VRE-12", "a receipt twice encoded, tolerated", once, options: [("base64", "tolerant")])
    for (name, given) in [("without padding", "AQ"), ("with too much padding", "AQI==")] {
      answer("VRE-12", "a text \(name)", given, refused, at: "receipt-data", apple: 21002)
    }
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    for creation in 0..<3 {
      let own = try appText(
        appFacts.with { $0.applicationVersion = String(repeating: "1", count: creation + 1) })
      guard own.hasSuffix("=") else { continue }
      let padding = own.hasSuffix("==") ? 2 : 1
      var letters = Array(own)
      let place = letters.count - padding - 1
      guard let value = digits.firstIndex(of: letters[place]) else { continue }
      letters[place] = digits[value | 1]
      answer("VRE-12", "unused bits beside \(padding) of padding, \(creation)", String(letters))
    }
  }

  // MARK: what is no genuine receipt (VRE-14)

  private func addAnsweredForms() throws {
    let other = "rejected.kind.mismatch"
    let jws = try authority.mint(purchase.transactionPayload)
    for (name, bytes) in [
      ("four bytes", [1, 2, 3, 4]), ("a JWS", jws),
      ("the text of a cracking tool", Array("com.urus.iap.12345678".utf8)),
    ] as [(String, [UInt8])] {
      answer(
        "VRE-14", name, text(Base64Text.encode(bytes)), other, at: "receipt-data", apple: 21002)
    }
    var container = try receipts.appTemplate(appFacts).signed()
    answer(
      "VRE-14", "half an app receipt", text(Base64Text.encode(Array(container.prefix(600)))),
      "malformed.app-receipt.ber", apple: 21002)
    answer(
      "VRE-14", "bytes behind an app receipt", text(Base64Text.encode(container + [0])),
      "malformed.app-receipt.trailing", apple: 21002)
    let own = try receipts.appTemplate(appFacts).signed()
    container = own
    container[container.count - 9] ^= 1
    let forged = text(Base64Text.encode(container))
    for (words, apple) in [("documented", apple: 21003), ("measured", apple: 21002)]
      as [(String, Int64)]
    {
      answer(
        "VRE-14", "a changed signature, \(words)", forged, options: [("refusals", .string(words))],
        "rejected.app-receipt.signature", apple: apple)
    }
    answer(
      "VRE-15", "a changed signature at the other endpoint", forged, endpoint: "Production",
      "rejected.app-receipt.signature", apple: 21003)
    answer(
      "VRE-15", "a changed signature without its secret", forged, verifier: "with-secret",
      "rejected.app-receipt.signature", apple: 21003)
    answer(
      "VRE-14", "a changed signature without a mark", forged, options: [("mark", false)],
      "rejected.app-receipt.signature", apple: 21003)
    let list = try receipts.transactionTemplate(purchase, version: 3)
    answer(
      "VRE-14", "half a transaction receipt",
      text(Base64Text.encode(Array(try list.signed().prefix(300)))), "malformed.plist.syntax",
      apple: 21002)
    var altered = try receipts.transactionTemplate(purchase)
    altered.sentInfo = altered.info.setting("product-id", "com.example.app.lifetime").bytes
    answer(
      "VRE-14", "a transaction receipt that was changed",
      text(Base64Text.encode(try altered.signed())), "rejected.transaction-receipt.signature",
      apple: 21003)
    let strange = purchase.with { $0.bundleId = "com.example.other" }
    answer(
      "VRE-16", "a receipt of another app", try app([strange]), "rejected.app.bundle-id",
      apple: 21003)
    answer(
      "VRE-16", "a transaction receipt of another app", try older(strange),
      "rejected.app.bundle-id", apple: 21003)
    answer(
      "VRE-16", "a receipt of another app, measured", try app([strange]),
      options: [("refusals", "measured")], "rejected.app.bundle-id", apple: 21002)
    answer(
      "VRE-14", "a date to come",
      try appText(appFacts.with { $0.creationDate += 30 * Purchase.day }),
      "rejected.date.future", apple: 21003)
  }

  // MARK: environments (VRE-18)

  private func addAnsweredEnvironments() throws {
    let other = "rejected.verify-receipt.environment"
    let types: [(String, Bool)] = [
      ("Production", true), ("ProductionVPP", true), ("ProductionSandbox", false),
      ("ProductionVPPSandbox", false),
    ]
    for (type, isProduction) in types {
      let sample = isProduction ? production : purchase
      let receipt = try appText(
        AppReceiptFacts([sample], like: sample).with { $0.type = type })
      answer(
        "VRE-18", "\(type) at Production", receipt, endpoint: "Production",
        isProduction ? "ok" : other, apple: isProduction ? 0 : 21007)
      answer(
        "VRE-18", "\(type) at Sandbox", receipt, isProduction ? other : "ok",
        apple: isProduction ? 21008 : 0)
    }
    var typeless = try receipts.appTemplate(appFacts)
    typeless.attributes = typeless.attributes.removing(0)
    answer(
      "VRE-18", "no type at Sandbox", text(Base64Text.encode(try typeless.signed())),
      "malformed.app-receipt.missing-attribute", apple: 21002)
    answer(
      "VRE-18", "a transaction receipt of Sandbox at Production", try older(),
      endpoint: "Production", other, at: "receipt-data", apple: 21007)
    answer(
      "VRE-18", "a transaction receipt of Production at Sandbox", try older(production), other,
      at: "receipt-data", apple: 21008)
    for (name, receipt) in [
      ("an app receipt", try appText()), ("a transaction receipt", try older()),
    ] {
      answer(
        "VRE-18", "\(name) of Sandbox where it is not accepted", receipt, endpoint: "Production",
        verifier: "production-only", other, apple: 21007)
    }
    for (name, receipt) in [
      ("an app receipt", try app([production])), ("a transaction receipt", try older(production)),
    ] {
      answer(
        "VRE-18", "\(name) of Production where it is not accepted", receipt,
        verifier: "sandbox-only", other, apple: 21008)
    }
    let unknown = try older(purchase.with { $0.transactionId = "7" })
    answer(
      "VRE-18", "an unknown environment at Production", unknown, endpoint: "Production", other,
      apple: 21007)
    answer(
      "VRE-18", "an unknown environment that is allowed, at Production", unknown,
      endpoint: "Production", verifier: "unknown-environment", other, apple: 21007)
    answer(
      "VRE-18", "an unknown environment that is allowed", unknown,
      verifier: "unknown-environment")
    var template = try receipts.transactionTemplate(purchase.with { $0.transactionId = "7" })
    template.environment = nil
    let silent = text(Base64Text.encode(try template.signed()))
    answer(
      "VRE-18", "no environment at Production", silent, endpoint: "Production", other,
      apple: 21007)
    answer(
      "VRE-18", "no environment at Sandbox", silent, "rejected.environment.missing",
      apple: 21003)
  }

  // MARK: the shared secret (VRE-13)

  private func addAnsweredPasswords() throws {
    let refused = "rejected.verify-receipt.password"
    let good = CaseFixture.secret
    for (name, receipt) in [
      ("an app receipt", try appText()), ("a transaction receipt", try older()),
    ] {
      for verifier in ["with-secret", "with-secret-of-all"] {
        answer(
          "VRE-13", "\(name), the secret of \(verifier)", receipt,
          sending: [("password", .string(good))], verifier: verifier)
      }
      for (what, members) in [
        ("no secret", []), ("another secret", [("password", .string(String(good.reversed())))]),
        ("half a secret", [("password", .string(String(good.prefix(16))))]),
        ("an empty secret", [("password", "")]),
      ] as [(String, [(String, JSONText)])] {
        answer(
          "VRE-13", "\(name), \(what)", receipt, sending: members, verifier: "with-secret", refused,
          at: "password", apple: 21004)
      }
      answer(
        "VRE-13", "\(name), a secret that nobody configured", receipt,
        sending: [("password", .string(good))])
    }
    let coins = purchase.of("com.example.app.coins100", .consumable)
    answer(
      "VRE-13", "a consumable, no secret", try app([coins]), verifier: "with-secret")
    answer(
      "VRE-15", "the other endpoint, no secret", try appText(), endpoint: "Production",
      verifier: "with-secret", "rejected.verify-receipt.environment", apple: 21007)
  }

  // MARK: what is not judged (VRE-16, VRE-19)

  private func addAnsweredPolicies() throws {
    let unknown = purchase.with { $0.productId = "com.example.app.unknown" }
    answer("VRE-16", "an app receipt of an unknown product", try app([unknown]))
    answer("VRE-16", "a transaction receipt of an unknown product", try older(unknown))
    let year = purchase.moved(by: -400 * Purchase.day)
    answer(
      "VRE-19", "an old app receipt", try app([year]), verifier: "receipts-of-a-month")
    answer(
      "VRE-19", "an old transaction receipt", try older(year), verifier: "receipts-of-a-month",
      apple: 21006)
    let second = try receipts.transactionTemplate(self.old, version: 2)
    let receipt = text(Base64Text.encode(try second.signed()))
    answer("VRE-19", "version 2", receipt, apple: 21006)
    answer(
      "VRE-19", "version 2 where it is refused", receipt, verifier: "v2-refused",
      "rejected.transaction-receipt.v2-disabled", apple: 21003)
    answer(
      "VRE-37", "device ids", try older(), verifier: "device-ids", facts: [("answer.style", "ios6")]
    )
  }

  // MARK: newer evidence (VRE-20 … VRE-22)

  private func addNewerEvidence() throws {
    let receipt = try appText()
    let renewed = purchase.with {
      $0.transactionId = "2000000900000002"
      $0.purchaseDate += 9 * Purchase.day
      $0.expiresDate = $0.expiresDate.map { $0 + 30 * Purchase.day }
    }
    let whole: Facts = [("answer.leftOut.0", .null)]
    func proof(_ kind: ReceiptEvidenceKind, _ receipt: [UInt8]) -> EvidenceCase.Evidence {
      .init(.receipt(kind, receipt))
    }
    let newer = AppReceiptFacts([renewed, purchase], like: purchase)
      .with { $0.creationDate += 30_000 }
    let items: [(String, [EvidenceCase.Evidence], Facts)] = [
      ("a transaction", [try transaction(renewed)], [("answer.missing.0", "renewals")]),
      (
        "a transaction and a renewal info", [try transaction(renewed), try renewal(purchase)],
        [("answer.missing.0", "refunds"), ("answer.missing.4", "newer-receipt")]
      ),
      (
        "a notification",
        [.init(.notification, try authority.mint(authority.payload(.notification, purchase)))],
        [("answer.missing.0", "newer-receipt")]
      ),
      (
        "a newer app receipt", [proof(.appReceipt, try receipts.appReceipt(newer))],
        [("answer.missing.0", "renewals"), ("answer.missing.5", .null)]
      ),
      (
        "a transaction receipt",
        [proof(.transactionReceipt, try receipts.transactionReceipt(renewed))],
        [("answer.missing.0", "renewals")]
      ),
      (
        "an answer of Apple's", [.init(.answer(response(.ios7, [renewed]).json.bytes))],
        [("answer.missing.0", "refunds")]
      ),
    ]
    for (name, evidence, facts) in items {
      answer(
        "VRE-20", "an app receipt and \(name)", receipt, evidence: evidence, facts: whole + facts)
      answer(
        "VRE-20", "a transaction receipt and \(name)", try older(), evidence: evidence, facts: whole
      )
    }
    let stranger = purchase.with {
      $0.transactionId = "2000000900000777"
      $0.originalTransactionId = "2000000900000777"
    }
    let left: Facts = [
      ("answer.leftOut.0", "evidence[0]"), ("answer.leftOut.1", .null),
      ("answer.originalTransactionIds.1", .null), ("answer.missing.0", "renewals"),
      ("answer.missing.1", "later-transactions"),
    ]
    let second = purchase.with { $0.bundleId = "com.example.second" }
    let others: [(String, EvidenceCase.Evidence)] = [
      ("a transaction of another customer", try transaction(stranger)),
      ("renewal info of another customer", try renewal(stranger)),
      (
        "an app receipt of another customer",
        proof(
          .appReceipt,
          try receipts.appReceipt(
            AppReceiptFacts([stranger], like: stranger)))
      ),
      (
        "an answer about another customer", .init(.answer(response(.ios7, [stranger]).json.bytes))
      ),
      ("a transaction of another app", try transaction(second)),
      (
        "a receipt of another app",
        proof(
          .appReceipt, try receipts.appReceipt(AppReceiptFacts([second], like: second)))
      ),
      ("an answer about another app", .init(.answer(response(.ios7, [second]).json.bytes))),
      (
        "a notification of another app",
        .init(.notification, try authority.mint(authority.payload(.notification, second)))
      ),
      (
        "a transaction of Production", try transaction(production)
      ),
    ]
    for (name, evidence) in others {
      answer("VRE-21", name, receipt, evidence: [evidence], facts: left)
    }
    let short = purchase.with {
      $0.transactionId = "1000"
      $0.originalTransactionId = "1000"
    }
    answer(
      "VRE-21", "renewal info of an id that is not unique", try app([short]),
      evidence: [try renewal(short)], facts: [("answer.leftOut.0", "evidence[0]")])
    let proofs = Array(repeating: try transaction(renewed), count: 3)
    answer("VRE-20", "the same three times", receipt, evidence: proofs, facts: whole)
  }

  // MARK: ended subscriptions (VRE-33, VRE-39)

  private func addAnsweredEnds() throws {
    let end = purchase.expiresDate ?? 0
    let later: [(String, JSONText)] = [("ended", "later")]
    let stale = "unavailable.verify-receipt.stale"
    for (name, receipt, isOld) in [
      ("an app receipt", try appText(), false), ("a transaction receipt", try older(), true),
    ] {
      answer("VRE-39", "\(name) a millisecond before its end", receipt, now: end - 1)
      answer("VRE-39", "\(name) at its end", receipt, now: end, apple: isOld ? 21006 : 0)
      answer("VRE-33", "\(name) before its end, later", receipt, options: later, now: end - 1)
      answer(
        "VRE-33", "\(name) at its end, later", receipt, options: later, now: end, stale,
        at: "evidence",
        apple: 21005)
      let known = try renewal(purchase.with { $0.signedDate = end + 1 })
      answer(
        "VRE-33", "\(name) at its end, known to have ended, later", receipt, options: later,
        evidence: [known], now: end + 2, apple: isOld ? 21006 : 0)
      let renewed = try transaction(
        purchase.with {
          $0.transactionId = "2000000900000002"
          $0.purchaseDate = end
          $0.expiresDate = end + 30 * Purchase.day
        })
      answer(
        "VRE-33", "\(name) at its end, renewed", receipt, options: later, evidence: [renewed],
        now: end)
    }
  }

  // MARK: wrong calls

  private func addAnsweredMisuse() throws {
    let misuse = "misuse.exchange.request"
    for (endpoint, verifier) in [
      ("Sandbox", "production-only"), ("Production", "sandbox-only"),
    ] {
      let asked: JSONText = [
        "operation": "answer-verify-receipt", "endpoint": .string(endpoint),
        "body": ["text": "{}"],
      ]
      request(
        "VRE-18", "verifyReceipt at \(endpoint) of \(verifier)", asked, verifier: verifier,
        misuse, at: "endpoint")
    }
    request(
      "EXC-1", "verifyReceipt without a body",
      ["operation": "answer-verify-receipt", "endpoint": "Sandbox"], misuse, at: "body")
    request(
      "EXC-1", "verifyReceipt of a body that is null",
      ["operation": "answer-verify-receipt", "endpoint": "Sandbox", "body": .null], misuse,
      at: "body")
    add(
      "VRE-42", "an answer of our own",
      .readVerifyReceiptResponse(
        verifier: "standard",
        body: .bytes(response(.ios7).json.setting("assay", ["version": 1]).bytes), now: now),
      .init("unsupported.verify-receipt.ours", check: "answer.kind", at: "assay"))
  }
}
