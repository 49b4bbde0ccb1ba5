/// `stores`: which statements are given out, and what they decide
/// (docs/spec/configuration.md §11).
struct StoresPolicy: Sendable {
  var dialect: StoreDialect
  /// nil: the dialect has no SQL.
  var placeholders: Placeholders?
  /// Of SQL tables.
  var prefix: Text = "assay_"
  /// Of DynamoDB; there whenever that is the dialect of the block.
  var table: Text?
  /// false: each instance of the host has a disk of its own.
  var shared = true
  var leaseMs: Int64 = 60_000
  /// STO-76: of a statement, of its wait for a lock, of all steps of an exchange.
  var statementMs: Int64 = 5000
  var lockMs: Int64 = 2000
  var requestMs: Int64 = 15_000
  /// STO-83: `once` may stand on a Redis without an append-only file.
  var redisIsVolatile = false
  /// STO-27: a claim whose lease ended waits for a person.
  var onUnclearHolds = false
  /// STO-93: 32 … 64 octets.
  var forgetKey: SecretBytes?
  /// STO-66: requests a second by kind, in Production.
  var pace: [(kind: StaticString, perSecond: Int64)] = []
  var transfer = Transfer.deny
  var moveEveryMs: Int64 = 86_400_000
  /// STO-46: the client's word that it owns nothing changes nothing.
  var onAbsentKeeps = false
  var dayOffsetMinutes: Int64 = 0
  var quotaUnitsMax: Int64 = 1_000_000
  /// How old the last answer may be that a host reads while the store is away.
  var failOpenReadMs: Int64 = 0
  /// Meters that go on uncounted while the store is away.
  var failOpenMeters: [Text] = []
  var keepEvidence = false
  var challengeTtlMs: Int64 = 300_000
  var signup = Signup()

  /// The defaults for a dialect.
  init(_ dialect: StoreDialect) {
    self.dialect = dialect
    placeholders = Placeholders.standard(dialect)
  }

  /// STO-13: the same for another dialect, which a request names.
  func speaking(_ dialect: StoreDialect) -> StoresPolicy {
    var policy = self
    policy.placeholders = placeholders(dialect)
    policy.dialect = dialect
    return policy
  }

  /// What a request's own dialect needs of the block.
  ///
  /// - Throws: `config.document.missing` at `stores.table`.
  func requireTable(of dialect: StoreDialect) throws(Refusal) {
    try require(
      dialect != .dynamodb || table != nil, .configDocumentMissing, "CNF-1", at: "stores.table")
  }

  /// How a parameter is written in SQL.
  enum Placeholders: Int, Sendable {
    /// `?`, `$1`, `%s`.
    case qmark, dollar, format

    static let names: [StaticString] = ["qmark", "dollar", "format"]

    var name: StaticString { Placeholders.names[rawValue] }

    /// What a dialect has where nothing is said.
    static func standard(_ dialect: StoreDialect) -> Placeholders? {
      guard dialect.isSQL else { return nil }
      return dialect == .postgres ? .dollar : .qmark
    }

    /// Whether some client of that engine takes them.
    func fits(_ dialect: StoreDialect) -> Bool {
      switch dialect {
      case .sqlite: return self == .qmark
      case .postgres: return true
      case .mysql: return self != .dollar
      case .dynamodb, .redis: return false
      }
    }
  }

  /// A second account for a line (STO-42).
  enum Transfer: Int, Sendable { case deny, ask, move }

  /// Sign-ups per address and day, and the shape of user names (STO-55, STO-56).
  struct Signup: Sendable {
    var limit: Int64 = 100
    var attemptLimit: Int64 = 1000
    /// Of all whose address is not known, together.
    var unknownLimit: Int64 = 10
    /// User names begin with it.
    var prefix: Text = "u_"
    /// Lower-case hex digits after it.
    var digits: Int64 = 16
  }

  /// Those of a request that names its own dialect (STO-13): the configured ones where
  /// they fit.
  func placeholders(_ dialect: StoreDialect) -> Placeholders? {
    if let placeholders, placeholders.fits(dialect) { return placeholders }
    return Placeholders.standard(dialect)
  }
}

/// The block `stores` of a configuration.
enum StoresBlock {
  private static let forgetKeyBytes = 32...64
  /// BCK-12: of a user name.
  private static let usernameBytes = 50

  static func read(_ node: MemberNode, _ configuration: inout Configuration) throws(Refusal) {
    let entry = try node.object(ConfigurationTable.storesMembers).required("dialect")
    let dialect = try dialect(entry)
    var policy = StoresPolicy(dialect)
    let block = try policy.readPlain(node)
    try readSQL(block, &policy)
    try readTable(block, &policy)
    try require(
      policy.shared || dialect != .sqlite, .configStoreNotShared, "STO-13",
      at: block.path + ".shared")
    if let lease = block["leaseMs"]?.refusing(.configStoreLease, "STO-81") {
      policy.leaseMs = try lease.integer(ConfigurationTable.storesLeaseMs)
    }
    try readLimits(block, &policy)
    if let redis = try block["redis"]?.object(ConfigurationTable.storesRedisMembers) {
      policy.redisIsVolatile = try redis["volatile"]?.boolean() ?? false
    }
    policy.forgetKey = try readForgetKey(block)
    if let pace = block["pace"]?.refusing(.configStorePace, "STO-66") {
      policy.pace = try readPace(pace)
    }
    if let entry = block["failOpen"] {
      try readFailOpen(entry, configuration.limits, &policy)
    }
    if let entry = block["signup"]?.refusing(.configStoreSignup, "STO-56") {
      policy.signup = try readSignup(entry)
    }
    configuration.stores = policy
  }

  private static func readSQL(
    _ block: MemberNode, _ policy: inout StoresPolicy
  ) throws(Refusal) {
    if let entry = block["placeholders"]?.refusing(.configStorePlaceholders, "STO-13") {
      let place = try entry.choice(StoresPolicy.Placeholders.names)
      policy.placeholders = StoresPolicy.Placeholders(rawValue: place)
      try require(policy.placeholders?.fits(policy.dialect) == true, entry)
    }
    if let entry = block["prefix"] { policy.prefix = try prefix(entry) }
  }

  /// The dialect that a configuration or a request names.
  ///
  /// - Throws: `config.store.dialect`.
  static func dialect(_ node: MemberNode) throws(Refusal) -> StoreDialect {
    let entry = node.refusing(.configStoreDialect, "STO-13")
    guard let dialect = StoreDialect(try entry.text()) else { throw entry.refusal(.range) }
    return dialect
  }

  /// The prefix of SQL tables that a configuration or a request names.
  ///
  /// - Throws: `config.store.prefix`.
  static func prefix(_ node: MemberNode) throws(Refusal) -> Text {
    let entry = node.refusing(.configStorePrefix, "STO-5")
    let prefix = try entry.text(ConfigurationTable.storesPrefix)
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
    _ block: MemberNode, _ policy: inout StoresPolicy
  ) throws(Refusal) {
    guard let entry = block["table"] else {
      if policy.dialect == .dynamodb { throw block.missing("table") }
      return
    }
    policy.table = try entry.text(ConfigurationTable.storesTable)
  }

  /// A statement waits for a lock no longer than it runs, and an exchange has time for one.
  private static func readLimits(
    _ block: MemberNode, _ policy: inout StoresPolicy
  ) throws(Refusal) {
    func limit(
      _ name: StaticString, _ bounds: ClosedRange<Int64>, _ standard: Int64
    ) throws(Refusal) -> Int64 {
      let entry = block[name]?.refusing(.configStoreLimits, "STO-76")
      return try entry?.integer(bounds) ?? min(max(standard, bounds.lowerBound), bounds.upperBound)
    }
    let (statement, lock, request) = (
      ConfigurationTable.storesStatementMs, ConfigurationTable.storesLockMs,
      ConfigurationTable.storesRequestMs
    )
    policy.statementMs = try limit("statementMs", statement, policy.statementMs)
    policy.lockMs = try limit(
      "lockMs", lock.lowerBound...policy.statementMs, policy.lockMs)
    policy.requestMs = try limit(
      "requestMs", policy.statementMs...request.upperBound, policy.requestMs)
  }

  private static func readForgetKey(_ block: MemberNode) throws(Refusal) -> SecretBytes? {
    guard let entry = block["forgetKey"]?.refusing(.configStoreForgetKey, "STO-93") else {
      return nil
    }
    var digits = try entry.text().utf8
    defer { Secret.wipe(&digits) }
    let key = SecretBytes(Base64.decodeStandard(digits[...]) ?? [])
    try require(forgetKeyBytes.contains(key.bytes.count), entry)
    return key
  }

  private static func readPace(
    _ node: MemberNode
  ) throws(Refusal) -> [(kind: StaticString, perSecond: Int64)] {
    var pace: [(kind: StaticString, perSecond: Int64)] = []
    for entry in try node.members() {
      guard let row = AppStoreLimits.row(entry.value.name) else { throw entry.refusal(.range) }
      pace.append((row.kind, try entry.integer(1...1000)))
    }
    return pace
  }

  /// A meter that no limit names is misspelt.
  private static func readFailOpen(
    _ node: MemberNode, _ limits: [Configuration.PlanLimits], _ policy: inout StoresPolicy
  ) throws(Refusal) {
    let block = try node.object(ConfigurationTable.storesFailOpenMembers)
    if let entry = block["readMs"] {
      policy.failOpenReadMs = try entry.integer(ConfigurationTable.storesFailOpenReadMs)
    }
    guard let list = block["meters"] else { return }
    for entry in try list.elements() {
      let meter = try entry.text()
      let isKnown = limits.contains { $0.meters.contains { $0.meter == meter } }
      try require(isKnown && !policy.failOpenMeters.contains(meter), entry)
      policy.failOpenMeters.append(meter)
    }
  }

  private static func readSignup(_ node: MemberNode) throws(Refusal) -> StoresPolicy.Signup {
    let block = try node.object(ConfigurationTable.storesSignupMembers)
    var signup = StoresPolicy.Signup()
    if let entry = block["limit"] {
      signup.limit = try entry.integer(ConfigurationTable.storesSignupLimit)
    }
    signup.attemptLimit = 10 &* signup.limit
    if let entry = block["attemptLimit"] {
      signup.attemptLimit = try entry.integer(ConfigurationTable.storesSignupAttemptLimit)
    }
    if let entry = block["unknownLimit"] {
      signup.unknownLimit = try entry.integer(ConfigurationTable.storesSignupUnknownLimit)
    }
    if let entry = block["username"] { try readUsername(entry, &signup) }
    return signup
  }

  private static func readUsername(
    _ node: MemberNode, _ signup: inout StoresPolicy.Signup
  ) throws(Refusal) {
    let block = try node.object(ConfigurationTable.storesSignupUsernameMembers)
    if let entry = block["prefix"] {
      signup.prefix = try entry.text(ConfigurationTable.storesSignupUsernamePrefix)
      try require(signup.prefix.utf8.allSatisfy(isNameCharacter), entry)
    }
    if let entry = block["digits"] {
      signup.digits = try entry.integer(ConfigurationTable.storesSignupUsernameDigits)
    }
    try require(signup.prefix.count &+ Int(signup.digits) <= usernameBytes, block)
  }

  private static func isNameCharacter(_ byte: UInt8) -> Bool {
    isSmallLetter(byte) || (byte >= 0x41 && byte <= 0x5a) || isDigit(byte) || byte == 0x5f
      || byte == 0x2d
  }
}

extension StoresPolicy {
  /// The value of `stores` in the effective configuration.
  func write(_ writer: inout JSONWriter) {
    write(&writer) { member, writer in
      switch member {
      case .dialect: writer.member("dialect", dialect.name)
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
      case .pace: writePace(&writer)
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

  private func writePace(_ writer: inout JSONWriter) {
    writer.name("pace")
    writer.beginObject()
    for (kind, perSecond) in pace { writer.member(kind, integer: perSecond) }
    writer.endObject()
  }

  private func writeFailOpen(_ writer: inout JSONWriter) {
    writer.name("failOpen")
    writer.beginObject()
    writer.member("readMs", integer: failOpenReadMs)
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
