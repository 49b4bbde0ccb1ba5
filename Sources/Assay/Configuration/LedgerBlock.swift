/// `ledger`: the policy of the ledger, and the engine for which statements are made
/// (docs/spec/configuration.md §11).
struct LedgerPolicy: Sendable {
  var engine: LedgerEngine
  /// The form of SQL parameters; `nil` for an engine without SQL.
  var placeholders: Placeholders?
  /// The prefix of SQL table names.
  var prefix: Text = "assay_"
  /// The DynamoDB table; never `nil` if that is the engine of the block.
  var table: Text?
  /// Whether all instances of the host use the same database; false if each has its own disk.
  var shared = true
  var leaseMs: Int64 = 60_000
  /// Time limits in milliseconds of a statement, of its wait for a lock, and of all steps of an
  /// exchange (STO-76).
  var statementMs: Int64 = 5000
  var lockMs: Int64 = 2000
  var requestMs: Int64 = 15_000
  /// Whether events may be recorded in a Redis without an append-only file (STO-83).
  var redisIsVolatile = false
  /// Whether an expired lease waits for an operator instead of being resumed (STO-27).
  var expiredLeaseHolds = false
  /// The key of the hash of forgotten accounts, 32 to 64 bytes (STO-93).
  var forgetKey: SecretBytes?
  /// The key of the hashes of customers' ids, 32 to 64 bytes; `nil` if there is no index of
  /// customers (CUS-1).
  var customerKey: SecretBytes?
  /// Requests per second to Apple in Production, by operation (STO-66).
  var rateLimits: [(operation: StaticString, perSecond: Int64)] = []
  var transfer = Transfer.deny
  var transferIntervalMs: Int64 = 86_400_000
  /// Whether a client's statement that it owns nothing leaves its subscriptions active (STO-46).
  var noPurchasesKeeps = false
  var dayOffsetMinutes: Int64 = 0
  var maxUnits: Int64 = 1_000_000
  /// The greatest age, in milliseconds, of the last result that a host may use while the database
  /// is unavailable.
  var failOpenPlanMaxAgeMs: Int64 = 0
  /// Meters whose units are granted uncounted while the database is unavailable.
  var failOpenMeters: [Text] = []
  var keepEvidence = false
  var challengeTtlMs: Int64 = 300_000
  var signup = Signup()

  /// Creates the policy with the defaults of an engine.
  init(_ engine: LedgerEngine) {
    self.engine = engine
    placeholders = Placeholders.standard(engine)
  }

  /// Returns this policy for another engine, named by a request (STO-13).
  func speaking(_ engine: LedgerEngine) -> LedgerPolicy {
    var policy = self
    policy.placeholders = placeholders(engine)
    policy.engine = engine
    return policy
  }

  /// Requires a table name if a request names DynamoDB as its engine.
  ///
  /// - Throws: `config.document.missing` at `ledger.table`.
  func requireTable(of engine: LedgerEngine) throws(Refusal) {
    try require(
      engine != .dynamodb || table != nil, .configDocumentMissing, "CNF-1", at: "ledger.table")
  }

  /// The form of a parameter in SQL.
  enum Placeholders: Int, Sendable {
    /// `?`, `$1`, `%s`.
    case qmark, dollar, format

    static let names: [StaticString] = ["qmark", "dollar", "format"]

    var name: StaticString { Placeholders.names[rawValue] }

    /// Returns the default of an engine; `nil` if it has no SQL.
    static func standard(_ engine: LedgerEngine) -> Placeholders? {
      guard engine.isSQL else { return nil }
      return engine == .postgres ? .dollar : .qmark
    }

    /// Whether some client of the engine accepts this form.
    func fits(_ engine: LedgerEngine) -> Bool {
      switch engine {
      case .sqlite: return self == .qmark
      case .postgres: return true
      case .mariadb: return self != .dollar
      case .dynamodb, .redis: return false
      }
    }
  }

  /// The effect of a second account on a subscription (STO-42).
  enum Transfer: Int, Sendable { case deny, confirm, allow }

  /// The limits of sign-ups per address and day, and the form of user names (STO-55, STO-56).
  struct Signup: Sendable {
    var limit: Int64 = 100
    var attemptLimit: Int64 = 1000
    /// The limit of all sign-ups without a known address together.
    var unknownLimit: Int64 = 10
    /// The first characters of a user name.
    var prefix: Text = "u_"
    /// The number of lower-case hex digits after the prefix.
    var digits: Int64 = 16
  }

  /// Returns the form for the engine that a request names (STO-13): the configured one if the
  /// engine accepts it, else the default.
  func placeholders(_ engine: LedgerEngine) -> Placeholders? {
    if let placeholders, placeholders.fits(engine) { return placeholders }
    return Placeholders.standard(engine)
  }
}

/// The block `ledger` of a configuration.
enum LedgerBlock {
  private static let keyBytes = 32...64
  /// The longest user name in bytes (BCK-12).
  private static let usernameBytes = 50

  static func read(_ node: MemberNode, _ configuration: inout Configuration) throws(Refusal) {
    let entry = try node.object(ConfigurationTable.ledgerMembers).required("engine")
    let engine = try engine(entry)
    var policy = LedgerPolicy(engine)
    let block = try policy.readPlain(node)
    try readSQL(block, &policy)
    try readTable(block, &policy)
    try require(
      policy.shared || engine != .sqlite, .configLedgerNotShared, "STO-13",
      at: block.path + ".shared")
    if let lease = block["leaseMs"]?.refusing(.configLedgerLease, "STO-81") {
      policy.leaseMs = try lease.integer(ConfigurationTable.ledgerLeaseMs)
    }
    try readLimits(block, &policy)
    if let redis = try block["redis"]?.object(ConfigurationTable.ledgerRedisMembers) {
      policy.redisIsVolatile = try redis["volatile"]?.boolean() ?? false
    }
    policy.forgetKey = try readKey(block["forgetKey"]?.refusing(.configLedgerForgetKey, "STO-93"))
    policy.customerKey = try readKey(
      block["customerKey"]?.refusing(.configLedgerCustomerKey, "CUS-1"))
    if let entry = block["rateLimits"]?.refusing(.configLedgerRateLimits, "STO-66") {
      policy.rateLimits = try readRateLimits(entry)
    }
    if let entry = block["failOpen"] {
      try readFailOpen(entry, configuration.quotas, &policy)
    }
    if let entry = block["signup"]?.refusing(.configLedgerSignup, "STO-56") {
      policy.signup = try readSignup(entry)
    }
    configuration.ledger = policy
  }

  private static func readSQL(
    _ block: MemberNode, _ policy: inout LedgerPolicy
  ) throws(Refusal) {
    if let entry = block["placeholders"]?.refusing(.configLedgerPlaceholders, "STO-13") {
      let place = try entry.choice(LedgerPolicy.Placeholders.names)
      policy.placeholders = LedgerPolicy.Placeholders(rawValue: place)
      try require(policy.placeholders?.fits(policy.engine) == true, entry)
    }
    if let entry = block["prefix"] { policy.prefix = try prefix(entry) }
  }

  /// Reads the engine that a configuration or a request names.
  ///
  /// - Throws: `config.ledger.engine`.
  static func engine(_ node: MemberNode) throws(Refusal) -> LedgerEngine {
    let entry = node.refusing(.configLedgerEngine, "STO-13")
    guard let engine = LedgerEngine(try entry.text()) else { throw entry.refusal(.range) }
    return engine
  }

  /// Reads the prefix of SQL table names in a configuration or a request.
  ///
  /// - Throws: `config.ledger.prefix`.
  static func prefix(_ node: MemberNode) throws(Refusal) -> Text {
    let entry = node.refusing(.configLedgerPrefix, "STO-5")
    let prefix = try entry.text(ConfigurationTable.ledgerPrefix)
    try require(isPrefix(prefix.utf8), entry)
    return prefix
  }

  private static func isPrefix(_ bytes: [UInt8]) -> Bool {
    guard let first = bytes.first else { return false }
    return isSmallLetter(first)
      && bytes.allSatisfy { isSmallLetter($0) || isDigit($0) || $0 == 0x5f }
  }

  private static func isSmallLetter(_ byte: UInt8) -> Bool { byte >= 0x61 && byte <= 0x7a }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

  private static func readTable(
    _ block: MemberNode, _ policy: inout LedgerPolicy
  ) throws(Refusal) {
    guard let entry = block["table"] else {
      if policy.engine == .dynamodb { throw block.missing("table") }
      return
    }
    policy.table = try entry.text(ConfigurationTable.ledgerTable)
  }

  /// Reads the time limits. A statement must not wait for a lock longer than it may run, and an
  /// exchange must have time for one statement.
  private static func readLimits(
    _ block: MemberNode, _ policy: inout LedgerPolicy
  ) throws(Refusal) {
    func limit(
      _ name: StaticString, _ bounds: ClosedRange<Int64>, _ standard: Int64
    ) throws(Refusal) -> Int64 {
      let entry = block[name]?.refusing(.configLedgerLimits, "STO-76")
      return try entry?.integer(bounds) ?? min(max(standard, bounds.lowerBound), bounds.upperBound)
    }
    let (statement, lock, request) = (
      ConfigurationTable.ledgerStatementMs, ConfigurationTable.ledgerLockMs,
      ConfigurationTable.ledgerRequestMs
    )
    policy.statementMs = try limit("statementMs", statement, policy.statementMs)
    policy.lockMs = try limit(
      "lockMs", lock.lowerBound...policy.statementMs, policy.lockMs)
    policy.requestMs = try limit(
      "requestMs", policy.statementMs...request.upperBound, policy.requestMs)
  }

  /// Reads the key of a hash, base64 of 32 to 64 bytes.
  private static func readKey(_ entry: MemberNode?) throws(Refusal) -> SecretBytes? {
    guard let entry else { return nil }
    var digits = try entry.text().utf8
    defer { Secret.wipe(&digits) }
    let key = SecretBytes(Base64.decodeStandard(digits[...]) ?? [])
    try require(keyBytes.contains(key.bytes.count), entry)
    return key
  }

  private static func readRateLimits(
    _ node: MemberNode
  ) throws(Refusal) -> [(operation: StaticString, perSecond: Int64)] {
    var limits: [(operation: StaticString, perSecond: Int64)] = []
    for entry in try node.members() {
      guard let row = AppStoreLimits.row(entry.value.name) else { throw entry.refusal(.range) }
      limits.append((row.operation, try entry.integer(1...1000)))
    }
    return limits
  }

  /// Reads the members of `failOpen`. A meter that no plan has is refused as misspelt.
  private static func readFailOpen(
    _ node: MemberNode, _ quotas: [Configuration.PlanQuotas], _ policy: inout LedgerPolicy
  ) throws(Refusal) {
    let block = try node.object(ConfigurationTable.ledgerFailOpenMembers)
    if let entry = block["planMaxAgeMs"] {
      policy.failOpenPlanMaxAgeMs = try entry.integer(ConfigurationTable.ledgerFailOpenPlanMaxAgeMs)
    }
    guard let list = block["meters"] else { return }
    for entry in try list.elements() {
      let meter = try entry.text()
      let isKnown = quotas.contains { $0.meters.contains { $0.meter == meter } }
      try require(isKnown && !policy.failOpenMeters.contains(meter), entry)
      policy.failOpenMeters.append(meter)
    }
  }

  private static func readSignup(_ node: MemberNode) throws(Refusal) -> LedgerPolicy.Signup {
    let block = try node.object(ConfigurationTable.ledgerSignupMembers)
    var signup = LedgerPolicy.Signup()
    if let entry = block["limit"] {
      signup.limit = try entry.integer(ConfigurationTable.ledgerSignupLimit)
    }
    signup.attemptLimit = 10 &* signup.limit
    if let entry = block["attemptLimit"] {
      signup.attemptLimit = try entry.integer(ConfigurationTable.ledgerSignupAttemptLimit)
    }
    if let entry = block["unknownLimit"] {
      signup.unknownLimit = try entry.integer(ConfigurationTable.ledgerSignupUnknownLimit)
    }
    if let entry = block["username"] { try readUsername(entry, &signup) }
    return signup
  }

  private static func readUsername(
    _ node: MemberNode, _ signup: inout LedgerPolicy.Signup
  ) throws(Refusal) {
    let block = try node.object(ConfigurationTable.ledgerSignupUsernameMembers)
    if let entry = block["prefix"] {
      signup.prefix = try entry.text(ConfigurationTable.ledgerSignupUsernamePrefix)
      try require(signup.prefix.utf8.allSatisfy(isNameCharacter), entry)
    }
    if let entry = block["digits"] {
      signup.digits = try entry.integer(ConfigurationTable.ledgerSignupUsernameDigits)
    }
    try require(signup.prefix.count &+ Int(signup.digits) <= usernameBytes, block)
  }

  private static func isNameCharacter(_ byte: UInt8) -> Bool {
    isSmallLetter(byte) || (byte >= 0x41 && byte <= 0x5a) || isDigit(byte) || byte == 0x5f
      || byte == 0x2d
  }
}

extension LedgerPolicy {
  /// Writes the value of `ledger` in the effective configuration.
  func write(_ writer: inout JSONWriter) {
    write(&writer) { member, writer in
      switch member {
      case .engine: writer.member("engine", engine.name)
      case .placeholders:
        writer.member("placeholders", placeholders.map { Text(stringLiteral: $0.name) })
      case .prefix: writer.member("prefix", prefix)
      case .table: writer.member("table", table)
      case .leaseMs: writer.member("leaseMs", integer: leaseMs)
      case .statementMs: writer.member("statementMs", integer: statementMs)
      case .lockMs: writer.member("lockMs", integer: lockMs)
      case .requestMs: writer.member("requestMs", integer: requestMs)
      case .redis: writeRedis(&writer)
      case .forgetKey: writer.member("forgetKey", boolean: forgetKey.map { _ in true })
      case .customerKey: writer.member("customerKey", boolean: customerKey.map { _ in true })
      case .rateLimits: writeRateLimits(&writer)
      case .failOpen: writeFailOpen(&writer)
      case .signup: writeSignup(&writer)
      }
    }
  }

  private func writeRedis(_ writer: inout JSONWriter) {
    writer.name("redis")
    writer.beginObject()
    writer.member("volatile", boolean: redisIsVolatile)
    writer.endObject()
  }

  private func writeRateLimits(_ writer: inout JSONWriter) {
    writer.name("rateLimits")
    writer.beginObject()
    for (kind, perSecond) in rateLimits { writer.member(kind, integer: perSecond) }
    writer.endObject()
  }

  private func writeFailOpen(_ writer: inout JSONWriter) {
    writer.name("failOpen")
    writer.beginObject()
    writer.member("planMaxAgeMs", integer: failOpenPlanMaxAgeMs)
    writer.texts("meters", failOpenMeters)
    writer.endObject()
  }

  private func writeSignup(_ writer: inout JSONWriter) {
    writer.name("signup")
    writer.beginObject()
    writer.member("limit", integer: signup.limit)
    writer.member("attemptLimit", integer: signup.attemptLimit)
    writer.member("unknownLimit", integer: signup.unknownLimit)
    writer.name("username")
    writer.beginObject()
    writer.member("prefix", signup.prefix)
    writer.member("digits", integer: signup.digits)
    writer.endObject()
    writer.endObject()
  }
}
