/// The checks of a StoreKit JWS in the order in which they are made
/// (storekit-jws.md §1).
enum StoreKitCheck: Int, CaseIterable {
  case size, form, header, root, certificates, shape, chainSignatures, signature, payload, kind
  case validity, freshness, environment, bundle, app, nested, account, revocation

  static let ids: [StaticString] = [
    "jws.size", "jws.form", "jws.header", "chain.root", "chain.certificates", "chain.shape",
    "chain.signatures", "jws.signature", "payload.json", "payload.kind", "chain.validity",
    "freshness", "identity.environment", "identity.bundle", "identity.app", "nested", "account",
    "revocation",
  ]
}

/// One verification of one JWS: the rules of storekit-jws.md, step by step.
struct StoreKitVerification {
  let trust: StoreKitTrust
  let kind: StoreKitKind
  let nowMs: Int64
  private(set) var checks = Checks(StoreKitCheck.ids)
  /// Of what is nested, too.
  private(set) var signatures = SignatureChecks()

  init(_ trust: StoreKitTrust, _ kind: StoreKitKind, nowMs: Int64) {
    self.trust = trust
    self.kind = kind
    self.nowMs = nowMs
  }

  private var policy: Configuration.StoreKitPolicy { trust.configuration.storekit }

  /// Runs every step; the first that fails gives the refusal.
  mutating func run(_ jws: [UInt8]) throws(Refusal) -> SignedPayload {
    let cap = policy.jwsBytes
    try check(.size) { () throws(Refusal) in
      try require(jws.count <= cap, .tooLargeJwsInput, "JWS-1")
    }
    let compact = try check(.form) { () throws(Refusal) in try CompactJWS(jws) }
    try refuseUnsecured(compact)
    let signature = try check(.form) { () throws(Refusal) in try compact.decodedSignature() }
    let (chain, source) = try provenChain(compact)
    try count(.signature) { (signatures) throws(Refusal) in
      guard let value = ECDSASignature(concatenated: signature, .p256) else {
        throw Refusal(.rejectedJwsSignature, "JWS-100", at: "signature")
      }
      try require(
        signatures.check(chain.leafKey.verifies(value, .sha256, compact.signed)),
        .rejectedJwsSignature, "JWS-101", at: "signature")
    }
    if source != .header, chain.profile == .appStore {
      trust.cache.spellings.remember(compact.headerText, chain)
    }
    return try judge(compact, chain, source != .proof)
  }

  // MARK: header and chain (steps 3 to 7)

  /// A JWS with `alg` "none" has an empty signature segment: it is well formed
  /// (RFC 7515 appendix A.5) and refused for its algorithm.
  private mutating func refuseUnsecured(_ compact: CompactJWS) throws(Refusal) {
    guard compact.signature.isEmpty, compact.header.count <= CompactJWS.headerCap,
      let header = try? CompactJWS.json(compact.headerText, at: "header"),
      let algorithm = header.root.member("alg")?.text, algorithm != "ES256"
    else { return }
    try check(.header) { () throws(Refusal) in try JWSHeader.checkAlgorithm(header.root) }
  }

  /// Where a chain was found: under its header's bytes, under its certificates
  /// (JWS-60, JWS-61), or nowhere: it was proven now.
  private enum ChainSource { case header, certificates, proof }

  private mutating func provenChain(
    _ compact: CompactJWS
  ) throws(Refusal) -> (chain: ProvenChain, source: ChainSource) {
    if let known = trust.cache.spellings.find(compact.headerText) {
      passChain()
      return (known, .header)
    }
    let header = try check(.header) { () throws(Refusal) in try JWSHeader(compact) }
    if header.certificates.count == 1, trust.acceptsXcode {
      return (try xcodeChain(header), .proof)
    }
    return try appStoreChain(header)
  }

  private mutating func appStoreChain(
    _ header: JWSHeader
  ) throws(Refusal) -> (chain: ProvenChain, source: ChainSource) {
    let builder = trust.chainBuilder
    let found = try check(.root) { () throws(Refusal) in try builder.open(header.certificates) }
    switch found {
    case .proven(let path):
      passChain()
      return (path.chain, .certificates)
    case .next(let given): return (try prove(given), .proof)
    }
  }

  private mutating func prove(_ given: GivenPath<[UInt8]>) throws(Refusal) -> ProvenChain {
    let parsed = try check(.certificates) { () throws(Refusal) in try given.parsed() }
    let shaped = try check(.shape) { () throws(Refusal) in try parsed.shaped() }
    let rooted = try root(of: shaped)
    let path = try count(.chainSignatures) { (signatures) throws(Refusal) in
      try rooted.proven(&signatures)
    }
    return path.chain
  }

  private mutating func root(
    of shaped: GivenPath<ShapedCertificate>
  ) throws(Refusal) -> RootedPath {
    if let rooted = shaped.rooted { return rooted }
    return try count(.root) { (signatures) throws(Refusal) in try shaped.sought(&signatures) }
  }

  private mutating func xcodeChain(_ header: JWSHeader) throws(Refusal) -> ProvenChain {
    let pins = policy.xcodeCertificates
    let der = try check(.root) { () throws(Refusal) -> [UInt8] in
      let der = try ChainBuilder.decode(header.certificates, 0)
      try require(
        pins.contains(Digest.sha256.of(der)), .rejectedChainUnpinned, "JWS-80", at: "x5c[0]")
      return der
    }
    let certificate = try check(.certificates) { () throws(Refusal) in
      try ChainProfile.xcode.certificate(der, at: "x5c[0]")
    }
    let key = try check(.shape) { () throws(Refusal) -> PublicKey in
      guard let key = certificate.publicKey(), key.type == .elliptic(.p256) else {
        throw Refusal(.rejectedChainKey, "JWS-80", at: "x5c[0]")
      }
      return key
    }
    checks.skip(StoreKitCheck.chainSignatures.rawValue, .doesNotApply)
    return ProvenChain(.xcode, ShapedCertificate(certificate: certificate, key: key), [])
  }

  private mutating func passChain() {
    for step in [StoreKitCheck.header, .root, .certificates, .shape, .chainSignatures] {
      checks.pass(step.rawValue)
    }
  }

  // MARK: payload (steps 9 to 16)

  private mutating func judge(
    _ compact: CompactJWS, _ chain: ProvenChain, _ isCached: Bool
  ) throws(Refusal) -> SignedPayload {
    let json = try check(.payload) { () throws(Refusal) in try compact.decodedPayload() }
    var reading = PayloadReading(trust, kind, json, chain, nowMs: nowMs)
    try check(.kind) { () throws(Refusal) in try reading.readKind() }
    var nested: [(place: StaticString, payload: SignedPayload)]? = nil
    if reading.isUndated, kind == .notification, policy.undatedNotificationsNested,
      !policy.nestedOmitted
    {
      let (trust, now) = (trust, nowMs)
      nested = try count(.nested) { (signatures) throws(Refusal) in
        try StoreKitVerification.verifyNested(reading, trust, nowMs: now, &signatures)
      }
      reading.adoptDate(from: nested ?? [], header: compact.headerText)
    }
    let date = try check(.validity) { () throws(Refusal) -> SignedPayload.EffectiveDate in
      let date = try reading.readEffectiveDate()
      try reading.checkValidity(at: date)
      return date
    }
    if chain.profile == .xcode {
      // JWS-80: the date was checked, the certificate's validity is not.
      checks.skip(StoreKitCheck.validity.rawValue, .doesNotApply)
    }
    try checkFreshness(date, chain)
    try check(.environment) { () throws(Refusal) in try reading.checkEnvironment() }
    try checkWhereItApplies(.bundle, reading.hasBundle) { () throws(Refusal) in
      try reading.checkBundle()
    }
    try checkWhereItApplies(.app, reading.demandsApp) { () throws(Refusal) in
      try reading.checkApp()
    }
    let identity = try reading.identity()
    let parts = try agreeing(reading, nested, identity)
    try checkAccount(reading)
    checks.skip(StoreKitCheck.revocation.rawValue, .noInput)
    return try reading.payload(
      identity: identity, effectiveDate: date, chainIsCached: isCached, notification: parts)
  }

  private mutating func checkFreshness(
    _ date: SignedPayload.EffectiveDate, _ chain: ProvenChain
  ) throws(Refusal) {
    let kind = kind
    let now = nowMs
    guard let limit = policy.fresh.first(where: { $0.kind == kind })?.maxAgeMs else {
      checks.skip(StoreKitCheck.freshness.rawValue, .notConfigured)
      return
    }
    try check(.freshness) { () throws(Refusal) in
      // Both lie in 2008 … 2100: the difference cannot overflow.
      try require(now &- date.milliseconds <= limit, .rejectedFreshnessStale, "JWS-50")
      guard chain.profile == .appStore else { return }
      let outside = chain.placeOutside(now / 1000)
      try require(
        outside == nil, .rejectedFreshnessChainExpired, "JWS-51",
        at: outside.map { Text(stringLiteral: $0).string } ?? "")
    }
  }

  /// JWS-91: under `decide.account` "required" a transaction must carry a token.
  private mutating func checkAccount(_ reading: PayloadReading) throws(Refusal) {
    guard kind == .transaction else {
      checks.skip(StoreKitCheck.account.rawValue, .doesNotApply)
      return
    }
    guard trust.configuration.decide.account == .required else {
      checks.skip(StoreKitCheck.account.rawValue, .notConfigured)
      return
    }
    try check(.account) { () throws(Refusal) in
      try require(
        reading.hasAccount, .rejectedAccountTokenMissing, "JWS-91", at: "appAccountToken")
    }
  }

  // MARK: nested evidence (step 14)

  /// NTF-4: verifies every JWS inside the body, one level deep.
  private static func verifyNested(
    _ reading: PayloadReading, _ trust: StoreKitTrust, nowMs: Int64,
    _ signatures: inout SignatureChecks
  ) throws(Refusal) -> [(place: StaticString, payload: SignedPayload)] {
    guard let parts = reading.notification else { return [] }
    var found: [(place: StaticString, payload: SignedPayload)] = []
    for (member, place, kind) in parts.body.nestedPlaces {
      guard let jws = parts.fields.text(member) else { continue }
      var inner = StoreKitVerification(trust, kind, nowMs: nowMs)
      inner.signatures = signatures
      defer { signatures = inner.signatures }
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
      checks.skip(StoreKitCheck.nested.rawValue, .doesNotApply)
      return nil
    }
    let hasNested = parts.body.nestedPlaces.contains { parts.fields[$0.member] != nil }
    guard hasNested, !policy.nestedOmitted else {
      parts.nestedIsOmitted = hasNested
      checks.skip(StoreKitCheck.nested.rawValue, hasNested ? .notConfigured : .noInput)
      return parts
    }
    let (trust, now) = (trust, nowMs)
    return try count(.nested) { (signatures) throws(Refusal) -> NotificationParts in
      var complete = parts
      if let early {
        complete.nested = early
      } else {
        complete.nested = try StoreKitVerification.verifyNested(
          reading, trust, nowMs: now, &signatures)
      }
      try complete.checkAgreement(identity)
      return complete
    }
  }

  // MARK: the ledger of checks

  @inline(__always)
  private mutating func check<Result>(
    _ step: StoreKitCheck, _ body: () throws(Refusal) -> Result
  ) throws(Refusal) -> Result {
    try checks.make(step.rawValue, body)
  }

  @inline(__always)
  private mutating func count<Result>(
    _ step: StoreKitCheck, _ body: (inout SignatureChecks) throws(Refusal) -> Result
  ) throws(Refusal) -> Result {
    try checks.make(step.rawValue, &signatures, body)
  }

  private mutating func checkWhereItApplies(
    _ step: StoreKitCheck, _ applies: Bool, _ body: () throws(Refusal) -> Void
  ) throws(Refusal) {
    if applies {
      try check(step, body)
    } else {
      checks.skip(step.rawValue, .doesNotApply)
    }
  }
}
