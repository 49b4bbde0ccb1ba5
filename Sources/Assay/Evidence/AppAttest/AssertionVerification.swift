/// The checks of an assertion, in the order in which they are made (docs/spec/app-attest.md §6).
enum AssertionCheck: Int, CheckList {
  case input, form, signature, appId, counter, category, bundleVersion, challenge

  static let ids: [StaticString] = [
    "assertion.input", "assertion.form", "assertion.signature", "assertion.app-id",
    "assertion.counter", "assertion.category", "assertion.bundle-version",
    "assertion.challenge",
  ]
}

/// The verification of one assertion (docs/spec/app-attest.md §6).
struct AssertionVerification {
  private let trust: AttestTrust
  private(set) var checks = Checks<AssertionCheck>()

  init(_ trust: AttestTrust) { self.trust = trust }

  private var policy: AttestPolicy { trust.policy }

  /// Runs all checks; the first that fails determines the refusal.
  ///
  /// - `publicKey`: 65 bytes `04 ‖ x ‖ y`, or 91 bytes of SubjectPublicKeyInfo.
  /// - `counter`: the counter stored for this key; 0 before the first assertion.
  mutating func run(
    _ bytes: [UInt8], publicKey: [UInt8], counter: UInt32, _ clientData: ClientDataInput
  ) throws(Refusal) -> Assertion {
    checks.enter(.input)
    try trust.checkAppIds()
    let data = try ClientData(clientData)
    guard let point = AttestedKey.point(publicKey), let key = trust.key(point)
    else { throw Refusal(.misuseAssertionPublicKey, "ATT-3", at: "public_key") }
    try require(bytes.count <= AssertionObject.byteCap, .tooLargeAssertionObject, "ASR-1")
    checks.enter(.form)
    let object = try AssertionObject(bytes)
    let id = policy.appId(digest: object.authData.rpIdHash)
    checks.enter(.signature)
    // An assertion that none of the configured apps made gets no hint (DIA-4).
    let nonce = try AssertionVerification.checkSignature(object, key, data, isExplained: id != nil)
    checks.enter(.appId)
    guard let id else {
      throw Refusal(.rejectedAssertionAppId, "ASR-5", at: "authenticatorData/byte 0")
    }
    checks.enter(.counter)
    let sent = object.authData.counter
    try require(
      sent > counter, .rejectedAssertionCounter, "ASR-6", at: "authenticatorData/byte 33",
      detail: "sent " + String(sent) + ", stored " + String(counter))
    try judgePolicy(object.extensions)
    let challenge = try challenge(data)
    return Assertion(
      object, appId: id.text, previousCounter: counter, nonce: nonce, challenge: challenge,
      isStored: policy.storedTime, hasOddHash: data.hasOddHash)
  }

  /// Verifies the signature over the nonce, whose 32 bytes ECDSA hashes once more (ASR-3), and
  /// returns the nonce.
  private static func checkSignature(
    _ object: AssertionObject, _ key: PublicKey, _ data: ClientData, isExplained: Bool
  ) throws(Refusal) -> [UInt8] {
    let authData = object.authData
    let nonce = authData.nonce(data.hash)
    guard key.verifies(object.signature, .sha256, nonce[...]) else {
      let hint =
        isExplained
        ? AttestDiagnosis.hint(data) {
          key.verifies(object.signature, .sha256, authData.nonce($0)[...])
        } : nil
      throw Refusal(.rejectedAssertionSignature, "ASR-3", at: "signature", hint: hint)
    }
    return nonce
  }

  /// Checks the extensions against the configured categories and build numbers (ASR-8).
  private mutating func judgePolicy(_ extensions: AttestExtensions) throws(Refusal) {
    checks.enter(.category)
    if try !policy.checkCategory(extensions, .assertion) { checks.skip(.category, .noInput) }
    if checks.enter(.bundleVersion, where: !policy.bundleVersion.isAny, else: .notConfigured),
      try !policy.checkBundleVersion(extensions, .assertion)
    {
      checks.skip(.bundleVersion, .noInput)
    }
  }

  /// Returns the SHA-256 of the challenge in the client data; `nil` if the host checks the
  /// challenge or the client data is a hash (ASR-10).
  private mutating func challenge(_ data: ClientData) throws(Refusal) -> [UInt8]? {
    let place = policy.challenge
    checks.enter(.challenge)
    let found = try data.challenge(place, AttestForms.assertion.clientData)
    if found == nil {
      checks.skip(.challenge, place.isHosts ? .notConfigured : .noInput)
    }
    return found
  }
}
