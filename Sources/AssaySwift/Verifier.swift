@_spi(AssaySwift) import Assay

/// Pinned roots, apps, products and policy, built once and shared.
///
///     let verifier = try Verifier(configuration)
///     let transaction = try verifier.transaction(jws)
///     let decision = try verifier.decide([transaction])
///
/// Make one when the server starts and use it from every task: immutable but for its
/// cache of proven chains, and copies share that. Another policy is another verifier. No
/// call waits, reads a file or asks the network; `at` is the time to judge by.
public struct Verifier: Sendable {
  let library: Assay.Verifier
  /// The document of kind "configuration", with its warnings.
  public let document: Document

  /// Builds a verifier from a configuration (docs/config.md), a JSON text.
  ///
  /// - Throws: family `config` for one that is not usable, with the member's path in
  ///   `place`.
  public init(_ configuration: String) throws(Refusal) {
    let (library, document) = Assay.Verifier.make(Array(configuration.utf8))
    guard let library else { throw Refusal(document) }
    self.library = library
    self.document = document
  }

  /// The same from a literal: `["apps": [["bundleId": "com.example.app"]]]`.
  public init(_ configuration: JSON) throws(Refusal) { try self.init(configuration.text) }

  /// The configuration with every default filled in, JSON. Keys and secrets read as true.
  public var configuration: String { document.value?.member("configuration")?.json ?? "{}" }
}

// MARK: signed by StoreKit

extension Verifier {
  /// Verifies a signed transaction: a purchase, restore or renewal.
  ///
  /// - Parameters:
  ///   - jws: the compact JWS alone, no JSON around it, no line end.
  ///   - now: the time to judge by.
  /// - Throws: family `rejected` when it is not genuine, or not for this verifier's apps
  ///   and environments; `malformed`, `unsupported` or `tooLarge` when it is not a JWS of
  ///   this kind; `misuse` for a time outside 2008 … 2100.
  public func transaction(_ jws: String, at now: Timestamp = .now) throws(Refusal) -> Transaction {
    try signed(jws, .transaction, "transaction", now)
  }

  /// Verifies a signed renewal info. Arguments and refusals as of `transaction`.
  public func renewal(_ jws: String, at now: Timestamp = .now) throws(Refusal) -> Renewal {
    try signed(jws, .renewal, "renewal", now)
  }

  /// Verifies a server notification and every JWS inside it, in one call.
  ///
  /// - Parameters:
  ///   - jws: the value of `signedPayload` of the request's body.
  ///   - now: the time to judge by.
  public func notification(
    _ jws: String, at now: Timestamp = .now
  ) throws(Refusal) -> Notification {
    try signed(jws, .notification, "notification", now)
  }

  /// Verifies a signed app transaction. Arguments and refusals as of `transaction`.
  public func appTransaction(
    _ jws: String, at now: Timestamp = .now
  ) throws(Refusal) -> AppTransaction {
    try signed(jws, .appTransaction, "appTransaction", now)
  }

  /// Verifies a realtime request of Retention Messaging.
  ///
  /// - Parameters:
  ///   - jws: the value of `signedPayload` of the request's body.
  ///   - now: the time to judge by.
  public func realtimeRequest(
    _ jws: String, at now: Timestamp = .now
  ) throws(Refusal) -> RealtimeRequest {
    try signed(jws, .realtimeRequest, "realtimeRequest", now)
  }

  private func signed<Found: FactsOfDocument>(
    _ jws: String, _ kind: StoreKitKind, _ member: StaticString, _ now: Timestamp
  ) throws(Refusal) -> Found {
    try Verifier.accepted(
      library.verifyJWS(Array(jws.utf8), kind: kind, nowMs: now.milliseconds), member)
  }
}

// MARK: receipts

extension Verifier {
  /// Verifies a transaction receipt: the property list of iOS 3 to 6, one purchase.
  ///
  /// - Parameters:
  ///   - receipt: what the app sent: base64, once or twice, wrapped, URL-safe.
  ///   - now: the time to judge by.
  /// - Throws: family `rejected` when it is not genuine, or not for this verifier's apps,
  ///   products and environments. `rejected.identity.product` with `retryClass`
  ///   `afterConfig`: a purchase that the catalogue does not know yet; the client must
  ///   keep the receipt. Others as of `transaction`.
  public func transactionReceipt(
    _ receipt: String, at now: Timestamp = .now
  ) throws(Refusal) -> TransactionReceipt {
    try transactionReceipt(receipt.utf8, at: now)
  }

  /// The same of bytes, raw or base64.
  public func transactionReceipt(
    _ receipt: some Sequence<UInt8>, at now: Timestamp = .now
  ) throws(Refusal) -> TransactionReceipt {
    try self.receipt(receipt, .transaction, "transactionReceipt", nil, now)
  }

  /// Verifies an app receipt: all purchases of an app on one device.
  ///
  /// - Parameters:
  ///   - receipt: what the app sent: base64, once or twice, wrapped, URL-safe.
  ///   - device: what it must belong to: 16 bytes of the vendor id, or 6 of the primary
  ///     MAC address; without it `deviceBound` is false.
  ///   - now: the time to judge by.
  /// - Throws: family `rejected` when it is not genuine, not for this verifier's apps and
  ///   environments, or of another device; `misuse` for a device id of the wrong length.
  ///   Purchases of unknown products are not refused: they have `known` false.
  public func appReceipt(
    _ receipt: String, device: [UInt8]? = nil, at now: Timestamp = .now
  ) throws(Refusal) -> AppReceipt {
    try appReceipt(receipt.utf8, device: device, at: now)
  }

  /// The same of bytes, raw or base64.
  public func appReceipt(
    _ receipt: some Sequence<UInt8>, device: [UInt8]? = nil, at now: Timestamp = .now
  ) throws(Refusal) -> AppReceipt {
    try self.receipt(receipt, .app, "appReceipt", device, now)
  }

  /// Reads the body of an answer from Apple's verifyReceipt endpoint, HTTP status 200.
  ///
  /// - Throws: every answer without facts; `retryClass` says what to do: `later` (it is
  ///   no verdict: keep everything as it was and ask again), `sameOnce`,
  ///   `otherEnvironment` (the other endpoint, once), `afterConfig`, `never`.
  public func verifyReceiptAnswer(
    _ body: String, at now: Timestamp = .now
  ) throws(Refusal) -> VerifyReceiptAnswer {
    try verifyReceiptAnswer(body.utf8, at: now)
  }

  /// The same of bytes.
  public func verifyReceiptAnswer(
    _ body: some Sequence<UInt8>, at now: Timestamp = .now
  ) throws(Refusal) -> VerifyReceiptAnswer {
    try Verifier.accepted(
      library.readVerifyReceipt(Array(body), nowMs: now.milliseconds), "verifyReceipt")
  }

  /// The transaction id that a receipt of any form, or a JWS, claims: to ask the App Store
  /// Server API about it. Anyone can write it: never act on the id alone.
  ///
  /// Of an app receipt it is the first purchase's; nil where the blob names none. Parameters
  /// and errors: `triage`.
  public func unverifiedTransactionId(
    _ blob: String, at now: Timestamp = .now
  ) throws(Refusal) -> String? {
    try unverifiedTransactionId(blob.utf8, at: now)
  }

  /// The same of bytes.
  public func unverifiedTransactionId(
    _ blob: some Sequence<UInt8>, at now: Timestamp = .now
  ) throws(Refusal) -> String? {
    guard let claimed = try triage(blob, at: now).claimed else { return nil }
    // "Production/180000900000001"
    let ofKey = claimed.keys.first?.split(separator: "/").dropFirst().first
    return claimed.transactionId ?? claimed.originalTransactionId ?? ofKey.map(String.init)
  }

  /// Looks at an untrusted blob, without cryptography: what is it, is it ours, and is it
  /// worth verifying?
  ///
  /// What the blob is makes no refusal: `isWorthVerifying`, `category` and `disposition`
  /// say how to go on.
  ///
  /// - Parameters:
  ///   - blob: whatever the client sent for a purchase.
  ///   - now: the time to judge by.
  /// - Throws: family `misuse` for a time outside 2008 … 2100.
  public func triage(_ blob: String, at now: Timestamp = .now) throws(Refusal) -> Triage {
    try triage(blob.utf8, at: now)
  }

  /// The same of bytes.
  public func triage(
    _ blob: some Sequence<UInt8>, at now: Timestamp = .now
  ) throws(Refusal) -> Triage {
    let document = library.triage(Array(blob), nowMs: now.milliseconds)
    switch document.status.family {
    case .misuse, .internal: throw Refusal(document)
    default: return try Triage(try Members.of(document, "triage"))
    }
  }

  func receipt<Found: FactsOfDocument>(
    _ receipt: some Sequence<UInt8>, _ kind: ReceiptKind, _ member: StaticString,
    _ subject: [UInt8]?, _ now: Timestamp
  ) throws(Refusal) -> Found {
    try Verifier.accepted(
      library.verifyReceipt(
        Array(receipt), kind: kind, subject: subject, nowMs: now.milliseconds), member)
  }
}

extension Triage {
  /// "pending.triage.unverified", "rejected.triage.cracker" … Its `httpStatus` is what to
  /// answer the client when it ends here.
  public var status: Status { document.status }

  /// Whether to look the blob up, verify it, and only then decide.
  public var isWorthVerifying: Bool { status.family == .pending }
}

// MARK: decisions

extension Verifier {
  /// Decides plan, state and the next time to look, from verified evidence.
  ///
  /// Not entitled is an answer, no refusal: `entitled` is then false, and `state` says why.
  ///
  /// - Parameters:
  ///   - evidence: facts that this verifier made (or one with the same configuration), in
  ///     any mixture; a renewal needs its transaction beside it. Facts nested in a
  ///     notification stand for the whole notification.
  ///   - account: the appAccountToken that the evidence must carry; without it
  ///     `decide.account` of the configuration says.
  ///   - now: the time to judge by.
  /// - Throws: family `rejected` when the evidence is of another account, names none or is
  ///   too thin; `misuse` without evidence, or for an account that is no UUID.
  public func decide(
    _ evidence: [any PurchaseEvidence], account: String? = nil, at now: Timestamp = .now
  ) throws(Refusal) -> Decision {
    var seen: Set<ObjectIdentifier> = []
    let documents = evidence.map(\.document).filter { seen.insert(ObjectIdentifier($0)).inserted }
    let document = library.decide(
      documents, account: account.map { Array($0.utf8) }, nowMs: now.milliseconds)
    guard document.status == .ok || document.status == .rejectedDecideNotEntitled else {
      throw Refusal(document)
    }
    return try Decision(try Members.of(document, "decision"))
  }

  static func accepted<Found: FactsOfDocument>(
    _ document: Document, _ path: StaticString
  ) throws(Refusal) -> Found {
    guard document.status == .ok else { throw Refusal(document) }
    return try Found(try Members.of(document, path))
  }
}

/// Whether dates that you stored of a purchase are still good, without evidence: for hot
/// paths.
///
/// In force: not revoked, and `now` before `expires` or before `gracePeriod`; without both
/// never.
///
/// - Parameters:
///   - expires: end of the paid period; `.never` for what has no end.
///   - gracePeriod: end of the billing grace period.
///   - revoked: when it was refunded or revoked.
///   - now: the time to judge by.
/// - Returns: `ok`, `rejected.expiry.ended` or `rejected.expiry.revoked`; family `misuse`
///   for a time outside 2008 … 2100.
public func checkExpiry(
  expires: Timestamp?, gracePeriod: Timestamp? = nil, revoked: Timestamp? = nil,
  at now: Timestamp = .now
) -> Status {
  Assay.checkExpiry(
    expiresMs: expires?.milliseconds ?? noDate,
    gracePeriodMs: gracePeriod?.milliseconds ?? noDate,
    revokedMs: revoked?.milliseconds ?? noDate, nowMs: now.milliseconds)
}
