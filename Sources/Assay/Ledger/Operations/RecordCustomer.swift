/// The operation `record-customer`: joins an account to the download of an app transaction, for
/// customers without purchases (CUS-7).
struct RecordCustomer: DurableOperation {
  private let account: Text
  /// The download; empty if the app transaction has no id.
  private let entries: [CustomerEntry]

  /// - Throws: `config.ledger.customer-key`, `misuse.exchange.request`, `misuse.ledger.account`,
  ///   `misuse.exchange.evidence`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    let key = try parameters.customerKey()
    account = try parameters.account("account")
    guard case .storeKit(let payload)? = parameters.evidence.first,
      payload.kind == .appTransaction
    else { throw Refusal(.misuseExchangeEvidence, "CUS-7", at: "evidence[0]") }
    entries =
      payload.downloadId.map { id in
        let key = CustomerKey(download: id, in: payload.identity.environment, key)
        return [CustomerEntry(key: key, role: .holder)]
      } ?? []
  }

  var jitterSeed: Text { account }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    let isJoined = !entries.isEmpty
    let restrictions =
      isJoined
      ? try database.join(entries, to: account) : try database.restrictions(of: account)
    return OperationResult { writer in
      writer.member("outcome", isJoined ? "recorded" : "none")
      restrictions.write(&writer)
    }
  }
}
