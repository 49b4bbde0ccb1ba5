/// What one verified JWS says: the signed JSON, read and checked, and what the
/// verification found out about it. Only a verification makes one.
final class SignedPayload: Sendable {
  let kind: StoreKitKind
  /// The compact text that was verified (STO-15).
  let source: [UInt8]
  let json: JSON
  let fields: Fields
  let identity: Identity
  let effectiveDate: EffectiveDate
  let chain: ProvenChain
  let chainIsCached: Bool
  let warnings: [Warning]
  /// Only of a notification.
  let notification: NotificationParts?
  /// What conversations about it have shown since (EXC-12).
  let added: AddedFacts

  /// Whose evidence it is (docs/spec/storekit-jws.md §10).
  struct Identity: Sendable {
    enum Source: Sendable {
      case payload
      case transactionId

      var name: StaticString { self == .payload ? "payload" : "transaction-id" }
    }

    let environment: Environment
    let environmentSource: Source
    let bundleId: Text?
    let appAppleId: Int64?
  }

  /// The moment at which the chain was judged (JWS-45).
  struct EffectiveDate: Sendable {
    let milliseconds: Int64
    /// "signedDate", "receiptCreationDate", "nested" or "now".
    let source: StaticString
  }

  init(
    kind: StoreKitKind, source: [UInt8], json: JSON, fields: Fields, identity: Identity,
    effectiveDate: EffectiveDate, chain: ProvenChain, chainIsCached: Bool, warnings: [Warning],
    notification: NotificationParts?, added: AddedFacts = AddedFacts()
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

  /// The same evidence, with other added facts.
  func with(_ added: AddedFacts) -> SignedPayload {
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

  /// appAccountToken in lower case when it has UUID form (JWS-90).
  var account: Text? {
    guard let token = text("appAccountToken"), token.isUUID else { return nil }
    return token.asciiLowercased
  }

  /// Own warnings, and those of everything nested, each with its place.
  func writeWarnings(_ writer: inout JSONWriter) {
    Warning.write(warnings, &writer)
    for (place, nested) in notification?.nested ?? [] {
      Warning.write(nested.warnings, &writer, inside: Text(stringLiteral: place).string)
    }
  }

  // MARK: document

  /// The value of the facts member: a complete object, the same at the top of a
  /// document and inside a notification (docs/spec/storekit-jws.md §15).
  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.name("payload")
    writer.raw(json.bytes)
    writer.member("environment", identity.environment.name)
    writer.member("environmentSource", identity.environmentSource.name)
    writer.member("bundleId", identity.bundleId)
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

  /// Every decisive member of the kind with its stated type, null when absent.
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

  /// Members that are elsewhere in the document or in another form.
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

  /// The replay keys of JWS-94: each null when a part of it is missing, and all
  /// of a transaction's when one of its three ids is (PAY-7).
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
    case .renewal:
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
  /// What a verified JWS contributes to a decision; kinds that say nothing about
  /// a purchase are refused (DCD-1).
  init(_ payload: SignedPayload) throws(Refusal) {
    kind = payload.kind.name
    purchases = []
    renewals = []
    switch payload.kind {
    case .transaction: purchases = [try payload.purchaseFacts()]
    case .renewal: renewals = [try payload.renewalFacts()]
    case .notification:
      guard let parts = payload.notification else {
        throw Refusal(.internalAssayBug, "DOC-1", at: "notification")
      }
      try require(!parts.nestedIsOmitted, .misuseDecideUnverifiedNested, "NTF-8")
      if let transaction = parts.nested(.transaction) {
        purchases = [try transaction.purchaseFacts()]
      }
      if let renewal = parts.nested(.renewal) { renewals = [try renewal.renewalFacts()] }
    case .appTransaction, .realtimeRequest: throw Refusal(.misuseDecideEvidence, "DCD-1")
    }
  }
}
