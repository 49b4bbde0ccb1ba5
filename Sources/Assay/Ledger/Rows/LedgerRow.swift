/// A row of the ledger: one purchase and its state (STM-2).
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
  /// The owning account; empty while no account has claimed the purchase.
  var owner: Text
  var product: Text
  var quantity: Int64
  var purchasedAtMs: Int64
  var asOfMs: Int64
  /// SHA-256 of the evidence, lower-case hex.
  var evidence: Text
  /// The number of reversals so far.
  var generation: Int64
  var grantId: Text
  var attemptId: Text
  /// The fencing token (STO-26).
  var fencingToken: Int64
  var claimedAtMs: Int64
  var leaseMs: Int64
  var grantedAtMs: Int64? = nil
  var revokedAtMs: Int64? = nil
  var note: Text? = nil
  /// Units of the purchase by the catalogue at the time of the claim (STO-36).
  var units: Int64
  /// Units that the host has confirmed as given and not taken back, 0 … `units` (STO-35).
  var outCount: Int64 = 0
  /// The share that Apple's newest revocation takes back, in milliunits, 0 … 100000; `nil` if the
  /// purchase is not revoked.
  var revokedShare: Int64? = nil
  /// The number of times that this grant id was handed to a host under a lease (STO-37).
  var repeats: Int64
}

extension LedgerRow {
  /// The value of `leaseMs` in a row without a lease.
  static let noLease = MemberNode.exactInteger

  /// Units that a grant of this row gives; after a reversed refund those that had been taken back
  /// (STO-36).
  var unitsToGive: Int64 { max(0, units &- outCount) }

  /// Whether a take-back was handed out that the host has not confirmed yet (STO-35).
  var isTakeBackPending: Bool { state == .revoked && outCount > 0 && leaseMs != Self.noLease }
}

extension LedgerRow {
  /// Returns `self` if its key is the requested one; an engine that returns another row is
  /// refused (STO-4).
  func checked(_ key: Text) throws(LedgerSuspension) -> LedgerRow {
    guard purchaseKey == key else { throw .shape("purchase_key") }
    return self
  }

  /// Reads a row whose values have the order of the statements' columns.
  ///
  /// - Parameter isDynamo: Whether the row is DynamoDB's, where rows written by an older version
  ///   lack the last four columns (STM-8).
  init(_ row: DatabaseRow, isDynamo: Bool = false) throws(LedgerSuspension) {
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
    purchasedAtMs = try row.integer()
    asOfMs = try row.integer()
    evidence = try row.text()
    generation = try row.integer()
    grantId = try row.text()
    attemptId = try row.text()
    fencingToken = try row.integer()
    claimedAtMs = try row.integer()
    leaseMs = try row.integer()
    grantedAtMs = try row.integerIfAny()
    revokedAtMs = try row.integerIfAny()
    note = try row.textIfAny()
    if isDynamo {
      units = try row.integerIfAny() ?? quantity
      outCount = try row.integerIfAny() ?? (state == .granted ? units : 0)
      revokedShare = try row.integerIfAny() ?? (state == .revoked ? RefundShare.full : nil)
      repeats = try row.integerIfAny() ?? fencingToken
    } else {
      units = try row.integer()
      outCount = try row.integer()
      revokedShare = try row.integerIfAny()
      repeats = try row.integer()
    }
    try row.end()
  }

  /// Returns the grant id of a purchase after `generation` reversals (STO-12).
  static func grantId(_ purchaseKey: Text, generation: Int64) -> Text {
    let named = generation == 0 ? "" : "#" + String(generation)
    return Text(Hex.encode(Digest.sha256.of(purchaseKey.utf8 + Array(named.utf8))))
  }

  /// The row's values by column name.
  var arguments: DatabaseCall.Arguments {
    [
      ("purchase_key", .text(purchaseKey)), ("environment", .text(environment)),
      ("transaction_id", .text(transactionId)),
      ("original_transaction_id", .text(originalTransactionId)),
      ("state", .text(Text(stringLiteral: state.name))),
      ("owner", .text(owner)), ("product", .text(product)), ("quantity", .integer(quantity)),
      ("purchased_at_ms", .integer(purchasedAtMs)), ("as_of_ms", .integer(asOfMs)),
      ("evidence", .text(evidence)), ("generation", .integer(generation)),
      ("grant_id", .text(grantId)), ("attempt_id", .text(attemptId)),
      ("fencing_token", .integer(fencingToken)),
      ("claimed_at_ms", .integer(claimedAtMs)), ("lease_expires_at_ms", .integer(leaseMs)),
      ("granted_at_ms", DatabaseValue(grantedAtMs)), ("revoked_at_ms", DatabaseValue(revokedAtMs)),
      ("note", DatabaseValue(note)), ("units", .integer(units)),
      ("granted_units", .integer(outCount)),
      ("revocation_percentage", DatabaseValue(revokedShare)), ("repeats", .integer(repeats)),
    ]
  }
}
