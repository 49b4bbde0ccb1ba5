/// The checks of an attestation, in the order in which they are made (docs/spec/app-attest.md
/// §4).
enum AttestationCheck: Int, CheckList {
  case input, form, chain, nonce, keyId, coseKey, appId, counter, environment, credentialId
  case category, bundleVersion, accessControl, receipt, challenge

  static let ids: [StaticString] = [
    "attest.input", "attest.form", "chain", "attest.nonce", "attest.key-id", "attest.cose-key",
    "attest.app-id", "attest.counter", "attest.environment", "attest.credential-id",
    "attest.category", "attest.bundle-version", "attest.acl", "attest.receipt",
    "attest.challenge",
  ]
}

/// The verification of one attestation (docs/spec/app-attest.md §1 to §5).
struct AttestationVerification {
  private let trust: AttestTrust
  private let nowMs: Int64
  private(set) var checks = Checks<AttestationCheck>()
  private(set) var budget = SignatureBudget()

  init(_ trust: AttestTrust, nowMs: Int64) {
    self.trust = trust
    self.nowMs = nowMs
  }

  private var policy: AttestPolicy { trust.policy }

  /// Runs all checks; the first that fails determines the refusal.
  ///
  /// - `keyId`: 32 bytes, or their base64, base64url or hex text.
  mutating func run(
    _ bytes: [UInt8], keyId: [UInt8], _ clientData: ClientDataInput
  ) throws(Refusal) -> Attestation {
    checks.enter(.input)
    try trust.checkAppIds()
    let data = try ClientData(clientData)
    let keyId = try KeyIdentifier.read(keyId)
    try require(!bytes.isEmpty, .malformedAttestEmpty, "ATT-1")
    try require(bytes.count <= AttestationObject.byteCap, .tooLargeAttestObject, "ATT-1")
    checks.enter(.form)
    let object = try AttestationObject(bytes, trust)
    checks.enter(.chain)
    let chain = try provenChain(object)
    let seconds = try judgedMs(object) / 1000
    try chain.validated(
      chain.intermediates, atSeconds: seconds,
      hints: (policy.storedTime ? .otherDate : nil, .authorityEnded))
    checks.enter(.nonce)
    let nonce = try AttestationVerification.checkNonce(object, chain.leaf, data)
    let information = LeafInformation(chain.leaf)
    let (appId, isProduction) = try identity(object, chain, keyId, information)
    try judgePolicy(object, information)
    let receipt = try receipt(object, chain, appId, isProduction)
    let challenge = try challenge(data)
    return Attestation(
      object, chain.leaf, keyId: keyId, nonce: nonce, appId: appId, isProduction: isProduction,
      information, challenge: challenge, isStored: policy.storedTime, receipt: receipt,
      warnings: AttestationVerification.warnings(chain.leaf, keyId, data, information))
  }

  /// Verifies profiles, issuer names and signatures of leaf and intermediate, up to a pinned root
  /// (ATT-30 … ATT-34, ATT-36).
  private mutating func provenChain(_ object: AttestationObject) throws(Refusal) -> ProvenChain {
    let path = try CandidatePath(
      .attestation, leaf: Array(object.leaf), intermediate: Array(object.intermediate))
    return try path.profiled().withProvenIntermediates(.searched, trust.chains, &budget)
      .proven(trust.chains, &budget).chain
  }

  // MARK: time (ATT-40)

  /// Returns the time at which the certificates must be valid, in milliseconds since 1970 UTC:
  /// now, or the creation time of the embedded receipt. The receipt is verified only in a later
  /// check, which confirms that Apple signed its creation time.
  private mutating func judgedMs(_ object: AttestationObject) throws(Refusal) -> Int64 {
    guard policy.storedTime else { return nowMs }
    if let found = AttestReceiptVerification.unverified(object.receipt) {
      return found.createdAtMs
    }
    // A receipt without a readable date is faulty; its own verification reports the fault.
    checks.skip(.chain, .noInput)
    checks.enter(.receipt)
    _ = try AttestReceiptVerification.verifyEmbedded(
      object.receipt, trust.receipts, leafKey: [], appId: "", isProduction: false, nowMs: nowMs,
      &budget)
    throw Refusal(.malformedAttestReceiptStructure, "ATT-40")
      .inside("receipt", as: .embeddedReceipt)
  }

  // MARK: the object against its certificate

  /// Checks that the nonce in the leaf was made from this object's authenticator data and the
  /// client data, and returns the nonce (ATT-20).
  private static func checkNonce(
    _ object: AttestationObject, _ leaf: Certificate, _ data: ClientData
  ) throws(Refusal) -> [UInt8] {
    guard let entry = leaf.extension(ObjectIdentifier.attestNonce) else {
      throw Refusal(.rejectedChainLeafMarker, "ATT-31", at: "x5c[0]")
    }
    let value = leaf.bytes(entry.value)
    try require(
      value.count == noncePrefix.count &+ 32 && value.starts(with: noncePrefix),
      .malformedAttestNonceExtension, "ATT-20", at: "x5c[0]")
    let expected = value.suffix(32)
    let authData = object.authData
    let nonce = authData.nonce(data.hash)
    guard ConstantTime.areEqual(nonce[...], expected) else {
      let fits: ([UInt8]) -> Bool = { authData.nonce($0)[...] == expected }
      throw Refusal(
        .rejectedAttestNonce, "ATT-20", at: "x5c[0]",
        hint: AttestDiagnosis.hint(data, fits: fits)
          ?? AttestDiagnosis.hint(object.receipt, fits: fits))
    }
    return nonce
  }

  /// The DER of SEQUENCE { [1] EXPLICIT OCTET STRING of 32 bytes } before these bytes.
  private static let noncePrefix: [UInt8] = [0x30, 0x24, 0xa1, 0x22, 0x04, 0x20]

  /// Checks key, App ID and environment (checks 4 to 9).
  private mutating func identity(
    _ object: AttestationObject, _ chain: ProvenChain, _ keyId: [UInt8],
    _ information: LeafInformation
  ) throws(Refusal) -> (appId: Text, isProduction: Bool) {
    let policy = policy
    let authData = object.authData
    checks.enter(.keyId)
    guard ConstantTime.areEqual(Digest.sha256.of(chain.leaf.keyBytes)[...], keyId[...]) else {
      throw Refusal(
        .rejectedAttestKeyId, "ATT-2", at: "key_id", hint: .otherKey)
    }
    checks.enter(.coseKey)
    try require(
      authData.coseKey == AttestedKey.coseKey(chain.leaf.keyBytes)[...], .rejectedAttestCoseKey,
      "ATT-21", at: "authData/byte 87")
    checks.enter(.appId)
    guard let id = policy.appId(digest: authData.rpIdHash) else {
      throw Refusal(
        .rejectedAttestAppId, "ATT-23", at: "authData/byte 0",
        detail: AttestDiagnosis.appIds(information.appId, policy),
        hint: .configuredAppId)
    }
    checks.enter(.counter)
    try require(
      authData.counter == 0, .rejectedAttestCounter, "ATT-13", at: "authData/byte 33")
    checks.enter(.environment)
    let place = "authData/byte 37"
    guard let isProduction = AttestEnvironment.isProduction(aaguid: authData.aaguid) else {
      throw Refusal(.unsupportedAttestAaguid, "ATT-26", at: place)
    }
    try require(
      policy.accepts(production: isProduction), .rejectedAttestEnvironment, "ATT-26",
      at: place, detail: isProduction ? "made for production" : "made for development")
    checks.enter(.credentialId)
    try require(
      authData.credentialId == keyId[...], .rejectedAttestCredentialId, "ATT-13",
      at: "authData/byte 55")
    return (id.text, isProduction)
  }

  // MARK: policy

  /// Checks category, build number and, for Macs, access control (ATT-45 … ATT-48).
  private mutating func judgePolicy(
    _ object: AttestationObject, _ information: LeafInformation
  ) throws(Refusal) {
    let extensions = object.extensions
    checks.enter(.category)
    if try !policy.checkCategory(extensions, .attestation) { checks.skip(.category, .noInput) }
    if checks.enter(.bundleVersion, where: !policy.bundleVersion.isAny, else: .notConfigured),
      try !policy.checkBundleVersion(extensions, .attestation)
    {
      checks.skip(.bundleVersion, .noInput)
    }
    let isMac = policy.demandsAccessControl(of: information)
    guard checks.enter(.accessControl, where: isMac, else: .doesNotApply) else { return }
    try require(
      information.accessControl == AttestPolicy.macAccessControl, .rejectedAttestAcl,
      "ATT-47", at: "x5c[0]")
  }

  // MARK: receipt and challenge

  private mutating func receipt(
    _ object: AttestationObject, _ chain: ProvenChain, _ appId: Text, _ isProduction: Bool
  ) throws(Refusal) -> AttestReceipt? {
    guard checks.enter(.receipt, where: !policy.ignoresReceipt, else: .notConfigured) else {
      return nil
    }
    return try AttestReceiptVerification.verifyEmbedded(
      object.receipt, trust.receipts, leafKey: Array(chain.leaf.keyBytes), appId: appId,
      isProduction: isProduction, nowMs: nowMs, &budget)
  }

  /// Returns the SHA-256 of the challenge in the client data; `nil` if the host checks the
  /// challenge or the client data is a hash (ASR-10).
  private mutating func challenge(_ data: ClientData) throws(Refusal) -> [UInt8]? {
    let place = policy.challenge
    checks.enter(.challenge)
    let found = try data.challenge(place, AttestForms.attestation.clientData)
    if found == nil {
      checks.skip(.challenge, place.isHosts ? .notConfigured : .noInput)
    }
    return found
  }

  private static func warnings(
    _ leaf: Certificate, _ keyId: [UInt8], _ data: ClientData, _ information: LeafInformation
  ) -> [Warning] {
    var warnings: [Warning] = []
    if data.hasOddHash { warnings.append(.clientDataHashLength) }
    if !LeafInformation.names(keyId, leaf) {
      warnings.append(Warning("leaf-common-name", at: "x5c[0]"))
    }
    if information.isDamaged { warnings.append(Warning("leaf-info", at: "x5c[0]")) }
    return warnings
  }
}

extension Warning {
  /// The warning about a client data hash that is accepted although its length is not that of a
  /// SHA-256 (ATT-4).
  static var clientDataHashLength: Warning {
    Warning("client-data-hash-length", at: "client_data")
  }
}

extension AttestPolicy {
  /// Whether access control is checked: on Macs only, as other devices have other values (ATT-47,
  /// ATT-48).
  func demandsAccessControl(of information: LeafInformation) -> Bool {
    switch platform {
    case .macOS: return true
    case .iOS: return false
    case .any: return information.isMac
    }
  }

  /// The access control bytes of a Mac with System Integrity Protection and Full Security on
  /// (ATT-47).
  static let macAccessControl: [UInt8] = [
    0x30, 0x40, 0x0c, 0x02, 0x31, 0x31, 0x30, 0x3a, 0x30, 0x09, 0x0c, 0x02, 0x6f, 0x6b, 0xa1,
    0x03, 0x01, 0x01, 0xff, 0x30, 0x09, 0x0c, 0x02, 0x6f, 0x61, 0xa1, 0x03, 0x01, 0x01, 0xff,
    0x30, 0x0b, 0x0c, 0x04, 0x6f, 0x64, 0x65, 0x6c, 0xa1, 0x03, 0x01, 0x01, 0xff, 0x30, 0x15,
    0x0c, 0x04, 0x6f, 0x73, 0x67, 0x6e, 0xa0, 0x06, 0x0c, 0x04, 0x72, 0x73, 0x65, 0x63, 0x30,
    0x05, 0xa6, 0x03, 0x02, 0x01, 0x01,
  ]
}

extension AttestPolicy.Challenge {
  var isHosts: Bool {
    if case .host = self { return true }
    return false
  }
}

extension AuthenticatorData {
  /// Returns the SHA-256 of authenticator data and client data hash, concatenated (ATT-20,
  /// ASR-3).
  func nonce(_ clientDataHash: [UInt8]) -> [UInt8] {
    Digest.sha256.of(bytes + clientDataHash)
  }
}
