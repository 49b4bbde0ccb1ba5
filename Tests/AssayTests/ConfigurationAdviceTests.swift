import AssayAuthority
import Testing

@testable import Assay

/// Tests the detail and the hint of a refused configuration (CNF-1).
@Suite("Advice about a configuration")
struct ConfigurationAdviceTests {
  private static let base: JSONText = ["apps": [["bundleId": "com.example.app", "appAppleId": 1]]]

  private func refused(_ config: [UInt8]) -> Document { Verifier.alone(config).document }

  private static let wrong: [(String, JSONText, String)] = [
    ("environments", ["production"], "environments takes Production, Sandbox, Xcode"),
    ("environments", "Sandbox", "environments takes Production, Sandbox"),
    ("clockSkewMs", 300_001, "clockSkewMs takes 0 to 300000"),
    ("decision", ["gracePeriod": 1], "decision.gracePeriod takes true or false"),
    ("decision", ["billingRetry": "Strict"], "decision.billingRetry takes deny, allow"),
    (
      "decision", ["grace": true], "there are accountToken, sandbox, gracePeriod, billingRetry"
    ),
    ("storekit", true, "storekit takes an object"),
    ("environment", [], "there are apps, environments"),
    ("products", ["a.b.c": ["type": "subscription"]], "takes auto-renewable, non-renewing"),
    ("products", ["a.b.c": ["type": "consumable", "plan": "gold"]], "plans are free"),
    ("products", ["a.b": ["type": "consumable", "duration": "1M"]], "takes PnD, PnW, PnM, PnY"),
    ("products", ["a.b": ["type": "consumable", "Plan": "x"]], "there are plan, type, group"),
    ("quotas", ["gold": ["calls": 1]], "plans are free"),
    ("quotas", ["free": ["calls": -1]], "quotas takes plan : meter : integer"),
    ("ledger", ["engine": "oracle"], "ledger.engine takes sqlite, postgres"),
    ("ledger", ["engine": "sqlite", "leaseMs": 1], "ledger.leaseMs takes 5000 to 3600000"),
    ("refunds", ["rules": ["RFA-99": "off"]], "refunds.rules takes RFA-31 to RFA-39"),
    ("refunds", ["order": ["RFA-39"]], "refunds.order takes RFA-31 to RFA-38"),
    ("refunds", ["marginMs": 18_000_001], "refunds.marginMs takes 0 to 18000000"),
    ("risk", ["rules": ["RSK-99": "deny"]], "risk.rules takes RSK-11 to RSK-33"),
    ("tokens", [["profile": "oidc"]], "tokens[].profile takes cognito-access, jwt, apple-id"),
    (
      "attest", ["appIds": ["ABCDE12345.com.example.app"], "environments": ["Production"]],
      "takes production, development"
    ),
  ]

  @Test("CNF-1 the message says what the member takes", arguments: wrong)
  func values(_ member: String, _ value: JSONText, _ words: String) {
    let document = refused(Self.base.setting(member, value).bytes)
    checkEqual(document.status.family, .config)
    let message = document.text("error.message") ?? ""
    check(message.contains(words), "\(member): \(message)")
  }

  private static let meant: [(String, JSONText, String)] = [
    ("environmets", [], "did you mean environments?"),
    ("anchors", [], "did you mean storekit.anchors or receipts.anchors or attest.anchors?"),
    ("environments", ["production"], "did you mean Production?"),
    ("environments", "Sandbox", "write it in a list"),
    ("environments", ["prod"], "did you mean Production?"),
    ("clockSkewMs", 300_001, "clockSkewMs takes 0 to 300000, not 300001"),
    ("clockSkewMs", "60000", "write the number without quotes"),
    ("decision", ["gracePeriod": "true"], "write it without quotes"),
    ("decision", ["sandbox": "bellow"], "did you mean below?"),
    ("decision", ["grcaePeriod": true], "did you mean gracePeriod?"),
    ("decision", ["grace.Period": true], "did you mean gracePeriod?"),
    ("storekit", ["maxAgeMs": ["transactions": 1]], "did you mean transaction?"),
    ("storekit", ["maxAgeMs": ["transaction": 0]], "realtime-request : milliseconds, not 0"),
    ("products", ["a.b": ["type": "auto-renewing"]], "did you mean auto-renewable?"),
    ("products", ["a": ["typ": "consumable"], "a.b": ["type": "consumable"]], "mean type?"),
    ("products", ["a.b": ["type": "consumable", "plan": "Free"]], "did you mean free?"),
    ("quotas", ["fre": ["calls": 1]], "did you mean free?"),
    ("quotas", ["free": ["calls": -1]], "meter : integer, not -1"),
    ("ledger", ["engine": "postgresql"], "did you mean postgres?"),
    ("refunds", ["rules": ["RFA-33": "decline"]], "did you mean DECLINE?"),
    ("risk", ["rules": ["RSK-11": "stepup"]], "did you mean step-up?"),
    ("tokens", [["profile": "apple_id"]], "did you mean apple-id?"),
    (
      "tokens",
      [["profile": "jwt", "issuers": ["https://a"], "audiences": ["a"], "algorithm": "rs256"]],
      "did you mean RS256?"
    ),
  ]

  @Test("CNF-1 the message says what was probably meant", arguments: meant)
  func suggestion(_ member: String, _ value: JSONText, _ words: String) {
    let message = refused(Self.base.setting(member, value).bytes).text("error.message") ?? ""
    check(message.contains(words), "\(member): \(message)")
  }

  @Test("CNF-1 what was meant is said beside secrets, too")
  func besideSecrets() {
    let document = refused(
      Self.base.setting([
        ("receipts", ["sharedSecrets": ["*": "0123456789abcdef0123456789abcdef"]]),
        ("decision", ["sandbox": "bellow"]),
      ]).bytes)
    checkEqual(document.text("error.at"), "decision.sandbox")
    checkEqual(document.text("error.message")?.contains("did you mean below?"), true)
  }

  @Test("CNF-5 the table marks what is kept as an object, and nothing else")
  func marks() {
    let lines = HintGate.text("contract/configuration.tsv").split(separator: "\n").map {
      $0.split(separator: "\t", omittingEmptySubsequences: false)
    }
    for line in lines.filter({ $0.count == 7 }) {
      let isSecret = line[6].contains("wiped at the end") && line[0] != "session"
      checkEqual(line[1].contains("\"writeOnly\":true"), isSecret, "\(line[0])")
    }
  }

  @Test("CNF-1 DOC-3 no value that may be a secret is repeated")
  func secrets() {
    for (member, value) in [
      ("receipts", ["sharedSecrets": ["*": 12_345_678]]),
      ("session", ["secrets": [["id": "a", "secret": 12_345_678]]]),
      ("deviceCheck", ["teamId": "12345678", "keyId": 12_345_678]),
      ("decision", ["sandbox": "12345678"]), ("storekit", ["maxAgeMs": ["12345678": "x"]]),
      ("receipts", ["sharedSecrets": "12345678"]), ("session", ["secrets": ["12345678"]]),
    ] as [(String, JSONText)] {
      let document = refused(Self.base.setting(member, value).bytes)
      checkEqual(document.status.family, .config)
      let message = document.text("error.message") ?? ""
      check(!message.contains("12345678"), "\(member): \(message)")
    }
  }

  @Test("CNF-1 the nearest name, by letters that are added, left out, changed or swapped")
  func spelling() {
    let names = ["plans", "products", "environments"].map { Array($0.utf8) }
    for (word, wanted) in [
      ("plnas", "plans"), ("Plans", "plans"), ("prod", "products"), ("product", "products"),
      ("enviroment", "environments"), ("plans", nil), ("pl", nil), ("", nil), ("quotas", nil),
      (String(repeating: "plans", count: 20), nil),
    ] as [(String, String?)] {
      checkEqual(
        Spelling.nearest(to: utf8(word), among: names), wanted.map { utf8($0) }, "\(word)")
    }
    checkEqual(Spelling.distance(utf8("kitten"), utf8("sitting")), 3)
    checkEqual(Spelling.distance([], utf8("ab")), 2)
    checkEqual(Spelling.distance(utf8("ab"), utf8("ba")), 1)
  }

  @Test("CNF-1 a key id of another length is told the length")
  func keyId() throws {
    let block: JSONText = [
      "issuerId": "57246542-96fe-1a63-e053-0824d011072a", "keyId": "WRONG",
      "privateKey": .string(utf8: try SigningKey.generate(.p256).pem()),
    ]
    let document = refused(Self.base.setting("appStoreServerApi", block).bytes)
    checkEqual(document.text("error.at"), "appStoreServerApi.keyId")
    checkEqual(document.text("error.message")?.contains("10 characters A-Z a-z 0-9"), true)
  }

  @Test("CNF-1 every member of the table has words, and is found by its own path")
  func everyMember() {
    for path in HintGate.members {
      let completed = ConfigurationAdvice.completed(
        Refusal(.configDocumentRange, "CNF-1", at: path))
      check(completed.detail.contains(" takes "), "\(path): \(completed.detail)")
    }
  }

  @Test("CNF-1 many plans are cut")
  func plans() {
    let names = (0..<32).map { JSONText.string("plan \($0) of twenty bytes") }
    let document = refused(
      Self.base.setting([
        ("plans", .array(names)), ("products", ["x": ["type": "consumable", "plan": "gold"]]),
      ]).bytes)
    let message = document.text("error.message") ?? ""
    check(message.hasSuffix(" and others") && message.utf8.count < 500, "\(message)")
  }

  @Test("CNF-1 the name of a file in place of its text")
  func fileName() {
    for name in ["authority/config.json", "./c.json", "/etc/assay.json", "~/c", "C.json"] {
      let document = refused(Array(name.utf8))
      checkEqual(document.status, .configDocumentSyntax)
      checkEqual(document.text("error.hint")?.contains("name of its file"), true, "\(name)")
    }
    for text in ["", "[]", "{", "\u{feff}{}", " {]"] {
      let hint = refused(Array(text.utf8)).text("error.hint")
      checkEqual(hint?.contains("file"), false, "\(text)")
    }
  }
}
