import AssayAuthority

@_spi(AssayMigrate) import Assay

/// What a run does, beside its input and its ledger. All of it changes results.
struct MigrateOptions: Sendable {
  enum Owed: String {
    /// What is owed is only listed.
    case list
    /// What is owed is claimed under a lease that is over, so that `resume-expired` gives it out.
    case claim
  }

  enum Conflict: String {
    case hold, earliest
  }

  /// Whether purchases are delivered of which the rows do not say; `nil`: each row says it.
  var assumesGranted: Bool?
  var owed = Owed.list
  var conflict = Conflict.hold
  /// Whether the shop grants each period of a subscription, as it grants a consumable.
  var hasPeriods = false
  var isDryRun = false
  var maxRejects: Int?
  var batch = 500
  var jobs = 1

  /// Whether a purchase of this kind is granted once, and so has a row of its own in the ledger.
  func isOnce(_ kind: StatedPurchase.Kind) -> Bool {
    switch kind {
    case .consumable, .nonConsumable: true
    case .autoRenewable, .nonRenewing: hasPeriods
    case .unknown: false
    }
  }

  /// What a later start of the run must share with the first.
  var json: JSONText {
    .object([
      .init("assume", assumesGranted.map { .boolean($0) } ?? .null),
      .init("owed", .string(owed.rawValue)), .init("conflict", .string(conflict.rawValue)),
      .init("periods", .boolean(hasPeriods)), .init("dryRun", .boolean(isDryRun)),
    ])
  }
}
