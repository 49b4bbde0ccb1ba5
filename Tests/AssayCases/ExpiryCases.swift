import AssayAuthority

extension CaseFixture {
  /// Adds dates that a host stored (DCD-19).
  func addExpiryCases() {
    let past = now - 1000
    let future = now + 1000
    let cases: [(String, Int64?, Int64?, Int64?, String)] = [
      ("an end ahead", future, nil, nil, "ok"),
      ("an end a millisecond ahead", now + 1, nil, nil, "ok"),
      ("the end now", now, nil, nil, "rejected.expiry.expired"),
      ("an end past", past, nil, nil, "rejected.expiry.expired"),
      ("an end past, grace ahead", past, future, nil, "ok"),
      ("an end past, grace a millisecond ahead", past, now + 1, nil, "ok"),
      ("an end past, grace now", past, now, nil, "rejected.expiry.expired"),
      ("an end ahead, grace past", future, past, nil, "ok"),
      ("grace alone ahead", nil, future, nil, "ok"),
      ("no date", nil, nil, nil, "rejected.expiry.expired"),
      ("without end", .max, nil, nil, "ok"),
      ("revoked, end ahead", future, nil, past, "rejected.expiry.revoked"),
      ("revoked in the future", future, nil, future, "rejected.expiry.revoked"),
      ("revoked at zero", future, nil, 0, "rejected.expiry.revoked"),
      ("revoked, without end", .max, .max, past, "rejected.expiry.revoked"),
      ("revoked and ended", past, nil, past, "rejected.expiry.revoked"),
      ("revoked without any end", nil, nil, past, "rejected.expiry.revoked"),
      ("an end before 1970", -1, nil, nil, "rejected.expiry.expired"),
    ]
    for (name, expires, grace, revoked, status) in cases {
      add(name, expires, grace, revoked, now, status)
    }
    for instant in [0, -1, 1_199_145_599_999, 4_102_444_800_000, .max, .min] as [Int64] {
      add("now_ms of \(instant)", .max, nil, nil, instant, "misuse.call.now")
    }
    for instant in [1_199_145_600_000, 4_102_444_799_999] as [Int64] {
      add("now_ms at its bound \(instant)", .max, nil, nil, instant, "ok")
    }
  }

  private func add(
    _ name: String, _ expires: Int64?, _ grace: Int64?, _ revoked: Int64?, _ now: Int64,
    _ status: String
  ) {
    add(
      "DCD-19", name, .checkExpiry(expires: expires, grace: grace, revoked: revoked, now: now),
      .init(status))
  }
}
