import AssayAuthority
import Testing

@testable import Assay

/// Tests the block `stores` (docs/spec/configuration.md §11).
@Suite("Configuration of stores")
struct StoresConfigurationTests {
  private static let base: JSONText = [
    "apps": [["bundleId": "com.example.app", "appAppleId": 1_234_567_890]],
    "plans": ["free", "pro"], "limits": ["free": ["free": 9], "pro": ["premium": 20]],
    "stores": ["dialect": "postgres"],
  ]

  private static func key(_ count: Int) -> JSONText {
    .string(utf8: Base64Text.encode([UInt8](repeating: 7, count: count)))
  }

  private func make(_ changes: [(String, JSONText)]) -> Document {
    Verifier.alone(Self.base.setting(changes).bytes).document
  }

  private func effective(_ changes: [(String, JSONText)]) -> String {
    let block = make(changes).tree?.at("configuration.stores")
    return String(decoding: block?.source ?? [], as: UTF8.self)
  }

  private func policy(_ changes: [(String, JSONText)]) throws -> StoresPolicy {
    let read = try ConfigurationReader.read(Self.base.setting(changes).bytes)
    return try require(read.stores)
  }

  @Test("CNF-5 the block is there only when given, with every default filled in")
  func defaults() throws {
    let without = Verifier.alone(Self.base.removing("stores").bytes).document
    checkEqual(without.refusal, "ok ")
    checkEqual(without.tree?.at("configuration.stores")?.isNull, true)
    checkEqual(
      effective([]),
      """
      {"dialect":"postgres","placeholders":"dollar","prefix":"assay_","table":null,\
      "shared":true,"leaseMs":60000,"statementMs":5000,"lockMs":2000,"requestMs":15000,\
      "redis":{"volatile":false},"onUnclear":"retry","forgetKey":null,"pace":{},\
      "transfer":"deny","moveEveryMs":86400000,"onAbsent":"clear","dayOffsetMinutes":0,\
      "quotaUnitsMax":1000000,"failOpen":{"readMs":0,"meters":[]},"keepEvidence":false,\
      "challengeTtlMs":300000,"signup":{"limit":100,"attemptLimit":1000,"unknownLimit":10,\
      "username":{"prefix":"u_","digits":16}}}
      """)
    checkEqual(effective([("stores.failOpen", [:]), ("stores.signup", [:])]), effective([]))
    checkEqual(effective([("stores.signup.username", [:])]), effective([]))
  }

  @Test("every member comes back as it was given, the key as true")
  func given() throws {
    let block: JSONText = [
      "dialect": "dynamodb", "prefix": "shop1_", "table": "T", "shared": false,
      "leaseMs": 5000, "statementMs": 60_000, "lockMs": 100, "requestMs": 600_000,
      "redis": ["volatile": true], "onUnclear": "hold", "forgetKey": Self.key(32),
      "pace": [
        "get-transaction-info": 1, "get-status-of-subscription-renewal-date-extensions": 1000,
      ],
      "transfer": "ask", "moveEveryMs": 0, "onAbsent": "keep", "dayOffsetMinutes": -840,
      "quotaUnitsMax": 1, "failOpen": ["readMs": 5, "meters": ["premium", "free"]],
      "keepEvidence": true, "challengeTtlMs": 10_000,
      "signup": [
        "limit": 7, "attemptLimit": 8, "unknownLimit": 0,
        "username": ["prefix": "", "digits": 48],
      ],
    ]
    checkEqual(
      effective([("stores", block)]),
      """
      {"dialect":"dynamodb","placeholders":null,"prefix":"shop1_","table":"T",\
      "shared":false,"leaseMs":5000,"statementMs":60000,"lockMs":100,"requestMs":600000,\
      "redis":{"volatile":true},"onUnclear":"hold","forgetKey":true,\
      "pace":{"get-transaction-info":1,"get-status-of-subscription-renewal-date-extensions":1000},\
      "transfer":"ask","moveEveryMs":0,"onAbsent":"keep","dayOffsetMinutes":-840,\
      "quotaUnitsMax":1,"failOpen":{"readMs":5,"meters":["premium","free"]},\
      "keepEvidence":true,"challengeTtlMs":10000,"signup":{"limit":7,"attemptLimit":8,\
      "unknownLimit":0,"username":{"prefix":"","digits":48}}}
      """)
    let policy = try policy([("stores", block)])
    checkEqual(policy.forgetKey?.bytes, [UInt8](repeating: 7, count: 32))
    check(policy.onUnclearHolds && policy.onAbsentKeeps && policy.transfer == .ask)
    try checkEqual(self.policy([("stores.signup.limit", 7)]).signup.attemptLimit, 70)
  }

  @Test("STO-13 placeholders are those of the dialect, and a request's own where they fit")
  func placeholders() throws {
    for (dialect, own, good, bad) in [
      ("sqlite", "qmark", ["qmark"], ["dollar", "format"]),
      ("postgres", "dollar", ["qmark", "dollar", "format"], []),
      ("mysql", "qmark", ["qmark", "format"], ["dollar"]),
      ("redis", nil, [], ["qmark", "dollar", "format"]),
    ] as [(String, String?, [String], [String])] {
      let chosen: [(String, JSONText)] = [("stores.dialect", .string(dialect))]
      checkEqual(
        make(chosen).text("configuration.stores.placeholders"), own, "\(dialect)")
      for style in good {
        let document = make(chosen + [("stores.placeholders", .string(style))])
        checkEqual(document.text("configuration.stores.placeholders"), style)
      }
      for style in bad {
        checkEqual(
          make(chosen + [("stores.placeholders", .string(style))]).refusal,
          "config.ledger.placeholders stores.placeholders", "\(dialect) \(style)")
      }
    }
    let format = try policy([("stores.placeholders", "format")])
    checkEqual(format.placeholders(.mysql), .format)
    checkEqual(format.placeholders(.sqlite), .qmark)
    check(format.placeholders(.redis) == nil)
    try checkEqual(policy([]).placeholders(.mysql), .qmark)
  }

  @Test(
    "STO-5 STO-13 STO-56 STO-66 STO-76 STO-81 STO-93 each member is refused by its own name just outside its bounds"
  )
  func refusals() {
    let long = String(repeating: "a", count: 20)
    for (path, value, status) in [
      ("dialect", "oracle", "config.ledger.engine"), ("dialect", 1, "config.ledger.engine"),
      ("dialect", "mysql", "ok"), ("dialect", "sqlite", "ok"),
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
      ("onUnclear", "wait", "config.document.range"),
      ("forgetKey", Self.key(31), "config.ledger.forget-key"),
      ("forgetKey", Self.key(65), "config.ledger.forget-key"), ("forgetKey", Self.key(64), "ok"),
      ("forgetKey", "!", "config.ledger.forget-key"), ("forgetKey", 1, "config.ledger.forget-key"),
      ("transfer", "share", "config.document.range"),
      ("moveEveryMs", -1, "config.document.range"), ("onAbsent", "drop", "config.document.range"),
      ("dayOffsetMinutes", -841, "config.document.range"),
      ("dayOffsetMinutes", 841, "config.document.range"), ("dayOffsetMinutes", 840, "ok"),
      ("quotaUnitsMax", 0, "config.document.range"),
      ("quotaUnitsMax", 1_000_001, "config.document.range"),
      ("failOpen", 1, "config.document.type"), ("failOpen.readMs", -1, "config.document.range"),
      ("failOpen.meters", "free", "config.document.type"),
      ("keepEvidence", 1, "config.document.type"),
      ("challengeTtlMs", 9999, "config.document.range"),
      ("challengeTtlMs", 3_600_001, "config.document.range"),
      ("pace", [], "config.ledger.rate-limits"), ("signup", [], "config.ledger.signup"),
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
        make([("stores." + path, value)]).refusal,
        (status == "ok" ? "ok " : "\(status) stores.\(path)"), "\(path)")
    }
  }

  @Test("CNF-1 STO-13 members that depend on others")
  func together() {
    checkEqual(
      make([("stores", [:])]).refusal, "config.document.missing stores.dialect")
    let dynamo: JSONText = ["dialect": "dynamodb"]
    checkEqual(make([("stores", dynamo)]).refusal, "config.document.missing stores.table")
    checkEqual(
      make([("stores", ["dialect": "sqlite", "shared": false])]).refusal,
      "config.ledger.not-shared stores.shared")
    checkEqual(
      make([("stores.signup.username", ["prefix": "abc", "digits": 48])]).refusal,
      "config.ledger.signup stores.signup.username")
    for meters in [["gold"], ["free", "free"], [1]] as [JSONText] {
      check(make([("stores.failOpen.meters", meters)]).refusal != "ok ")
    }
    for (kind, count) in [
      ("appstore.transactions", 1), ("look-up-order-id", 0), ("look-up-order-id", 1001),
    ] as [(String, JSONText)] {
      let pace: JSONText = .object([.init(kind, count)])
      checkEqual(
        make([("stores.pace", pace)]).refusal, "config.ledger.rate-limits stores.pace.\(kind)")
    }
  }

  @Test("EXC-11 stores are part of the whole, not of the trust; keys of neither")
  func digests() {
    let plain = make([])
    let other = make([("stores.leaseMs", 5000)])
    checkEqual(plain.text("digests.trust"), other.text("digests.trust"))
    check(plain.text("digests.whole") != other.text("digests.whole"))
    let first = make([("stores.forgetKey", Self.key(32))])
    let second = make([("stores.forgetKey", Self.key(33))])
    checkEqual(first.text("digests.whole"), second.text("digests.whole"))
    check(first.text("digests.whole") != plain.text("digests.whole"))
  }
}
