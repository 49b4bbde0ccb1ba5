import AssayAuthority

extension CaseFixture {
  /// Adds certificate validity and freshness (JWS-43, JWS-50, JWS-51).
  func addDateCases() throws {
    try addWindows()
    try addFreshness()
    try verify(
      "JWS-42", "a skew of zero",
      payload: purchase.transactionPayload.setting(
        "signedDate", .integer(now)), verifier: "no-skew")
    try verify(
      "JWS-42", "a millisecond ahead with a skew of zero",
      payload: purchase.transactionPayload.setting("signedDate", .integer(now + 1)),
      verifier: "no-skew", "rejected.date.future", check: "chain.validity", at: "signedDate")
    for instant in [0, -1, 1_199_145_599_999, 4_102_444_800_000, .max, .min] as [Int64] {
      verify(
        "JWS-41", "now_ms of \(instant)", try authority.mint(purchase.transactionPayload),
        now: instant, "misuse.call.now", check: "call")
    }
    try verify(
      "JWS-41", "the first millisecond of 2008",
      payload: purchase.transactionPayload.setting("signedDate", 1_199_145_600_000),
      "rejected.chain.not-yet-valid", check: "chain.validity")
    try verify(
      "JWS-41", "the last millisecond before 2100",
      payload: purchase.transactionPayload.setting("signedDate", 4_102_444_799_999),
      now: 4_102_444_799_999, "rejected.chain.expired", check: "chain.validity")
    let shape = purchase
    try verify(
      "JWS-40", "an app transaction dated by a text",
      payload: shape.appTransactionPayload.setting(
        "receiptCreationDate", .string("\(shape.signedDate)")),
      kind: .appTransaction, "malformed.payload.type", check: "chain.validity",
      at: "receiptCreationDate")
    try verify(
      "JWS-41", "an app transaction of the year 10000",
      payload: shape.appTransactionPayload.setting(
        "receiptCreationDate", 253_402_300_800_000),
      kind: .appTransaction, "rejected.date.range", check: "chain.validity",
      at: "receiptCreationDate")
  }

  private func addWindows() throws {
    let leaf = authority.windows.leaf
    let later = leaf.upperBound * 1000 + 400 * Purchase.day
    let dates: [(String, Int64, String)] = [
      ("the leaf's first millisecond", leaf.lowerBound * 1000, "ok"),
      (
        "the millisecond before the leaf", leaf.lowerBound * 1000 - 1,
        "rejected.chain.not-yet-valid"
      ),
      ("the leaf's last second", leaf.upperBound * 1000, "ok"),
      ("the last fraction of the leaf's last second", leaf.upperBound * 1000 + 999, "ok"),
      ("the millisecond after the leaf", leaf.upperBound * 1000 + 1000, "rejected.chain.expired"),
    ]
    for (name, date, status) in dates {
      try verify(
        "JWS-43", "signed in \(name)",
        payload: purchase.with { $0.signedDate = date }.transactionPayload, now: later,
        status, check: status == "ok" ? nil : "chain.validity",
        at: status == "ok" ? nil : "x5c[0]")
    }
    try verify(
      "JWS-43", "a purchase whose leaf has ended since", payload: purchase.transactionPayload,
      now: later, facts: [("effectiveDate.ms", .integer(purchase.signedDate))])
    let second = purchase.signedDate / 1000
    let intermediates: [(String, Int64, Int64, String)] = [
      ("has ended", second - 9_000_000, second - 1, "rejected.chain.expired"),
      ("ends in this second", second - 9_000_000, second, "ok"),
      ("begins in this second", second, second + 9_000_000, "ok"),
      ("has not begun", second + 1, second + 9_000_000, "rejected.chain.not-yet-valid"),
    ]
    for (name, from, to, status) in intermediates {
      let chain = try authority.chain(intermediate: {
        $0.notBefore = .utc(from)
        $0.notAfter = .utc(to)
      })
      verify(
        "JWS-43", "an intermediate that \(name)",
        try JWSTemplate(payload: purchase.transactionPayload.bytes, chain: chain).signed(),
        status, check: status == "ok" ? nil : "chain.validity",
        at: status == "ok" ? nil : "x5c[1]")
    }
    var windows = authority.windows
    for (name, from, to, status) in intermediates {
      windows.root = from...to
      let other = try Authority(now: now, windows: windows)
      let verifier = "root that " + name
      configure(
        verifier,
        standardConfig.setting(
          "storekit.anchors", [.string(authority.anchor), .string(other.anchor)]))
      verify(
        "JWS-43", "a root that \(name)", try other.mint(purchase.transactionPayload),
        verifier: verifier, status, check: status == "ok" ? nil : "chain.validity",
        at: status == "ok" ? nil : "x5c[2]")
      verify(
        "JWS-20", "the first of two anchors, beside a root that \(name)",
        try authority.mint(purchase.transactionPayload), verifier: verifier)
    }
  }

  private func addFreshness() throws {
    let ages: [(EvidenceKind, Int64)] = [
      (.transaction, 3_600_000), (.renewalInfo, 3_600_000), (.notification, 691_200_000),
      (.appTransaction, 3_600_000), (.realtimeRequest, 60_000),
    ]
    for (kind, age) in ages {
      for (name, date, status) in [
        ("as old as it may be", now - age, "ok"),
        ("a millisecond too old", now - age - 1, "rejected.freshness.stale"),
      ] {
        try verify(
          "JWS-50", "\(kind.rawValue) \(name)",
          payload: try kind == .notification
            ? authority.payload(kind, purchase).setting("signedDate", .integer(date))
            : authority.payload(kind, purchase.with { $0.signedDate = date }), kind: kind,
          verifier: "fresh", status, check: status == "ok" ? nil : "freshness")
      }
    }
    try notify(
      "JWS-50", "a fresh notification over a transaction that is too old",
      try authority.payload(.notification, purchase.with { $0.signedDate = now - 3_600_001 }),
      verifier: "fresh", "rejected.freshness.stale", check: "nested")
    let end = authority.windows.leaf.upperBound * 1000
    try verify(
      "JWS-51", "a fresh transaction whose leaf has ended meanwhile",
      payload: purchase.with { $0.signedDate = end - 1000 }.transactionPayload,
      verifier: "fresh", now: end + 10_000, "rejected.freshness.chain-expired",
      check: "freshness")
    try verify(
      "JWS-51", "a fresh transaction whose leaf is in its last second",
      payload: purchase.with { $0.signedDate = end - 1000 }.transactionPayload,
      verifier: "fresh", now: end + 999)
    try verify(
      "JWS-51", "a long freshness still wants a chain that is valid now",
      payload: purchase.transactionPayload, verifier: "fresh-long", now: end + 1000,
      "rejected.freshness.chain-expired", check: "freshness")
    try verify(
      "JWS-50", "a kind that need not be fresh",
      payload: purchase.with {
        $0.signedDate = now - 100 * Purchase.day
      }.renewalPayload, kind: .renewalInfo, verifier: "fresh-long")
  }
}
