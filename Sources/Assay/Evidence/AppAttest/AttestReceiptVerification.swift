/// The checks of an attest receipt, in the order in which they are made (docs/spec/app-attest.md
/// §7).
enum AttestReceiptCheck: Int, CheckList {
  case transport, container, certificates, shape, chainSignatures, signature, fields
  case validity, appId, environment, key, freshness, expiry

  static let ids: [StaticString] = [
    "transport", "receipt.container", "chain.certificates", "chain.shape", "chain.signatures",
    "receipt.signature", "receipt.fields", "chain.validity", "identity.app-id",
    "identity.environment", "receipt.key", "freshness", "receipt.expiry",
  ]
}

/// The verification of one attest receipt, on its own or inside an attestation
/// (docs/spec/app-attest.md §7). The content is read only after its signature has been verified.
struct AttestReceiptVerification {
  static let byteCap = 16_384
  /// The longest text that may contain a receipt, in bytes: base64 twice, with line breaks.
  static let inputCap = 65_536

  private let trust: AttestReceiptTrust
  private let nowMs: Int64
  /// Whether the receipt is a stored one, whose age is not checked (FRC-11).
  private let isStored: Bool
  private(set) var checks = Checks<AttestReceiptCheck>()
  private(set) var budget = SignatureBudget()

  /// Creates a verification at `nowMs`, milliseconds since 1970 UTC.
  init(_ trust: AttestReceiptTrust, nowMs: Int64) {
    self.init(trust, isStored: trust.policy.storedTime, nowMs: nowMs)
  }

  private init(_ trust: AttestReceiptTrust, isStored: Bool, nowMs: Int64) {
    self.trust = trust
    self.isStored = isStored
    self.nowMs = nowMs
  }

  /// The facts that a receipt inside an attestation, or one that replaces another, must agree
  /// with (FRC-8 … FRC-10, RFR-2).
  private struct Expected {
    let appId: Text
    let isProduction: Bool
    let isRefreshed: Bool
  }

  /// Runs all checks on a receipt as the host stored it: raw, base64 or base64 twice. The first
  /// check that fails determines the refusal.
  ///
  /// - `subject`: the point `04 ‖ x ‖ y` of the key that the receipt must be about; with `nil`,
  ///   no key is compared and the facts report that.
  mutating func run(_ input: [UInt8], subject: [UInt8]?) throws(Refusal) -> AttestReceipt {
    try require(!trust.policy.appIds.isEmpty, .configAttestAppIds, "ATT-23", at: "attest.appIds")
    checks.enter(.transport)
    let transport = try AttestReceiptVerification.transport(input)
    return try judge(transport.bytes, key: subject, nil)
  }

  /// Runs all checks, age and expiry included, on the receipt that Apple returned for `old`, which
  /// must be about the same key of the same app (RFR-2).
  ///
  /// - `input`: base64; surrounding white space is ignored.
  static func verifyRefreshed(
    _ input: [UInt8], of old: AttestReceipt, _ trust: AttestReceiptTrust, nowMs: Int64
  ) throws(Refusal) -> AttestReceipt {
    var verification = AttestReceiptVerification(trust, isStored: false, nowMs: nowMs)
    let transport = try AttestReceiptVerification.transport(input)
    let receipt = try verification.judge(
      transport.bytes, key: old.fields.key,
      Expected(appId: old.appId, isProduction: old.isProduction, isRefreshed: true))
    try require(
      receipt.createdAtMs >= old.createdAtMs, .rejectedFreshnessStale, "RFR-2", at: "field 12")
    return receipt
  }

  /// Runs all checks on the receipt of an attestation. Locations of refusals begin with
  /// "receipt".
  ///
  /// - `leafKey`: the point `04 ‖ x ‖ y` of the attestation's leaf.
  /// - `appId`: the App ID that the attestation was made for.
  /// - `isProduction`: the environment according to the attestation's aaguid.
  static func verifyEmbedded(
    _ bytes: ArraySlice<UInt8>, _ trust: AttestReceiptTrust, leafKey: [UInt8], appId: Text,
    isProduction: Bool, nowMs: Int64, _ budget: inout SignatureBudget
  ) throws(Refusal) -> AttestReceipt {
    var verification = AttestReceiptVerification(trust, nowMs: nowMs)
    verification.budget = budget
    defer { budget = verification.budget }
    do throws(Refusal) {
      try require(!bytes.isEmpty, .malformedAttestReceiptEmpty, "ATT-12")
      return try verification.judge(
        Array(bytes.prefix(byteCap &+ 1)), key: leafKey,
        Expected(appId: appId, isProduction: isProduction, isRefreshed: false))
    } catch {
      throw error.inside("receipt", as: .embeddedReceipt)
    }
  }

  /// Returns client data hash and creation time (milliseconds since 1970 UTC) of a receipt in an
  /// attestation, whose size ATT-1 limits; `nil` if they cannot be read. The signature is not
  /// verified: use them only for a diagnosis, or as a date that a verification of the same bytes
  /// confirms (ATT-40, DIA-2).
  static func unverified(
    _ bytes: ArraySlice<UInt8>
  ) -> (clientHash: ArraySlice<UInt8>, createdAtMs: Int64, isRefreshed: Bool)? {
    guard let content = SignedMessage.unverifiedPayload(of: Array(bytes)),
      let fields = try? AttestReceiptFields(content)
    else { return nil }
    return (fields.slice(fields.clientHash), fields.createdAtMs, fields.isRefreshed)
  }

  private mutating func judge(
    _ bytes: [UInt8], key: [UInt8]?, _ expected: Expected?
  ) throws(Refusal) -> AttestReceipt {
    checks.enter(.container)
    let message = try AttestReceiptVerification.container(bytes)
    let path = try provenPath(message)
    checks.enter(.fields)
    let fields = try AttestReceiptFields(message.payload)
    try validity(fields, path)
    let isProduction = try identity(fields, expected)
    try bind(fields, to: key)
    if let expected {
      try require(
        fields.isRefreshed == expected.isRefreshed, .rejectedAttestReceiptKind, "FRC-10",
        at: "field 6")
    }
    try freshness(fields)
    return AttestReceipt(
      bytes, fields, isProduction: isProduction, bound: key != nil, signer: path.chain,
      refreshEveryMs: trust.policy.refreshEveryMs, nowMs: nowMs)
  }

  // MARK: container

  /// The statuses of the container, which is read as that of app receipts, within smaller limits
  /// (FRC-1). Whatever exceeds a limit is too large; FRC-2 and FRC-3 name what a container must
  /// not have.
  private static let refusals = SignedMessage.Refusals(
    ber: .malformedAttestReceiptBer, trailing: .malformedAttestReceiptTrailing,
    structure: .malformedAttestReceiptStructure, contentType: .malformedAttestReceiptStructure,
    signers: .unsupportedAttestReceiptSigners, signerId: .unsupportedAttestReceiptSigners,
    signedAttributes: .unsupportedAttestReceiptSignedAttributes,
    elements: .tooLargeAttestReceiptSize, depth: .tooLargeAttestReceiptSize,
    certificates: .tooLargeAttestReceiptSize, payload: .tooLargeAttestReceiptSize)

  private static let limits = SignedMessage.Limits(
    ber: BER.Limits(elements: 4096, depth: 24), certificates: ChainProfile.embeddedCap,
    chunks: 64, payloadBytes: 8192, takesSignedAttributes: false)

  private static func transport(_ input: [UInt8]) throws(Refusal) -> Transport {
    try require(input.count <= inputCap, .tooLargeAttestReceiptSize, "FRC-1")
    try require(
      input.contains { !ASCII.isSpace($0) }, .malformedAttestReceiptEmpty, "FRC-1")
    let transport = try Transport(input, cap: inputCap)
    try require(
      transport.form == .container || transport.form == .unknown, .rejectedKindMismatch, "RCP-5",
      detail: mismatch(Text(stringLiteral: transport.form.name).string))
    return transport
  }

  private static func mismatch(_ found: String) -> String {
    "expected an App Attest receipt, looks like " + found
  }

  private static func container(_ bytes: [UInt8]) throws(Refusal) -> SignedMessage {
    do throws(Refusal) {
      try require(bytes.count <= byteCap, .tooLargeAttestReceiptSize, "FRC-1")
      let message = try SignedMessage(bytes, limits, refusals)
      try checkAlgorithms(message)
      return message
    } catch {
      // App receipts come in the same kind of container and always fail here, because they are
      // signed with RSA (RCP-5).
      guard AppReceiptClaims.claims(bytes)?.form == .appReceipt else { throw error }
      throw Refusal(.rejectedKindMismatch, "RCP-5", detail: mismatch("app receipt"))
    }
  }

  /// Requires SHA-256 as both digest algorithms, and ECDSA with SHA-256 (FRC-2).
  private static func checkAlgorithms(_ message: SignedMessage) throws(Refusal) {
    let signer = message.signer
    try require(
      message.names(message.digest, ObjectIdentifier.sha256) && message.digest.parametersAreEmpty,
      .unsupportedAttestReceiptDigest, "FRC-2", at: "digestAlgorithms")
    try require(
      message.names(signer.digest, ObjectIdentifier.sha256) && signer.digest.parametersAreEmpty,
      .unsupportedAttestReceiptDigest, "FRC-2", at: "digestAlgorithm")
    try require(
      message.names(signer.signatureAlgorithm, ObjectIdentifier.ecdsaWithSHA256)
        && signer.signatureAlgorithm.parametersAreEmpty,
      .unsupportedAttestReceiptSignatureAlgorithm, "FRC-2", at: "signatureAlgorithm")
  }

  // MARK: chain and signature

  /// Verifies the chain (FRC-4) and the signature over the content (FRC-3). The chain is cached
  /// only once its signer has signed the content.
  private mutating func provenPath(_ message: SignedMessage) throws(Refusal) -> ProvenPath {
    let spelling = AttestReceiptPath.spelling(message)
    let path = try path(message, spelling)
    checks.enter(.signature)
    guard let signature = ECDSASignature(der: message.signer.signature.slice, .p256) else {
      throw Refusal(.rejectedAttestReceiptSignature, "FRC-3", at: "signature")
    }
    try require(
      budget.check(path.chain.leafKey.verifies(signature, .sha256, message.payload.slice)),
      .rejectedAttestReceiptSignature, "FRC-3", at: "signature")
    if !path.isCached { trust.chains.cache.headers.remember(spelling, path.chain) }
    return path
  }

  private mutating func path(
    _ message: SignedMessage, _ spelling: ArraySlice<UInt8>
  ) throws(Refusal) -> ProvenPath {
    checks.enter(.certificates)
    if let chain = trust.chains.cache.headers.find(spelling) {
      checks.enter(.shape)
      checks.enter(.chainSignatures)
      return ProvenPath(chain, chain.intermediates, isCached: true)
    }
    let path = try AttestReceiptPath.open(message)
    checks.enter(.shape)
    let profiled = try path.profiled()
    checks.enter(.chainSignatures)
    return try profiled.proven(trust.chains, &budget)
  }

  /// Checks that the receipt is not from the future, and the chain at its creation time (FRC-5).
  private mutating func validity(
    _ fields: AttestReceiptFields, _ path: ProvenPath
  ) throws(Refusal) {
    // Both summands are within 2008 … 2100: the sum cannot overflow.
    let latest = nowMs &+ trust.policy.clockSkewMs
    checks.enter(.validity)
    try require(fields.createdAtMs <= latest, .rejectedDateFuture, "ATT-40", at: "field 12")
    _ = try path.validated(atSeconds: fields.createdAtMs / 1000)
  }

  // MARK: identity, key, age

  /// Checks App ID and environment; returns whether the environment is production (FRC-8).
  private mutating func identity(
    _ fields: AttestReceiptFields, _ expected: Expected?
  ) throws(Refusal) -> Bool {
    let policy = trust.policy
    checks.enter(.appId)
    let appId = fields.slice(fields.appId)
    let isOurs = expected.map { $0.appId.utf8[...] == appId } ?? (policy.appId(appId) != nil)
    try require(isOurs, .rejectedAttestReceiptAppId, "FRC-8", at: "field 2")
    checks.enter(.environment)
    let text = fields.slice(fields.environment)
    let isProduction = text.elementsEqual("production")
    try require(
      isProduction || text.elementsEqual("sandbox"), .rejectedAttestReceiptEnvironment,
      "FRC-8", at: "field 7")
    try require(
      expected.map { $0.isProduction == isProduction }
        ?? policy.accepts(production: isProduction),
      .rejectedAttestReceiptEnvironment, "FRC-8", at: "field 7")
    return isProduction
  }

  /// Compares the receipt's key with `key`. The nonce of an attestation does not cover its
  /// receipt, so that only the key ties the two (FRC-9).
  private mutating func bind(
    _ fields: AttestReceiptFields, to key: [UInt8]?
  ) throws(Refusal) {
    guard checks.enter(.key, where: key != nil, else: .noInput), let key else { return }
    try require(
      ConstantTime.areEqual(fields.key[...], key[...]), .rejectedAttestReceiptKey, "FRC-9",
      at: "field 3")
  }

  /// Checks age and expiry. A stored receipt may be of any age; its facts report whether it has
  /// expired (FRC-11).
  private mutating func freshness(_ fields: AttestReceiptFields) throws(Refusal) {
    guard !isStored else {
      checks.skip(.freshness, .notConfigured)
      checks.skip(.expiry, .notConfigured)
      return
    }
    // Both times are within 2008 … 2100: the difference cannot overflow.
    let age = nowMs &- fields.createdAtMs
    checks.enter(.freshness)
    try require(
      age <= trust.policy.maxAgeMs, .rejectedFreshnessStale, "FRC-11", at: "field 12")
    checks.enter(.expiry)
    try require(
      nowMs <= fields.expiresAtMs, .rejectedAttestReceiptExpired, "FRC-11", at: "field 21")
  }
}

extension ObjectIdentifier {
  /// The identifier 1.2.840.10045.4.3.2, without tag and length.
  fileprivate static let ecdsaWithSHA256: [UInt8] = [
    0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02,
  ]
}
