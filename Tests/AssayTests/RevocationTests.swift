import AssayAuthority
import Testing

@testable import Assay

/// Tests OCSP requests in Apple's form, and the proofs of exchanges (docs/spec/storekit-ocsp.md).
@Suite("Exchange ocsp")
struct RevocationTests {
  private let verifier: Verifier
  private let authority: Authority
  private static let device: JSONText = [
    "operation": "verify-device", "deviceId": .string(Purchase.deviceId),
  ]

  init() throws {
    verifier = try Minted.verifier()
    authority = try Minted.authority()
  }

  @Test("OCSP-3 known answer: the request for Apple's G6 under its root")
  func knownAnswer() throws {
    let root = try require(Anchor(AppleRoots.rootCAG3, .elliptic))
    var template = authority.intermediate
    template.serial = try require(
      Hex.decode(utf8("22c1a1470a747369ef538612c9c69f3d38f36cd7")))
    let certificate = try require(Certificate(try template.signed(by: authority.rootKey)))
    let question = OCSPRequest(
      certificate: certificate, issuer: root.certificate, issuerKey: root.key)
    let known =
      "3071306f306d306b3069300d060960864801650304020105000420b21fcb631d"
      + "28ec6bfe2afc3cbcf8e12c5327f081b916630a55ceeb413aeda7960420b43358"
      + "ddc0aab4636345230f48a65d66dd79740216a2f2f784c53abd17b6611d021422"
      + "c1a1470a747369ef538612c9c69f3d38f36cd7"
    checkEqual(String(decoding: Hex.encode(question.request), as: UTF8.self), known)
  }

  @Test("OCSP-3 an authority that is read again answers about the same certificates")
  func readAgain() throws {
    let again = try Authority(
      now: Minted.now,
      keys: Authority.Keys(
        root: authority.rootKey, intermediate: authority.intermediateKey,
        leaf: authority.leafKey, xcode: authority.xcodeKey),
      certificates: Authority.Certificates(
        root: authority.chain.root, intermediate: authority.chain.intermediate,
        leaf: authority.chain.leaf, xcode: authority.xcodeCertificate))
    for subject in Authority.Revocable.allCases {
      try checkEqual(again.revocationRequest(subject), authority.revocationRequest(subject))
      for usesSHA1 in [false, true] {
        var id = try authority.certificateID(subject, sha1: usesSHA1)
        id.serial = [1]
        try checkEqual(again.subject(besides: id), subject)
        id.issuerKey[0] ^= 1
        try check(again.subject(besides: id) == nil)
      }
    }
  }

  private func evidence(_ verifier: Verifier) throws -> Document {
    verifier.verifyJWS(
      try authority.mint(Minted.purchase.appTransactionPayload), kind: .appTransaction,
      nowMs: Minted.now)
  }

  private func ask(_ evidence: [Document], _ verifier: Verifier) throws -> Document {
    let kept = try Authority.Revocable.allCases.map { subject -> JSONText in
      let certificate = subject == .leaf ? authority.chain.leaf : authority.chain.intermediate
      let response = try authority.revocationResponse(subject, now: Minted.now).signed()
      return [
        "sha256": .string(Authority.fingerprint(certificate)),
        "der": .string(utf8: Base64Text.encode(response)),
      ]
    }
    let request: JSONText = [
      "operation": "check-revocation", "mode": "required", "responses": .array(kept),
    ]
    return verifier.startExchange(request.bytes, evidence: evidence, nowMs: Minted.now).document
  }

  private func verify(_ evidence: [Document], _ verifier: Verifier) -> Document {
    verifier.startExchange(Self.device.bytes, evidence: evidence, nowMs: Minted.now).document
  }

  @Test("EXC-12 what two exchanges add stays with the evidence, in either order")
  func added() throws {
    let proven = try evidence(verifier)
    for document in [
      verify([try ask([proven], verifier)], verifier),
      try ask([verify([proven], verifier)], verifier),
    ] {
      Exchanges.expect(document, "ok")
      checkEqual(document.text("exchange.revocation.leaf.status"), "good")
      checkEqual(document.tree?.at("exchange.deviceVerified")?.boolean, true)
    }
  }

  @Test("EXC-9 EXC-12 a finished exchange decides like its evidence")
  func decided() throws {
    let transaction = verifier.verifyJWS(
      try authority.mint(Minted.purchase.transactionPayload), kind: .transaction,
      nowMs: Minted.now)
    let asked = try ask([transaction], verifier)
    Exchanges.expect(asked, "ok")
    let (one, other) = (
      verifier.decide([transaction], account: nil, nowMs: Minted.now),
      verifier.decide([asked], account: nil, nowMs: Minted.now)
    )
    check(one.name != "misuse.decision.evidence")
    checkEqual(one.json, other.json)
  }

  @Test("EXC-12 a refused exchange is no evidence")
  func refused() throws {
    let request: JSONText = ["operation": "check-revocation", "mode": "required"]
    let (exchange, _) = verifier.startExchange(
      request.bytes, evidence: [try evidence(verifier)], nowMs: Minted.now)
    let open = try require(exchange)
    _ = open.step(utf8(#"{"id":1,"status":0,"body":null}"#), nowMs: Minted.now)
    let end = open.step(utf8(#"{"id":2,"status":0,"body":null}"#), nowMs: Minted.now)
    Exchanges.expect(end, "unavailable.ocsp.undetermined", rule: "OCSP-19")
    Exchanges.expect(
      verify([end], verifier), "misuse.exchange.evidence", at: "evidence[0]", rule: "EXC-2")
  }

  @Test("EXC-11 evidence is taken where what counts as proven is the same")
  func digests() throws {
    let proven = try evidence(verifier)
    let same: [(String, JSONText)] = [
      ("storekit.caps", ["jwsBytes": 8192]), ("storekit.cache", ["chains": 0]),
      ("storekit.ocspHosts", ["ocsp.example.com"]), ("receipts.deviceIds", "report"),
      ("receipts.sharedSecrets", ["*": "00112233445566778899aabbccddeeff"]),
      ("receipts.caps", ["purchases": 9]), ("plans", ["none", "all"]),
      ("products", ["x": ["type": "consumable"]]), ("decision", ["gracePeriod": false]),
      ("quotas", ["free": ["calls": 3]]), ("risk", ["mode": "record"]),
    ]
    for change in same {
      let other = try Minted.verifier([change])
      Exchanges.expect(verify([proven], other), "ok")
      checkEqual(verifier.fingerprint, other.fingerprint, "\(change.0)")
    }
    let different: [(String, JSONText)] = [
      ("environments", ["Sandbox"]), ("clockSkewMs", 0), ("storekit.nested", "omit"),
      ("apps", [["bundleId": "com.example.app", "appAppleId": 1_234_567_891]]),
      ("storekit.anchors", [.string(try Authority(now: Minted.now).anchor)]),
      ("receipts.version2", "refuse"), ("receipts.maxAgeMs", 7),
      ("attest", ["appIds": ["ABCDE12345.com.example.app"]]),
    ]
    for change in different {
      let other = try Minted.verifier([change])
      Exchanges.expect(verify([proven], other), "misuse.exchange.evidence", at: "evidence[0]")
      check(verifier.fingerprint != other.fingerprint, "\(change.0)")
    }
  }

  @Test("DOC-6 EXC-11 the configuration's document has both digests")
  func shown() throws {
    func shown(_ changes: [(String, JSONText)]) throws -> (trust: String, whole: String) {
      let document = Verifier.alone(try Minted.config(changes).bytes).document
      return (
        try require(document.text("digests.trust")), try require(document.text("digests.whole"))
      )
    }
    let (one, priced, strict) = (
      try shown([]), try shown([("products", ["x": ["type": "consumable"]])]),
      try shown([("clockSkewMs", 0)])
    )
    check(one.trust == priced.trust && one.whole != priced.whole)
    check(one.trust != strict.trust && one.whole != strict.whole)
    checkEqual(
      one.trust, String(decoding: Hex.encode(verifier.fingerprint), as: UTF8.self))
  }
}
