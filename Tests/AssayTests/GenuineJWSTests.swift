import AssayAuthority
import Testing

@testable import Assay

/// Tests that every entry of the vectors' manifest gives the expected result.
@Suite("Genuine JWS", .enabled(if: Vectors.arePresent, Vectors.absent))
struct GenuineJWSTests {
  private static let tenYears: Int64 = 10 * 365 * 86_400_000

  /// Returns the verifier that an entry needs; `changes` by dotted path.
  private func verifier(
    _ entry: Vectors.Entry, _ changes: [(String, JSONText)] = []
  ) throws -> Verifier {
    let appId = entry.config.member("app_apple_id")?.integer
    let apps = entry.config.texts("bundle_ids").map { bundle -> JSONText in
      var app: JSONText = ["bundleId": .string(bundle)]
      if let appId { app = app.setting("appAppleId", .integer(appId)) }
      return app
    }
    var config: JSONText = [
      "apps": .array(apps),
      "environments": .array(entry.config.texts("environments").map { .string($0) }),
    ]
    let own = entry.config.texts("roots").filter { !$0.hasSuffix("apple-root-ca-g3.der") }
    if !own.isEmpty {
      let roots = try own.map { path -> JSONText in
        .string(utf8: Base64.encodeStandard(try require(Vectors.file("vectors/jws/" + path))))
      }
      config = config.setting("storekit.anchors", .array(roots))
    }
    let pin = entry.config.string("pinned_certificate")
    if !pin.isEmpty {
      let der = try require(Vectors.file("vectors/jws/" + pin))
      config = config.setting(
        "storekit.xcodeCertificates", [.string(Authority.fingerprint(der))])
    }
    let (verifier, document) = Verifier.alone(config.setting(changes).bytes)
    return try require(verifier, "\(entry.name): \(document.text("error.message") ?? "")")
  }

  private func family(_ document: Document) -> String {
    document.status == .ok ? "ok" : "\(document.name.prefix { $0 != "." })"
  }

  /// Names of facts in the manifest, and the members that report them.
  private static let facts: [(StaticString, String)] = [
    ("environment", "environment"), ("type", "type"), ("product_id", "productId"),
    ("transaction_id", "transactionId"), ("original_transaction_id", "originalTransactionId"),
    ("purchase_date_ms", "purchaseDate"), ("expires_date_ms", "expiresDate"),
    ("revocation_date_ms", "revocationDate"), ("auto_renew_status", "autoRenewStatus"),
    ("auto_renew_product_id", "autoRenewProductId"), ("notification_type", "type"),
    ("subtype", "subtype"), ("signed_date_ms", "effectiveDate.ms"),
    ("signing_date_ms", "effectiveDate.ms"), ("bundle_id", "bundleId"),
  ]

  @Test("JWS-20 JWS-43 JWS-101 every entry gives its family and facts, then and ten years later")
  func manifest() throws {
    let entries = Vectors.jws(for: "genuine JWS")
    var counts = (accepted: 0, refused: 0, facts: 0)
    for entry in entries {
      let kind = try require(entry.kind)
      let verifier = try verifier(entry)
      let now = try require(entry.config.member("now_ms")?.integer)
      for moment in [now, now + Self.tenYears, now] {
        let answer = verifier.verifyJWS(entry.jws, kind: kind, nowMs: moment)
        check(
          entry.families.contains(family(answer)),
          "\(entry.name): \(answer.name) \(answer.text("error.message") ?? "")")
        guard answer.status == .ok else {
          counts.refused += 1
          continue
        }
        counts.accepted += 1
        counts.facts += try expectFacts(entry, kind, answer)
      }
    }
    if !entries.isEmpty {
      check(counts.accepted > 0 && counts.refused > 0 && counts.facts > 0)
      print(
        "Genuine JWS: \(entries.count) entries, \(counts.accepted) accepted and "
          + "\(counts.refused) refused as they must, \(counts.facts) facts agree")
    }
  }

  private func expectFacts(
    _ entry: Vectors.Entry, _ kind: StoreKitKind, _ answer: Document
  ) throws -> Int {
    var count = 0
    for (name, path) in Self.facts {
      guard let fact = entry.facts.member(name), !fact.isNull else { continue }
      // A renewal info and a realtime request name no bundle.
      if path == "bundleId", kind == .renewalInfo { continue }
      let place = "\(kind.factsMember).\(path)"
      if let number = fact.integer {
        checkEqual(answer.integer(place), number, "\(entry.name): \(path)")
      } else {
        checkEqual(answer.text(place), fact.text?.string, "\(entry.name): \(path)")
      }
      count += 1
    }
    let date = try require(entry.config.member("effective_ms")?.integer)
    checkEqual(answer.integer("\(kind.factsMember).effectiveDate.ms"), date, "\(entry.name)")
    // The signed JSON passes through byte for byte (DOC-2).
    let segments = entry.jws.split(separator: 0x2e)
    let signed = try require(Base64.decodeURL(segments[1]))
    let shown = try require(answer.tree?.at("\(kind.factsMember).payload"))
    check(shown.source.elementsEqual(signed), "\(entry.name)")
    return count
  }

  @Test("JWS-50 JWS-51 a fresh verifier refuses old evidence by name")
  func fresh() throws {
    for entry in Vectors.jws(for: "fresh verifier on genuine JWS")
    where entry.isGenuine && entry.families == ["ok"] {
      let kind = try require(entry.kind)
      let now = try require(entry.config.member("now_ms")?.integer)
      let day: Int64 = 86_400_000
      func ages(_ age: Int64) -> JSONText {
        .object(StoreKitKind.allCases.map { .init("\($0.name)", .integer(age)) })
      }
      let strict = try verifier(entry, [("storekit.maxAgeMs", ages(day))])
      checkEqual(strict.verifyJWS(entry.jws, kind: kind, nowMs: now).status, .ok, "\(entry.name)")
      checkEqual(
        strict.verifyJWS(entry.jws, kind: kind, nowMs: now + 2 * day).status,
        .rejectedFreshnessStale, "\(entry.name)")
      let lenient = try verifier(
        entry, [("storekit.maxAgeMs", ages(20 * 365 * day))])
      checkEqual(
        lenient.verifyJWS(entry.jws, kind: kind, nowMs: now + Self.tenYears).status,
        .rejectedFreshnessChainExpired, "\(entry.name)")
    }
  }

  @Test("JWS-71 the genuine transaction of 2021 names no environment; its id does")
  func environmentFromId() throws {
    for entry in Vectors.jws(for: "environment of 2021")
    where entry.isGenuine && entry.name.contains("noenvironment") {
      let now = try require(entry.config.member("now_ms")?.integer)
      let strict = try verifier(entry).verifyJWS(entry.jws, kind: .transaction, nowMs: now)
      checkEqual(strict.status, .rejectedEnvironmentMissing)
      let derived = try verifier(
        entry, [("storekit.missingEnvironment", "from-transaction-id")]
      ).verifyJWS(entry.jws, kind: .transaction, nowMs: now)
      checkEqual(derived.status, .ok)
      checkEqual(derived.text("transaction.environment"), "Sandbox")
      checkEqual(derived.text("transaction.environmentSource"), "transaction-id")
    }
  }

  @Test("JWS-44 the genuine undated notification of 2022 is dated by what it holds")
  func undated() throws {
    for entry in Vectors.jws(for: "undated notification")
    where entry.isGenuine && entry.name.contains("nosigneddate") {
      let now = try require(entry.config.member("now_ms")?.integer)
      let atNow = try verifier(entry).verifyJWS(entry.jws, kind: .notification, nowMs: now)
      checkEqual(atNow.status, .rejectedChainExpired)
      let nested = try verifier(entry, [("storekit.undatedNotifications", "nested")])
        .verifyJWS(entry.jws, kind: .notification, nowMs: now)
      checkEqual(nested.status, .ok, "\(nested.text("error.message") ?? "")")
      checkEqual(nested.text("notification.effectiveDate.source"), "nested")
      checkEqual(
        nested.integer("notification.effectiveDate.ms"),
        nested.integer("notification.transaction.signedDate"))
    }
  }

  @Test("JWS-80 what Xcode signed needs its pin, and the pin has to be the right one")
  func xcode() throws {
    for entry in Vectors.jws(for: "Xcode's JWS") where entry.name.hasPrefix("xcode") {
      let kind = try require(entry.kind)
      let now = try require(entry.config.member("now_ms")?.integer)
      func status(_ changes: [(String, JSONText)]) throws -> Status {
        try verifier(entry, changes).verifyJWS(entry.jws, kind: kind, nowMs: now).status
      }
      try checkEqual(status([]), .ok)
      let other = Authority.fingerprint(utf8("another certificate"))
      try checkEqual(
        status([("storekit.xcodeCertificates", [.string(other)])]), .rejectedChainUnpinned)
      try checkEqual(
        status([
          ("storekit.xcodeCertificates", []), ("environments", ["Sandbox"]),
        ]), .rejectedChainLength)
      // A pinned certificate without the environment has no effect.
      try checkEqual(status([("environments", ["Sandbox"])]), .rejectedChainLength)
      try checkEqual(
        status([("environments", ["LocalTesting"])]), .rejectedEnvironmentNotAccepted)
      // The signature is always verified (JWS-80).
      var damaged = entry.jws
      damaged[damaged.count - 20] = damaged[damaged.count - 20] == 0x41 ? 0x42 : 0x41
      let answer = try verifier(entry).verifyJWS(damaged, kind: kind, nowMs: now)
      checkEqual(answer.status, .rejectedJwsSignature)
    }
  }

  @Test("JWS-75 no genuine JWS passes as another kind")
  func otherKinds() throws {
    for entry in Vectors.jws(for: "kinds of genuine JWS")
    where entry.isGenuine && entry.families == ["ok"] {
      let now = try require(entry.config.member("now_ms")?.integer)
      let verifier = try verifier(entry)
      for kind in StoreKitKind.allCases where kind != entry.kind {
        checkEqual(
          verifier.verifyJWS(entry.jws, kind: kind, nowMs: now).status, .rejectedKindMismatch,
          "\(entry.name) as \(kind.name)")
      }
    }
  }
}
