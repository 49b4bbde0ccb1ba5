import AssayAuthority
import Testing

@testable import Assay

/// Tests the block `ledger` (docs/spec/configuration.md §11).
@Suite("Configuration of stores")
struct LedgerConfigurationTests {
  private static let base: JSONText = [
    "apps": [["bundleId": "com.example.app", "appAppleId": 1_234_567_890]],
    "plans": ["free", "pro"], "quotas": ["free": ["free": 9], "pro": ["premium": 20]],
    "ledger": ["engine": "postgres"],
  ]

  private static func key(_ count: Int) -> JSONText {
    .string(utf8: Base64Text.encode([UInt8](repeating: 7, count: count)))
  }

  private func make(_ changes: [(String, JSONText)]) -> Document {
    Verifier.alone(Self.base.setting(changes).bytes).document
  }

  private func effective(_ changes: [(String, JSONText)]) -> String {
    let block = make(changes).tree?.at("configuration.ledger")
    return String(decoding: block?.source ?? [], as: UTF8.self)
  }

  private func policy(_ changes: [(String, JSONText)]) throws -> LedgerPolicy {
    let read = try ConfigurationReader.read(Self.base.setting(changes).bytes)
    return try require(read.ledger)
  }

  @Test("CNF-5 the block is there only when given, with every default filled in")
  func defaults() throws {
    let without = Verifier.alone(Self.base.removing("ledger").bytes).document
    checkEqual(without.refusal, "ok ")
    checkEqual(without.tree?.at("configuration.ledger")?.isNull, true)
    checkEqual(
      effective([]),
      """
      {"engine":"postgres","placeholders":"dollar","prefix":"assay_","table":null,\
      "shared":true,"leaseMs":60000,"statementMs":5000,"lockMs":2000,"requestMs":15000,\
      "redis":{"volatile":false},"onExpiredLease":"resume","forgetKey":null,"customerKey":null,\
      "rateLimits":{},\
      "transfer":"deny","transferIntervalMs":86400000,"onNoPurchases":"deactivate",\
      "dayOffsetMinutes":0,\
      "maxUnits":1000000,"failOpen":{"planMaxAgeMs":0,"meters":[]},"keepEvidence":false,\
      "challengeTtlMs":300000,"signup":{"limit":100,"attemptLimit":1000,"unknownLimit":10,\
      "username":{"prefix":"u_","digits":16}}}
      """)
    checkEqual(effective([("ledger.failOpen", [:]), ("ledger.signup", [:])]), effective([]))
    checkEqual(effective([("ledger.signup.username", [:])]), effective([]))
  }

  @Test("every member comes back as it was given, the key as true")
  func given() throws {
    let block: JSONText = [
      "engine": "dynamodb", "prefix": "shop1_", "table": "T", "shared": false,
      "leaseMs": 5000, "statementMs": 60_000, "lockMs": 100, "requestMs": 600_000,
      "redis": ["volatile": true], "onExpiredLease": "hold", "forgetKey": Self.key(32),
      "customerKey": Self.key(64),
      "rateLimits": [
        "get-transaction-info": 1, "get-status-of-subscription-renewal-date-extensions": 1000,
      ],
      "transfer": "confirm", "transferIntervalMs": 0, "onNoPurchases": "keep",
      "dayOffsetMinutes": -840,
      "maxUnits": 1, "failOpen": ["planMaxAgeMs": 5, "meters": ["premium", "free"]],
      "keepEvidence": true, "challengeTtlMs": 10_000,
      "signup": [
        "limit": 7, "attemptLimit": 8, "unknownLimit": 0,
        "username": ["prefix": "", "digits": 48],
      ],
    ]
    checkEqual(
      effective([("ledger", block)]),
      """
      {"engine":"dynamodb","placeholders":null,"prefix":"shop1_","table":"T",\
      "shared":false,"leaseMs":5000,"statementMs":60000,"lockMs":100,"requestMs":600000,\
      "redis":{"volatile":true},"onExpiredLease":"hold","forgetKey":true,"customerKey":true,\
      "rateLimits":{"get-transaction-info":1,"get-status-of-subscription-renewal-date-extensions":1000},\
      "transfer":"confirm","transferIntervalMs":0,"onNoPurchases":"keep","dayOffsetMinutes":-840,\
      "maxUnits":1,"failOpen":{"planMaxAgeMs":5,"meters":["premium","free"]},\
      "keepEvidence":true,"challengeTtlMs":10000,"signup":{"limit":7,"attemptLimit":8,\
      "unknownLimit":0,"username":{"prefix":"","digits":48}}}
      """)
    let policy = try policy([("ledger", block)])
    checkEqual(policy.forgetKey?.bytes, [UInt8](repeating: 7, count: 32))
    check(policy.expiredLeaseHolds && policy.noPurchasesKeeps && policy.transfer == .confirm)
    try checkEqual(self.policy([("ledger.signup.limit", 7)]).signup.attemptLimit, 70)
  }

  @Test("STO-13 placeholders are those of the engine, and a request's own where they fit")
  func placeholders() throws {
    for (engine, own, good, bad) in [
      ("sqlite", "qmark", ["qmark"], ["dollar", "format"]),
      ("postgres", "dollar", ["qmark", "dollar", "format"], []),
      ("mariadb", "qmark", ["qmark", "format"], ["dollar"]),
      ("redis", nil, [], ["qmark", "dollar", "format"]),
    ] as [(String, String?, [String], [String])] {
      let chosen: [(String, JSONText)] = [("ledger.engine", .string(engine))]
      checkEqual(
        make(chosen).text("configuration.ledger.placeholders"), own, "\(engine)")
      for style in good {
        let document = make(chosen + [("ledger.placeholders", .string(style))])
        checkEqual(document.text("configuration.ledger.placeholders"), style)
      }
      for style in bad {
        checkEqual(
          make(chosen + [("ledger.placeholders", .string(style))]).refusal,
          "config.ledger.placeholders ledger.placeholders", "\(engine) \(style)")
      }
    }
    let format = try policy([("ledger.placeholders", "format")])
    checkEqual(format.placeholders(.mariadb), .format)
    checkEqual(format.placeholders(.sqlite), .qmark)
    check(format.placeholders(.redis) == nil)
    try checkEqual(policy([]).placeholders(.mariadb), .qmark)
  }

  @Test(
    "STO-5 STO-13 STO-56 STO-66 STO-76 STO-81 STO-93 each member is refused by its own name just outside its bounds"
  )
  func refusals() {
    let long = String(repeating: "a", count: 20)
    for (path, value, status) in [
      ("engine", "oracle", "config.ledger.engine"), ("engine", 1, "config.ledger.engine"),
      ("engine", "mariadb", "ok"), ("engine", "sqlite", "ok"),
      ("placeholders", "named", "config.ledger.placeholders"),
      ("prefix", "", "config.ledger.prefix"), ("prefix", "_a", "config.ledger.prefix"),
      ("prefix", "1a", "config.ledger.prefix"), ("prefix", "aB", "config.ledger.prefix"),
      ("prefix", "a-", "config.ledger.prefix"), ("prefix", 1, "config.ledger.prefix"),
      ("prefix", .string("a" + long), "ok"),
      ("prefix", .string("aa" + long), "config.ledger.prefix"),
      ("table", "", "config.document.range"), ("table", 1, "config.document.type"),
      ("shared", 0, "config.document.type"), ("shared", false, "ok"),
      ("leaseMs", 4999, "config.ledger.lease"), ("leaseMs", 3_600_001, "config.ledger.lease"),
      ("leaseMs", 0, "config.ledger.lease"), ("leaseMs", -1, "config.ledger.lease"),
      ("leaseMs", "60000", "config.ledger.lease"), ("leaseMs", 3_600_000, "ok"),
      ("statementMs", 99, "config.ledger.limits"), ("statementMs", 60_001, "config.ledger.limits"),
      ("statementMs", "5000", "config.ledger.limits"), ("statementMs", 100, "ok"),
      ("lockMs", 99, "config.ledger.limits"), ("lockMs", 5001, "config.ledger.limits"),
      ("lockMs", 5000, "ok"), ("requestMs", 4999, "config.ledger.limits"),
      ("requestMs", 600_001, "config.ledger.limits"), ("requestMs", 5000, "ok"),
      ("redis", 1, "config.document.type"), ("redis.volatile", 1, "config.document.type"),
      ("onExpiredLease", "wait", "config.document.range"),
      ("forgetKey", Self.key(31), "config.ledger.forget-key"),
      ("forgetKey", Self.key(65), "config.ledger.forget-key"), ("forgetKey", Self.key(64), "ok"),
      ("customerKey", Self.key(31), "config.ledger.customer-key"),
      ("customerKey", Self.key(65), "config.ledger.customer-key"),
      ("customerKey", Self.key(64), "ok"), ("customerKey", 1, "config.ledger.customer-key"),
      ("forgetKey", "!", "config.ledger.forget-key"), ("forgetKey", 1, "config.ledger.forget-key"),
      ("transfer", "share", "config.document.range"),
      ("transferIntervalMs", -1, "config.document.range"),
      ("onNoPurchases", "drop", "config.document.range"),
      ("dayOffsetMinutes", -841, "config.document.range"),
      ("dayOffsetMinutes", 841, "config.document.range"), ("dayOffsetMinutes", 840, "ok"),
      ("maxUnits", 0, "config.document.range"),
      ("maxUnits", 1_000_001, "config.document.range"),
      ("failOpen", 1, "config.document.type"),
      ("failOpen.planMaxAgeMs", -1, "config.document.range"),
      ("failOpen.meters", "free", "config.document.type"),
      ("keepEvidence", 1, "config.document.type"),
      ("challengeTtlMs", 9999, "config.document.range"),
      ("challengeTtlMs", 3_600_001, "config.document.range"),
      ("rateLimits", [], "config.ledger.rate-limits"), ("signup", [], "config.ledger.signup"),
      ("signup.limit", -1, "config.ledger.signup"), ("signup.limit", 0, "ok"),
      ("signup.limit", 1_000_001, "config.ledger.signup"),
      ("signup.attemptLimit", -1, "config.ledger.signup"),
      ("signup.attemptLimit", 10_000_001, "config.ledger.signup"),
      ("signup.unknownLimit", "1", "config.ledger.signup"),
      ("signup.username", "u_", "config.ledger.signup"),
      ("signup.username.prefix", "u ", "config.ledger.signup"),
      ("signup.username.prefix", 1, "config.ledger.signup"),
      ("signup.username.prefix", .string(long + "aaaaaaaaaaaaaa"), "ok"),
      ("signup.username.prefix", .string(long + "aaaaaaaaaaaaaaa"), "config.ledger.signup"),
      ("signup.username.digits", 15, "config.ledger.signup"),
      ("signup.username.digits", 49, "config.ledger.signup"),
      ("signup.username.digits", 48, "ok"),
      ("x", 1, "config.document.unknown-member"), ("signup.x", 1, "config.document.unknown-member"),
      ("failOpen.x", 1, "config.document.unknown-member"),
      ("signup.username.x", 1, "config.document.unknown-member"),
    ] as [(String, JSONText, String)] {
      checkEqual(
        make([("ledger." + path, value)]).refusal,
        (status == "ok" ? "ok " : "\(status) ledger.\(path)"), "\(path)")
    }
  }

  @Test("CNF-1 STO-13 members that depend on others")
  func together() {
    checkEqual(
      make([("ledger", [:])]).refusal, "config.document.missing ledger.engine")
    let dynamo: JSONText = ["engine": "dynamodb"]
    checkEqual(make([("ledger", dynamo)]).refusal, "config.document.missing ledger.table")
    checkEqual(
      make([("ledger", ["engine": "sqlite", "shared": false])]).refusal,
      "config.ledger.not-shared ledger.shared")
    checkEqual(
      make([("ledger.signup.username", ["prefix": "abc", "digits": 48])]).refusal,
      "config.ledger.signup ledger.signup.username")
    for meters in [["gold"], ["free", "free"], [1]] as [JSONText] {
      check(make([("ledger.failOpen.meters", meters)]).refusal != "ok ")
    }
    for (kind, count) in [
      ("appstore.transactions", 1), ("look-up-order-id", 0), ("look-up-order-id", 1001),
    ] as [(String, JSONText)] {
      let pace: JSONText = .object([.init(kind, count)])
      checkEqual(
        make([("ledger.rateLimits", pace)]).refusal,
        "config.ledger.rate-limits ledger.rateLimits.\(kind)")
    }
  }

  @Test("EXC-11 stores are part of the whole, not of the trust; keys of neither")
  func digests() {
    let plain = make([])
    let other = make([("ledger.leaseMs", 5000)])
    checkEqual(plain.text("digests.trust"), other.text("digests.trust"))
    check(plain.text("digests.whole") != other.text("digests.whole"))
    let first = make([("ledger.forgetKey", Self.key(32))])
    let second = make([("ledger.forgetKey", Self.key(33))])
    checkEqual(first.text("digests.whole"), second.text("digests.whole"))
    check(first.text("digests.whole") != plain.text("digests.whole"))
  }
}
