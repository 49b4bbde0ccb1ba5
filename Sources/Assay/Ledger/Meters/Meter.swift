/// One counter of a span of time: a row of quotas, sign-ups or rate limits (docs/spec/ledger.md
/// §4).
struct Meter: Sendable {
  let scope: Text
  let bucket: MeterBucket
  let name: Text

  init(scope: Text, _ bucket: MeterBucket, _ name: Text) {
    self.scope = scope
    self.bucket = bucket
    self.name = name
  }

  /// Returns a jitter seed: processes that meet on one row have different clocks (STO-70).
  func seed(_ nowMs: Int64) -> Text { Text(scope.utf8 + Array(String(nowMs).utf8)) }
}
