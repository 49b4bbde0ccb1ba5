import AssayAuthority

extension CaseFixture {
  private static let nonce = "9f2d4d1c-5a55-4b2e-8c3b-0d4f1a2b3c4d"
  private static let message = "0f8fad5b-d9cb-469f-a165-70867728950e"
  private static let jws = "eyJhbGciOiJFUzI1NiJ9.eyJwcm9kdWN0SWQiOiJwLjEifQ.c2ln"
  private static let misuse = "misuse.app-store.parameter"

  private var plain: JSONText {
    ["operation": "build-realtime-response", "messageIdentifier": .string(Self.message)]
  }

  private var offer: JSONText {
    plain.setting([
      ("bundleId", "com.example.app"), ("productId", "p.1"), ("offerIdentifier", "o.1"),
      ("transactionId", "2000000000000001"), ("nonce", .string(Self.nonce)),
    ])
  }

  private var offerV1: JSONText {
    [
      "encodedSignature": "MEUCIQ==", "productId": "p.1", "nonce": .string(Self.nonce),
      "timestamp": .integer(now), "keyId": "2X9R4HXF34", "offerIdentifier": "o.1",
      "appAccountToken": .string(Self.message),
    ]
  }

  /// Adds answers to a realtime request of retention messaging (RTM-6, RTM-7).
  func addRealtimeCases() throws {
    addAnswers()
    try addSignedAnswers()
    addAnswerParameters()
  }

  private func answer(
    _ rule: String, _ name: String, _ request: JSONText, verifier: String = "signing",
    evidence: [EvidenceCase.Evidence] = [], _ status: String = "ok", at: String? = nil,
    facts: Facts = []
  ) {
    self.request(
      rule, name, request, verifier: verifier, evidence: evidence, status, at: at, facts: facts)
  }

  private func body(_ text: String) -> Facts {
    [("body", .text(text)), ("step", "done"), ("/warnings.0", .null)]
  }

  private func addAnswers() {
    let head = "{\"messageIdentifier\":\"\(Self.message)\""
    answer(
      "RTM-6", "a message", plain, verifier: "standard", facts: body("{\"message\":\(head)}}"))
    answer(
      "RTM-6", "a message named in capitals",
      plain.setting("messageIdentifier", .string(Self.message.uppercased())), verifier: "standard",
      facts: body("{\"message\":\(head)}}"))
    let other = plain.setting("alternateProductId", "p.2")
    answer(
      "RTM-6", "another product", other,
      facts: body("{\"alternateProduct\":\(head),\"productId\":\"p.2\"}}"))
    answer(
      "RTM-6", "another product by the month", other.setting("billingPlanType", "MONTHLY"),
      facts: body(
        "{\"alternateProduct\":\(head),\"productId\":\"p.2\",\"billingPlanType\":\"MONTHLY\"}}"))
    answer(
      "ENU-3", "a billing plan that Apple has not documented",
      other.setting("billingPlanType", "YEARLY"),
      facts: [("/warnings.0.id", "unknown-value"), ("/warnings.0.at", "billingPlanType")])
    answer(
      "RTM-6", "an offer that is signed",
      plain.setting("promotionalOfferSignatureV2", .string(Self.jws)),
      facts: body(
        "{\"promotionalOffer\":\(head),\"promotionalOfferSignatureV2\":\"\(Self.jws)\"}}"))
    answer(
      "RTM-6", "an offer of the original API",
      plain.setting("promotionalOfferSignatureV1", offerV1),
      facts: body(
        "{\"promotionalOffer\":\(head),\"promotionalOfferSignatureV1\":"
          + "{\"encodedSignature\":\"MEUCIQ==\",\"productId\":\"p.1\",\"nonce\":\"\(Self.nonce)\","
          + "\"timestamp\":\(now),\"keyId\":\"2X9R4HXF34\",\"offerIdentifier\":\"o.1\","
          + "\"appAccountToken\":\"\(Self.message)\"}}}"))
    answer(
      "RTM-6", "a change of an Advanced Commerce subscription",
      plain.setting("advancedCommerceRequestData", .string(Self.jws)),
      facts: body(
        "{\"advancedCommerceInfo\":\(head),\"advancedCommerceData\":"
          + "\"eyJhZHZhbmNlZENvbW1lcmNlUmVxdWVzdERhd"
          + "GEiOiJleUpoYkdjaU9pSkZVekkxTmlKOS5leUp3Y205a2RXTjBTV1FpT2lKd0xqRWlmUS5jMmxuIn0=\"}}"))
  }

  /// Adds offers that are signed in the same call. Signatures are random: the Swift tests read
  /// and verify them.
  private func addSignedAnswers() throws {
    answer("RTM-7", "an offer signed here", offer, facts: [("/warnings.0", .null)])
    let asked = EvidenceCase.Evidence(
      .realtimeRequest, try authority.mint(purchase.realtimeRequestPayload))
    answer(
      "RTM-7", "an offer for the customer who asked",
      offer.removing("productId").removing("transactionId"), evidence: [asked],
      facts: [("/warnings.0", .null)])
    answer(
      "RTM-7", "an offer for everybody", offer.removing("transactionId"),
      facts: [("/warnings.0.id", "unbound-offer"), ("/warnings.0.at", "transactionId")])
    answer(
      "SIG-6", "a signed offer for no product", offer.removing("productId"),
      "misuse.sign.parameter", at: "productId")
    answer(
      "SIG-3", "a signed offer with a separator", offer.setting("offerIdentifier", "a\u{2063}b"),
      "misuse.sign.parameter", at: "offerIdentifier")
    answer(
      "EXC-8", "an offer signed without a key", offer, verifier: "standard",
      "config.exchange.block-missing", at: "appStoreServerApi")
    answer(
      "EXC-2", "an answer to a transaction", plain,
      evidence: [.init(.transaction, try authority.mint(purchase.transactionPayload))],
      "misuse.exchange.evidence", at: "evidence[0]")
  }

  private func addAnswerParameters() {
    func refuse(_ rule: String, _ name: String, _ request: JSONText, at: String) {
      answer(rule, name, request, Self.misuse, at: at)
    }
    refuse(
      "API-21", "an answer without a message", plain.removing("messageIdentifier"),
      at: "messageIdentifier")
    refuse(
      "API-21", "a message that is no UUID", plain.setting("messageIdentifier", "m-1"),
      at: "messageIdentifier")
    let signed = ("promotionalOfferSignatureV2", JSONText.string(Self.jws))
    refuse(
      "RTM-6", "a product and an offer", plain.setting([("alternateProductId", "p.2"), signed]),
      at: "promotionalOfferSignatureV2")
    refuse(
      "RTM-6", "an offer twice", offer.setting([signed]), at: "promotionalOfferSignatureV2")
    refuse(
      "RTM-6", "a billing plan without a product", plain.setting("billingPlanType", "MONTHLY"),
      at: "billingPlanType")
    for (name, value) in [
      ("productId", "p.1"), ("transactionId", "1"), ("nonce", .string(Self.nonce)),
      ("bundleId", "com.example.app"),
    ] as [(String, JSONText)] {
      refuse("RTM-6", "\(name) without an offer", plain.setting(name, value), at: name)
    }
    for text in ["", "a.b", "a.b.c.d", "a..c", "a.b.c="] {
      refuse(
        "API-21", "the JWS \"\(text)\"",
        plain.setting("advancedCommerceRequestData", .string(text)),
        at: "advancedCommerceRequestData")
    }
    func older(_ name: String, _ rule: String, _ value: JSONText, _ at: String) {
      refuse(
        rule, "an original offer \(name)", plain.setting("promotionalOfferSignatureV1", value),
        at: "promotionalOfferSignatureV1" + at)
    }
    older("that is no object", "API-21", "x", "")
    older("with another member", "ENP-3", offerV1.setting("signature", "x"), ".signature")
    older("without a key", "API-21", offerV1.removing("keyId"), ".keyId")
    older("of 1970", "API-21", offerV1.setting("timestamp", 1), ".timestamp")
    older("without a nonce", "API-21", offerV1.setting("nonce", ""), ".nonce")
  }
}
