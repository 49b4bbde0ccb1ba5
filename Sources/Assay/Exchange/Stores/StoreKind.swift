/// The conversations with the host's own store (docs/spec/documents-and-exchanges.md §3.3).
enum StoreKind: Int, CaseIterable, Sendable {
  case claim, claimResume, claimDue, complete, revoke, revokeComplete, revokeDue, eventApply, lookup
  case subscriptionApply, subscriptionRead, subscriptionClear, subscriptionDue
  case quotaTake, quotaRefund, paceTake, signupAdmit, signupSettle
  case challengeIssue, challengeConsume
  case keyBind, keyAdvance, keyReceipt, keyRetire, keyRead
  case once, accountLink, accountForget, evidenceRead, schemaCheck

  static func named(_ name: Text) -> StoreKind? {
    names.first { name.utf8[...].elementsEqual($0.name) }?.kind
  }

  /// To make a row for each is slow.
  private static let names: [(name: StaticString, kind: StoreKind)] = allCases.map {
    ($0.row.name, $0)
  }

  /// What Redis keeps: nothing whose loss would pay out twice (STO-13).
  var isForRedis: Bool {
    switch self {
    case .quotaTake, .quotaRefund, .paceTake, .signupAdmit, .signupSettle, .challengeIssue,
      .challengeConsume, .once, .schemaCheck:
      return true
    default: return false
    }
  }

  /// EXC-2: whether it is about such evidence.
  func takes(_ evidence: VerifiedEvidence) -> Bool {
    switch (self, evidence) {
    case (.challengeConsume, .attestation), (.challengeConsume, .assertion): return true
    case (.keyBind, .attestation), (.keyAdvance, .assertion): return true
    case (.keyReceipt, .attestReceipt): return true
    case (.claim, _), (.revoke, _), (.eventApply, _), (.lookup, _), (.subscriptionApply, _):
      return evidence.purchaseSource != nil
    default: return false
    }
  }

  var row: ExchangeRow {
    switch self {
    case .claim, .claimResume, .claimDue, .complete, .revoke, .revokeComplete, .revokeDue,
      .eventApply, .lookup:
      return ledgerRow
    case .subscriptionApply, .subscriptionRead, .subscriptionClear, .subscriptionDue:
      return subscriptionRow
    case .quotaTake, .quotaRefund, .paceTake, .signupAdmit, .signupSettle: return meterRow
    case .challengeIssue, .challengeConsume, .keyBind, .keyAdvance, .keyReceipt, .keyRetire,
      .keyRead:
      return keyRow
    case .once, .accountLink, .accountForget, .evidenceRead, .schemaCheck: return accountRow
    }
  }

  private var ledgerRow: ExchangeRow {
    switch self {
    case .claim:
      return ExchangeRow(
        store: "claim",
        [
          "account", "attempt", "mode", "accountToken", "leaseMs", "only", "limit", "note",
          "onUnclear", "resolve", "allowRepeat",
        ], evidence: 1...32, maxSteps: 1030)
    case .claimResume:
      return ExchangeRow(
        store: "claim.resume",
        ["purchaseKey", "account", "attempt", "leaseMs", "onUnclear", "resolve", "note"])
    case .claimDue:
      return ExchangeRow(
        store: "claim.due", ["attempt", "leaseMs", "olderMs", "onUnclear"], maxSteps: 36)
    case .complete:
      return ExchangeRow(
        store: "complete", ["purchaseKey", "account", "grantId", "fence", "note"])
    case .revoke:
      return ExchangeRow(
        store: "revoke", ["attempt", "mode", "leaseMs"], evidence: 1...32, maxSteps: 520)
    case .revokeComplete:
      return ExchangeRow(store: "revoke.complete", ["purchaseKey", "takeId", "fence", "taken"])
    case .revokeDue:
      return ExchangeRow(
        store: "revoke.due", ["attempt", "leaseMs", "olderMs"], maxSteps: 36)
    case .eventApply:
      return ExchangeRow(
        store: "event.apply", ["attempt", "mode", "leaseMs"], evidence: 1...32, maxSteps: 910)
    default:
      return ExchangeRow(
        store: "lookup", ["account", "environment", "transactionId", "operator"],
        evidence: 0...32, maxSteps: 104)
    }
  }

  private var subscriptionRow: ExchangeRow {
    switch self {
    case .subscriptionApply:
      return ExchangeRow(
        store: "subscription.apply", ["account", "accountToken", "confirm"], evidence: 1...32,
        maxSteps: 390)
    case .subscriptionRead:
      return ExchangeRow(store: "subscription.read", ["account", "last"])
    case .subscriptionClear:
      return ExchangeRow(store: "subscription.clear", ["account"], maxSteps: 62)
    default:
      return ExchangeRow(store: "subscription.due", ["attempt", "leaseMs"], maxSteps: 36)
    }
  }

  private var meterRow: ExchangeRow {
    switch self {
    case .quotaTake:
      return ExchangeRow(store: "quota.take", ["account", "meter", "plan", "units"])
    case .quotaRefund: return ExchangeRow(store: "quota.refund", ["ticket"])
    case .paceTake:
      // Repeated as a network kind is: `attempt` is a number (STO-66).
      return ExchangeRow(
        "pace.take", ["dialect", "bundleId", "for", "environment"], maxSteps: 17,
        isRepeatable: true)
    case .signupAdmit:
      return ExchangeRow(
        store: "signup.admit", ["address", "username", "passwordBytes"], maxSteps: 12)
    default: return ExchangeRow(store: "signup.settle", ["ticket", "result"])
    }
  }

  private var keyRow: ExchangeRow {
    switch self {
    case .challengeIssue:
      return ExchangeRow(
        store: "challenge.issue", ["challenge", "purpose", "subject"], withheld: ["challenge"])
    case .challengeConsume:
      return ExchangeRow(
        store: "challenge.consume", ["purpose", "subject", "challenge", "by"],
        withheld: ["challenge"], evidence: 0...1)
    case .keyBind: return ExchangeRow(store: "key.bind", ["account"], evidence: 1...1)
    case .keyAdvance: return ExchangeRow(store: "key.advance", ["account"], evidence: 1...1)
    case .keyReceipt: return ExchangeRow(store: "key.receipt", [], evidence: 1...1)
    case .keyRetire: return ExchangeRow(store: "key.retire", ["account", "keyId"])
    default: return ExchangeRow(store: "key.read", ["keyId", "account"])
    }
  }

  private var accountRow: ExchangeRow {
    switch self {
    case .once: return ExchangeRow(store: "once", ["id", "attempt"])
    case .accountLink:
      return ExchangeRow(
        store: "account.link", ["from", "to", "attempt", "reason", "operator"], maxSteps: 240)
    case .accountForget:
      return ExchangeRow(
        store: "account.forget", ["account", "attempt", "reason"], maxSteps: 240)
    case .evidenceRead:
      return ExchangeRow(
        store: "evidence.read",
        ["sha256", "purchaseKey", "environment", "originalTransactionId"])
    default: return ExchangeRow(store: "schema.check", [], maxSteps: 12)
    }
  }
}
