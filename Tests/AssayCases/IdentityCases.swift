import AssayAuthority

extension CaseFixture {
  /// Adds apps and environments for the kinds other than transactions (JWS-70 … JWS-75).
  func addIdentityCases() throws {
    try addEnvironments()
    try addDerivedEnvironments()
    try addAppIds()
    try addKinds()
  }

  private func addEnvironments() throws {
    for (verifier, accepted) in [
      ("production-only", "Production"), ("sandbox-only", "Sandbox"),
    ] {
      for shape in [purchase, production] {
        for kind in EvidenceKind.allCases {
          let good = shape.environment == accepted
          try verify(
            "JWS-70", "a \(kind.rawValue) of \(shape.environment), \(verifier)",
            payload: try authority.payload(kind, shape), kind: kind, verifier: verifier,
            good ? "ok" : "rejected.environment.not-accepted",
            check: good ? nil : "identity.environment")
        }
      }
      for (id, environment) in [
        ("SANDBOX_abc", "Sandbox"), ("abc", "Production"),
        ("sandbox_abc", "Production"), ("xSANDBOX", "Production"),
      ] {
        let good = environment == accepted
        let envelope = NotificationPayload(
          "EXTERNAL_PURCHASE_TOKEN", "UNREPORTED", signedDate: purchase.signedDate)
        try notify(
          "JWS-70", "an external purchase token \(id), \(verifier)",
          envelope.payload(
            ("externalPurchaseToken", NotificationPayload.externalPurchaseToken(purchase, id: id))),
          verifier: verifier, good ? "ok" : "rejected.environment.not-accepted",
          check: good ? nil : "identity.environment")
      }
    }
    for kind in [EvidenceKind.renewalInfo, .realtimeRequest] {
      try verify(
        "JWS-71", "a \(kind.rawValue) without environment",
        payload: try authority.payload(kind, purchase).removing("environment"), kind: kind,
        "rejected.environment.missing", check: "identity.environment")
    }
    for (type, body) in [("SUBSCRIBED", "data"), ("RESCIND_CONSENT", "appData")] {
      try notify(
        "JWS-71", "a notification without environment in \(body)",
        try authority.notification(type, nil, purchase).removing("\(body).environment"),
        "rejected.environment.missing", check: "identity.environment")
    }
    for (type, subtype, body) in [
      ("SUBSCRIBED", nil, "data"), ("RENEWAL_EXTENSION", "SUMMARY", "summary"),
      ("EXTERNAL_PURCHASE_TOKEN", "UNREPORTED", "externalPurchaseToken"),
      ("RESCIND_CONSENT", nil, "appData"),
    ] as [(String, String?, String)] {
      let good = try authority.notification(type, subtype, production)
      for (name, payload) in [
        ("another bundle id", good.setting("\(body).bundleId", "com.other.app")),
        ("no bundle id", good.removing("\(body).bundleId")),
      ] {
        try notify(
          "JWS-73", "\(name) in \(body)", payload, "rejected.app.bundle-id",
          check: "identity.bundle")
      }
      for (name, payload) in [
        ("another app id", good.setting("\(body).appAppleId", 99)),
        ("no app id", good.removing("\(body).appAppleId")),
        ("the app id of the second app", good.setting("\(body).appAppleId", 1_234_567_891)),
      ] {
        try notify(
          "JWS-74", "\(name) in \(body) of Production", payload, "rejected.app.app-apple-id",
          check: "identity.app")
      }
    }
    try verify(
      "JWS-73", "an app transaction of another app",
      payload: purchase.with { $0.bundleId = "com.other.app" }.appTransactionPayload,
      kind: .appTransaction, "rejected.app.bundle-id", check: "identity.bundle")
  }

  /// Adds payloads without an environment, with `missingEnvironment` "from-transaction-id"
  /// (JWS-71).
  private func addDerivedEnvironments() throws {
    let ids: [(String, String?)] = [
      ("1000000900000001", "Sandbox"), ("2000000900000001", "Sandbox"),
      ("180000900000001", "Production"), ("10000900000001", "Production"),
      ("990000900000001", "Production"), ("3000000900000001", nil),
      ("9990000900000001", nil), ("0000900000001", nil), ("900000001", nil), ("0", nil),
      ("", nil), ("20000009000000x1", nil), ("20000000900000001", nil),
    ]
    let verifier = "environment-from-id"
    for (id, environment) in ids {
      let shape = purchase.with {
        $0.transactionId = id
        $0.originalTransactionId = id
      }
      for (kind, payload) in [
        (EvidenceKind.transaction, shape.transactionPayload), (.renewalInfo, shape.renewalPayload),
      ] {
        try verify(
          "JWS-71", "a \(kind.rawValue) of id \"\(id)\" without environment",
          payload: payload.removing("environment"), kind: kind, verifier: verifier,
          environment == nil ? "rejected.environment.missing" : "ok",
          check: environment == nil ? "identity.environment" : nil,
          facts: environment.map {
            [("environment", .text($0)), ("environmentSource", "transaction-id")]
          } ?? [])
      }
    }
    try verify(
      "JWS-71", "an environment that its id contradicts",
      payload: purchase.with { $0.environment = "Production" }.transactionPayload,
      facts: [("environment", "Production"), ("/warnings.0.id", "environment-id-disagree")])
    try verify(
      "JWS-71", "a realtime request without environment is not derived",
      payload: purchase.realtimeRequestPayload.removing("environment"),
      kind: .realtimeRequest, verifier: verifier, "rejected.environment.missing",
      check: "identity.environment")
  }

  private func addAppIds() throws {
    let kinds = [EvidenceKind.appTransaction, .realtimeRequest]
    for kind in kinds {
      let good = try authority.payload(kind, production)
      for (name, payload) in [
        ("another app id", good.setting("appAppleId", 99)),
        ("no app id", good.removing("appAppleId")),
        ("app id null", good.setting("appAppleId", .null)),
      ] {
        try verify(
          "JWS-74", "a \(kind.rawValue) of Production with \(name)", payload: payload,
          kind: kind, "rejected.app.app-apple-id", check: "identity.app")
      }
    }
    let sandbox = purchase.appTransactionPayload
    try verify(
      "JWS-74", "an app transaction of Sandbox without app id",
      payload: sandbox.removing("appAppleId"), kind: .appTransaction)
    let request = purchase.realtimeRequestPayload
    try verify(
      "JWS-74", "a realtime request of Sandbox with another app id",
      payload: request.setting("appAppleId", 99), kind: .realtimeRequest,
      "rejected.app.app-apple-id", check: "identity.app")
    try verify(
      "JWS-74", "a realtime request of Sandbox without app id",
      payload: request.removing("appAppleId"), kind: .realtimeRequest)
    try verify(
      "JWS-74", "a realtime request of Sandbox where no app id is configured", payload: request,
      kind: .realtimeRequest, verifier: "sandbox-without-app-id")
    try notify(
      "JWS-74", "a notification of Sandbox without app id",
      try authority.notification("SUBSCRIBED", nil, purchase).removing("data.appAppleId"))
  }

  /// Adds each kind verified as each other kind (JWS-75).
  private func addKinds() throws {
    for asked in EvidenceKind.allCases {
      for given in EvidenceKind.allCases where given != asked {
        try verify(
          "JWS-75", "a \(given.rawValue) asked for as \(asked.rawValue)",
          payload: try authority.payload(given, purchase), kind: asked,
          "rejected.kind.mismatch", check: "payload.kind")
      }
    }
    for member in [
      "autoRenewStatus", "autoRenewProductId", "renewalDate", "isInBillingRetryPeriod",
    ] {
      let value: JSONText =
        switch member {
        case "autoRenewProductId": "x"
        case "isInBillingRetryPeriod": true
        case "renewalDate": .integer(now)
        default: 1
        }
      try verify(
        "JWS-75", "\(member) alone looks like a renewal",
        payload: [
          member: value, "environment": "Sandbox", "bundleId": "com.example.app",
          "signedDate": .integer(purchase.signedDate),
        ], "rejected.kind.mismatch", check: "payload.kind")
    }
    try verify(
      "JWS-75", "purchaseDate alone looks like a transaction",
      payload: [
        "purchaseDate": .integer(now), "environment": "Sandbox",
        "signedDate": .integer(purchase.signedDate),
      ], kind: .renewalInfo, "rejected.kind.mismatch", check: "payload.kind")
    try verify(
      "JWS-75", "no look at all as a renewal",
      payload: ["environment": "Sandbox", "signedDate": .integer(purchase.signedDate)],
      kind: .renewalInfo)
  }
}
