import Testing

@testable import Assay

private typealias Fixture = TriageFixture

@Suite("Triage: JWS")
struct TriageJWSTests {
  @Test("TRI-3 the claims of a transaction, decoded and not verified")
  func transaction() throws {
    let result = Fixture.look(Fixture.jws(Fixture.transaction))
    checkEqual(result.category, .jws)
    checkEqual(result.form, .jws)
    checkEqual(result.kind, .transaction)
    checkEqual(result.status, "pending.triage.verify-next")
    checkEqual(result.disposition, .keep)
    checkEqual(result.next, .lookup)
    let claim = try require(result.claim)
    checkEqual(result.claimed(claim.bundleId), "com.example.app")
    checkEqual(result.claimed(claim.productId), "com.example.app.month")
    checkEqual(claim.environment, .sandbox)
    checkEqual(claim.purchaseDate, 1_551_690_123_000)
    checkEqual(
      result.keys,
      [
        "Sandbox/2000000000000042", "Sandbox/2000000000000017/2000000000000099",
      ])
    let document = result.document(configuration: [])
    checkEqual(document.text("triage.kind"), "transaction")
    checkEqual(document.text("unverified.originalTransactionId"), "2000000000000017")
  }

  @Test("TRI-3 a date outside 2008 to 2100 is not claimed")
  func dateOutside() throws {
    let other = Fixture.transaction.replacing("1551690123000", with: "4102444800001")
    check(other != Fixture.transaction)
    let result = Fixture.look(Fixture.jws(other))
    checkEqual(result.category, .jws)
    try check(require(result.claim).purchaseDate == nil)
  }

  @Test("TRI-3 a JWS inside base64 is the same one")
  func encoded() {
    let jws = Fixture.jws(Fixture.transaction)
    checkEqual(Fixture.look(Fixture.base64(jws)).category, .jws)
    checkEqual(Fixture.look(jws + utf8("\n")).category, .jws)
  }

  @Test(
    "TRI-3 JWS-75 the probable kind",
    arguments: [
      (
        #"{"notificationType":"TEST","data":{"bundleId":"com.example.app"}}"#,
        StoreKitKind.notification
      ),
      (#"{"receiptType":"Sandbox","bundleId":"com.example.app"}"#, .appTransaction),
      (#"{"requestIdentifier":"a","userLocale":"b"}"#, .realtimeRequest),
      (#"{"autoRenewStatus":1,"environment":"Sandbox"}"#, .renewalInfo),
      (#"{"purchaseDate":1}"#, .transaction),
      (#"{"iss":"https://appleid.apple.com","aud":"com.example.app"}"#, nil),
    ] as [(String, StoreKitKind?)])
  func kinds(_ payload: String, _ kind: StoreKitKind?) {
    let result = Fixture.look(Fixture.jws(payload))
    checkEqual(result.kind, kind)
    checkEqual(result.category, .jws)
    checkEqual(result.keys, [])
    checkEqual(result.next, .verify)
  }

  @Test(
    "TRI-3 TRI-6 the bundle id of a notification stands in its body",
    arguments: ["data", "summary", "appData", "externalPurchaseToken"])
  func notification(_ body: String) {
    func look(_ bundle: String) -> TriageResult {
      Fixture.look(
        Fixture.jws(
          #"{"notificationUUID":"x","\#(body)":{"bundleId":"\#(bundle)","environment":"Sandbox"}}"#)
      )
    }
    checkEqual(look("com.example.app").category, .jws)
    checkEqual(look("com.example.app").claim?.environment, .sandbox)
    checkEqual(look("com.foreign").status, "rejected.triage.foreign-bundle")
    checkEqual(look("com.foreign").disposition, .drop)
  }

  @Test("TRI-3 KST-7 the issuer of an access token is claimed, not found")
  func issuer() {
    let result = Fixture.look(Fixture.jws(#"{"iss":"https://appleid.apple.com","sub":"x"}"#))
    let document = result.document(configuration: [])
    checkEqual(document.text("unverified.issuer"), "https://appleid.apple.com")
    let transaction = Fixture.look(Fixture.jws(Fixture.transaction)).document(configuration: [])
    check(transaction.tree?.at("unverified")?.member("issuer") == nil)
  }

  @Test("TRI-6 TRI-7 a JWS that names no bundle is of nobody else")
  func foreign() {
    let nobodys = Fixture.transaction.replacing(#""bundleId":"com.example.app","#, with: "")
    for payload in [nobodys, nobodys.replacing("app.month", with: "app.new")] {
      checkEqual(Fixture.look(Fixture.jws(payload)).category, .jws)
    }
  }

  @Test("TRI-7 without a catalogue no product of a JWS is unknown")
  func noCatalogue() throws {
    let bare = try ConfigurationReader.read(
      utf8(#"{"apps":[{"bundleId":"com.example.app"}],"environments":["Sandbox"]}"#))
    checkEqual(Fixture.look(Fixture.jws(Fixture.transaction), bare).category, .jws)
  }

  @Test("TRI-8 an environment that is not accepted, or not known, is only a trait")
  func environment() {
    func look(_ environment: String, _ configuration: Configuration) -> TriageResult {
      Fixture.look(
        Fixture.jws(
          Fixture.transaction.replacing(#""Sandbox""#, with: "\"" + environment + "\"")),
        configuration)
    }
    for (result, name) in [
      (look("Sandbox", Fixture.productionOnly), "Sandbox"),
      (look("Moon", Fixture.configuration), "Moon"),
      (look("Xcode", Fixture.configuration), "Xcode"),
    ] {
      checkEqual(result.traitNames, ["environment"])
      checkEqual(result.category, .jws)
      checkEqual(result.disposition, .keep)
      checkEqual(result.document(configuration: []).text("unverified.environment"), name)
    }
    checkEqual(look("Sandbox", Fixture.configuration).traitNames, [])
    checkEqual(look("Moon", Fixture.configuration).keys, [])
  }

  @Test("JWS-71 the transaction id shows the environment where that is allowed")
  func derived() {
    let payload = Fixture.transaction.replacing(#","environment":"Sandbox""#, with: "")
    let standard = Fixture.look(Fixture.jws(payload))
    check(standard.claim?.environment == nil)
    checkEqual(standard.traitNames, [])
    checkEqual(standard.next, .verify)
    let allowed = Fixture.read(
      environments: #"["Sandbox"]"#,
      more: #","storekit":{"missingEnvironment":"from-transaction-id"}"#)
    checkEqual(Fixture.look(Fixture.jws(payload), allowed).claim?.environment, .sandbox)
  }

  @Test("TRI-10 an id of 13 digits or fewer makes no key")
  func shortId() {
    let payload = Fixture.transaction.replacing("2000000000000042", with: "0")
    checkEqual(
      Fixture.look(Fixture.jws(payload)).keys, ["Sandbox/2000000000000017/2000000000000099"])
  }

  @Test(
    "TRI-3 a payload that is no JSON object is malformed",
    arguments: [
      ("[]", "malformed.json.not-object"), ("{", "malformed.json.syntax"),
      (#"{"a":1,"a":2}"#, "malformed.json.duplicate-name"),
    ])
  func brokenPayload(_ payload: String, _ status: String) {
    let result = Fixture.look(Fixture.jws(payload))
    checkEqual(result.status, status)
    checkEqual(result.category, .malformed)
    checkEqual(result.form, .jws)
    checkEqual(result.disposition, .resend)
  }

  @Test("TRI-3 three parts of which the first is no JSON are no JWS")
  func threeParts() {
    checkEqual(Fixture.look("abc.def.ghi").category, .cracker)
    let long = String(repeating: "a", count: 300)
    checkEqual(Fixture.look(long + ".b.c").form, .unknown)
  }

  @Test("TRI-3 a JWS over the limit of JWS is not read")
  func tooLarge() {
    let padding = String(repeating: "a", count: 50_000)
    let large = Fixture.transaction.replacing(
      #"{"bundleId""#, with: #"{"x":"\#(padding)","bundleId""#)
    let result = Fixture.look(Fixture.jws(large))
    checkEqual(result.status, "too-large.jws.input")
    checkEqual(result.category, .malformed)
    let smaller = large.replacing(padding, with: padding.dropLast(5000))
    checkEqual(Fixture.look(Fixture.jws(smaller)).category, .jws)
  }
}
