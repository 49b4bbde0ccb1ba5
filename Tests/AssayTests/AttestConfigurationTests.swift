import AssayAuthority
import Testing

@testable import Assay

/// Tests the block `attest` (docs/spec/configuration.md §5).
@Suite("Configuration of App Attest")
struct AttestConfigurationTests {
  private static let app: JSONText = [
    "bundleId": "com.example.app", "appAppleId": 1_234_567_890, "teamId": "ABCDE12345",
  ]

  private func make(
    _ changes: [(String, JSONText)], environments: JSONText = ["Production"]
  ) -> Document {
    let standard: JSONText = [
      "apps": [AttestConfigurationTests.app], "environments": environments,
    ]
    return Verifier.alone(standard.setting(changes).bytes).document
  }

  private func refusal(_ path: String, _ value: JSONText) -> String {
    make([("attest." + path, value)]).refusal
  }

  @Test("defaults, without the block and with an empty one")
  func defaults() throws {
    let expected = """
      {"appIds":["ABCDE12345.com.example.app"],"environments":["production"],\
      "anchors":{"source":"built-in","sha256":\
      ["1cb9823ba28ba6ad2d33a006941de2ae4f513ef1d4e831b9f7e0fa7b6242c932"]},\
      "receiptAnchors":{"source":"built-in","sha256":\
      ["63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179"]},\
      "time":"live","maxAgeMs":300000,"receipt":"require",\
      "category":{"accept":[1,2,3,4,5,6,10],"missing":"accept"},"bundleVersion":null,\
      "platform":"any","challenge":{"mode":"host"},"refreshEveryMs":86400000}
      """
    for changes in [[], [("attest", [:])]] as [[(String, JSONText)]] {
      let document = make(changes)
      let block = document.tree?.at("configuration.attest")
      checkEqual(String(decoding: block?.source ?? [], as: UTF8.self), expected)
    }
  }

  @Test("null where no App ID, or no environment, is there to accept")
  func unusable() {
    let plain: JSONText = ["apps": [["bundleId": "com.example.app", "appAppleId": 1]]]
    let document = Verifier.alone(plain.bytes).document
    checkEqual(document.tree?.at("configuration.attest")?.isNull, true)
    let local = make(
      [("storekit", ["xcodeCertificates": [.string(String(repeating: "0", count: 64))]])],
      environments: ["Xcode"])
    checkEqual(local.refusal, "ok ")
    checkEqual(local.tree?.at("configuration.attest")?.isNull, true)
  }

  @Test("every member comes back as it was given")
  func given() {
    let block: JSONText = [
      "appIds": ["ZZZZZ99999.a", "ABCDE12345.com.example.app"],
      "environments": ["development"], "time": "stored", "maxAgeMs": 1,
      "receipt": "require", "category": ["accept": [4, 2], "missing": "refuse"],
      "bundleVersion": ["exact": ["1", "2"]], "platform": "macos",
      "challenge": ["mode": "json", "path": "a.b", "encoding": "hex"],
      "refreshEveryMs": 172_800_000,
    ]
    let document = make([("attest", block)])
    checkEqual(document.refusal, "ok ")
    let effective = document.tree?.at("configuration.attest")
    for name in ["appIds", "environments", "category", "bundleVersion", "challenge"] {
      let expected = String(decoding: block.bytes, as: UTF8.self)
      let mine = effective?.at(name).map { String(decoding: $0.source, as: UTF8.self) } ?? "?"
      check(expected.contains("\"\(name)\":" + mine), "\(name)")
    }
    checkEqual(effective?.string("time"), "stored")
    checkEqual(effective?.string("platform"), "macos")
    checkEqual(effective?.member("maxAgeMs")?.integer, 1)
    checkEqual(effective?.member("refreshEveryMs")?.integer, 172_800_000)
  }

  @Test("EXC-11 what counts as proven, apart from when")
  func fingerprint() throws {
    func digest(_ changes: [(String, JSONText)]) throws -> [UInt8] {
      try require(Verifier.alone(try AttestFixture.config(changes).bytes).verifier).fingerprint
    }
    let one = try digest([])
    try checkEqual(digest([("attest.time", "stored")]), one)
    try checkEqual(digest([("attest.refreshEveryMs", 172_800_000)]), one)
    try checkEqual(digest([("attest.challenge", ["mode": "whole"])]), one)
    try check(digest([("attest.maxAgeMs", 7)]) != one)
    try check(digest([("attest.receipt", "ignore")]) != one)
  }

  @Test("ATT-23 App IDs")
  func appIds() {
    let status = "config.attest.app-ids attest.appIds"
    for text in [
      "", "com.example.app", "ABCDE12345", "ABCDE12345.", "ABCDE1234.a", "ABCDE123456.a",
      "abcde12345.a", "ABCDE12345,a",
    ] {
      checkEqual(refusal("appIds", ["ABCDE12345.ok", .string(text)]), status + "[1]", "\(text)")
    }
  }

  @Test("ATT-26 environments")
  func environmentNames() {
    let status = "config.attest.environments attest.environments"
    checkEqual(refusal("environments", ["sandbox"]), status + "[0]")
    checkEqual(refusal("environments", ["production", "Production"]), status + "[1]")
    checkEqual(refusal("environments", ["production", "production"]), status + "[1]")
  }

  @Test("CNF-1 unknown members, wrong types, ranges")
  func shapes() {
    checkEqual(refusal("receipt", "maybe"), "config.document.range attest.receipt")
    checkEqual(refusal("maxAgeMs", "1"), "config.document.type attest.maxAgeMs")
    checkEqual(refusal("refreshEveryMs", 86_399_999), "config.document.range attest.refreshEveryMs")
    checkEqual(refusal("anchors", []), "config.certificates.root-set attest.anchors")
    checkEqual(refusal("anchors", ["AAAA"]), "config.certificates.root-set attest.anchors[0]")
    checkEqual(
      refusal("receiptAnchors", ["AAAA"]), "config.certificates.root-set attest.receiptAnchors[0]")
    checkEqual(
      make([("attest", ["time": "stored", "receipt": "ignore"])]).refusal,
      "config.attest.stored-needs-receipt attest.receipt")
  }

  @Test("ATT-45, ATT-46, ASR-10 policies that cannot be used")
  func policies() {
    let status = "config.attest.policy attest."
    for number in [0, 7, 8, 9, -1, 4_294_967_296] as [Int64] {
      checkEqual(
        refusal("category", ["accept": [.integer(number)]]), status + "category.accept[0]")
    }
    checkEqual(refusal("category", ["accept": []]), status + "category.accept")
    checkEqual(refusal("category", ["accept": ["4"]]), status + "category.accept[0]")
    checkEqual(refusal("category", ["missing": "deny"]), status + "category.missing")
    checkEqual(refusal("category", 4), status + "category")
    checkEqual(
      refusal("category", ["accepts": [4]]),
      "config.document.unknown-member attest.category.accepts")
    checkEqual(refusal("bundleVersion", [:]), status + "bundleVersion")
    checkEqual(
      refusal("bundleVersion", ["exact": ["1"], "minimum": "1"]), status + "bundleVersion")
    for text in ["", "1.", ".1", "a", "1.-2", "1..2", "1.0b"] {
      checkEqual(
        refusal("bundleVersion", ["minimum": .string(text)]), status + "bundleVersion.minimum")
    }
    checkEqual(refusal("bundleVersion", ["exact": []]), status + "bundleVersion.exact")
    checkEqual(refusal("bundleVersion", ["exact": ["a": "1"]]), status + "bundleVersion.exact")
    checkEqual(refusal("bundleVersion", ["exact": [1]]), status + "bundleVersion.exact[0]")
    checkEqual(refusal("bundleVersion", ["exact": ["1", ""]]), status + "bundleVersion.exact[1]")
    checkEqual(refusal("challenge", ["mode": "none"]), status + "challenge.mode")
    checkEqual(refusal("challenge", ["mode": "json"]), status + "challenge.path")
    checkEqual(refusal("challenge", ["mode": "whole", "path": "a"]), status + "challenge")
    checkEqual(refusal("challenge", ["path": "a"]), status + "challenge")
    checkEqual(
      refusal("challenge", ["mode": "whole", "encoding": "hex"]), status + "challenge")
    for path in ["", "a.", "a..b", "a.b.c.d.e.f.g.h.i"] {
      checkEqual(
        refusal("challenge", ["mode": "json", "path": .string(path)]), status + "challenge.path")
    }
    checkEqual(
      refusal("challenge", ["mode": "json", "path": "a.b.c.d.e.f.g.h"]), "ok ")
    checkEqual(
      refusal("challenge", ["mode": "json", "path": "a", "encoding": "rot13"]),
      status + "challenge.encoding")
  }
}
