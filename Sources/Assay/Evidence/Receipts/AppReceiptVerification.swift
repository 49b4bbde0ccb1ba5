/// The checks of an app receipt, in the order in which they are made (docs/spec/receipts.md
/// §3.5).
enum AppReceiptCheck: Int, CheckList {
  case transport, container, certificates, shape, chainSignatures, signature, attributes
  case validity, bundle, app, environment, device, freshness

  static let ids: [StaticString] = [
    "transport", "receipt.container", "chain.certificates", "chain.shape", "chain.signatures",
    "receipt.signature", "receipt.attributes", "chain.validity", "identity.bundle",
    "identity.app", "identity.environment", "device", "freshness",
  ]
}

/// The verification of one app receipt (docs/spec/receipts.md §3). The payload is read only after
/// its signature has been verified.
struct AppReceiptVerification {
  private let trust: ReceiptTrust
  private let subject: [UInt8]?
  private let nowMs: Int64
  private let isForAnswer: Bool
  private(set) var checks = Checks<AppReceiptCheck>()
  private(set) var budget = SignatureBudget()

  /// Creates a verification.
  ///
  /// - `subject`: the vendor id (16 bytes) or MAC address (6 bytes) of the device that the
  ///   receipt must have been made for; with `nil`, the device is not checked.
  /// - `nowMs`: milliseconds since 1970 UTC.
  /// - `isForAnswer`: whether the receipt is answered in Apple's words, which judge no age
  ///   (VRE-19).
  init(
    _ trust: ReceiptTrust, subject: [UInt8]?, nowMs: Int64, isForAnswer: Bool = false
  ) {
    self.trust = trust
    self.subject = subject
    self.nowMs = nowMs
    self.isForAnswer = isForAnswer
  }

  private var policy: Configuration.ReceiptsPolicy { trust.configuration.receipts }

  /// Runs all checks on a receipt as it was sent: raw, base64 or base64 twice. The first check
  /// that fails determines the refusal.
  mutating func run(_ input: [UInt8]) throws(Refusal) -> AppReceipt {
    try checkSubject()
    checks.enter(.transport)
    return try judge(try Transport(input, cap: policy.inputBytes))
  }

  /// Runs all checks on a receipt that is already decoded.
  mutating func run(_ transport: Transport) throws(Refusal) -> AppReceipt {
    try checkSubject()
    return try judge(transport)
  }

  /// Checks the length of `subject`, which is the host's mistake whatever the receipt is
  /// (APR-18).
  private func checkSubject() throws(Refusal) {
    guard let subject else { return }
    try require(
      subject.count == 16 || subject.count == 6, .misuseReceiptSubject, "APR-18", at: "subject")
  }

  private mutating func judge(_ transport: Transport) throws(Refusal) -> AppReceipt {
    checks.enter(.transport)
    try transport.demand(.container)
    let (message, digest) = try container(transport.bytes)
    let path = try provenPath(message)
    checks.enter(.signature)
    guard let signed = message.signedBytes(digest) else {
      throw Refusal(.rejectedAppReceiptSignature, "APR-4", at: "signedAttrs.messageDigest")
    }
    try require(
      budget.check(
        path.chain.leafKey.verifies(message.signer.signature.slice, digest, signed)),
      .rejectedAppReceiptSignature, "APR-6", at: "signature")
    let limits = ReceiptAttributes.Limits(
      elements: policy.appReceiptElements &- message.elements,
      purchases: policy.purchases)
    checks.enter(.attributes)
    let attributes = try ReceiptAttributes(message.payload, limits)
    let (date, chain) = try validity(attributes, path)
    let environment = try identity(attributes, path)
    try device(attributes)
    try freshness(date)
    return AppReceipt(
      attributes, environment: environment, creationDate: date, isDeviceBound: subject != nil,
      digest: digest, chain: chain, transport: transport,
      catalogue: trust.configuration.products)
  }

  // MARK: container

  /// The BER elements of container and payload together that no configuration can exceed: 32 ×
  /// four times 8,192 purchases, and 4,096 (APR-26).
  static let elementCap = 1_052_672

  private static let refusals = SignedMessage.Refusals(
    ber: .malformedAppReceiptBer, trailing: .malformedAppReceiptTrailing,
    structure: .malformedAppReceiptStructure, contentType: .unsupportedAppReceiptContentType,
    signers: .unsupportedAppReceiptSigners, signerId: .unsupportedAppReceiptSignerId,
    signedAttributes: .unsupportedAppReceiptSignedAttributes,
    elements: .tooLargeAppReceiptElements, depth: .tooLargeAppReceiptDepth,
    certificates: .tooLargeAppReceiptCertificates, payload: .tooLargeAppReceiptSize)

  private mutating func container(
    _ bytes: [UInt8]
  ) throws(Refusal) -> (message: SignedMessage, digest: Digest) {
    let (cap, elements) = (policy.appReceiptBytes, policy.appReceiptElements)
    let limits = SignedMessage.Limits(
      ber: BER.Limits(elements: elements, depth: 24), certificates: ChainProfile.embeddedCap,
      chunks: elements, payloadBytes: cap)
    checks.enter(.container)
    try require(bytes.count <= cap, .tooLargeAppReceiptSize, "APR-1")
    do throws(Refusal) {
      let message = try SignedMessage(bytes, limits, AppReceiptVerification.refusals)
      return (message, try AppReceiptVerification.digest(of: message))
    } catch {
      throw AppReceiptVerification.refusal(error, bytes)
    }
  }

  /// Replaces the refusal of an attest receipt, which comes in the same kind of container and
  /// always fails here, because it is signed with another algorithm (RCP-5).
  private static func refusal(_ refusal: Refusal, _ bytes: [UInt8]) -> Refusal {
    guard AppReceiptClaims.claims(bytes)?.form == .attestReceipt else { return refusal }
    return Refusal(
      .rejectedKindMismatch, "RCP-5",
      detail: "expected an app receipt, looks like an App Attest receipt")
  }

  /// Returns the digest that the signer names; SignedData must name the same one, and the
  /// signature algorithm must belong to it (APR-5, APR-6).
  private static func digest(of message: SignedMessage) throws(Refusal) -> Digest {
    let signer = message.signer
    let isSHA1 = message.names(signer.digest, ObjectIdentifier.sha1)
    try require(
      isSHA1 || message.names(signer.digest, ObjectIdentifier.sha256),
      .unsupportedAppReceiptDigest, "APR-5", at: "digestAlgorithm")
    try require(
      message.slice(message.digest.identifier) == message.slice(signer.digest.identifier),
      .unsupportedAppReceiptDigest, "APR-5", at: "digestAlgorithms")
    try require(
      signer.digest.parametersAreEmpty, .unsupportedAppReceiptDigest, "APR-5",
      at: "digestAlgorithm")
    try require(
      message.digest.parametersAreEmpty, .unsupportedAppReceiptDigest, "APR-5",
      at: "digestAlgorithms")
    let combined = isSHA1 ? ObjectIdentifier.sha1WithRSA : ObjectIdentifier.sha256WithRSA
    try require(
      message.names(signer.signatureAlgorithm, ObjectIdentifier.rsaEncryption)
        || message.names(signer.signatureAlgorithm, combined),
      .unsupportedAppReceiptSignatureAlgorithm, "APR-6", at: "signatureAlgorithm")
    try require(
      signer.signatureAlgorithm.parametersAreEmpty, .unsupportedAppReceiptSignatureAlgorithm,
      "APR-6", at: "signatureAlgorithm")
    return isSHA1 ? .sha1 : .sha256
  }

  // MARK: path

  private mutating func provenPath(_ message: SignedMessage) throws(Refusal) -> ProvenPath {
    checks.enter(.certificates)
    let signer = try EmbeddedSigner(message)
    let leaf = signer.certificate
    if signer.isAlone { return try xcodePath(leaf) }
    let roots = trust.roots
    if let known = try roots.known(.receipt, leaf: leaf, embedded: signer.bag) {
      checks.enter(.shape)
      checks.enter(.chainSignatures)
      return known
    }
    let path = try roots.open(.receipt, leaf: leaf, embedded: signer.bag)
    checks.enter(.shape)
    let profiled = try path.profiled()
    checks.enter(.chainSignatures)
    return try roots.prove(profiled, &budget)
  }

  /// Returns the path of a pinned certificate of Xcode, for which no other path rule holds
  /// (APR-21).
  private mutating func xcodePath(_ der: [UInt8]) throws(Refusal) -> ProvenPath {
    try require(trust.accepts(xcode: der), .rejectedChainUnpinned, "APR-21", at: "leaf")
    let leaf = try ChainProfile.receipt.embedded(der, at: "leaf")
    guard let key = leaf.publicKey(), case .rsa = key.type else {
      throw Refusal(.rejectedChainKey, "APR-21", at: "leaf")
    }
    checks.skip(.shape, .doesNotApply)
    checks.skip(.chainSignatures, .doesNotApply)
    let chain = ProvenChain(.xcode, ProfiledCertificate(certificate: leaf, key: key), [])
    return ProvenPath(chain, [], isCached: false)
  }

  /// Checks the receipt's creation date, and the path at that date (APR-9, PTH-11).
  private mutating func validity(
    _ attributes: ReceiptAttributes, _ path: ProvenPath
  ) throws(Refusal) -> (date: Int64, chain: ValidPath) {
    // Both summands are within 2008 … 2100: the sum cannot overflow.
    let latest = nowMs &+ trust.configuration.clockSkewMs
    checks.enter(.validity)
    let date = try attributes.creationDate()
    try require(date <= latest, .rejectedDateFuture, "APR-9", at: "attribute 12")
    return (date, try path.validated(atSeconds: date / 1000))
  }

  // MARK: identity, device, age

  /// Checks bundle id and app id (APR-15), and returns the environment, which must be accepted
  /// and fit the signer (APR-16).
  private mutating func identity(
    _ attributes: ReceiptAttributes, _ path: ProvenPath
  ) throws(Refusal) -> Environment {
    let configuration = trust.configuration
    checks.enter(.bundle)
    let bundle = attributes.slice(attributes.bundleId)
    guard let app = configuration.apps.first(where: { $0.bundleId.utf8[...] == bundle }) else {
      throw Refusal(.rejectedAppBundleId, "APR-15", at: "attribute 2")
    }
    let environment = AppReceiptVerification.environment(
      ofType: attributes.slice(attributes.type))
    // A verifier that accepts Production has the id of every app (CFG-1).
    if environment == .production, let expected = app.appAppleId {
      checks.enter(.app)
      try require(
        attributes.appAppleId == UInt64(clamping: expected), .rejectedAppAppAppleId, "APR-15",
        at: "attribute 1")
    } else {
      checks.skip(.app, .doesNotApply)
    }
    checks.enter(.environment)
    guard let environment else {
      throw Refusal(.unsupportedAppReceiptType, "APR-16", at: "attribute 0")
    }
    try require(
      configuration.environments.contains(environment), .rejectedEnvironmentNotAccepted, "APR-16",
      at: "attribute 0", hint: environment.refusal)
    try require(
      (environment == .xcode) == (path.chain.profile == .xcode),
      .rejectedEnvironmentSignerMismatch, "APR-16", at: "attribute 0")
    return environment
  }

  /// Returns the environment of a receipt type (attribute 0); `nil` for unknown types (APR-16).
  static func environment(ofType type: ArraySlice<UInt8>) -> Environment? {
    if type.elementsEqual("Production") || type.elementsEqual("ProductionVPP") {
      return .production
    }
    if type.elementsEqual("ProductionSandbox") || type.elementsEqual("ProductionVPPSandbox") {
      return .sandbox
    }
    return type.elementsEqual("Xcode") ? .xcode : nil
  }

  /// Compares the device hash with SHA-1 over subject, opaque value and the bundle id's DER
  /// element (APR-18).
  private mutating func device(_ attributes: ReceiptAttributes) throws(Refusal) {
    guard checks.enter(.device, where: subject != nil, else: .noInput), let subject else { return }
    guard let opaque = attributes.opaqueValue, let hash = attributes.deviceHash else {
      throw Refusal(.rejectedAccountDevice, "APR-18", at: "attribute 5")
    }
    let text = subject + attributes.slice(opaque) + attributes.slice(attributes.bundleIdElement)
    try require(
      ConstantTime.areEqual(Digest.sha1.of(text)[...], attributes.slice(hash)),
      .rejectedAccountDevice, "APR-18", at: "attribute 5")
  }

  /// Checks the receipt's age if the configuration limits it (APR-19).
  private mutating func freshness(_ date: Int64) throws(Refusal) {
    let limit = isForAnswer ? nil : policy.maxAgeMs
    guard checks.enter(.freshness, where: limit != nil, else: .notConfigured), let limit else {
      return
    }
    try require(nowMs &- date <= limit, .rejectedFreshnessStale, "APR-19", at: "attribute 12")
  }
}

extension SignedMessage {
  /// Returns the bytes that the signature must cover: the payload, or the signed attributes with
  /// the payload's digest (APR-4, APR-5). `nil` if they have the digest of another payload.
  fileprivate func signedBytes(_ digest: Digest) -> ArraySlice<UInt8>? {
    guard let attributes = signer.attributes else { return payload.slice }
    let stated = attributes.encoded[attributes.messageDigest]
    return stated.elementsEqual(digest.of(payload.slice)) ? attributes.encoded[...] : nil
  }
}

/// The embedded certificate whose issuer and serial number the signer names, wherever it is among
/// the certificates (APR-7).
private struct EmbeddedSigner {
  let certificate: [UInt8]
  let bag: [[UInt8]]
  /// Whether the only certificate is self-issued, as in Xcode's receipts (APR-20).
  let isAlone: Bool

  init(_ message: SignedMessage) throws(Refusal) {
    var found: (certificate: [UInt8], isSelfIssued: Bool)? = nil
    var bag: [[UInt8]] = []
    for (index, range) in message.certificates.enumerated() {
      let der = Array(message.slice(range))
      guard let names = EmbeddedSigner.names(der) else {
        throw Refusal(
          .malformedChainDer, "PTH-4", at: "certificates[" + String(index) + "]")
      }
      bag.append(der)
      if found == nil, der[names.issuer] == message.slice(message.signer.issuer),
        der[names.serial] == message.slice(message.signer.serial)
      {
        found = (der, der[names.issuer] == der[names.subject])
      }
    }
    guard let found else {
      throw Refusal(.rejectedAppReceiptSignerCertificate, "APR-7", at: "sid")
    }
    certificate = found.certificate
    self.bag = bag
    isAlone = bag.count == 1 && found.isSelfIssued
  }

  /// Returns the ranges of a certificate's serial number and its two names; `nil` unless the
  /// bytes begin as a certificate does. The path checks the rest.
  private static func names(
    _ der: [UInt8]
  ) -> (serial: Range<Int>, issuer: Range<Int>, subject: Range<Int>)? {
    var outer = DER.Cursor(der)
    guard let certificate = outer.next(DER.sequence) else { return nil }
    var parts = DER.Cursor(der, certificate.content)
    guard let tbs = parts.next(DER.sequence) else { return nil }
    var fields = DER.Cursor(der, tbs.content)
    // Skips the version, which certificates of version 1 omit.
    _ = fields.next(0xa0)
    guard let serial = fields.next(DER.integer), fields.next(DER.sequence) != nil,
      let issuer = fields.next(DER.sequence), fields.next(DER.sequence) != nil,
      let subject = fields.next(DER.sequence)
    else { return nil }
    return (serial.content, issuer.whole, subject.whole)
  }
}

extension ObjectIdentifier {
  /// The identifiers 1.2.840.113549.1.1.5 and 1.2.840.113549.1.1.11.
  fileprivate static let sha1WithRSA: [UInt8] = [
    0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x05,
  ]
  fileprivate static let sha256WithRSA: [UInt8] = [
    0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b,
  ]
}
