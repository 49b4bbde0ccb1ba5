/// The checks of one kind of verification, in the order in which they are made.
protocol CheckList: RawRepresentable<Int>, CaseIterable, Sendable {
  /// As documents name them, by raw value.
  static var ids: [StaticString] { get }
}

/// The ledger of one verification, written as it goes along:
///
///     checks.enter(.form)
///     let compact = try CompactJWS(jws)
///     checks.enter(.header)
struct Checks<Check: CheckList>: Sendable {
  private(set) var ledger = Ledger(Check.ids)

  /// What follows is part of this check; the one before it has passed.
  mutating func enter(_ check: Check) { ledger.enter(check.rawValue) }

  /// Enters the check where it applies and says so; else it is skipped.
  @discardableResult
  mutating func enter(_ check: Check, where applies: Bool, else reason: Ledger.Reason) -> Bool {
    if applies { enter(check) } else { skip(check, reason) }
    return applies
  }

  /// The check that was entered last has passed, and none is entered.
  mutating func leave() { ledger.leave() }

  /// Not made, whether it was entered or not.
  mutating func skip(_ check: Check, _ reason: Ledger.Reason) {
    ledger.skip(check.rawValue, reason)
  }
}
