/// Verifies evidence by one configuration: pinned roots, apps, products and policy.
///
/// A verifier is immutable apart from its cache of proven chains, which all verifiers of the
/// process with the same trust share. Any number of threads may use it at once. Another policy
/// needs another verifier.
///
///     let (verifier, document) = Verifier.make(configuration)
///     let answer = verifier?.verifyJWS(jws, kind: .transaction, nowMs: now)
///
/// Time is an argument: milliseconds since 1970 UTC. No call reads a clock, a file or the
/// environment.
public final class Verifier: Sendable {
  let trust: StoreKitTrust
  let receipts: ReceiptTrust
  /// Created once, because it holds a copy of the configuration.
  let firstLook: Triage
  let attest: AttestTrust
  /// The *trust* digest of the configuration, which evidence must share with this verifier
  /// (EXC-11).
  let fingerprint: [UInt8]

  private init(
    _ trust: StoreKitTrust, _ receipts: ReceiptTrust, _ attest: AttestTrust,
    fingerprint: [UInt8]
  ) {
    self.trust = trust
    self.receipts = receipts
    firstLook = Triage(receipts.configuration)
    self.attest = attest
    self.fingerprint = fingerprint
  }

  // MARK: configuration

  /// The longest configuration that is read, in bytes (CNF-1).
  public static let configurationByteCap = ConfigurationReader.byteCap
  /// The longest account that is compared, in bytes; an appAccountToken has 36.
  public static let accountByteCap = 128

  var configuration: Configuration { trust.configuration }

  /// Creates a verifier from a JSON configuration (docs/spec/configuration.md).
  ///
  /// - Returns: the verifier, and a document with the effective configuration; no verifier and a
  ///   refusal if the configuration or the host's libcrypto is unusable (family `config`), or if
  ///   the build is damaged (`internal.certificates.table`).
  public static func make(_ config: [UInt8]) -> (verifier: Verifier?, document: Document) {
    make(config, sharing: Proofs.ofProcess)
  }

  /// - Parameter table: where proofs are stored that outlive this verifier (JWS-66).
  static func make(
    _ config: [UInt8], sharing table: ProofTable
  ) -> (verifier: Verifier?, document: Document) {
    var checks = Checks<ConfigurationCheck>()
    checks.enter(.configuration)
    do throws(Refusal) {
      try CryptoContext.check()
      let configuration = try ConfigurationReader.read(config)
      let proofs = table.proofs(of: configuration)
      let trust = StoreKitTrust(
        configuration: configuration, anchors: try anchors(configuration.storekit), proofs)
      let receipts = try ReceiptTrust.make(configuration, proofs)
      let attest = try AttestTrust.make(configuration, proofs)
      var writer = JSONWriter(capacity: 2048)
      trust.configuration.write(trust.chains.anchors, receipts.roots, &writer)
      let effective = writer.bytes
      var trusted = JSONWriter(capacity: 2048)
      trust.configuration.writeTrusted(trust.chains.anchors, receipts.roots, &trusted)
      let digests = try ConfigurationDigests(effective: effective, trusted: trusted.bytes)
      let envelope = Envelope(
        kind: "configuration", factsMember: "configuration", checks: checks.log,
        configuration: digests.trust)
      let document = envelope.accepted(
        nil, warnings: { Warning.write(trust.configuration.refunds.warnings, &$0) }
      ) { writer in
        writer.raw(effective)
        digests.write(&writer)
      }
      return (Verifier(trust, receipts, attest, fingerprint: digests.trust), document)
    } catch {
      let envelope = Envelope(
        kind: "configuration", factsMember: "configuration", checks: checks.log)
      return (nil, envelope.refused(ConfigurationAdvice.completed(error)))
    }
  }

  /// Returns the configured roots, or Apple's if the configuration has none (CER-2).
  private static func anchors(
    _ policy: Configuration.StoreKitPolicy
  ) throws(Refusal) -> AnchorSet {
    let anchors = AnchorSet(.storekit, policy.anchors)
    _ = try anchors.anchors()
    return anchors
  }

  // MARK: evidence

  /// The longest JWS that is read, in bytes (`storekit.caps.jwsBytes`).
  public var jwsByteCap: Int { trust.configuration.storekit.jwsBytes }

  /// Verifies one compact JWS with its x5c chain (docs/spec/storekit-jws.md).
  ///
  /// - Parameters:
  ///   - jws: the JWS without white space around it.
  ///   - kind: the kind of evidence that the JWS must be.
  ///   - nowMs: milliseconds since 1970 UTC, 2008 … 2100.
  /// - Returns: a document with the facts or the refusal.
  public func verifyJWS(_ jws: [UInt8], kind: StoreKitKind, nowMs: Int64) -> Document {
    var verification = StoreKitVerification(trust, kind, nowMs: nowMs)
    do throws(Refusal) {
      try TimeWindow.checkNow(nowMs)
      let payload = try verification.run(jws)
      return envelope(kind, verification.checks.log).accepted(
        .storeKit(payload), warnings: { payload.writeWarnings(&$0) },
        capacity: payload.json.bytes.count + 3072
      ) { payload.write(&$0) }
    } catch {
      return envelope(kind, verification.checks.log).refused(error)
    }
  }

  private func envelope(_ kind: StoreKitKind, _ checks: CheckLog) -> Envelope {
    Envelope(
      kind: kind.name, factsMember: kind.factsMember, checks: checks, configuration: fingerprint)
  }

  // MARK: decision

  /// Decides the plan, its state and the next check time from verified documents
  /// (docs/spec/receipts-decisions.md).
  ///
  /// - Parameters:
  ///   - evidence: documents with status 0 from a verifier with the same *trust* digest (EXC-11).
  ///   - account: the appAccountToken that the evidence must contain, a UUID as text; without it
  ///     `decision.accountToken` of the configuration applies.
  ///   - nowMs: milliseconds since 1970 UTC, 2008 … 2100.
  /// - Returns: a document whose status is 0 only if the account has a plan above the default
  ///   one; a document with `rejected.decision.not-entitled` has the decision as well.
  public func decide(_ evidence: [Document], account: [UInt8]?, nowMs: Int64) -> Document {
    var checks = Checks<DecisionCheck>()
    func envelope() -> Envelope {
      Envelope(
        kind: "decision", factsMember: "decision", checks: checks.log,
        configuration: fingerprint)
    }
    do throws(Refusal) {
      try TimeWindow.checkNow(nowMs)
      checks.enter(.evidence)
      let purchases = try purchaseEvidence(evidence)
      let decision = try decision(purchases, account.map { Text($0) }, nowMs, &checks)
      guard decision.entitled else {
        return envelope().refused(
          Refusal(.rejectedDecisionNotEntitled, "DCD-1", hint: decision.explanation),
          facts: { decision.write(&$0) })
      }
      return envelope().accepted(nil) { decision.write(&$0) }
    } catch {
      return envelope().refused(error)
    }
  }

  /// Returns the purchases of the evidence, which a verifier with the same trust digest must have
  /// verified (DCD-1).
  private func purchaseEvidence(
    _ documents: [Document]
  ) throws(Refusal) -> [PurchaseEvidence] {
    try require(!documents.isEmpty, .misuseDecisionEmpty, "DCD-1")
    var evidence: [PurchaseEvidence] = []
    for (index, document) in documents.enumerated() {
      let place = "evidence[" + String(index) + "]"
      guard document.status == .ok, document.configuration == fingerprint,
        let proven = document.evidence
      else { throw Refusal(.misuseDecisionEvidence, "DCD-1", at: place) }
      do {
        for item in proven.items {
          evidence.append(try item.purchases(trust.configuration.products))
        }
      } catch {
        throw error.inside(place)
      }
    }
    return evidence
  }

  private func decision(
    _ purchases: [PurchaseEvidence], _ account: Text?, _ nowMs: Int64,
    _ checks: inout Checks<DecisionCheck>
  ) throws(Refusal) -> Decision {
    let isIgnored = trust.configuration.decision.accountToken == .ignored
    checks.skip(.account, isIgnored ? .notConfigured : .noInput)
    let decision: Decision
    do throws(Refusal) {
      decision = try trust.configuration.decide(purchases, account: account, nowMs: nowMs)
    } catch {
      checks.enter(DecisionCheck(refusing: error.status))
      throw error
    }
    let isMistyped = decision.excluded.contains { $0.reason == .typeMismatch }
    checks.enter(.catalogue, where: !isMistyped, else: .doesNotApply)
    if decision.accountIsProven { checks.enter(.account) }
    checks.enter(.plan)
    return decision
  }
}
