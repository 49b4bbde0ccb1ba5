/// The index of customers: accounts at the keys of Apple's ids, downloads whose consent was
/// withdrawn, and restricted accounts (docs/spec/customers.md).
protocol CustomerTable: AnyObject {
  /// Joins the account to the keys, and restricts it if consent was withdrawn at one of the
  /// downloads (CUS-4, CUS-21).
  ///
  /// - Parameter entries: In the byte order of their keys; not empty.
  /// - Returns: The restrictions of the account afterwards.
  func join(
    _ entries: [CustomerEntry], to account: Text
  ) throws(LedgerSuspension) -> [Restriction]

  /// Returns the downloads of an app by which Apple can be asked and of which no run has read the
  /// history to its end since `beforeMs`, the oldest first; at most 25.
  func downloadsLeft(
    in environment: Text, of bundleId: Text, beforeMs: Int64
  ) throws(LedgerSuspension) -> [DownloadRow]

  /// Stores how far the histories of a download were read, unless another run has read on since.
  func store(_ next: DownloadRow, over read: DownloadRow) throws(LedgerSuspension)

  /// Marks the download as rescinded, unless consent was given again since, and restricts every
  /// account at it while it is marked (CUS-20).
  ///
  /// - Returns: The restricted accounts, the newest first and at most 50, and whether there are more.
  func rescind(
    _ rescission: Rescission
  ) throws(LedgerSuspension) -> (accounts: [RestrictedAccount], hasMore: Bool)

  /// Inserts a restriction unless the account has one of that source.
  ///
  /// - Returns: The restriction as stored afterwards, and whether it was inserted.
  func restrict(
    _ restriction: Restriction
  ) throws(LedgerSuspension) -> (restriction: Restriction, isMade: Bool)

  /// Deletes restrictions of one account; those of consent also mark their downloads as given
  /// consent again (CUS-23).
  ///
  /// - Parameter restrictions: In the byte order of their sources; not empty.
  func lift(_ restrictions: [Restriction]) throws(LedgerSuspension)

  /// Returns the restrictions of an account, the oldest first; at most 50.
  func restrictions(of account: Text) throws(LedgerSuspension) -> [Restriction]

  /// Returns which of the accounts are restricted.
  func areRestricted(_ accounts: [Text]) throws(LedgerSuspension) -> [Bool]

  /// Returns the subscriptions of an account, and its restrictions, in one step.
  func standing(
    of account: Text
  ) throws(LedgerSuspension) -> (subscriptions: [SubscriptionRow], restrictions: [Restriction])

  /// Returns the rows of each key, the newest first; at most 51 of a key.
  func customers(at keys: [Text]) throws(LedgerSuspension) -> [[CustomerRow]]

  /// Returns the rows of an account, the newest first and at most 51, and whether the newest may be
  /// missing.
  func customers(
    of account: Text
  ) throws(LedgerSuspension) -> (rows: [CustomerRow], isEventual: Bool)

  /// Returns the purchases of each account since a moment, counted to 101 (CUS-40).
  func purchaseCounts(
    of accounts: [Text], sinceMs: Int64
  ) throws(LedgerSuspension) -> [PurchaseCount]

  /// Returns the device keys of an account, the newest first; at most 101.
  func deviceKeys(of account: Text) throws(LedgerSuspension) -> [DeviceKeySummary]
}
