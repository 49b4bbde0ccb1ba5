import AssayAuthority

/// Mocks `/verifyReceipt` (docs/spec/receipts-triage.md §2): the content of the receipt, updated by
/// the mock's state.
struct MockReceipts: MockHost {
  let request: HTTPRequest
  let signer: MockSigner

  private var isSandbox: Bool { request.host == "sandbox.itunes.apple.com" }
  private var environment: String { isSandbox ? "Sandbox" : "Production" }

  func answer(_ state: inout MockState) throws -> HTTPResponse {
    guard request.path == "/verifyReceipt" else { return .empty(404) }
    guard request.method == "POST" else { return status(21_000) }
    let fault = signer.fault
    if fault.hopsAlways { return status(isSandbox ? 21_008 : 21_007) }
    if let appleStatus = fault.appleStatus {
      return status(appleStatus, retryable: fault.isRetryable)
    }
    guard let json = request.json, case .object = json else { return status(21_000) }
    let now = state.clock.now
    guard let text = json["receipt-data"]?.text,
      let sent = SentReceipt(text, signer.authority, now: now)
    else { return status(21_002) }
    if !sent.isOurs { return status(21_003) }
    if !sent.isIntact { return status(21_002) }
    if sent.environment != environment { return status(isSandbox ? 21_008 : 21_007) }
    let renews = sent.purchases.contains { $0.type == .autoRenewable }
    let password = json["password"]?.text
    if password ?? (renews ? "" : nil) != nil, password != signer.authority.sharedSecret {
      return status(21_004)
    }
    let onlyNewest = json["exclude-old-transactions"]?.boolean == true
    return .json(try told(sent, state, onlyNewest: onlyNewest))
  }

  private func status(_ number: Int64, retryable: Bool? = nil) -> HTTPResponse {
    var json: JSONText = ["status": .integer(number), "environment": .string(environment)]
    if let retryable { json = json.appending("is-retryable", .boolean(retryable)) }
    return .json(json)
  }

  private func told(
    _ sent: SentReceipt, _ state: MockState, onlyNewest: Bool
  ) throws -> JSONText {
    let now = state.clock.now
    let known = state.purchases.map(\.purchase).filter { $0.environment == environment }
    func current(_ purchase: Purchase) -> Purchase {
      signer.told(
        (known.first { $0.transactionId == purchase.transactionId } ?? purchase)
          .with { $0.signedDate = now })
    }
    let lines = Set(
      sent.purchases.filter { $0.type == .autoRenewable }.map(\.originalTransactionId))
    let own = Set(sent.purchases.map(\.transactionId))
    let later = known.filter {
      lines.contains($0.originalTransactionId) && !own.contains($0.transactionId)
    }
    let mine = sent.purchases.map(current)
    var latest = (mine.filter { lines.contains($0.originalTransactionId) } + later.map(current))
      .sorted { $0.purchaseDate > $1.purchaseDate }
    if onlyNewest {
      var seen: Set<String> = []
      latest = latest.filter { seen.insert($0.originalTransactionId).inserted }
    }
    var response = ReceiptResponseTemplate(sent.style, mine, requestDate: now)
    response.latest = latest.isEmpty ? nil : latest
    if let newest = latest.first {
      if sent.style == .ios6, (newest.expiresDate ?? .max) <= now { response.status = 21_006 }
      response.latestReceipt = try receipt(sent.style, mine, latest, newest)
    }
    return response.json
  }

  /// Returns the value of `latest_receipt`.
  private func receipt(
    _ style: ReceiptResponseTemplate.Style, _ mine: [Purchase], _ latest: [Purchase],
    _ newest: Purchase
  ) throws -> [UInt8] {
    let isBad = signer.fault.hasBadSignature
    switch style {
    case .ios6:
      var template = try signer.authority.receipts.transactionTemplate(newest)
      if isBad { template.signature = .damaged }
      return Base64Text.encode(try template.signed())
    case .ios7:
      let others = mine.filter { $0.type != .autoRenewable }
      var template = try signer.authority.receipts.appTemplate(
        AppReceiptFacts(latest + others, like: newest))
      if isBad { template.signature = .damaged }
      return Base64Text.encode(try template.signed())
    }
  }
}
