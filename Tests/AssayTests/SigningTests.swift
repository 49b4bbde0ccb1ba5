import AssayAuthority
import Testing

@testable import Assay

/// Tests the output of the operations `sign-*` byte by byte (docs/spec/app-store-server-api.md §9).
@Suite("Exchange sign")
struct SigningTests {
  private let seconds = Signing.now / 1000

  /// Returns header and payload of the JWS at a path of the document.
  private func made(
    _ request: JSONText, _ path: String
  ) throws -> (header: String, payload: String) {
    let document = try Signing.run(request)
    Exchanges.expect(document, "ok")
    return try Signing.opened(try require(document.text(path)))
  }

  private let typed = #"{"alg":"ES256","kid":"2X9R4HXF34","typ":"JWT"}"#

  @Test("API-11 the token of the App Store Server API")
  func apiToken() throws {
    let (header, payload) = try made(["operation": "sign-api-token"], "exchange.token")
    checkEqual(header, typed)
    checkEqual(
      payload,
      """
      {"iss":"\(Signing.issuer)","iat":\(seconds - 60),"exp":\(seconds + 300),\
      "aud":"appstoreconnect-v1","bid":"com.example.app"}
      """)
  }

  @Test("SIG-7 DVC-1 the token of DeviceCheck")
  func deviceCheckToken() throws {
    let (header, payload) = try made(["operation": "sign-device-check-token"], "exchange.token")
    checkEqual(header, #"{"alg":"ES256","kid":"KEYID12345"}"#)
    checkEqual(
      payload, #"{"iss":"ABCDE12345","iat":\#(seconds),"exp":\#(seconds + 1200)}"#)
  }

  @Test("AID-20 the client secret of Sign in with Apple")
  func appleIDSecret() throws {
    let (header, payload) = try made(
      ["operation": "sign-apple-client-secret"], "exchange.clientSecret")
    checkEqual(header, #"{"alg":"ES256","kid":"KEYID67890"}"#)
    checkEqual(
      payload,
      """
      {"iss":"ABCDE12345","iat":\(seconds - 60),"exp":\(seconds + 300),\
      "aud":"https://appleid.apple.com","sub":"com.example.app"}
      """)
  }

  @Test("SIG-1 SIG-4 offers for the app")
  func offers() throws {
    let offer: JSONText = [
      "operation": "sign-promotional-offer", "productId": "p\"1", "offerIdentifier": "o.1",
      "transactionId": "2000000000000001", "nonce": .string(Signing.nonce),
    ]
    let common = """
      "bid":"com.example.app","nonce":"\(Signing.nonce)","productId":"p
      """
    func claims(_ audience: String) -> String {
      #"{"iss":"\#(Signing.issuer)","iat":\#(seconds),"aud":"\#(audience)",\#(common)"#
    }
    let (header, payload) = try made(offer, "exchange.jws")
    checkEqual(header, typed)
    checkEqual(
      payload,
      claims("promotional-offer")
        + #"\"1","offerIdentifier":"o.1","transactionId":"2000000000000001"}"#)
    try checkEqual(
      made(offer.removing("transactionId"), "exchange.jws").payload,
      claims("promotional-offer") + #"\"1","offerIdentifier":"o.1"}"#)
    let introductory: JSONText = [
      "operation": "sign-introductory-offer-eligibility", "productId": "p1",
      "allowIntroductoryOffer": false, "transactionId": "7", "nonce": .string(Signing.nonce),
    ]
    try checkEqual(
      made(introductory, "exchange.jws").payload,
      claims("introductory-offer-eligibility")
        + #"1","allowIntroductoryOffer":false,"transactionId":"7"}"#)
  }

  @Test("ACA-3 ACA-11 a request of Advanced Commerce for the app")
  func inAppRequest() throws {
    let document = try Signing.run([
      "operation": "sign-subscription-reactivation", "transactionId": "7",
      "nonce": .string(Signing.nonce),
      "requestInfo": ["requestReferenceId": "0f8fad5b-d9cb-469f-a165-70867728950e"],
    ])
    Exchanges.expect(document, "ok")
    let (header, payload) = try Signing.opened(try require(document.text("exchange.jws")))
    checkEqual(header, typed)
    let request = Base64.encodeStandard(utf8(try require(document.text("exchange.request"))))
    checkEqual(
      payload,
      """
      {"iss":"\(Signing.issuer)","iat":\(seconds),"aud":"advanced-commerce-api",\
      "bid":"com.example.app","nonce":"\(Signing.nonce)",\
      "request":"\(String(decoding: request, as: UTF8.self))"}
      """)
  }

  @Test("SIG-5 the text under a promotional offer of the old form")
  func offerV1() throws {
    let document = try Signing.run([
      "operation": "sign-promotional-offer-v1", "productId": "p.1", "offerId": "o.1",
      "applicationUsername": "A-User", "nonce": .string(Signing.nonce.uppercased()),
      "timestamp": 1_700_000_000_123,
    ])
    let text = [
      "com.example.app", Signing.keyId, "p.1", "o.1", "a-user", Signing.nonce, "1700000000123",
    ].joined(separator: "\u{2063}")
    try check(signs(document, text))
    let nobody = try Signing.run([
      "operation": "sign-promotional-offer-v1", "productId": "p.1", "offerId": "o.1",
      "nonce": .string(Signing.nonce),
    ])
    let plain = text.replacing("a-user", with: "")
      .replacing("1700000000123", with: String(Signing.now))
    try check(signs(nobody, plain))
    try check(!signs(nobody, text))
  }

  /// Whether EVP verifies the document's signature over that text.
  private func signs(_ document: Document, _ text: String) throws -> Bool {
    let digits = try require(document.text("exchange.signature"))
    let signature = try require(Base64.decodeStandard(utf8(digits)[...]))
    return SignaturesTests.evpVerifies(
      try Signing.key().publicKeyInfo(), .sha256, utf8(text), signature)
  }

  @Test("SIG-8 a nonce of our own is new each time")
  func nonces() throws {
    let offer: JSONText = [
      "operation": "sign-promotional-offer", "productId": "p", "offerIdentifier": "o",
    ]
    let verifier = try Signing.verifier()
    let nonces = try (0..<20).map { _ in
      try require(try Signing.run(offer, verifier).text("exchange.nonce"))
    }
    checkEqual(Set(nonces).count, 20)
    let document = try Signing.run(offer, verifier)
    let jws = try require(document.text("exchange.jws"))
    let nonce = try require(document.text("exchange.nonce"))
    try check(Signing.opened(jws).payload.contains("\"nonce\":\"\(nonce)\""))
  }

  @Test("EXC-22 what is a token is named, what is made for the app is not")
  func secrets() throws {
    for (kind, secret) in [
      ("sign-api-token", "token"), ("sign-device-check-token", "token"),
      ("sign-apple-client-secret", "clientSecret"),
    ] {
      let document = try Signing.run(["operation": .string(kind)])
      checkEqual(document.text("exchange.sensitivePaths.0"), secret)
      check(document.text("exchange." + secret) != nil)
    }
  }

  @Test("EXC-10 no document has a key, and keys change no digest")
  func configuration() throws {
    let pem = String(decoding: try Signing.key().pem(), as: UTF8.self)
    let secret = String(pem.split(separator: "\n")[1])
    let (first, document) = Verifier.alone(try Minted.config(try Signing.blocks()).bytes)
    check(!String(decoding: document.json, as: UTF8.self).contains(secret))
    var changes = try Signing.blocks()
    let other = JSONText.string(utf8: try SigningKey.generate(.p256).pem())
    changes.append(("appStoreServerApi.privateKey", other))
    changes.append(("deviceCheck.privateKey", other))
    changes.append(("appleId.privateKey", other))
    let (second, _) = Verifier.alone(try Minted.config(changes).bytes)
    checkEqual(first?.fingerprint, second?.fingerprint)
  }
}
