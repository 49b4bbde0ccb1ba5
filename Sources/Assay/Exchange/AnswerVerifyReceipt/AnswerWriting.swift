/// Writes the answers that Apple's endpoint would have given about a verified receipt (VRE-30 …
/// VRE-39).
struct AnswerWriting {
  let state: AnsweredState
  let nowMs: Int64
  /// Whether of each subscription only the newest transaction is written.
  let excludesOldTransactions: Bool

  // MARK: iOS 7 style

  /// Writes the members of the answer about an app receipt, without `status`.
  func write(_ receipt: AppReceipt, _ writer: inout JSONWriter) {
    writer.member("environment", receipt.environment.name)
    writer.name("receipt")
    writeReceipt(receipt, &writer)
    guard state.hasSubscription else { return }
    writer.name("latest_receipt_info")
    writer.beginArray()
    for transaction in latest { transaction.write(isLatest: true, &writer) }
    writer.endArray()
    writeLatestReceipt(&writer)
    guard !state.renewals.isEmpty else { return }
    writer.name("pending_renewal_info")
    writer.beginArray()
    for renewal in state.renewals { renewal.write(&writer) }
    writer.endArray()
  }

  private func writeReceipt(_ receipt: AppReceipt, _ writer: inout JSONWriter) {
    let attributes = receipt.attributes
    writer.beginObject()
    writer.member("receipt_type", attributes.text(attributes.type))
    writer.present("adam_id", exact: attributes.appAppleId)
    writer.present("app_item_id", exact: attributes.appAppleId)
    writer.member("bundle_id", receipt.bundleId)
    writer.present("application_version", attributes.text(attributes.applicationVersion))
    writer.present("download_id", exact: attributes.downloadId)
    writer.present("version_external_identifier", exact: attributes.versionExternalIdentifier)
    writer.date(.creation, receipt.creationDate)
    writer.date(.request, nowMs)
    writer.date(.originalPurchase, attributes.originalPurchaseDate)
    writer.present(
      "original_application_version", attributes.text(attributes.originalApplicationVersion))
    if case .date(let date) = attributes.expiration { writer.date(.expiration, date) }
    writer.name("in_app")
    writer.beginArray()
    for purchase in state.purchases { purchase.write(isLatest: false, &writer) }
    writer.endArray()
    writer.endObject()
  }

  /// The entries of `latest_receipt_info`.
  private var latest: [AnsweredTransaction] {
    guard excludesOldTransactions else { return state.transactions }
    var newest: [Text: AnsweredTransaction] = [:]
    for transaction in state.transactions {
      guard let end = transaction.expiresDate else { continue }
      if let known = newest[transaction.line]?.expiresDate, known >= end { continue }
      newest[transaction.line] = transaction
    }
    return state.transactions.filter {
      $0.expiresDate == nil || newest[$0.line]?.transactionId == $0.transactionId
    }
  }

  private func writeLatestReceipt(_ writer: inout JSONWriter) {
    writer.name("latest_receipt")
    writer.string(utf8: Base64.encodeStandard(state.latestReceipt.bytes))
  }

  // MARK: iOS 6 style

  /// The newest known transaction of the subscription; `nil` for other purchases.
  var newestPeriod: AnsweredTransaction? {
    guard state.hasSubscription else { return nil }
    return state.transactions.reduce(nil) { newest, next in
      guard let newest else { return next }
      return (next.expiresDate ?? .min) > (newest.expiresDate ?? .min) ? next : newest
    }
  }

  /// Whether the subscription of a transaction receipt has ended (VRE-39).
  var isExpired: Bool {
    guard let end = newestPeriod?.expiresDate else { return false }
    return end <= nowMs
  }

  /// Writes the members of the answer about a transaction receipt, without `status`.
  func write(_ receipt: TransactionReceipt, bundleId: Text, _ writer: inout JSONWriter) {
    let sent = state.purchases.first
    writer.name("receipt")
    writeList(receipt, cancelledAs: sent, &writer)
    guard let newest = newestPeriod else { return }
    writer.name(isExpired ? "latest_expired_receipt_info" : "latest_receipt_info")
    if newest.transactionId == sent?.transactionId {
      writeList(receipt, cancelledAs: newest, &writer)
    } else {
      newest.write(ios6: receipt.info, bundleId: bundleId, &writer)
    }
    if !isExpired { writeLatestReceipt(&writer) }
    state.renewal(of: newest.line)?.writeMembers(&writer)
  }

  /// Writes the signed list with `_` for `-`, as it is, in its own order (VRE-37).
  private func writeList(
    _ receipt: TransactionReceipt, cancelledAs told: AnsweredTransaction?,
    _ writer: inout JSONWriter
  ) {
    let list = receipt.info.list
    writer.beginObject()
    for place in list.places {
      guard let field = PurchaseInfo.Field(list.bytes.span, key: place.key) else { continue }
      let isDeviceId = field == .uniqueIdentifier || field == .uniqueVendorIdentifier
      if isDeviceId, !receipt.deviceIdsReported { continue }
      let name = list.bytes[place.key].map { $0 == 0x2d ? 0x5f : $0 }
      writer.name(Text(name))
      writer.string(utf8: list.bytes[place.value])
    }
    told?.writeCancellation(&writer)
    writer.endObject()
  }
}
