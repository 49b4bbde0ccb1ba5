import AssayAuthority
import Testing

@testable import Assay

/// Tests sign-ups with scripted replies (docs/spec/ledger.md §5.7).
@Suite("Stores: sign-up")
struct LedgerSignupTests {
  private static let name = "u_0123456789abcdef"
  private static let reset = Minted.now + 86_400_000

  private let request: JSONText = [
    "operation": "begin-signup", "address": "192.0.2.7", "username": .string(name),
    "passwordBytes": 24,
  ]

  private func admit(
    _ more: [(String, JSONText)] = [], _ engine: LedgerEngine = .sqlite,
    stores: [(String, JSONText)] = []
  ) throws -> LedgerScript {
    LedgerScript(
      try Minted.verifier([("ledger", StoreAnswer.stores(engine, stores))]),
      request.setting(more))
  }

  @Test("STO-56 attempts are counted, then accounts", arguments: StoreAnswer.engines)
  func admitted(_ engine: LedgerEngine) throws {
    let script = try admit([], engine)
    check(script.source("exchange.database").contains("attempts"))
    try script.answer(StoreAnswer.counted(engine, 7, meter: "attempts"))
    check(script.source("exchange.database").contains("created"))
    try script.answer(StoreAnswer.counted(engine, 100, meter: "created"))
    script.expect("ok", "admitted")
    checkEqual(script.document.integer("exchange.left"), 0)
    checkEqual(script.document.integer("exchange.resetAtMs"), Self.reset)
    checkEqual(script.source("exchange.headers"), "{}")
    let ticket = try require(script.document.text("exchange.ticket"))
    checkEqual(
      String(decoding: Base64.decodeURL(utf8(ticket)[...]) ?? [], as: UTF8.self),
      #"{"v":1,"op":"admit","scope":"SIGNUP_IP#192.0.2.7","bucket":"2026-11-21","#
        + #""meter":"created","units":1}"#)
  }

  @Test("BCK-13 either counter stops it, and the second is not asked after the first")
  func exhausted() throws {
    let attempts = try admit()
    let kept = Self.reset + 2 * 86_400_000
    checkEqual(
      attempts.arguments(),
      "[\"SIGNUP_IP#192.0.2.7\",\"2026-11-21\",\"attempts\",1,\(kept),999,999]")
    try attempts.answer("{\"rows\":[]}")
    let created = try admit()
    try created.answer("{\"rows\":[[1]]}")
    checkEqual(
      created.arguments(), "[\"SIGNUP_IP#192.0.2.7\",\"2026-11-21\",\"created\",1,\(kept),99,99]")
    try created.answer("{\"rows\":[]}")
    let closed = try admit([], stores: [("signup", ["limit": 0, "attemptLimit": 5])])
    try closed.answer("{\"rows\":[[1]]}")
    for script in [attempts, created, closed] {
      script.expect("rejected.signup.exhausted", "exhausted", at: "address")
      checkEqual(script.source("exchange.headers"), #"{"Retry-After":"86400"}"#)
      checkEqual(script.source("exchange.ticket"), "null")
    }
    try admit([], stores: [("signup", ["attemptLimit": 0])])
      .expect("rejected.signup.exhausted", "exhausted")
  }

  @Test("STO-82 a counter in Redis outlives a clock that is days behind")
  func expiry() throws {
    let script = try admit([], .redis)
    checkEqual(
      script.document.text("exchange.database.calls.0.args.0"), "\(Self.reset + 7 * 86_400_000)")
  }

  @Test("BCK-12 BCK-22 the credentials are looked at before any counter")
  func credentials() throws {
    let missing: [(String, JSONText)] = [
      ("username", .null), ("username", ""), ("passwordBytes", .null), ("passwordBytes", 0),
    ]
    for (member, value) in missing {
      try admit([(member, value)]).expect("malformed.signup.missing", "malformed", at: member)
    }
    let names = [
      "u_0123456789abcde", "u_0123456789abcdef0", "u_0123456789ABCDEF", "v_0123456789abcdef",
      "0123456789abcdef", "u_0123456789abcdeg", "u_0123012301230123", "u_0000000000000000",
      "u_0123456789abcdef ", "u_０123456789abcde",
    ]
    for name in names {
      try admit([("username", .string(name))])
        .expect("malformed.signup.credentials", "malformed", at: "username")
    }
    try admit([("username", 5)])
      .expect("malformed.signup.credentials", "malformed", at: "username")
    try admit([("passwordBytes", 101)])
      .expect("malformed.signup.credentials", "malformed", at: "passwordBytes")
    try admit([("passwordBytes", 100)]).expect("pending.exchange.database")
    try admit([("username", "u_0123401234012340")]).expect("pending.exchange.database")
    try admit([("passwordBytes", -1)]).expect("misuse.exchange.request", at: "passwordBytes")
    try admit([("password", "x")]).expect("misuse.exchange.request", at: "password")
    let own: [(String, JSONText)] = [
      ("signup", ["username": ["prefix": "app-", "digits": 20]])
    ]
    try admit([("username", "app-0123456789abcdef0123")], stores: own)
      .expect("pending.exchange.database")
    try admit([], stores: own).expect("malformed.signup.credentials", "malformed")
  }

  @Test("STO-55 an address is one household")
  func addresses() throws {
    let known: [(String, String)] = [
      ("192.0.2.7", "192.0.2.7"), ("255.255.255.255", "255.255.255.255"),
      ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"), ("2001:DB8:1:2::", "2001:db8:1:2::/64"),
      ("2001:0db8:0001:0002::1", "2001:db8:1:2::/64"), ("2001:db8::1", "2001:db8::/64"),
      ("2001:0:0:5::", "2001:0:0:5::/64"), ("::1", "::/64"), ("::", "::/64"),
      ("fe80::1%eth0", "fe80::/64"), ("::ffff:192.0.2.7", "192.0.2.7"),
      ("::ffff:c000:207", "192.0.2.7"), ("0:0:0:0:0:ffff:192.0.2.7", "192.0.2.7"),
      ("64:ff9b::192.0.2.7", "64:ff9b::/64"), ("1:2:3:4:5:6:7::", "1:2:3:4::/64"),
    ]
    for (text, bucket) in known {
      let address = SourceAddress(Text(text))
      check(address.bucket == Text(bucket) && address.isKnown, "\(text)")
    }
    let unknown = [
      "", "unknown", "192.0.2", "192.0.2.256", "192.0.2.07", "192.0.2.7.8", "192.0.2.7:80",
      "192.0.2.", "192.0.2.7a", "fe80::1%" + String(repeating: "e", count: 121),
      " 192.0.2.7", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3", ":::", "1:2:3:4:5:6:7:8::",
      "12345::", "g::", ":1:2:3:4:5:6:7", "1:2:3:4:5:6:7:", "::192.0.2.7.8", "192.0.2.7::",
      "[::1]", String(repeating: "0", count: 129),
    ]
    for text in unknown {
      let address = SourceAddress(Text(text))
      check(address.bucket == "unknown" && !address.isKnown, "\(text)")
    }
    check(!SourceAddress(nil).isKnown)
    for value in [.null, "nowhere"] as [JSONText] {
      let script = try admit([("address", value)])
      try script.answer("{\"rows\":[[1]]}")
      checkEqual(script.document.text("exchange.database.calls.0.args.0"), "SIGNUP_IP#unknown")
      check(script.arguments().hasSuffix(",9,9]"))
    }
    try admit([("address", 7)]).expect("misuse.exchange.request", at: "address")
  }

  @Test("STO-57 only accounts that were made count", arguments: StoreAnswer.engines)
  func settled(_ engine: LedgerEngine) throws {
    let admitted = try admit([], engine)
    try admitted.answer(StoreAnswer.counted(engine, 1, meter: "attempts", isNew: true))
    try admitted.answer(StoreAnswer.counted(engine, 1, meter: "created", isNew: true))
    let ticket = try require(admitted.document.text("exchange.ticket"))
    let verifier = try Minted.verifier([("ledger", StoreAnswer.stores(engine))])
    func settle(_ result: JSONText) -> LedgerScript {
      LedgerScript(
        verifier, ["operation": "finish-signup", "ticket": .string(ticket), "result": result])
    }
    let created = settle("created")
    created.expect("ok", "created")
    checkEqual(created.document.flag("exchange.released"), false)
    for (result, status) in [
      ("exists", "ok"), ("provider-busy", "unavailable.signup.provider"),
      ("provider-error", "unavailable.signup.provider"),
    ] {
      let script = settle(.string(result))
      check(script.source("exchange.database").contains("created"))
      check(!script.source("exchange.database").contains("attempts"))
      try script.answer(
        StoreAnswer.counted(engine, 0, meter: "created", isRefund: true))
      script.expect(status, result)
      checkEqual(script.document.flag("exchange.released"), true)
    }
    settle("maybe").expect("misuse.exchange.request", at: "result")
    let request: JSONText = ["operation": "release-quota", "ticket": .string(ticket)]
    LedgerScript(verifier, request).expect("misuse.ledger.ticket", at: "ticket")
  }
}
