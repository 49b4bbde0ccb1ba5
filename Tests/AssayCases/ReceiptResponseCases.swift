import AssayAuthority

extension CaseFixture {
  /// Adds verifyReceipt responses (VRR-4 … VRR-19).
  func addReceiptResponseCases() throws {
    try addGoodAnswers()
    addAnswerStatuses()
    try addAnswerBodies()
    try addAnswerFields()
    try addAnswerIdentity()
    try addLatestReceipts()
  }

  private func answer(
    _ rule: String, _ name: String, _ body: [UInt8], verifier: String = "standard",
    _ status: String = "ok", check: String? = nil, at: String? = nil, facts: Facts = []
  ) {
    add(
      rule, name, .readVerifyReceiptResponse(verifier: verifier, body: .bytes(body), now: now),
      .init(status, check: check, at: at, facts: facts))
  }

  func response(
    _ style: ReceiptResponseTemplate.Style, _ purchases: [Purchase]? = nil
  ) -> ReceiptResponseTemplate {
    ReceiptResponseTemplate(style, purchases ?? [purchase], requestDate: now)
  }

  private func both(
    _ rule: String, _ name: String, _ status: String = "ok", at: String? = nil,
    verifier: String = "standard", facts: Facts = [], of purchases: [Purchase]? = nil,
    _ change: (JSONText) -> JSONText
  ) {
    for style in ReceiptResponseTemplate.Style.allCases {
      answer(
        rule, "\(name), \(style.rawValue)", change(response(style, purchases).json).bytes,
        verifier: verifier, status, at: at, facts: facts)
    }
  }

  private func addGoodAnswers() throws {
    for style in ReceiptResponseTemplate.Style.allCases {
      answer(
        "VRR-19", "a good answer, \(style.rawValue)",
        try receipts.answer(style, [purchase], requestDate: now),
        facts: [
          ("/kind", "verify-receipt-response"), ("/error", .null), ("appleStatus", 0),
          ("style", .text(style.rawValue)), ("environment", "Sandbox"),
          ("bundleId", "com.example.app"), ("evidence", "apple-answer"),
          ("transactions.0.productId", .text(purchase.productId)),
          ("transactions.0.transactionId", .text(purchase.transactionId)),
          ("transactions.0.originalTransactionId", .text(purchase.originalTransactionId)),
          ("transactions.0.purchaseDate", .integer(purchase.purchaseDate)),
          ("transactions.0.expiresDate", .integer(purchase.expiresDate ?? 0)),
          ("transactions.0.webOrderLineItemId", "2000000090000001"),
          ("latestReceipt.verified", true),
        ])
    }
    answer(
      "VRR-10", "the request date of iOS 7 style", response(.ios7).json.bytes,
      facts: [("requestDate", .integer(now))])
    answer(
      "VRR-19", "a renewal of iOS 7 style", response(.ios7).json.bytes,
      facts: [
        ("renewals.0.originalTransactionId", .text(purchase.originalTransactionId)),
        ("renewals.0.autoRenewProductId", .text(purchase.productId)),
        ("renewals.1.originalTransactionId", .null),
      ])
    both("VRR-19", "Production", facts: [("environment", "Production")], of: [production]) { $0 }
    let empty = response(.ios7).with {
      $0.purchases = []
      $0.latest = [purchase]
      $0.renewals = false
    }.json.removing("latest_receipt_info")
    answer("VRR-13", "no purchases", empty.bytes, facts: [("transactions.0.productId", .null)])
    for status in [0, 21006] as [Int64] {
      var old = response(.ios6)
      old.status = status
      answer(
        "VRR-6", "status \(status), iOS 6 style", old.json.bytes,
        facts: [("appleStatus", .integer(status))])
    }
  }

  /// Adds Apple's status numbers (docs/spec/receipts-triage.md §2.2, VRR-5, VRR-6).
  private func addAnswerStatuses() {
    let refused: [(Int64, String, String)] = [
      (21000, "rejected.verify-receipt.request", "never"),
      (21001, "rejected.verify-receipt.request", "never"),
      (21002, "rejected.verify-receipt.malformed", "same-once"),
      (21003, "rejected.verify-receipt.not-authentic", "never"),
      (21004, "rejected.verify-receipt.secret", "after-config"),
      (21005, "unavailable.verify-receipt.no-response", "later"),
      (21007, "rejected.environment.not-accepted", "other-environment"),
      (21008, "rejected.environment.not-accepted", "other-environment"),
      (21009, "unavailable.verify-receipt.no-response", "later"),
      (21010, "rejected.verify-receipt.account", "never"),
      (21100, "rejected.verify-receipt.internal", "never"),
      (21199, "rejected.verify-receipt.internal", "never"),
      (21011, "unsupported.verify-receipt.status", "later"),
      (21099, "unsupported.verify-receipt.status", "later"),
      (21200, "unsupported.verify-receipt.status", "later"),
      (20999, "unsupported.verify-receipt.status", "later"),
      (1, "unsupported.verify-receipt.status", "later"),
      (-1, "unsupported.verify-receipt.status", "later"),
    ]
    for (code, status, retry) in refused {
      answer(
        "VRR-6", "status \(code)", Array("{\"status\":\(code)}".utf8), status,
        facts: [("/error.retryClass", .text(retry)), ("/verifyReceipt", .null)])
      answer(
        "VRR-6", "status \(code) beside a whole receipt",
        response(.ios7).json.setting("status", .integer(code)).bytes, status,
        facts: [("/error.retryClass", .text(retry)), ("/verifyReceipt", .null)])
    }
    let retryable: [(String, Bool)] = [
      ("true", true), ("1", true), ("\"true\"", true), ("\"1\"", true), ("false", false),
      ("0", false), ("\"false\"", false), ("\"0\"", false),
    ]
    for (text, later) in retryable {
      answer(
        "VRR-5", "is-retryable \(text)", Array("{\"status\":21150,\"is-retryable\":\(text)}".utf8),
        later ? "unavailable.verify-receipt.internal" : "rejected.verify-receipt.internal",
        facts: [("/error.retryClass", .text(later ? "later" : "never"))])
    }
    answer(
      "VRR-5", "is_retryable with an underscore",
      Array("{\"status\":21150,\"is_retryable\":true}".utf8), "rejected.verify-receipt.internal",
      facts: [("/error.retryClass", "never")])
    answer(
      "VRR-5", "is-retryable beside 21003", Array("{\"status\":21003,\"is-retryable\":true}".utf8),
      "rejected.verify-receipt.not-authentic", facts: [("/error.retryClass", "never")])
    answer(
      "VRR-7", "21002 with an exception",
      Array("{\"status\":21002,\"exception\":\"java.lang.IllegalArgumentException\"}".utf8),
      "rejected.verify-receipt.malformed", facts: [("/error.retryClass", "same-once")])
  }

  /// Adds bodies that are no response, or exceed a cap (VRR-14, VRR-15).
  private func addAnswerBodies() throws {
    let body = "malformed.verify-receipt.body"
    for (name, text) in [
      ("nothing", ""), ("a page of a proxy", "<html>502</html>"), ("an array", "[]"),
      ("cut short", "{\"status\":0,\"receipt\":"), ("text after it", "{\"status\":0} x"),
    ] {
      answer(
        "VRR-4", name, Array(text.utf8), "unavailable.verify-receipt.no-response",
        facts: [("/error.retryClass", "later")])
    }
    for (name, text) in [
      ("no status", "{}"), ("a status of text", "{\"status\":\"0\"}"),
      ("a status of a fraction", "{\"status\":0.5}"), ("status null", "{\"status\":null}"),
      ("status twice", "{\"status\":21003,\"status\":0}"),
      ("a status past 2^63", "{\"status\":99999999999999999999}"),
    ] {
      answer("VRR-15", name, Array(text.utf8), body)
    }
    answer(
      "VRR-15", "a name twice inside",
      response(.ios7).json.setting(
        "receipt", .text("{\"bundle_id\":\"com.example.app\",\"bundle_id\":\"com.example.app\"}")
      ).bytes, body)
    for (depth, status) in [(30, "ok"), (33, "too-large.verify-receipt.body")] {
      let deep = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
      answer(
        "VRR-15", "nested \(depth) deep", response(.ios7).json.appending("x", .text(deep)).bytes,
        status)
    }
    add(
      "VRR-15", "a body past the limit",
      .readVerifyReceiptResponse(
        verifier: "standard",
        body: .repeated(
          prefix: Array("{\"status\":0,\"x\":\"".utf8), unit: Array("aaaaaaaaaaaaaaaa".utf8),
          count: 524_288, suffix: Array("\"}".utf8)), now: now),
      .init("too-large.verify-receipt.body"))
    let entry = purchase.inAppEntry.description
    let light =
      "{\"product_id\":\"com.example.app.coins100\",\"transaction_id\":\"2000000900000001\","
      + "\"original_transaction_id\":\"2000000900000001\",\"purchase_date_ms\":\"1794355200000\","
      + "\"quantity\":\"1\"}"
    let head = String(
      decoding: response(.ios7).with { $0.latest = nil }.json.removing("receipt").bytes.dropLast(),
      as: UTF8.self)
    add(
      "VRR-15", "16,385 entries",
      .readVerifyReceiptResponse(
        verifier: "standard",
        body: .repeated(
          prefix: Array(
            (head + ",\"receipt\":{\"bundle_id\":\"com.example.app\","
              + "\"receipt_type\":\"ProductionSandbox\",\"in_app\":[" + entry).utf8),
          unit: Array(("," + light).utf8), count: 16_384, suffix: Array("]}}".utf8)), now: now),
      .init("too-large.verify-receipt.entries"))
    for (name, text) in [
      (
        "a version 1 notification",
        "{\"unified_receipt\":{\"status\":0},\"environment\":\"PROD\","
          + "\"notification_type\":\"INTERACTIVE_RENEWAL\",\"password\":\"0\",\"status\":0}"
      ),
      (
        "a version 1 notification without status",
        "{\"unified_receipt\":{\"status\":0},\"environment\":\"PROD\","
          + "\"notification_type\":\"CANCEL\",\"auto_renew_status\":\"false\"}"
      ),
    ] {
      answer("VRR-14", name, Array(text.utf8), "unsupported.verify-receipt.notification-v1")
    }
  }

  /// Adds missing fields and wrong values (VRR-9 … VRR-12).
  private func addAnswerFields() throws {
    let good = response(.ios6).json
    let first = "transactions.0"
    for (name, value) in [
      ("numbers", JSONText.text("2000000900000001")), ("texts", "2000000900000001"),
    ] {
      answer(
        "VRR-9", "ids as \(name)",
        good.setting("receipt.transaction_id", value)
          .setting("receipt.original_transaction_id", value)
          .setting("latest_receipt_info.transaction_id", value)
          .setting("latest_receipt_info.original_transaction_id", value).bytes,
        facts: [("\(first).transactionId", "2000000900000001")])
    }
    for (text, flag) in [
      ("\"true\"", true), ("\"1\"", true), ("1", true), ("true", true), ("\"false\"", false),
      ("\"0\"", false), ("0", false), ("false", false),
    ] {
      answer(
        "VRR-9", "is_trial_period \(text)",
        good.setting("receipt.is_trial_period", .text(text))
          .setting("latest_receipt_info.is_trial_period", .text(text)).bytes,
        facts: [("\(first).isTrialPeriod", .flag(flag))])
    }
    let field = "malformed.verify-receipt.field"
    for (path, text) in [
      ("receipt.is_trial_period", "\"yes\""), ("receipt.is_trial_period", "2"),
      ("receipt.transaction_id", "1.5"), ("receipt.transaction_id", "{}"),
      ("receipt.transaction_id", "2e15"), ("receipt.quantity", "\"one\""),
      ("receipt.quantity", "true"), ("receipt.purchase_date_ms", "\"soon\""),
      ("receipt.purchase_date_ms", "[]"), ("receipt.expires_date", "\"17969472000000\""),
      ("receipt.bid", "5"), ("receipt.product_id", "null"),
      ("latest_receipt", "5"), ("receipt", "[]"),
    ] where !(text == "null") {
      answer("VRR-9", "\(path) \(text)", good.setting(path, .text(text)).bytes, field)
    }
    let bought = purchase.purchaseDate
    answer(
      "VRR-10", "milliseconds before text",
      good.setting("receipt.purchase_date", .string(WrittenDate.gmt(bought + 9000)))
        .setting("latest_receipt_info.purchase_date", .string(WrittenDate.gmt(bought + 9000)))
        .bytes,
      facts: [("\(first).purchaseDate", .integer(bought))])
    answer(
      "VRR-10", "text alone",
      good.removing(["receipt.purchase_date_ms", "latest_receipt_info.purchase_date_ms"]).bytes,
      facts: [("\(first).purchaseDate", .integer(bought))])
    answer(
      "VRR-10", "Pacific time is never read",
      good.setting("receipt.purchase_date_pst", "nonsense")
        .setting("latest_receipt_info.purchase_date_pst", "nonsense").bytes,
      facts: [("\(first).purchaseDate", .integer(bought))])
    answer(
      "VRR-10", "Apple's clock five minutes behind",
      response(.ios7).with { $0.requestDate = now - 300_000 }.json.bytes,
      facts: [("clockSkew", .null)])
    let skewed = response(.ios7).with { $0.requestDate = now - 301_000 }.json
    answer(
      "VRR-10", "Apple's clock five minutes and a second behind", skewed.bytes,
      facts: [("requestDate", .integer(now - 301_000)), ("clockSkew", .integer(-301_000))])
    let ends = (1...3).map { number in
      purchase.with {
        $0.transactionId = "200000090000000\(number)"
        $0.purchaseDate = now - Int64(number) * 30 * Purchase.day
        $0.expiresDate = now - Int64(number - 1) * 30 * Purchase.day + Purchase.day
      }
    }
    for (name, order) in [
      ("ascending", [2, 1, 0]), ("descending", [0, 1, 2]), ("mixed", [1, 0, 2]),
    ] {
      let shuffled = response(.ios7).with {
        $0.purchases = order.map { ends[$0] }
        $0.latest = order.map { ends[$0] }
      }
      answer(
        "VRR-11", "entries in \(name) order", shuffled.json.bytes,
        facts: [("transactions.3.transactionId", .null)])
    }
    let restored = purchase.with { $0.purchaseDate = ($0.expiresDate ?? 0) + 1000 }
    both("VRR-12", "bought after its end", of: [restored]) { $0 }
    both(
      "VRR-12", "bought first after it was bought",
      of: [purchase.with { $0.originalPurchaseDate += Purchase.day }]
    ) { $0 }
  }

  /// Adds responses about other apps and environments (VRR-16, VRR-17).
  private func addAnswerIdentity() throws {
    both(
      "VRR-16", "another app", "rejected.app.bundle-id",
      of: [purchase.with { $0.bundleId = "com.example.other" }]
    ) { $0 }
    both(
      "VRR-16", "the number of another app in Production", "rejected.app.app-apple-id",
      of: [production.with { $0.appAppleId = 1_234_567_891 }]
    ) { $0 }
    answer(
      "VRR-16", "number 0 in Production",
      response(.ios7, [production]).json.setting("receipt.adam_id", 0)
        .setting("receipt.app_item_id", 0).bytes)
    both(
      "VRR-17", "Sandbox where Production alone is accepted", "rejected.environment.not-accepted",
      verifier: "production-only"
    ) { $0 }
    both(
      "VRR-17", "Production where Sandbox alone is accepted", "rejected.environment.not-accepted",
      verifier: "sandbox-only", of: [production]
    ) { $0 }
    let profile = "rejected.environment.signer-mismatch"
    answer(
      "VRR-17", "environment Production beside type ProductionSandbox",
      response(.ios7).json.setting("environment", "Production").bytes, profile)
    for type in ["Xcode", "Production"] {
      answer(
        "VRR-17", "environment Sandbox beside type \(type)",
        response(.ios7).json.setting("receipt.receipt_type", .string(type)).bytes, profile,
        at: "receipt.receipt_type")
    }
    answer(
      "VRR-17", "environment Production beside type Xcode",
      response(.ios7, [production]).json.setting("receipt.receipt_type", "Xcode").bytes, profile,
      at: "receipt.receipt_type")
    answer(
      "VRR-17", "no environment beside type Xcode",
      response(.ios7, [production]).json.removing("environment")
        .setting("receipt.receipt_type", "Xcode").bytes, profile, at: "receipt.receipt_type")
    answer(
      "VRR-17", "environment Production beside ids of Sandbox",
      response(.ios7).json.setting("environment", "Production")
        .setting("receipt.receipt_type", "Production")
        .setting("receipt.adam_id", 1_234_567_890)
        .setting("receipt.app_item_id", 1_234_567_890).bytes, profile)
  }

  /// Adds responses with a latest receipt (VRR-18).
  private func addLatestReceipts() throws {
    let newest = purchase.with { $0.transactionId = "2000000900000002" }
    let good = try receipts.transactionReceipt(newest)
    let status = "latestReceipt.status"
    let verified = "latestReceipt.verified"
    func latest(_ name: String, _ text: [UInt8], _ facts: Facts) {
      answer(
        "VRR-18", name, response(.ios6).with { $0.latestReceipt = text }.json.bytes, facts: facts)
    }
    latest(
      "a latest receipt that verifies", good,
      [
        (verified, true), (status, "ok"),
      ])
    var damaged = try receipts.transactionTemplate(newest)
    damaged.signature = .damaged
    latest(
      "a latest receipt that was altered", Base64Text.encode(try damaged.signed()),
      [(verified, false), (status, "rejected.transaction-receipt.signature")])
    latest(
      "a latest receipt of another app",
      try receipts.transactionReceipt(newest.with { $0.bundleId = "com.example.other" }),
      [(verified, false), (status, "rejected.app.bundle-id")])
    latest(
      "a latest receipt that is no receipt", Array("hello".utf8), [(verified, false)])
    latest("an empty latest receipt", [], [])
    answer(
      "VRR-18", "no latest receipt", response(.ios7).json.bytes, facts: [("latestReceipt", .null)])
    let app = try receipts.appReceipt(appFacts)
    answer(
      "VRR-18", "an app receipt that verifies",
      response(.ios7).with { $0.latestReceipt = app }.json.bytes,
      facts: [(verified, true), (status, "ok")])
    var forged = try receipts.appTemplate(appFacts)
    forged.signature = .damaged
    let text = Base64Text.encode(try forged.signed())
    answer(
      "VRR-18", "an app receipt that was altered",
      response(.ios7).with { $0.latestReceipt = text }.json.bytes,
      facts: [(verified, false), (status, "rejected.app-receipt.signature")])
  }
}
