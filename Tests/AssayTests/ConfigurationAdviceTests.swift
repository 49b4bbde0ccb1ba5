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
    ("risk", ["rules": ["RSK-99": "deny"]], "risk.rules takes RSK-11 to RSK-28"),
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
