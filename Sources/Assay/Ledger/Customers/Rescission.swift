/// The withdrawal of consent to a child's use of the app: a notification RESCIND_CONSENT (CUS-20).
struct Rescission: Sendable {
  /// The key of the child's download.
  let download: Text
  /// The date at which Apple signed the notification, in milliseconds since 1970 UTC.
  let atMs: Int64

  /// The largest number of accounts that a result lists.
  static let accountCap = 50

  /// Creates the withdrawal that a notification reports; `nil` for any other evidence, and for a
  /// notification that names no download.
  init?(_ evidence: VerifiedEvidence, _ key: SecretBytes) {
    guard case .storeKit(let payload) = evidence, payload.kind == .notification,
      payload.text("notificationType") == "RESCIND_CONSENT",
      let download = payload.notification?.nested(.appTransaction), let id = download.downloadId
    else { return nil }
    self.download =
      CustomerKey(download: id, in: download.identity.environment, key).text
    atMs = payload.effectiveDate.milliseconds
  }

  /// Returns the withdrawal that evidence reports.
  ///
  /// - Throws: `misuse.exchange.evidence` for any other evidence (CUS-20).
  static func needed(
    _ evidence: VerifiedEvidence, _ key: SecretBytes
  ) throws(Refusal) -> Rescission {
    guard let rescission = Rescission(evidence, key) else {
      throw Refusal(.misuseExchangeEvidence, "CUS-20", at: "evidence[0]")
    }
    return rescission
  }

  /// Restricts every account at the download, and writes an audit row for each that is listed.
  ///
  /// - Returns: The accounts, at most 50, and whether there are more.
  func apply(
    _ database: any DurableDatabase
  ) throws(LedgerSuspension) -> (accounts: [RestrictedAccount], hasMore: Bool) {
    let (accounts, hasMore) = try database.rescind(self)
    let context = database.session.context
    try database.insert(accounts.map { audit($0, context) })
    return (accounts, hasMore)
  }

  private func audit(_ account: RestrictedAccount, _ context: LedgerContext) -> AuditRow {
    let restriction = Restriction(
      account: account.account, source: download, reason: "consent",
      restrictedAtMs: account.restrictedAtMs)
    return AuditRow(
      "restrict", restriction.auditId(Text(String(account.restrictedAtMs))),
      owner: account.account, note: "consent", context)
  }
}
