/// A row of the ledger: one purchase and what became of it (STM-2).
struct LedgerRow: Sendable {
  enum State: Sendable {
    case claimed, granted, revoked

    init?(_ name: Text) {
      switch name {
      case "claimed": self = .claimed
      case "granted": self = .granted
      case "revoked": self = .revoked
      default: return nil
      }
    }

    var name: StaticString {
      switch self {
      case .claimed: return "claimed"
      case .granted: return "granted"
      case .revoked: return "revoked"
      }
    }
  }

  var purchaseKey: Text
  var environment: Text
  var transactionId: Text
  var originalTransactionId: Text
  var state: State
  /// Empty: nobody's yet.
  var owner: Text
  var product: Text
  var quantity: Int64
  var purchasedMs: Int64
  var asOfMs: Int64
  /// SHA-256 of the evidence.
  var evidence: Text
  /// Reversals so far.
  var generation: Int64
  var grantId: Text
  var attempt: Text
  /// STO-26: the fence.
  var tries: Int64
  var claimedMs: Int64
  var leaseMs: Int64
  var grantedMs: Int64? = nil
  var revokedMs: Int64? = nil
  var note: Text? = nil
  /// Units of the purchase as the catalogue said at the claim (STO-36).
  var units: Int64
  /// Units that the host has confirmed as given and not taken back, 0 … `units` (STO-35).
  var outCount: Int64 = 0
  /// Milliunits of Apple's newest revocation, 0 … 100000; nil: it is not revoked.
  var revokedShare: Int64? = nil
  /// STO-37: how often a grant of this grant id was handed to a host under a lease.
  var repeats: Int64
}

extension LedgerRow {
  /// `leaseMs` of a row of which nothing is due.
  static let noLease = MemberNode.exactInteger

  /// What a grant of this row gives: of a reversed refund what was taken back (STO-36).
  var unitsToGive: Int64 { max(0, units &- outCount) }

  /// STO-35: a take-back was handed out, and the host has not confirmed it.
  var isTakeBackPending: Bool { state == .revoked && outCount > 0 && leaseMs != Self.noLease }
}

extension LedgerRow {
  /// It is the row that was asked for (STO-4).
  func checked(_ key: Text) throws(StoreStop) -> LedgerRow {
    guard purchaseKey == key else { throw .shape("pkey") }
    return self
  }

  /// In the order of the statements' columns.
  ///
  /// - Parameter isDynamo: rows that an older version wrote lack the newest four (STM-8).
  init(_ row: StoreRow, isDynamo: Bool = false) throws(StoreStop) {
    var row = row
    purchaseKey = try row.text()
    environment = try row.text()
    transactionId = try row.text()
    originalTransactionId = try row.text()
    guard let state = State(try row.text()) else { throw .shape("state") }
    self.state = state
    owner = try row.text()
    product = try row.text()
    quantity = try row.integer()
    purchasedMs = try row.integer()
    asOfMs = try row.integer()
    evidence = try row.text()
    generation = try row.integer()
    grantId = try row.text()
    attempt = try row.text()
    tries = try row.integer()
    claimedMs = try row.integer()
    leaseMs = try row.integer()
    grantedMs = try row.integerIfAny()
    revokedMs = try row.integerIfAny()
    note = try row.textIfAny()
    if isDynamo {
      units = try row.integerIfAny() ?? quantity
      outCount = try row.integerIfAny() ?? (state == .granted ? units : 0)
      revokedShare = try row.integerIfAny() ?? (state == .revoked ? RefundShare.full : nil)
      repeats = try row.integerIfAny() ?? tries
    } else {
      units = try row.integer()
      outCount = try row.integer()
      revokedShare = try row.integerIfAny()
      repeats = try row.integer()
    }
    try row.end()
  }

  /// STO-12: of a purchase that was reversed so many times.
  static func grantId(_ purchaseKey: Text, generation: Int64) -> Text {
    let named = generation == 0 ? "" : "#" + String(generation)
    return Text(Hex.encode(Digest.sha256.of(purchaseKey.utf8 + Array(named.utf8))))
  }

  /// By column.
  var arguments: [(name: StaticString, value: StoreValue)] {
    [
      ("pkey", .text(purchaseKey)), ("env", .text(environment)), ("txn", .text(transactionId)),
      ("otx", .text(originalTransactionId)),
      ("state", .text(Text(stringLiteral: state.name))),
      ("owner", .text(owner)), ("product", .text(product)), ("quantity", .integer(quantity)),
      ("purchased_ms", .integer(purchasedMs)), ("asof_ms", .integer(asOfMs)),
      ("evidence", .text(evidence)), ("gen", .integer(generation)),
      ("grant_id", .text(grantId)), ("attempt", .text(attempt)), ("tries", .integer(tries)),
      ("claimed_ms", .integer(claimedMs)), ("lease_ms", .integer(leaseMs)),
      ("granted_ms", StoreValue(grantedMs)), ("revoked_ms", StoreValue(revokedMs)),
      ("note", StoreValue(note)), ("units", .integer(units)), ("out_n", .integer(outCount)),
      ("revoked_pct", StoreValue(revokedShare)), ("repeats", .integer(repeats)),
    ]
  }
}
