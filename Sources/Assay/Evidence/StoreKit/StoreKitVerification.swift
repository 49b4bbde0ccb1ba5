/// The checks of a StoreKit JWS, in the order in which they are made (docs/spec/storekit-jws.md
/// §1).
enum StoreKitCheck: Int, CheckList {
  case size, form, header, root, certificates, shape, chainSignatures, signature, payload, kind
  case validity, freshness, environment, bundle, app, nested, account, revocation

  static let ids: [StaticString] = [
    "jws.size", "jws.form", "jws.header", "chain.root", "chain.certificates", "chain.shape",
    "chain.signatures", "jws.signature", "payload.json", "payload.kind", "chain.validity",
    "freshness", "identity.environment", "identity.bundle", "identity.app", "nested", "account",
    "revocation",
  ]
}

/// The verification of one JWS (docs/spec/storekit-jws.md).
struct StoreKitVerification {
  let trust: StoreKitTrust
  let kind: StoreKitKind
  let nowMs: Int64
  /// The app with whose token Apple's server was asked, if the JWS is a part of its response
  /// (API-57); `nil` for every other text. JWS inside this one are such texts.
  private let askedApp: Configuration.App?
  private(set) var checks = Checks<StoreKitCheck>()
  /// The signature checks made, including those of nested JWS.
  private(set) var budget = SignatureBudget()

  init(
    _ trust: StoreKitTrust, _ kind: StoreKitKind, askedFor askedApp: Configuration.App? = nil,
    nowMs: Int64
  ) {
    self.trust = trust
    self.kind = kind
    self.askedApp = askedApp
    self.nowMs = nowMs
  }

  private var policy: Configuration.StoreKitPolicy { trust.configuration.storekit }

  /// Runs all checks; the first that fails determines the refusal.
  mutating func run(_ jws: [UInt8]) throws(Refusal) -> SignedPayload {
    checks.enter(.size)
    try require(jws.count <= policy.jwsBytes, .tooLargeJwsInput, "JWS-1")
    checks.enter(.form)
    let compact = try CompactJWS(jws)
    try refuseUnsecured(compact)
    checks.enter(.form)
    let signature = try compact.decodedSignature()
    let (chain, source) = try provenChain(compact)
    checks.enter(.signature)
    guard let value = ECDSASignature(concatenated: signature, .p256) else {
      throw Refusal(.rejectedJwsSignature, "JWS-100", at: "signature")
    }
    try require(
      budget.check(chain.leafKey.verifies(value, .sha256, compact.signed)),
      .rejectedJwsSignature, "JWS-101", at: "signature")
    if source != .header, chain.profile == .appStore {
      trust.chains.cache.headers.remember(compact.headerText, chain)
    }
    return try judge(compact, chain, source != .proof)
  }

  // MARK: header and chain (steps 3 to 7)

  /// Refuses a JWS with an empty signature for its algorithm: with `alg` "none" it is well formed
  /// (RFC 7515, appendix A.5).
  private mutating func refuseUnsecured(_ compact: CompactJWS) throws(Refusal) {
    guard compact.signature.isEmpty, compact.header.count <= CompactJWS.headerCap,
      let header = try? CompactJWS.json(compact.headerText, at: "header"),
      let algorithm = header.root.member("alg")?.text, algorithm != "ES256"
    else { return }
    checks.enter(.header)
    try JWSHeader.checkAlgorithm(header.root)
  }

  /// How a chain was obtained: from the cache under its header's bytes (JWS-60) or under its
  /// certificates (JWS-61), or by a proof made now.
  private enum ChainSource { case header, certificates, proof }

  private mutating func provenChain(
    _ compact: CompactJWS
  ) throws(Refusal) -> (chain: ProvenChain, source: ChainSource) {
    if let known = trust.chains.cache.headers.find(compact.headerText) {
      passChain()
      return (known, .header)
    }
    checks.enter(.header)
    let header = try JWSHeader(compact)
    if trust.acceptsXcode, header.certificates.count == 1, let entry = header.certificates.first {
      return (try xcodeChain(entry), .proof)
    }
    return try appStoreChain(header)
  }

  private mutating func appStoreChain(
    _ header: JWSHeader
  ) throws(Refusal) -> (chain: ProvenChain, source: ChainSource) {
    checks.enter(.root)
    let given = try HeaderChain(
      header.certificates, trust.chains.anchors, rootIsSought: policy.x5cRootIgnored)
    if let known = trust.chains.cache.chains.find(given.fingerprint[...]) {
      passChain()
      return (known, .certificates)
    }
    return (try prove(given), .proof)
  }

  private mutating func prove(_ given: HeaderChain) throws(Refusal) -> ProvenChain {
    checks.enter(.certificates)
    let path = try CandidatePath(.appStore, leaf: given.leaf, intermediate: given.intermediate)
    checks.enter(.shape)
    let profiled = try path.profiled()
    checks.enter(policy.x5cRootIgnored ? .root : .chainSignatures)
    let withProven = try profiled.withProvenIntermediates(given.root, trust.chains, &budget)
    checks.enter(.chainSignatures)
    let chain = try withProven.proven(trust.chains, &budget).chain
    trust.chains.cache.chains.remember(given.fingerprint[...], chain)
    return chain
  }

  private mutating func xcodeChain(_ entry: Text) throws(Refusal) -> ProvenChain {
    checks.enter(.root)
    let der = try HeaderChain.decode(entry, at: "x5c[0]")
    try require(
      policy.xcodeCertificates.contains(Digest.sha256.of(der)), .rejectedChainUnpinned, "JWS-80",
      at: "x5c[0]")
    checks.enter(.certificates)
    let certificate = try ChainProfile.xcode.certificate(der, at: "x5c[0]")
    checks.enter(.shape)
    guard let key = certificate.publicKey(), key.type == .elliptic(.p256) else {
      throw Refusal(.rejectedChainKey, "JWS-80", at: "x5c[0]")
    }
    checks.skip(.chainSignatures, .doesNotApply)
    return ProvenChain(.xcode, ProfiledCertificate(certificate: certificate, key: key), [])
  }

  private mutating func passChain() {
    for step in [StoreKitCheck.header, .root, .certificates, .shape, .chainSignatures] {
      checks.enter(step)
    }
  }

  // MARK: payload (steps 9 to 16)

  private mutating func judge(
    _ compact: CompactJWS, _ chain: ProvenChain, _ isCached: Bool
  ) throws(Refusal) -> SignedPayload {
    checks.enter(.payload)
    let json = try compact.decodedPayload()
    var reading = PayloadReading(trust, kind, json, chain, askedFor: askedApp, nowMs: nowMs)
    checks.enter(.kind)
    try reading.readKind()
    var nested: [(place: StaticString, payload: SignedPayload)]? = nil
    if reading.isUndated, kind == .notification, policy.undatedNotificationsNested,
      !policy.nestedOmitted
    {
      checks.enter(.nested)
      nested = try verifyNested(reading)
      reading.adoptDate(from: nested ?? [], header: compact.headerText)
    }
    checks.enter(.validity)
    let date = try reading.readEffectiveDate()
    try reading.checkValidity(at: date)
    if chain.profile == .xcode {
      // The date was checked; the validity of Xcode's certificate is not (JWS-80).
      checks.skip(.validity, .doesNotApply)
    }
    try checkFreshness(date, chain)
    checks.enter(.environment)
    try reading.checkEnvironment()
    if checks.enter(.bundle, where: reading.hasBundle, else: .doesNotApply) {
      try reading.checkBundle()
    }
    if checks.enter(.app, where: reading.demandsApp, else: .doesNotApply) {
      try reading.checkApp()
    }
    let identity = try reading.identity()
    let parts = try agreeing(reading, nested, identity)
    try checkAccount(reading)
    checks.skip(.revocation, .noInput)
    return try reading.payload(
      source: compact.bytes, identity: identity, effectiveDate: date, chainIsCached: isCached,
      notification: parts)
  }

  private mutating func checkFreshness(
    _ date: SignedPayload.EffectiveDate, _ chain: ProvenChain
  ) throws(Refusal) {
    let limit = policy.maxAges.first { $0.kind == kind }?.maxAgeMs
    guard checks.enter(.freshness, where: limit != nil, else: .notConfigured), let limit else {
      return
    }
    // Both times are within 2008 … 2100: the difference cannot overflow.
    try require(nowMs &- date.milliseconds <= limit, .rejectedFreshnessStale, "JWS-50")
    guard chain.profile == .appStore else { return }
    do throws(Refusal) {
      try chain.validated(chain.intermediates, atSeconds: nowMs / 1000)
    } catch {
      throw Refusal(.rejectedFreshnessChainExpired, "JWS-51", at: error.place)
    }
  }

  /// Requires an account token in a transaction under `decision.accountToken` "required" (JWS-91).
  private mutating func checkAccount(_ reading: PayloadReading) throws(Refusal) {
    let isDemanded = trust.configuration.decision.accountToken == .required
    guard checks.enter(.account, where: kind == .transaction, else: .doesNotApply),
      checks.enter(.account, where: isDemanded, else: .notConfigured)
    else { return }
    try require(
      reading.hasAccount, .rejectedAccountTokenMissing, "JWS-91", at: "appAccountToken")
  }

  // MARK: nested evidence (step 14)

  /// Verifies every JWS inside the body, one level deep (NTF-4).
  private mutating func verifyNested(
    _ reading: PayloadReading
  ) throws(Refusal) -> [(place: StaticString, payload: SignedPayload)] {
    guard let parts = reading.notification else { return [] }
    var found: [(place: StaticString, payload: SignedPayload)] = []
    for (member, place, kind) in parts.body.nestedPlaces {
      guard let jws = parts.fields.text(member) else { continue }
      var inner = StoreKitVerification(trust, kind, nowMs: nowMs)
      inner.budget = budget
      defer { budget = inner.budget }
      do {
        found.append((place, try inner.run(jws.utf8)))
      } catch {
        throw error.inside(Text(stringLiteral: place).string)
      }
    }
    return found
  }

  private mutating func agreeing(
    _ reading: PayloadReading, _ early: [(place: StaticString, payload: SignedPayload)]?,
    _ identity: SignedPayload.Identity
  ) throws(Refusal) -> NotificationParts? {
    guard var parts = reading.notification else {
      checks.skip(.nested, .doesNotApply)
      return nil
    }
    let hasNested = parts.body.nestedPlaces.contains { parts.fields[$0.member] != nil }
    guard hasNested, !policy.nestedOmitted else {
      parts.nestedIsOmitted = hasNested
      checks.skip(.nested, hasNested ? .notConfigured : .noInput)
      return parts
    }
    checks.enter(.nested)
    if let early {
      parts.nested = early
    } else {
      parts.nested = try verifyNested(reading)
    }
    try parts.checkAgreement(identity)
    return parts
  }
}
