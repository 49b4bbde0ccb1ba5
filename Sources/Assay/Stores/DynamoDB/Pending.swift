// Until h15-english and h15-trust are merged; removed by that merge.
enum GuardScript { static let text: StaticString = ""; static let sha1: StaticString = "" }
extension StoreTalk {
  mutating func dynamoCanonicalKey(_ keys: PurchaseKeys) throws(StoreStop) -> Text { "" }
  mutating func dynamoKnownKey(_ k: Text) throws(StoreStop) -> Text? { nil }
  mutating func dynamoInsert(_ row: LedgerRow, _ e: StoreEvidence) throws(StoreStop) -> LedgerRow {
    row
  }
  mutating func dynamoLedgerRow(_ k: Text) throws(StoreStop) -> LedgerRow? { nil }
  mutating func dynamoTakeOver(_ row: LedgerRow, attempt: Text, leaseMs: Int64) throws(StoreStop)
    -> LedgerRow?
  { nil }
  mutating func dynamoReverse(_ row: LedgerRow, _ e: StoreEvidence) throws(StoreStop) -> LedgerRow?
  { nil }
  mutating func dynamoComplete(_ k: Text, owner: Text, grantId: Text, fence: Int64, note: Text?)
    throws(StoreStop) -> LedgerRow?
  { nil }
  mutating func dynamoDueClaims(attempt: Text, leaseMs: Int64, beforeMs: Int64) throws(StoreStop)
    -> [LedgerRow]
  { [] }
  mutating func dynamoHeldClaims(beforeMs: Int64) throws(StoreStop) -> [LedgerRow] { [] }
  mutating func dynamoLedger(of account: Text) throws(StoreStop) -> [LedgerRow] { [] }
  mutating func dynamoRevoke(_ t: LedgerRow, _ e: StoreEvidence) throws(StoreStop) -> (
    before: LedgerRow?, after: LedgerRow
  ) { (nil, t) }
  mutating func dynamoApply(_ t: LineRow, _ e: StoreEvidence) throws(StoreStop) -> (
    before: LineRow?, after: LineRow
  ) { (nil, t) }
  mutating func dynamoMove(_ t: LineRow, from: Text, beforeMs: Int64) throws(StoreStop) -> LineRow {
    t
  }
  mutating func dynamoLines(of account: Text) throws(StoreStop) -> [LineRow] { [] }
  mutating func dynamoLine(environment: Text, _ id: Text) throws(StoreStop) -> LineRow? { nil }
  mutating func dynamoClear(_ account: Text) throws(StoreStop) -> [LineRow] { [] }
  mutating func dynamoDueLines(leaseMs: Int64, attempt: Text) throws(StoreStop) -> [LineRow] { [] }
  mutating func dynamoNextLooks(_ r: [LineRow], leaseMs: Int64) throws(StoreStop) {}
  mutating func dynamoAudit(_ r: AuditRow) throws(StoreStop) {}
  mutating func dynamoLink(_ r: AccountLink) throws(StoreStop) -> StoreOutcome {
    StoreOutcome { _ in }
  }
  mutating func dynamoForget(_ r: AccountForget) throws(StoreStop) -> StoreOutcome {
    StoreOutcome { _ in }
  }
  mutating func dynamoEvidence(_ r: [Text]) throws(StoreStop) -> [EvidenceRead.Kept] { [] }
}
