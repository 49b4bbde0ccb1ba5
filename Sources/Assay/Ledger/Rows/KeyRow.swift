/// A device key of an account, with its counter and newest receipt (STO-62).
struct KeyRow: Sendable {
  enum State: Sendable {
    case active, retired

    init?(_ name: Text) {
      switch name {
      case "active": self = .active
      case "retired": self = .retired
      default: return nil
      }
    }

    var name: StaticString {
      switch self {
      case .active: return "active"
      case .retired: return "retired"
      }
    }
  }

  /// SHA-256 of the public key, lower-case hex.
  let id: Text
  var owner: Text
  let app: Text
  /// `production` or `development`.
  let environment: Text
  /// The public key, `04 ‖ x ‖ y` in standard base64.
  let publicKey: Text
  var counter: Int64
  var state: State
  let createdAtMs: Int64
  var usedAtMs: Int64
  var receipt: Receipt

  /// Apple's App Attest receipt of the key.
  struct Receipt: Sendable {
    /// The receipt in standard base64; `nil` if none is stored.
    var bytes: Text? = nil
    /// The time at which Apple made the receipt, in milliseconds since 1970 UTC; 0 if there is
    /// none.
    var createdAtMs: Int64 = 0
    /// The time from which a refresh can succeed, in milliseconds since 1970 UTC; 0 if none will
    /// (RFR-3).
    var nextRefreshAtMs: Int64 = 0
    var risk: Int64? = nil

    init() {}

    init(_ receipt: AttestReceipt) {
      bytes = Text(Base64.encodeStandard(receipt.bytes))
      createdAtMs = receipt.createdAtMs
      nextRefreshAtMs = receipt.refreshAtMs ?? 0
      risk = receipt.risk
    }
  }

  static let columns: [StaticString] = [
    "key_id", "owner", "app", "environment", "public_key", "counter", "state", "created_at_ms",
    "used_at_ms", "receipt", "receipt_created_at_ms", "next_refresh_at_ms", "risk",
  ]

  /// Creates the row of a newly attested key.
  init(_ attestation: Attestation, owner: Text, nowMs: Int64) {
    id = AttestProof.keyId(attestation.keyId)
    self.owner = owner
    app = attestation.appId
    environment = Text(
      stringLiteral: AttestEnvironment.name(production: attestation.isProduction))
    publicKey = Text(Base64.encodeStandard(attestation.publicKey))
    counter = 0
    state = .active
    createdAtMs = nowMs
    usedAtMs = nowMs
    receipt = attestation.receipt.map(Receipt.init) ?? Receipt()
  }

  /// Reads a row whose values have the order of `columns`.
  init(_ row: DatabaseRow) throws(LedgerSuspension) {
    var row = row
    id = try row.text()
    owner = try row.text()
    app = try row.text()
    environment = try row.text()
    publicKey = try row.text()
    counter = try row.integer()
    guard counter >= 0 else { throw .shape("counter") }
    guard let state = State(try row.text()) else { throw .shape("state") }
    self.state = state
    createdAtMs = try row.integer()
    usedAtMs = try row.integer()
    receipt = Receipt()
    receipt.bytes = try row.textIfAny()
    receipt.createdAtMs = try row.integer()
    receipt.nextRefreshAtMs = try row.integer()
    receipt.risk = try row.integerIfAny()
    try row.end()
  }

  /// The row's values by column name.
  var arguments: DatabaseCall.Arguments {
    [
      ("key_id", .text(id)), ("owner", .text(owner)), ("app", .text(app)),
      ("environment", .text(environment)), ("public_key", .text(publicKey)),
      ("counter", .integer(counter)), ("state", .text(Text(stringLiteral: state.name))),
      ("created_at_ms", .integer(createdAtMs)), ("used_at_ms", .integer(usedAtMs)),
    ] + receipt.arguments
  }

  /// Returns `self` if its id is the requested one; an engine that returns another row is refused.
  func checked(_ id: Text) throws(LedgerSuspension) -> KeyRow {
    guard self.id == id else { throw .shape("key_id") }
    return self
  }
}

extension KeyRow.Receipt {
  /// The receipt's values by column name.
  var arguments: DatabaseCall.Arguments {
    [
      ("receipt", DatabaseValue(bytes)), ("receipt_created_at_ms", .integer(createdAtMs)),
      ("next_refresh_at_ms", .integer(nextRefreshAtMs)), ("risk", DatabaseValue(risk)),
    ]
  }
}
