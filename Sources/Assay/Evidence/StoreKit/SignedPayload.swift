/// A verified JWS: its signed JSON, checked, and the results of the verification. Created only by
/// a verification.
final class SignedPayload: Sendable {
  let kind: StoreKitKind
  /// The compact serialization that was verified (STO-15).
  let source: [UInt8]
  let json: JSON
  let fields: Fields
  let identity: Identity
  let effectiveDate: EffectiveDate
  let chain: ProvenChain
  let chainIsCached: Bool
  let warnings: [Warning]
  /// The parts of a notification; `nil` for other kinds.
  let notification: NotificationParts?
  /// Facts that exchanges about this JWS have added since (EXC-12).
  let added: ExchangeFacts

  /// The app and environment of the evidence (docs/spec/storekit-jws.md §10).
  struct Identity: Sendable {
    enum Source: Sendable {
      case payload
      case transactionId

      var name: StaticString { self == .payload ? "payload" : "transaction-id" }
    }

    let environment: Environment
    let environmentSource: Source
    let bundleId: Text?
    /// Whether `bundleId` is that of the request that Apple's server answered, because the
    /// payload has none (API-57).
    let bundleIdIsAssumed: Bool
    let appAppleId: Int64?
  }

  /// The date at which the chain was validated, in milliseconds since 1970 UTC (JWS-45).
  struct EffectiveDate: Sendable {
    let milliseconds: Int64
    /// The source of the date: "signedDate", "receiptCreationDate", "nested" or "now".
    let source: StaticString
  }

  init(
    kind: StoreKitKind, source: [UInt8], json: JSON, fields: Fields, identity: Identity,
    effectiveDate: EffectiveDate, chain: ProvenChain, chainIsCached: Bool, warnings: [Warning],
    notification: NotificationParts?, added: ExchangeFacts = ExchangeFacts()
  ) {
    self.kind = kind
    self.source = source
    self.json = json
    self.fields = fields
    self.identity = identity
    self.effectiveDate = effectiveDate
    self.chain = chain
    self.chainIsCached = chainIsCached
    self.warnings = warnings
    self.notification = notification
    self.added = added
  }

  /// Returns the same evidence with other added facts.
  func with(_ added: ExchangeFacts) -> SignedPayload {
    SignedPayload(
      kind: kind, source: source, json: json, fields: fields, identity: identity,
      effectiveDate: effectiveDate, chain: chain, chainIsCached: chainIsCached, warnings: warnings,
      notification: notification, added: added)
  }

  var isXcode: Bool { chain.profile == .xcode }

  // MARK: facts that several kinds share

  func text(_ name: StaticString) -> Text? { fields.text(name) }
  func integer(_ name: StaticString) -> Int64? { fields.integer(name) }
  func time(_ name: StaticString) -> Int64? { fields.time(name, isXcode: isXcode) }

  /// The appAccountToken in lower case; `nil` unless it is a UUID (JWS-90).
  var account: Text? {
    guard let token = text("appAccountToken"), token.isUUID else { return nil }
    return token.asciiLowercased
  }

  /// The appTransactionId; `nil` if absent or empty.
  var downloadId: Text? {
    guard let id = text("appTransactionId"), !id.isEmpty else { return nil }
    return id
  }

  /// Writes the warnings of this JWS and of all nested ones, each with its location.
  func writeWarnings(_ writer: inout JSONWriter) {
    Warning.write(warnings, &writer)
    for (place, nested) in notification?.nested ?? [] {
      Warning.write(nested.warnings, &writer, inside: Text(stringLiteral: place).string)
    }
  }

  // MARK: document

  /// Writes the value of the facts member: a complete object, which is the same at the top of a
  /// document and inside a notification (docs/spec/storekit-jws.md §15).
  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.name("payload")
    writer.raw(json.bytes)
    writer.member("environment", identity.environment.name)
    writer.member("environmentSource", identity.environmentSource.name)
    writer.member("bundleId", identity.bundleId)
    if identity.bundleIdIsAssumed { writer.member("bundleIdSource", "request" as StaticString) }
    writer.member("appAppleId", integer: identity.appAppleId)
    writer.name("effectiveDate")
    writer.beginObject()
    writer.member("ms", integer: effectiveDate.milliseconds)
    writer.member("source", effectiveDate.source)
    writer.endObject()
    switch kind {
    case .notification: writeNotification(&writer)
    default: writeDecisiveMembers(&writer)
    }
    writer.name("keys")
    writeKeys(&writer)
    writer.name("chain")
    writer.beginObject()
    chain.writeMembers(&writer, chain.intermediates.first)
    writer.member("cached", boolean: chainIsCached)
    writer.endObject()
    writer.name("warnings")
    writer.beginArray()
    Warning.write(warnings, &writer)
    writer.endArray()
    writer.endObject()
  }

  /// Writes every decisive member of the kind with its documented type, `null` if absent.
  private func writeDecisiveMembers(_ writer: inout JSONWriter) {
    for (index, member) in fields.table.members.enumerated() where member.isDecisive {
      switch IdentityMember(member) {
      case .written: continue
      case .account:
        writer.member(member.name, account)
        continue
      case .other: break
      }
      writer.name(member.name)
      guard let value = fields.value(at: index) else {
        writer.null()
        continue
      }
      switch member.shape {
      case .time:
        if let time = Fields.time(value, isXcode: isXcode) {
          writer.integer(time)
        } else {
          writer.null()
        }
      case .integer, .number, .quantity:
        if let number = value.integer { writer.integer(number) } else { writer.null() }
      case .text, .name: writer.raw(value.quotedSource)
      default: writer.raw(value.source)
      }
    }
  }

  /// Members that the document has elsewhere or in another form.
  private enum IdentityMember {
    case written, account, other

    private static let writtenHashes = [
      JSON.hash("environment"), JSON.hash("bundleId"), JSON.hash("appAppleId"),
    ]
    private static let accountHash = JSON.hash("appAccountToken")

    init(_ member: Member) {
      if IdentityMember.writtenHashes.contains(member.hash) {
        self = .written
      } else if member.hash == IdentityMember.accountHash {
        self = .account
      } else {
        self = .other
      }
    }
  }

  /// Writes the idempotency keys of the payload (JWS-94): each `null` if a part of it is missing,
  /// and all of a transaction's if one of its three ids is (PAY-7).
  private func writeKeys(_ writer: inout JSONWriter) {
    let environment = identity.environment
    func single(_ name: StaticString) -> Text? {
      ReplayKeys.transaction(environment: environment, transactionId: text(name))
    }
    writer.beginObject()
    switch kind {
    case .transaction:
      let isComplete = missingId == nil
      writer.member("transaction", isComplete ? single("transactionId") : nil)
      writer.member("purchase", isComplete ? purchaseKey : nil)
      writer.member("subscription", isComplete ? single("originalTransactionId") : nil)
      writer.member("app", single("appTransactionId"))
    case .renewalInfo:
      writer.member("subscription", single("originalTransactionId"))
      writer.member("app", single("appTransactionId"))
    case .notification: writer.member("notification", single("notificationUUID"))
    case .appTransaction: writer.member("app", single("appTransactionId"))
    case .realtimeRequest: writer.member("subscription", single("originalTransactionId"))
    }
    writer.endObject()
  }
}

extension PurchaseEvidence {
  /// Creates the evidence for a decision from a verified JWS; kinds that contain no purchase are
  /// refused (DCD-1).
  init(_ payload: SignedPayload) throws(Refusal) {
    kind = payload.kind.name
    purchases = []
    renewals = []
    switch payload.kind {
    case .transaction: purchases = [try payload.purchaseFacts()]
    case .renewalInfo: renewals = [try payload.renewalFacts()]
    case .notification:
      guard let parts = payload.notification else {
        throw Refusal(.internalAssayBug, "DOC-1", at: "notification")
      }
      try require(!parts.nestedIsOmitted, .misuseDecisionUnverifiedNested, "NTF-8")
      if let transaction = parts.nested(.transaction) {
        purchases = [try transaction.purchaseFacts()]
      }
      if let renewal = parts.nested(.renewalInfo) { renewals = [try renewal.renewalFacts()] }
    case .appTransaction, .realtimeRequest: throw Refusal(.misuseDecisionEvidence, "DCD-1")
    }
  }
}
