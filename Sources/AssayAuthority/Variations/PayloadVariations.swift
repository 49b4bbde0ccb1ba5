extension Variation {
  /// Dates, identity and kind of a transaction: signed properly, saying the
  /// wrong thing.
  static let payload: [Variation] = [
    changed(
      "JWS-40", "signedDate as a text", "malformed.payload.type", "chain.validity",
      at: "signedDate"
    ) { $0.setting("signedDate", .string("\($1)")) },
    changed(
      "JWS-40", "signedDate as a boolean", "malformed.payload.type", "chain.validity",
      at: "signedDate"
    ) { payload, _ in payload.setting("signedDate", true) },
    changed(
      "JWS-40", "signedDate with a fraction", "malformed.payload.type",
      "chain.validity", at: "signedDate"
    ) { $0.setting("signedDate", .text("\($1 - 1000).5")) },
    changed(
      "JWS-40", "signedDate with an exponent", "malformed.payload.type",
      "chain.validity", at: "signedDate"
    ) { payload, _ in
      payload.setting("signedDate", .text("1.7e12"))
    },
    changed(
      "JWS-40", "signedDate of 1e30", "malformed.payload.type", "chain.validity",
      at: "signedDate"
    ) { payload, _ in payload.setting("signedDate", .text("1e30")) },
    changed(
      "JWS-41", "signedDate in seconds", "rejected.date.range", "chain.validity",
      at: "signedDate"
    ) { $0.setting("signedDate", .integer($1 / 1000)) },
    changed(
      "JWS-41", "signedDate of zero", "rejected.date.range", "chain.validity",
      at: "signedDate"
    ) { payload, _ in payload.setting("signedDate", 0) },
    changed(
      "JWS-41", "a negative signedDate", "rejected.date.range", "chain.validity",
      at: "signedDate"
    ) { payload, _ in payload.setting("signedDate", -1) },
    changed(
      "JWS-41", "signedDate a millisecond before 2008", "rejected.date.range",
      "chain.validity", at: "signedDate"
    ) { payload, _ in
      payload.setting("signedDate", 1_199_145_599_999)
    },
    changed(
      "JWS-41", "signedDate of the year 2100", "rejected.date.range",
      "chain.validity", at: "signedDate"
    ) { payload, _ in
      payload.setting("signedDate", 4_102_444_800_000)
    },
    changed(
      "JWS-41", "signedDate of the year 10000", "rejected.date.range",
      "chain.validity", at: "signedDate"
    ) { payload, _ in
      payload.setting("signedDate", 253_402_300_800_000)
    },
    changed(
      "JWS-41", "signedDate of the largest integer", "rejected.date.range",
      "chain.validity", at: "signedDate"
    ) { payload, _ in
      payload.setting("signedDate", .text("9223372036854775807"))
    },
    changed(
      "JWS-41", "signedDate past the largest integer", "rejected.date.range",
      "chain.validity", at: "signedDate"
    ) { payload, _ in
      payload.setting("signedDate", .text("9223372036854775808"))
    },
    changed(
      "JWS-41", "signedDate of thirty digits", "rejected.date.range",
      "chain.validity", at: "signedDate"
    ) { payload, _ in
      payload.setting("signedDate", .text("100000000000000000000000000000"))
    },
    changed(
      "JWS-42", "signedDate a millisecond past the skew", "rejected.date.future",
      "chain.validity", at: "signedDate"
    ) { $0.setting("signedDate", .integer($1 + 60_001)) },
    changed("JWS-42", "signedDate as far ahead as the skew", "ok") {
      $0.setting("signedDate", .integer($1 + 60_000))
    },
    changed("JWS-44", "no signedDate", "rejected.date.missing", "chain.validity") {
      payload, _ in payload.removing("signedDate")
    },
    changed("JWS-44", "signedDate null", "rejected.date.missing", "chain.validity") {
      payload, _ in payload.setting("signedDate", .null)
    },
    changed(
      "JWS-70", "an unknown environment", "rejected.identity.environment",
      "identity.environment"
    ) { payload, _ in payload.setting("environment", "Staging") },
    changed(
      "JWS-70", "an environment in lower case", "rejected.identity.environment",
      "identity.environment"
    ) { payload, _ in payload.setting("environment", "sandbox") },
    changed(
      "JWS-71", "no environment", "rejected.identity.environment-missing",
      "identity.environment"
    ) { payload, _ in payload.removing("environment") },
    changed(
      "JWS-71", "environment null", "rejected.identity.environment-missing",
      "identity.environment"
    ) { payload, _ in payload.setting("environment", .null) },
    changed("JWS-73", "another bundle id", "rejected.identity.bundle", "identity.bundle") {
      payload, _ in payload.setting("bundleId", "com.other.app")
    },
    changed(
      "JWS-73", "a bundle id in other case", "rejected.identity.bundle",
      "identity.bundle"
    ) { payload, _ in payload.setting("bundleId", "com.example.App") },
    changed(
      "JWS-73", "a bundle id that goes on", "rejected.identity.bundle",
      "identity.bundle"
    ) { payload, _ in payload.setting("bundleId", "com.example.app.x") },
    changed(
      "JWS-73", "the begin of a bundle id", "rejected.identity.bundle",
      "identity.bundle"
    ) { payload, _ in payload.setting("bundleId", "com.example") },
    changed("JWS-73", "no bundle id", "rejected.identity.bundle", "identity.bundle") {
      payload, _ in payload.removing("bundleId")
    },
    changed("JWS-73", "bundle id null", "rejected.identity.bundle", "identity.bundle") {
      payload, _ in payload.setting("bundleId", .null)
    },
    changed("JWS-73", "an empty bundle id", "rejected.identity.bundle", "identity.bundle") {
      payload, _ in payload.setting("bundleId", "")
    },
    changed("JWS-73", "the second configured app", "ok") { payload, _ in
      payload.setting("bundleId", "com.example.second")
    },
    changed(
      "JWS-75", "a notificationType beside it", "rejected.kind.mismatch",
      "payload.kind"
    ) { payload, _ in payload.setting("notificationType", "TEST") },
    changed(
      "JWS-75", "a notificationUUID beside it", "rejected.kind.mismatch",
      "payload.kind"
    ) { payload, _ in payload.setting("notificationUUID", "x") },
    changed(
      "JWS-75", "what a realtime request has beside it", "rejected.kind.mismatch",
      "payload.kind"
    ) { payload, _ in
      payload.setting("requestIdentifier", "x").setting("userLocale", "en-US")
    },
    changed("JWS-75", "a requestIdentifier alone beside it", "ok") { payload, _ in
      payload.setting("requestIdentifier", "x")
    },
    changed(
      "JWS-75", "a receiptType beside it", "rejected.kind.mismatch",
      "payload.kind"
    ) { payload, _ in payload.setting("receiptType", "Sandbox") },
    changed("JWS-75", "what a renewal has beside it", "ok") { payload, _ in
      payload.setting("autoRenewStatus", 1)
    },
  ]

  private static func changed(
    _ rule: String, _ name: String, _ status: String, _ check: String? = nil,
    at: String? = nil, _ change: @escaping @Sendable (JSONText, Int64) -> JSONText
  ) -> Variation {
    Variation(rule, name, status, check: check, at: at) { jws, base in
      jws.payload = change(base.payload, base.now).bytes
    }
  }
}
