@_spi(AssaySwift) import Assay

/// Verifies evidence by one configuration: pinned roots, apps, products and policy.
///
///     let verifier = try Verifier(configuration)
///     let transaction = try verifier.verifyTransaction(jws)
///     let decision = try verifier.decide([transaction])
///
/// Create one when the server starts, and use it from every task: a verifier is immutable apart
/// from its cache of proven chains, which its copies share. Another policy needs another
/// verifier. No call waits, reads a file or uses the network; `at` is the time at which evidence
/// must be valid.
public struct Verifier: Sendable {
  let library: Assay.Verifier
  /// The document of kind "configuration", with its warnings.
  public let document: Document

  /// Creates a verifier from a configuration (docs/config.md), a JSON text.
  ///
  /// - Throws: family `config` for an unusable configuration, with the member's path in `at`.
  public init(_ configuration: String) throws(AssayError) {
    try self.init(Array(configuration.utf8))
  }

  private init(_ configuration: [UInt8]) throws(AssayError) {
    let (library, document) = Assay.Verifier.make(configuration)
    guard let library else { throw AssayError(document) }
    self.library = library
    self.document = document
  }

  /// Creates a verifier from a literal: `["apps": [["bundleId": "com.example.app"]]]`.
  public init(_ configuration: JSON) throws(AssayError) { try self.init(configuration.text) }

  /// Creates a verifier from a JSON configuration file. Its keys and secrets stay in memory only
  /// as objects of the library.
  ///
  /// - Throws: `FileError` for a file that cannot be read, else the `AssayError` of a
  ///   configuration.
  public init(file path: String) throws {
    var configuration = try File.bytes(of: path, cap: Assay.Verifier.configurationByteCap)
    defer { Secret.wipe(&configuration) }
    try self.init(configuration)
  }

  /// The configuration as JSON, with every default filled in. Keys and secrets read as true.
  public var configuration: String { document.value?.member("configuration")?.json ?? "{}" }
}

// MARK: signed by StoreKit

extension Verifier {
  /// Verifies a signed transaction: a purchase, restore or renewal.
  ///
  /// - Parameters:
  ///   - jws: the compact JWS, without JSON around it and without a line end.
  ///   - now: the time at which the transaction must be valid.
  /// - Throws: family `rejected` if the transaction is not genuine, or not of this verifier's
  ///   apps and environments; `malformed`, `unsupported` or `tooLarge` if the text is not a JWS
  ///   of this kind; `misuse` for a time outside 2008 … 2100.
  public func verifyTransaction(
    _ jws: String, at now: Timestamp = .now
  ) throws(AssayError) -> Transaction {
    try signed(jws, .transaction, "transaction", now)
  }

  /// Verifies a signed renewal info. Arguments and errors are those of `verifyTransaction`.
  public func verifyRenewalInfo(
    _ jws: String, at now: Timestamp = .now
  ) throws(AssayError) -> RenewalInfo {
    try signed(jws, .renewalInfo, "renewalInfo", now)
  }

  /// Verifies an App Store Server Notification and every JWS in it. Errors are those of
  /// `verifyTransaction`.
  ///
  /// - Parameters:
  ///   - jws: the value of `signedPayload` of the request's body.
  ///   - now: the time at which the notification must be valid.
  public func verifyNotification(
    _ jws: String, at now: Timestamp = .now
  ) throws(AssayError) -> Notification {
    try signed(jws, .notification, "notification", now)
  }

  /// Verifies a signed app transaction. Arguments and errors are those of `verifyTransaction`.
  public func verifyAppTransaction(
    _ jws: String, at now: Timestamp = .now
  ) throws(AssayError) -> AppTransaction {
    try signed(jws, .appTransaction, "appTransaction", now)
  }

  /// Verifies a realtime request of Retention Messaging. Errors are those of `verifyTransaction`.
  ///
  /// - Parameters:
  ///   - jws: the value of `signedPayload` of the request's body.
  ///   - now: the time at which the request must be valid.
  public func verifyRealtimeRequest(
    _ jws: String, at now: Timestamp = .now
  ) throws(AssayError) -> RealtimeRequest {
    try signed(jws, .realtimeRequest, "realtimeRequest", now)
  }

  private func signed<Found: FactsOfDocument>(
    _ jws: String, _ kind: StoreKitKind, _ member: StaticString, _ now: Timestamp
  ) throws(AssayError) -> Found {
    try Verifier.accepted(
      library.verifyJWS(Array(jws.utf8), kind: kind, nowMs: now.milliseconds), member)
  }
}

// MARK: receipts

extension Verifier {
  /// Verifies a transaction receipt: the property list of one purchase, from iOS 3 to 6.
  ///
  /// - Parameters:
  ///   - receipt: the receipt that the app sent: base64, once or twice, wrapped, URL-safe.
  ///   - now: the time at which the receipt must be valid.
  /// - Throws: family `rejected` if the receipt is not genuine, or not of this verifier's apps,
  ///   products and environments. `rejected.product.unknown` with `retryClass` `afterConfig`
  ///   means a product that the catalogue does not have yet: the client must keep the receipt.
  ///   Other errors are those of `verifyTransaction`.
  public func verifyTransactionReceipt(
    _ receipt: String, at now: Timestamp = .now
  ) throws(AssayError) -> TransactionReceipt {
    try verifyTransactionReceipt(receipt.utf8, at: now)
  }

  /// Verifies a transaction receipt as bytes, raw or base64.
  public func verifyTransactionReceipt(
    _ receipt: some Sequence<UInt8>, at now: Timestamp = .now
  ) throws(AssayError) -> TransactionReceipt {
    try self.receipt(receipt, .transaction, "transactionReceipt", nil, now)
  }

  /// Verifies an app receipt: all purchases of an app on one device.
  ///
  /// - Parameters:
  ///   - receipt: the receipt that the app sent: base64, once or twice, wrapped, URL-safe.
  ///   - device: the device that the receipt must belong to: 16 bytes of the vendor id, or 6 of
  ///     the primary MAC address; without it `deviceBound` is false.
  ///   - now: the time at which the receipt must be valid.
  /// - Throws: family `rejected` if the receipt is not genuine, not of this verifier's apps and
  ///   environments, or of another device; `misuse` for a device id of the wrong length.
  ///   Purchases of unknown products are not refused: they have `known` false.
  public func verifyAppReceipt(
    _ receipt: String, device: [UInt8]? = nil, at now: Timestamp = .now
  ) throws(AssayError) -> AppReceipt {
    try verifyAppReceipt(receipt.utf8, device: device, at: now)
  }

  /// Verifies an app receipt as bytes, raw or base64.
  public func verifyAppReceipt(
    _ receipt: some Sequence<UInt8>, device: [UInt8]? = nil, at now: Timestamp = .now
  ) throws(AssayError) -> AppReceipt {
    try self.receipt(receipt, .app, "appReceipt", device, now)
  }

  /// Reads a verifyReceipt response: the body of Apple's response with HTTP status 200.
  ///
  /// - Throws: the refusal of a response without facts. `retryClass` is the next step: `later`
  ///   (no verdict: keep all state and ask again), `sameOnce`, `otherEnvironment` (the other
  ///   endpoint, once), `afterConfig`, `never`.
  public func readVerifyReceiptResponse(
    _ body: String, at now: Timestamp = .now
  ) throws(AssayError) -> VerifyReceiptResponse {
    try readVerifyReceiptResponse(body.utf8, at: now)
  }

  /// Reads a verifyReceipt response as bytes.
  public func readVerifyReceiptResponse(
    _ body: some Sequence<UInt8>, at now: Timestamp = .now
  ) throws(AssayError) -> VerifyReceiptResponse {
    try Verifier.accepted(
      library.readVerifyReceiptResponse(Array(body), nowMs: now.milliseconds), "verifyReceipt")
  }

  /// Returns the transaction id in a receipt of any form or a JWS, unverified, for a request to
  /// the App Store Server API; for an app receipt the first purchase's id, `nil` if there is
  /// none. Any client can write this id: never act on it without Apple's response.
  ///
  /// Arguments and errors are those of `triage`.
  public func extractUnverifiedTransactionId(
    _ blob: String, at now: Timestamp = .now
  ) throws(AssayError) -> String? {
    try extractUnverifiedTransactionId(blob.utf8, at: now)
  }

  /// Returns the unverified transaction id in bytes.
  public func extractUnverifiedTransactionId(
    _ blob: some Sequence<UInt8>, at now: Timestamp = .now
  ) throws(AssayError) -> String? {
    guard let claimed = try triage(blob, at: now).unverified else { return nil }
    // A key is an environment and an id: "Production/180000900000001".
    let ofKey = claimed.keys.first?.split(separator: "/").dropFirst().first
    return claimed.transactionId ?? claimed.originalTransactionId ?? ofKey.map(String.init)
  }

  /// Classifies an untrusted input without cryptography: its kind, whether it is of this
  /// verifier's apps, and whether it is worth verifying.
  ///
  /// No classification is a refusal: `isWorthVerifying`, `category` and `disposition` are the
  /// basis of the next step.
  ///
  /// - Parameters:
  ///   - blob: the input that the client sent for a purchase.
  ///   - now: the current time.
  /// - Throws: family `misuse` for a time outside 2008 … 2100.
  public func triage(_ blob: String, at now: Timestamp = .now) throws(AssayError) -> Triage {
    try triage(blob.utf8, at: now)
  }

  /// Classifies an untrusted input as bytes.
  public func triage(
    _ blob: some Sequence<UInt8>, at now: Timestamp = .now
  ) throws(AssayError) -> Triage {
    let document = library.triage(Array(blob), nowMs: now.milliseconds)
    switch document.status.family {
    case .misuse, .internal: throw AssayError(document)
    default: return try Triage(try Members.of(document, "triage"))
    }
  }

  func receipt<Found: FactsOfDocument>(
    _ receipt: some Sequence<UInt8>, _ kind: ReceiptKind, _ member: StaticString,
    _ subject: [UInt8]?, _ now: Timestamp
  ) throws(AssayError) -> Found {
    try Verifier.accepted(
      library.verifyReceipt(
        Array(receipt), kind: kind, subject: subject, nowMs: now.milliseconds), member)
  }
}

extension Triage {
  /// The status: "pending.triage.verify-next", "rejected.triage.cracking-tool" … Its
  /// `httpStatus` is for the response to the client if the request ends here.
  public var status: Status { document.status }

  /// Whether to look the input up, verify it, and only then decide.
  public var isWorthVerifying: Bool { status.family == .pending }
}

// MARK: decisions

extension Verifier {
  /// Decides the plan, its state and the next check time from verified evidence.
  ///
  /// A decision that the account is not entitled is a result and not a refusal: `entitled` is
  /// then false, and `state` is the reason.
  ///
  /// - Parameters:
  ///   - evidence: facts of this verifier, or of one with the same configuration, in any mixture;
  ///     a renewal info needs its transaction beside it. Facts nested in a notification count as
  ///     the whole notification.
  ///   - account: the appAccountToken that the evidence must contain; without it
  ///     `decision.accountToken` of the configuration applies.
  ///   - now: the time to decide for.
  /// - Throws: family `rejected` if the evidence is of another account, names no account or is
  ///   not sufficient; `misuse` without evidence, or for an account that is not a UUID.
  public func decide(
    _ evidence: [any PurchaseEvidence], account: String? = nil, at now: Timestamp = .now
  ) throws(AssayError) -> Decision {
    var seen: Set<ObjectIdentifier> = []
    let documents = evidence.map(\.document).filter { seen.insert(ObjectIdentifier($0)).inserted }
    let document = library.decide(
      documents, account: account.map { Array($0.utf8) }, nowMs: now.milliseconds)
    guard document.status == .ok || document.status == .rejectedDecisionNotEntitled else {
      throw AssayError(document)
    }
    return try Decision(try Members.of(document, "decision"))
  }

  static func accepted<Found: FactsOfDocument>(
    _ document: Document, _ path: StaticString
  ) throws(AssayError) -> Found {
    guard document.status == .ok else { throw AssayError(document) }
    return try Found(try Members.of(document, path))
  }
}

/// Checks stored dates of a purchase without evidence, for frequent calls.
///
/// A purchase is in force if it is not revoked and `now` is before `expires` or `gracePeriod`;
/// without both dates it never is.
///
/// - Parameters:
///   - expires: the end of the paid period; `.never` for a purchase without end.
///   - gracePeriod: the end of the grace period.
///   - revoked: the time of the refund or revocation.
///   - now: the time at which the purchase must be in force.
/// - Returns: `ok`, `rejected.expiry.expired` or `rejected.expiry.revoked`; family `misuse` for a
///   time outside 2008 … 2100.
public func checkExpiry(
  expires: Timestamp?, gracePeriod: Timestamp? = nil, revoked: Timestamp? = nil,
  at now: Timestamp = .now
) -> Status {
  Assay.checkExpiry(
    expiresAtMs: expires?.milliseconds ?? noDate,
    gracePeriodMs: gracePeriod?.milliseconds ?? noDate,
    revokedAtMs: revoked?.milliseconds ?? noDate, nowMs: now.milliseconds)
}
