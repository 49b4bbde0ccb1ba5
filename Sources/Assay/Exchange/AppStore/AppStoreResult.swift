/// The verified data and unsigned members of the pages that an exchange has read (API-35).
struct AppStoreResult {
  /// One entry of `lastTransactions`.
  struct Entry {
    let group: Text?
    /// The subscription status, which Apple does not sign.
    let status: Int64?
    let originalTransactionId: Text?
    /// Indexes in `transactions` and `renewals`; `nil` if absent, or refused under `partial`.
    let transaction: Int?
    let renewal: Int?
  }

  /// One of Apple's attempts to send a notification.
  struct Attempt {
    /// The index in `notifications`; `nil` if the notification was refused under `partial`.
    let notification: Int?
    let dateMs: Int64?
    let result: Text?
  }

  var transactions: [SignedPayload] = []
  var renewals: [SignedPayload] = []
  var notifications: [SignedPayload] = []
  var appTransaction: SignedPayload? = nil
  var statuses: [Entry] = []
  var attempts: [Attempt] = []
  /// The refusals that `partial` tolerates (API-31).
  var refused: [Refusal] = []
  /// SHA-256 of each refused text, lower-case hex.
  var refusedTexts: [Text] = []

  /// Why each refused text was refused, and its SHA-256.
  var refusals: [(refusal: Refusal, sha256: Text)] {
    refused.indices.filter { $0 < refusedTexts.count }.map { (refused[$0], refusedTexts[$0]) }
  }

  /// Unsigned values that Apple has not documented (ENU-2).
  var warnings: [Warning] = []
  /// A report about external purchases, as Apple has it.
  var report: JSONValue? = nil
  /// The newest response.
  var last: JSONValue? = nil
  /// The paging member with which a new exchange continues.
  var next: (name: StaticString, value: Text)? = nil

  /// Adds verified data.
  ///
  /// - Returns: the index in the list of its kind.
  mutating func add(_ payload: SignedPayload) -> Int {
    switch payload.kind {
    case .transaction:
      transactions.append(payload)
      return transactions.count &- 1
    case .renewalInfo:
      renewals.append(payload)
      return renewals.count &- 1
    case .notification:
      notifications.append(payload)
      return notifications.count &- 1
    case .appTransaction, .realtimeRequest:
      appTransaction = payload
      return 0
    }
  }

  private var payloads: [SignedPayload] {
    transactions + renewals + notifications + (appTransaction.map { [$0] } ?? [])
  }

  /// One item of evidence for each JWS (EXC-12).
  var evidence: VerifiedEvidence? {
    let items = payloads.map { VerifiedEvidence.storeKit($0) }
    return items.isEmpty ? nil : .several(items)
  }

  /// The approximate size of the document in bytes.
  var room: Int {
    let sources = (last?.source.count ?? 0) &+ (report?.source.count ?? 0)
    return payloads.reduce(1024 &+ sources) { $0 &+ $1.json.bytes.count &+ 3072 }
  }

  // MARK: document

  /// Writes the value of `result`.
  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    AppStoreResult.write("transactions", transactions, &writer)
    AppStoreResult.write("renewals", renewals, &writer)
    AppStoreResult.write("notifications", notifications, &writer)
    writer.name("appTransaction")
    if let appTransaction { appTransaction.write(&writer) } else { writer.null() }
    writeStatuses(&writer)
    writeUnsigned(&writer)
    writer.name("next")
    if let next {
      writer.beginObject()
      writer.member(next.name, next.value)
      writer.endObject()
    } else {
      writer.null()
    }
    writeRefused(&writer)
    writer.endObject()
  }

  private static func write(
    _ name: StaticString, _ payloads: [SignedPayload], _ writer: inout JSONWriter
  ) {
    writer.name(name)
    writer.beginArray()
    for payload in payloads { payload.write(&writer) }
    writer.endArray()
  }

  private func writeStatuses(_ writer: inout JSONWriter) {
    writer.name("statuses")
    writer.beginArray()
    for entry in statuses {
      writer.beginObject()
      writer.member("subscriptionGroupIdentifier", entry.group)
      writer.member("status", integer: entry.status)
      writer.member("originalTransactionId", entry.originalTransactionId)
      writer.member("transactionIndex", integer: entry.transaction.map { Int64($0) })
      writer.member("renewalIndex", integer: entry.renewal.map { Int64($0) })
      writer.endObject()
    }
    writer.endArray()
  }

  /// Writes the unsigned members of the last page, which only TLS protects (API-33).
  private func writeUnsigned(_ writer: inout JSONWriter) {
    let members = last.map { Array($0.children).filter { !$0.isNull } } ?? []
    writer.name("unsigned")
    writer.beginObject()
    for member in members where AppStoreResponseMembers.isReported(member) {
      AppStoreResult.write(member, &writer)
    }
    if let report {
      writer.member("requestIdentifier", report.present("requestIdentifier")?.text)
      writer.name("externalPurchaseReport")
      writer.raw(report.source)
    }
    writer.name("sendAttempts")
    writer.beginArray()
    for attempt in attempts {
      writer.beginObject()
      writer.member("notificationIndex", integer: attempt.notification.map { Int64($0) })
      writer.member("attemptDate", integer: attempt.dateMs)
      writer.member("sendAttemptResult", attempt.result)
      writer.endObject()
    }
    writer.endArray()
    let unknown = members.filter { AppStoreResponseMembers.table.index(of: $0) == nil }
    if !unknown.isEmpty {
      writer.name("unknown")
      writer.beginObject()
      for member in unknown { AppStoreResult.write(member, &writer) }
      writer.endObject()
    }
    writer.endObject()
  }

  private static func write(_ member: JSONValue, _ writer: inout JSONWriter) {
    writer.name(member.name)
    if let number = member.integer {
      writer.integer(number)
    } else {
      writer.raw(member.kind == .string ? member.quotedSource : member.source)
    }
  }

  private func writeRefused(_ writer: inout JSONWriter) {
    writer.name("refused")
    writer.beginArray()
    for refusal in refused {
      writer.beginObject()
      writer.member("at", Text(refusal.place))
      writer.name("status")
      writer.beginObject()
      writer.member("code", integer: Int64(refusal.status.code))
      writer.member("name", refusal.status.name)
      writer.endObject()
      writer.endObject()
    }
    writer.endArray()
  }
}
