/// Records the checks of one verification in the order of its code:
///
///     checks.enter(.form)
///     let compact = try CompactJWS(jws)
///     checks.enter(.header)
struct Checks<Check: CheckList>: Sendable {
  private(set) var log = CheckLog(Check.ids)

  /// Opens `check`; the check that was open has passed.
  mutating func enter(_ check: Check) { log.enter(check.rawValue) }

  /// Opens `check` if it applies, and skips it for `reason` otherwise. Returns `applies`.
  @discardableResult
  mutating func enter(_ check: Check, where applies: Bool, else reason: CheckLog.Reason) -> Bool {
    if applies { enter(check) } else { skip(check, reason) }
    return applies
  }

  /// Closes the open check, which has passed.
  mutating func leave() { log.leave() }

  /// Marks `check` as skipped, even if it is open.
  mutating func skip(_ check: Check, _ reason: CheckLog.Reason) {
    log.skip(check.rawValue, reason)
  }
}
