extension Variation {
  /// Variations of dates, identity and kind of a transaction, signed properly.
  static let payload: [Variation] = [
    date("JWS-40", "signedDate as a text", wrongType) { .string("\($0)") },
    date("JWS-40", "signedDate as a boolean", wrongType) { _ in true },
    date("JWS-40", "signedDate with a fraction", wrongType) { .text("\($0 - 1000).5") },
    date("JWS-40", "signedDate with an exponent", wrongType) { _ in .text("1.7e12") },
    date("JWS-40", "signedDate of 1e30", wrongType) { _ in .text("1e30") },
    date("JWS-41", "signedDate in seconds", outOfRange) { .integer($0 / 1000) },
    date("JWS-41", "signedDate of zero", outOfRange) { _ in 0 },
    date("JWS-41", "a negative signedDate", outOfRange) { _ in -1 },
    date("JWS-41", "signedDate a millisecond before 2008", outOfRange) { _ in 1_199_145_599_999 },
    date("JWS-41", "signedDate of the year 2100", outOfRange) { _ in 4_102_444_800_000 },
    date("JWS-41", "signedDate of the year 10000", outOfRange) { _ in 253_402_300_800_000 },
    date("JWS-41", "signedDate of the largest integer", outOfRange) { _ in
      .text("9223372036854775807")
    },
    date("JWS-41", "signedDate past the largest integer", outOfRange) { _ in
      .text("9223372036854775808")
    },
    date("JWS-41", "signedDate of thirty digits", outOfRange) { _ in
      .text("100000000000000000000000000000")
    },
    date("JWS-42", "signedDate a millisecond past the skew", "rejected.date.future") {
      .integer($0 + 60_001)
    },
    date("JWS-42", "signedDate as far ahead as the skew", "ok") { .integer($0 + 60_000) },
    without("JWS-44", "no signedDate", "signedDate", "rejected.date.missing", "chain.validity"),
    with(
      "JWS-44", "signedDate null", ["signedDate": .null], "rejected.date.missing", "chain.validity"),
    environment("JWS-70", "an unknown environment", "Staging"),
    environment("JWS-70", "an environment in lower case", "sandbox"),
    without(
      "JWS-71", "no environment", "environment", "rejected.environment.missing",
      "identity.environment"),
    environment("JWS-71", "environment null", .null, "rejected.environment.missing"),
    bundle("another bundle id", "com.other.app"),
    bundle("a bundle id in other case", "com.example.App"),
    bundle("a bundle id that goes on", "com.example.app.x"),
    bundle("the begin of a bundle id", "com.example"),
    without("JWS-73", "no bundle id", "bundleId", "rejected.app.bundle-id", "identity.bundle"),
    bundle("bundle id null", .null), bundle("an empty bundle id", ""),
    with("JWS-73", "the second configured app", ["bundleId": "com.example.second"]),
    mismatch("a notificationType beside it", ["notificationType": "TEST"]),
    mismatch("a notificationUUID beside it", ["notificationUUID": "x"]),
    mismatch(
      "what a realtime request has beside it", ["requestIdentifier": "x", "userLocale": "en-US"]),
    with("JWS-75", "a requestIdentifier alone beside it", ["requestIdentifier": "x"]),
    mismatch("a receiptType beside it", ["receiptType": "Sandbox"]),
    with("JWS-75", "what a renewal has beside it", ["autoRenewStatus": 1]),
  ]

  private static let wrongType = "malformed.payload.type"
  private static let outOfRange = "rejected.date.range"

  private static func date(
    _ rule: String, _ name: String, _ status: String,
    _ value: @escaping @Sendable (Int64) -> JSONText
  ) -> Variation {
    let isGood = status == "ok"
    return Variation(
      rule, name, status, check: isGood ? nil : "chain.validity", at: isGood ? nil : "signedDate"
    ) { jws, base in jws.payload = base.payload.setting("signedDate", value(base.now)).bytes }
  }

  private static func with(
    _ rule: String, _ name: String, _ members: JSONText, _ status: String = "ok",
    _ check: String? = nil
  ) -> Variation {
    Variation(rule, name, status, check: check) { jws, base in
      jws.payload = base.payload.setting(members.members.map { ($0.name, $0.value) }).bytes
    }
  }

  private static func without(
    _ rule: String, _ name: String, _ member: String, _ status: String, _ check: String
  ) -> Variation {
    Variation(rule, name, status, check: check) { jws, base in
      jws.payload = base.payload.removing(member).bytes
    }
  }

  private static func environment(
    _ rule: String, _ name: String, _ value: JSONText,
    _ status: String = "rejected.environment.not-accepted"
  ) -> Variation { with(rule, name, ["environment": value], status, "identity.environment") }

  private static func bundle(_ name: String, _ id: JSONText) -> Variation {
    with("JWS-73", name, ["bundleId": id], "rejected.app.bundle-id", "identity.bundle")
  }

  private static func mismatch(_ name: String, _ members: JSONText) -> Variation {
    with("JWS-75", name, members, "rejected.kind.mismatch", "payload.kind")
  }
}
