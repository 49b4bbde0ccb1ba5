import AssayAuthority
import Testing

@testable import Assay

/// Tests quotas with scripted replies (docs/spec/ledger.md §5.6).
@Suite("Stores: quota")
struct LedgerMeterTests {
  private static let now = Minted.now + 3_600_000
  private static let tomorrow = Minted.now + 86_400_000

  private func verifier(
    _ engine: LedgerEngine, _ more: [(String, JSONText)] = [],
    _ changes: [(String, JSONText)] = []
  ) throws -> Verifier {
    try Minted.verifier(
      [
        ("plans", ["free", "standard", "premium"]),
        (
          "quotas",
          [
            "free": ["free": 99999, "premium": 0], "standard": ["free": 99999, "premium": 20],
          ]
        ), ("ledger", StoreAnswer.stores(engine, more)),
      ] + changes)
  }

  private let request: JSONText = [
    "operation": "consume-quota", "account": "ann", "meter": "premium", "plan": "standard",
  ]

  private func take(
    _ engine: LedgerEngine, _ more: [(String, JSONText)] = [],
    stores: [(String, JSONText)] = [], now: Int64 = LedgerMeterTests.now
  ) throws -> LedgerScript {
    LedgerScript(try verifier(engine, stores), request.setting(more), now: now)
  }

  private func ticket(_ text: String) -> String {
    String(decoding: Base64.decodeURL(utf8(text)[...]) ?? [], as: UTF8.self)
  }

  // MARK: take

  @Test("STO-51 STO-52 a unit is taken, on every engine", arguments: StoreAnswer.engines)
  func taken(_ engine: LedgerEngine) throws {
    let script = try take(engine, [("units", 3)])
    script.expect("pending.exchange.database")
    checkEqual(script.document.flag("exchange.database.repeatable"), false)
    let connection = script.document.text("exchange.database.connection")
    checkEqual(connection, (engine == .mariadb ? "same" : "any"))
    try script.answer(StoreAnswer.counted(engine, 8))
    script.expect("ok", "consumed")
    checkEqual(script.document.integer("exchange.used"), 8)
    checkEqual(script.document.integer("exchange.limit"), 20)
    checkEqual(script.document.integer("exchange.left"), 12)
    checkEqual(script.document.integer("exchange.resetAtMs"), Self.tomorrow)
    checkEqual(script.document.text("exchange.fallback"), "free")
    checkEqual(
      script.source("exchange.headers"),
      #"{"RateLimit-Policy":"\"premium\";q=20;w=86400","#
        + #""RateLimit":"\"premium\";r=12;t=82800"}"#)
    checkEqual(
      ticket(try require(script.document.text("exchange.ticket"))),
      #"{"v":1,"op":"take","scope":"USER#ann","bucket":"2026-11-21","meter":"premium","#
        + #""units":3}"#)
  }

  @Test("STO-51 the limit is reached, on every engine", arguments: StoreAnswer.engines)
  func exhausted(_ engine: LedgerEngine) throws {
    let script = try take(engine)
    try script.answer(StoreAnswer.full(engine))
    script.expect("rejected.quota.exhausted", "exhausted", at: "meter")
    checkEqual(script.source("exchange.used"), "null")
    checkEqual(script.source("exchange.ticket"), "null")
    checkEqual(script.document.integer("exchange.left"), 0)
    checkEqual(script.document.integer("exchange.resetAtMs"), Self.tomorrow)
    checkEqual(script.document.text("exchange.fallback"), "free")
    checkEqual(script.document.text("exchange.headers.Retry-After"), "82800")
    checkEqual(script.document.text("exchange.headers.RateLimit"), "\"premium\";r=0;t=82800")
  }

  @Test("BCK-20 the wait in seconds is rounded up, and at least one")
  func seconds() throws {
    for (before, seconds) in [(1, "1"), (1000, "1"), (1001, "2")] as [(Int64, String)] {
      let script = try take(.sqlite, now: Self.tomorrow - before)
      try script.answer(StoreAnswer.full(.sqlite))
      checkEqual(script.document.text("exchange.headers.Retry-After"), seconds)
    }
  }

  @Test("STO-51 BCK-8 what is never within the limit costs no statement")
  func decided() throws {
    let none = try take(.sqlite, [("plan", "free")])
    none.expect("rejected.quota.not-in-plan", "not-in-plan", at: "meter")
    checkEqual(none.document.text("error.rule"), "BCK-8")
    checkEqual(none.document.text("exchange.fallback"), "free")
    try take(.sqlite, [("plan", "premium")]).expect("rejected.quota.not-in-plan", "not-in-plan")
    try take(.sqlite, [("units", 21)]).expect("rejected.quota.exhausted", "exhausted")
    try checkEqual(take(.sqlite, [("units", 20)]).step, 1)
    // The most generous meter has no fallback.
    let free = try take(.sqlite, [("meter", "free")])
    try free.answer("{\"rows\":[[1]]}")
    checkEqual(free.source("exchange.fallback"), "null")
  }

  @Test("STO-50 STO-5 what a host must not ask")
  func misuse() throws {
    let wrong: [(String, JSONText, String)] = [
      ("meter", "image", "misuse.ledger.meter"), ("meter", "", "misuse.ledger.meter"),
      ("meter", 1, "misuse.ledger.meter"), ("plan", "gold", "misuse.ledger.plan"),
      ("plan", 1, "misuse.ledger.plan"), ("units", 0, "misuse.ledger.units"),
      ("units", -1, "misuse.ledger.units"), ("units", "1", "misuse.ledger.units"),
      ("units", 1_000_001, "misuse.ledger.units"), ("account", "", "misuse.ledger.account"),
      ("account", "ann ", "misuse.ledger.account"), ("account", " ann", "misuse.ledger.account"),
      ("account", "a\u{1}", "malformed.ledger.text"),
      ("account", .string(String(repeating: "a", count: 256)), "misuse.ledger.account"),
      ("ticket", "x", "misuse.exchange.request"), ("engine", "oracle", "config.ledger.engine"),
    ]
    for (member, value, status) in wrong {
      try take(.sqlite, [(member, value)]).expect(status, at: member)
    }
    for member in ["account", "meter", "plan"] {
      let script = LedgerScript(try verifier(.sqlite), request.removing(member))
      script.expect("misuse.exchange.request", at: member)
    }
  }

  @Test("STO-52 the day is that of the first call, with the offset")
  func day() throws {
    let days: [(Int64, JSONText, String, Int64)] = [
      (Self.tomorrow - 1, 0, "2026-11-21", Self.tomorrow),
      (Self.tomorrow, 0, "2026-11-22", Self.tomorrow + 86_400_000),
      (Self.tomorrow - 3_600_000, 60, "2026-11-22", Self.tomorrow + 82_800_000),
      (Self.tomorrow - 3_600_001, 60, "2026-11-21", Self.tomorrow - 3_600_000),
      (Minted.now, -1, "2026-11-20", Minted.now + 60_000),
    ]
    for (now, offset, bucket, reset) in days {
      let script = try take(.sqlite, stores: [("dayOffsetMinutes", offset)], now: now)
      let kept = reset + 7 * 86_400_000
      checkEqual(
        script.arguments(), "[\"USER#ann\",\"\(bucket)\",\"premium\",1,\(kept),19,19]")
      // The reply comes on another day, and from a clock that ran backwards.
      try script.answer("{\"rows\":[[1]]}", after: now == Self.tomorrow ? -5000 : 500_000)
      script.expect("ok", "consumed")
      checkEqual(script.document.integer("exchange.resetAtMs"), reset)
    }
  }

  @Test("STO-2 STM-22 what the engines are asked")
  func calls() throws {
    let mariadb = try take(.mariadb)
    checkEqual(mariadb.sql()?.contains("VALUES (?,?,?,0,?) ON DUPLICATE KEY UPDATE"), true)
    checkEqual(mariadb.arguments(1), "[1,\"USER#ann\",\"2026-11-21\",\"premium\",19]")
    checkEqual(mariadb.sql(2), "SELECT ROW_COUNT(), LAST_INSERT_ID()")
    checkEqual(mariadb.source("exchange.database.calls.0.returnsRows"), "false")
    checkEqual(mariadb.source("exchange.database.calls.2.returnsRows"), "true")
    let ttl = Self.tomorrow + 7 * 86_400_000
    let redis = try take(.redis, [("units", 2)])
    checkEqual(
      redis.document.text("exchange.database.calls.0.script"),
      Text(stringLiteral: GuardScript.text).string)
    checkEqual(
      redis.source("exchange.database.calls.0.keys"), #"["assay:{USER#ann}:q:premium:2026-11-21"]"#)
    checkEqual(
      redis.arguments(), #"["\#(ttl)","2","used","2","1","3","le","used","18","0","2","used","2"]"#)
    let dynamo = try take(.dynamodb)
    checkEqual(dynamo.document.text("exchange.database.calls.0.api"), "UpdateItem")
    let input = "exchange.database.calls.0.input."
    checkEqual(dynamo.document.text(input + "Key.PK.S"), "USER#ann")
    checkEqual(dynamo.document.text(input + "Key.SK.S"), "DATE#2026-11-21")
    checkEqual(
      dynamo.document.text(input + "UpdateExpression"),
      "SET #count = if_not_exists(#count, :zero) + :units, #ttl = :ttl")
    checkEqual(
      dynamo.document.text(input + "ConditionExpression"),
      "attribute_not_exists(#count) OR #count <= :room")
    checkEqual(
      dynamo.source(input + "ExpressionAttributeNames"),
      ##"{"#count":"count_premium","#ttl":"ttl"}"##)
    checkEqual(dynamo.document.text(input + "ExpressionAttributeValues.:room.N"), "19")
    checkEqual(
      dynamo.document.text(input + "ExpressionAttributeValues.:ttl.N"), "\(ttl / 1000)")
  }

  @Test("STO-4 an answer of another shape is not understood", arguments: StoreAnswer.engines)
  func shapes(_ engine: LedgerEngine) throws {
    let script = try take(engine, stores: [("failOpen", ["meters": ["premium"]])])
    let prefix = engine == .mariadb ? "{},{}," : ""
    let wrong: [String]
    switch engine {
    case .sqlite, .postgres:
      wrong = [
        "{}", "{\"rows\":[[]]}", "{\"rows\":[[1,2]]}", "{\"rows\":[[1],[2]]}",
        "{\"rows\":[[\"x\"]]}", "{\"rows\":[[null]]}", "{\"rows\":[[0]]}", "{\"rows\":[[21]]}",
        "{\"rows\":[[1.5]]}", "{\"rows\":[[9007199254740993]]}", "{\"reply\":[\"1\"]}",
        "{\"output\":{}}", "", "{\"rows\":[[1]]},{}",
      ]
    case .mariadb:
      wrong = [
        "{}", "{\"rows\":[]}", "{\"rows\":[[1]]}", "{\"rows\":[[2,1]]}", "{\"rows\":[[-1,1]]}",
        "{\"rows\":[[1,null]]}", "{\"rows\":[[1,21]]}", "{\"rows\":[[1,1,1]]}",
      ]
    case .dynamodb:
      wrong = [
        "{}", "{\"output\":{}}", "{\"output\":{\"Attributes\":{}}}", "{\"rows\":[[1]]}",
        "{\"output\":{\"Attributes\":{\"count_premium\":{\"S\":\"1\"}}}}",
        "{\"output\":{\"Attributes\":{\"count_premium\":{\"N\":\"21\"}}}}",
        "{\"output\":{\"Attributes\":{\"count_premiums\":{\"N\":\"1\"}}}}",
      ]
    case .redis:
      wrong = [
        "{\"reply\":[]}", "{\"reply\":[\"1\"]}", "{\"reply\":[\"0\"]}", "{\"rows\":[[1]]}",
        "{\"reply\":[\"3\",\"used\",\"1\"]}", "{\"reply\":[\"2\",\"used\"]}",
        "{\"reply\":[\"2\",\"m\",\"1\"]}", "{\"reply\":[\"2\",\"used\",\"x\"]}",
        "{\"reply\":[\"1\",\"used\",\"2\"]}", "{\"reply\":[\"2\",\"used\",\"1\",\"used\",\"1\"]}",
        "{\"reply\":[\"2\",\"used\",null]}", "{\"reply\":[\"2\",\"used\",\"21\"]}",
      ]
    }
    checkEqual(script.step, 1)
    for answer in wrong {
      let script = try take(engine, stores: [("failOpen", ["meters": ["premium"]])])
      try script.answer(prefix + answer)
      checkEqual(script.document.name, "unavailable.database.unexpected-reply", "\(answer)")
    }
  }

  // MARK: failures

  @Test("STO-71 a take is not repeated when nobody knows whether it ran")
  func unclear() throws {
    let lost = try take(.postgres)
    try lost.lose()
    lost.expect("unavailable.database.outcome-unknown", at: "code")
    for (engine, code) in [(LedgerEngine.postgres, "08006"), (.mariadb, "2013")] {
      let script = try take(engine)
      try script.fail(code)
      script.expect("unavailable.database.outcome-unknown", at: "error.code")
    }
    let full = try take(.sqlite)
    try full.fail("13")
    full.expect("unavailable.database.statement-failed", at: "error.code")
  }

  @Test("STO-70 what did not run is repeated three times")
  func busy() throws {
    let script = try take(.sqlite)
    let first = script.source("exchange.database.calls")
    for _ in 1...3 {
      try script.fail("5", executed: "no")
      script.expect("pending.exchange.wait")
      try script.wait()
      checkEqual(script.source("exchange.database.calls"), first)
    }
    try script.fail("5", executed: "no")
    script.expect("unavailable.database.contention", at: "error.code")
  }

  @Test("§7 a free meter goes on uncounted while the store is away, and no other does")
  func failOpen() throws {
    let open: [(String, JSONText)] = [("failOpen", ["meters": ["free"]])]
    let free = try take(.redis, [("meter", "free")], stores: open)
    try free.lose()
    free.expect("ok", "consumed")
    checkEqual(free.document.flag("exchange.unmetered"), true)
    for member in ["used", "left", "ticket"] {
      checkEqual(free.source("exchange.\(member)"), "null")
    }
    checkEqual(free.source("exchange.headers"), "{}")
    let paid = try take(.redis, stores: open)
    try paid.lose()
    paid.expect("unavailable.database.outcome-unknown")
    let closed = try take(.redis, [("meter", "free")])
    try closed.lose()
    closed.expect("unavailable.database.outcome-unknown")
    // An unexpected row does not count as an unavailable database.
    let odd = try take(.redis, [("meter", "free")], stores: open)
    try odd.answer("{\"reply\":[\"9\"]}")
    odd.expect("unavailable.database.unexpected-reply")
  }

  @Test("EXC-5 an answer to another step changes nothing")
  func order() throws {
    let script = try take(.sqlite)
    try script.raw("{\"id\":2,\"code\":200,\"results\":[{\"rows\":[[1]]}]}")
    Exchanges.expect(script.document, "misuse.exchange.order", at: "id")
    try script.raw("{\"id\":1,\"code\":200,\"results\":[{\"rows\":[[1]]}]}")
    script.expect("ok", "consumed")
    try script.raw("{\"id\":1,\"code\":200,\"results\":[{\"rows\":[[2]]}]}")
    Exchanges.expect(script.document, "misuse.exchange.order")
  }

  @Test("EXC-5 STO-3 a result has one member, of the form of its engine")
  func results() throws {
    for result in [
      "{\"rows\":[[1]],\"output\":{}}", "{\"output\":[]}", "{\"rows\":{}}", "{\"more\":1}", "7",
      "[]",
      "{\"rows\":[{\"used\":1}]}", "{\"reply\":{\"used\":1}}",
    ] {
      let script = try take(.sqlite)
      try script.raw("{\"id\":1,\"code\":200,\"results\":[\(result)]}")
      checkEqual(script.document.name, "misuse.exchange.reply", "\(result)")
    }
  }

  // MARK: refund

  @Test("STO-53 a refund goes to the day of its ticket", arguments: StoreAnswer.engines)
  func refund(_ engine: LedgerEngine) throws {
    let taken = try take(engine, [("units", 3)], now: Self.tomorrow - 1)
    try taken.answer(StoreAnswer.counted(engine, 3, isNew: true))
    let request: JSONText = [
      "operation": "release-quota",
      "ticket": .string(try require(taken.document.text("exchange.ticket"))),
    ]
    let (verifier, later) = (try verifier(engine), Self.tomorrow + 5)
    let back = LedgerScript(verifier, request, now: later)
    checkEqual(back.document.flag("exchange.database.repeatable"), false)
    check(back.source("exchange.database").contains("2026-11-21"))
    try back.answer(StoreAnswer.counted(engine, 0, isRefund: true))
    back.expect("ok", "released")
    checkEqual(back.document.integer("exchange.used"), 0)
    let none = LedgerScript(verifier, request, now: later)
    try none.answer(StoreAnswer.full(engine, isRefund: true))
    none.expect("ok", "none")
    checkEqual(none.source("exchange.used"), "null")
    let below = LedgerScript(verifier, request, now: later)
    try below.answer(StoreAnswer.counted(engine, -1, isRefund: true))
    below.expect("unavailable.database.unexpected-reply")
    let lost = LedgerScript(verifier, request, now: later)
    try lost.lose()
    lost.expect("unavailable.database.outcome-unknown")
  }

  @Test("STO-53 STO-4 what Redis says of a refund: no row, and what is no answer to one")
  func refundOnRedis() throws {
    let taken = try take(.redis)
    try taken.answer(StoreAnswer.counted(.redis, 1, isNew: true))
    let request: JSONText = [
      "operation": "release-quota",
      "ticket": .string(try require(taken.document.text("exchange.ticket"))),
    ]
    for (reply, status, outcome) in [
      ("\"0\"", "ok", "none"), ("\"2\"", "unavailable.database.unexpected-reply", nil),
      ("\"1\",\"used\",\"1\"", "unavailable.database.unexpected-reply", nil),
    ] as [(String, String, String?)] {
      let script = LedgerScript(try verifier(.redis), request, now: Self.now)
      try script.answer("{\"reply\":[\(reply)]}")
      script.expect(status, outcome)
    }
  }

  @Test("STO-69 only a ticket of a take is one")
  func tickets() throws {
    let good: [(String, String)] = [
      ("v", "1"), ("op", "\"take\""), ("scope", "\"USER#ann\""), ("bucket", "\"2026-11-21\""),
      ("meter", "\"premium\""), ("units", "1"),
    ]
    func refund(_ members: [(String, String)]) throws -> LedgerScript {
      let text = members.map { "\"\($0)\":\($1)" }.joined(separator: ",")
      let ticket = Base64.encodeURL(utf8("{\(text)}"))
      return LedgerScript(
        try verifier(.sqlite), ["operation": "release-quota", "ticket": .string(utf8: ticket)])
    }
    try refund(good).expect("pending.exchange.database")
    let wrong: [(String, String)] = [
      ("v", "2"), ("op", "\"admit\""), ("op", "\"give\""), ("scope", "\"SIGNUP_IP#1.2.3.4\""),
      ("scope", "7"), ("bucket", "\"2026-11-31\""), ("bucket", "\"2026-1-21\""),
      ("bucket", "\"2026-11-2a\""), ("bucket", "\"2026-0:-21\""),
      ("bucket", "\"2026-13-01\""), ("bucket", "\"2026-11-00\""),
      ("bucket", "\"2026-011-1\""), ("meter", "\"\""), ("meter", "\"a\\\"b\""), ("units", "0"),
      ("units", "-1"), ("units", "\"1\""),
    ]
    for (name, value) in wrong {
      let members = good.map { $0.0 == name ? (name, value) : $0 }
      let script = try refund(members)
      checkEqual(script.document.name, "misuse.ledger.ticket", "\(name) \(value)")
    }
    for place in good.indices {
      var members = good
      members.remove(at: place)
      try refund(members).expect("misuse.ledger.ticket")
    }
    try refund(good + [("more", "1")]).expect("misuse.ledger.ticket")
    for text in ["", "e30", "%%%", String(repeating: "A", count: 1025)] {
      LedgerScript(try verifier(.sqlite), ["operation": "release-quota", "ticket": .string(text)])
        .expect("misuse.ledger.ticket")
    }
  }
}
