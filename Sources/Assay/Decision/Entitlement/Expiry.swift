/// No date: the value of a date that does not exist, in `checkExpiry`.
public let noDate = Int64.min

/// Whether dates that a host stored from an earlier decision are in force at
/// `nowMs`: rows DEC-5, DEC-14, DEC-15 and DEC-21, without leeway (DCD-19).
///
/// - All times: milliseconds since 1970 UTC; `Int64.min` (`noDate`) where there
///   is none. What does not end is stored with `expiresMs` Int64.max.
/// - Returns `ok` when not revoked and `nowMs` lies before `expiresMs` or before
///   `gracePeriodMs`, strictly; `rejected.expiry.revoked` when `revokedMs` is any
///   date; `rejected.expiry.ended` otherwise, also without any date;
///   `misuse.call.now` when `nowMs` lies outside 2008 … 2100 (JWS-41).
public func checkExpiry(
  expiresMs: Int64, gracePeriodMs: Int64, revokedMs: Int64, nowMs: Int64
) -> Status {
  guard TimeWindow.contains(nowMs) else { return .misuseCallNow }
  guard revokedMs == noDate else { return .rejectedExpiryRevoked }
  guard nowMs < expiresMs || nowMs < gracePeriodMs else { return .rejectedExpiryEnded }
  return .ok
}
