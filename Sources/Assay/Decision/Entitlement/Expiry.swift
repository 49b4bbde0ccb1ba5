/// The value that `checkExpiry` takes for an absent date.
public let noDate = Int64.min

/// Returns whether dates that a host stored from an earlier decision entitle at `nowMs`: rows
/// DEC-5, DEC-14, DEC-15 and DEC-21, without leeway (DCD-19).
///
/// - All times: milliseconds since 1970 UTC; `Int64.min` (`noDate`) if absent. A purchase without
///   end is stored with `expiresAtMs` Int64.max.
/// - Returns `ok` if not revoked and `nowMs` is before `expiresAtMs` or before `gracePeriodMs`,
///   strictly; `rejected.expiry.revoked` if `revokedAtMs` is any date; `rejected.expiry.expired`
///   otherwise, also without any date; `misuse.call.now` if `nowMs` is outside 2008 … 2100
///   (JWS-41).
public func checkExpiry(
  expiresAtMs: Int64, gracePeriodMs: Int64, revokedAtMs: Int64, nowMs: Int64
) -> Status {
  guard TimeWindow.contains(nowMs) else { return .misuseCallNow }
  guard revokedAtMs == noDate else { return .rejectedExpiryRevoked }
  guard nowMs < expiresAtMs || nowMs < gracePeriodMs else { return .rejectedExpiryExpired }
  return .ok
}
