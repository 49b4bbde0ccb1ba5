/// Purchases and their keys. A row that is returned is the one stored afterwards, whether the
/// change was made or not, and `nil` if there is none.
protocol PurchaseTable: AnyObject {
  // MARK: keys

  /// Returns the key of the one row to which both keys of a purchase lead (STO-11).
  func canonicalKey(_ keys: PurchaseKeys) throws(LedgerSuspension) -> Text

  /// Returns the canonical key of a transaction without storing its keys; `nil` if it is unknown.
  func knownKey(_ transactionKey: Text) throws(LedgerSuspension) -> Text?

  /// Stores `shown`, and returns the canonical key and the owner of the purchase's subscription;
  /// the owner is `nil` if there is no subscription, as for consumables. A claim that is granted in
  /// a transaction begins it here.
  ///
  /// - Parameters:
  ///   - shown: The subscription as the evidence reports it (RPL-2); `nil` if it is only read.
  ///   - new: Returns the row to insert, unless another account owns the subscription; `nil` if
  ///     none is inserted. Used only where the same step can insert it.
  /// - Returns: The stored row as well, if the step inserts or reads it.
  func resolve(
    _ keys: PurchaseKeys, of purchase: LedgerPurchase, _ shown: SubscriptionUpdate?,
    inTransaction: Bool, _ new: () -> LedgerRow?
  ) throws(LedgerSuspension) -> (key: Text, subscriptionOwner: Text?, row: LedgerRow?)

  // MARK: claims

  func ledgerRow(_ key: Text) throws(LedgerSuspension) -> LedgerRow?

  /// Inserts `row` if no row has its purchase key.
  func insert(_ row: LedgerRow, _ evidence: StoredEvidence) throws(LedgerSuspension) -> LedgerRow

  /// Takes over a claimed row of the same owner whose lease has expired.
  ///
  /// - Parameter purchase: The purchase with which the row is claimed now; `nil` if the row keeps
  ///   its evidence.
  func takeOver(
    _ row: LedgerRow, _ request: ClaimRequest, _ purchase: LedgerPurchase?
  ) throws(LedgerSuspension) -> LedgerRow?

  /// Hands out a row that an interrupted transaction on DynamoDB has left claimed, under a larger
  /// fencing token: if that transaction is still alive, its grant fails because the row has changed
  /// (STO-37).
  func handOut(_ row: LedgerRow, _ request: ClaimRequest) throws(LedgerSuspension) -> LedgerRow?

  /// Gives a row without owner to its first claimant (STO-34).
  ///
  /// - Parameter next: The row to store over `row`, which was read.
  func adopt(
    _ next: LedgerRow, over row: LedgerRow, _ evidence: StoredEvidence
  ) throws(LedgerSuspension) -> LedgerRow?

  /// Frees a revoked row without owner that newer evidence reports in force again: its first
  /// claimant gets it (STO-34).
  func free(
    _ next: LedgerRow, over row: LedgerRow, _ evidence: StoredEvidence
  ) throws(LedgerSuspension)

  /// Reverses the revocation of a row, under another grant id (RFD-2, RFA-44).
  ///
  /// - Parameter next: The row to store; its generation is one more than that of the row read.
  func reverse(_ next: LedgerRow, _ evidence: StoredEvidence) throws(LedgerSuspension) -> LedgerRow?

  /// Raises `asOfMs` of a row that is not revoked to the time of newer evidence without a
  /// revocation, so that an older revocation is `stale` from then on (STO-33).
  func raise(
    _ row: LedgerRow, _ evidence: StoredEvidence, toMs: Int64
  ) throws(LedgerSuspension) -> LedgerRow

  /// Marks a claimed row of that grant id as granted, unless the row has a larger fencing token
  /// (STO-26). Returns whether it was claimed before, too.
  func complete(
    _ key: Text, owner: Text, grantId: Text, fencingToken: Int64, note: Text?
  ) throws(LedgerSuspension) -> (row: LedgerRow?, isMade: Bool)

  // MARK: grants in a transaction

  /// Claims a purchase in the transaction that `resolve` has begun, and lets the host grant it
  /// there (STO-21).
  ///
  /// - Parameter new: The row to insert if there is none; `nil` if this request inserts none,
  ///   because another account owns the subscription or the request names no account.
  func grant(
    _ key: Text, _ new: LedgerRow?, _ request: ClaimRequest, _ purchase: LedgerPurchase,
    note: Text?
  ) throws(LedgerSuspension) -> Claim

  /// Claims the purchase of a reversed refund for the owner of its row in a transaction, and lets
  /// the host grant it there.
  func grantReversed(
    _ key: Text, _ request: ClaimRequest, _ purchase: LedgerPurchase
  ) throws(LedgerSuspension) -> Claim

  // MARK: revocations

  /// Revokes a purchase: the row is inserted or found, locked, evaluated and written, so that of
  /// all deliveries of one revocation exactly one learns that the purchase was granted
  /// (docs/spec/ledger.md §5.3).
  ///
  /// - Parameter tombstone: The row to insert if there is none.
  func revoke(
    _ tombstone: LedgerRow, _ purchase: LedgerPurchase, _ revoker: Revoker, _ revokedAtMs: Int64
  ) throws(LedgerSuspension) -> Revocation

  /// Records that the host has taken back what `take` names, unless the row has a larger fencing
  /// token (STO-35).
  func taken(
    _ key: Text, _ take: TakeBackId, fencingToken: Int64
  ) throws(LedgerSuspension) -> LedgerRow?

  // MARK: several rows

  /// Takes over the rows of a state whose lease ended at `beforeMs` or earlier; at most 25 (STO-30,
  /// STO-35).
  func takeDue(
    _ state: LedgerRow.State, attemptId: Text, leaseMs: Int64, beforeMs: Int64
  ) throws(LedgerSuspension) -> [LedgerRow]

  /// Returns the claims whose lease ended at `beforeMs` or earlier, and leaves them as they are
  /// (STO-27).
  func heldClaims(beforeMs: Int64) throws(LedgerSuspension) -> [LedgerRow]

  /// Returns the newest 50 rows of an account, and whether the newest changes may be missing.
  func purchases(of account: Text) throws(LedgerSuspension) -> (rows: [LedgerRow], isEventual: Bool)
}
