/// What an OCSP conversation is to find out (docs/spec/storekit-ocsp.md §1).
struct OCSPTask: Sendable {
  /// A certificate that is asked about.
  struct Subject: Sendable {
    let question: RevocationQuestion
    /// In places of refusals.
    let name: String
  }

  let payload: SignedPayload
  /// In the order in which they are asked about: intermediate, leaf.
  let subjects: [Subject]
  /// Everything but good refuses.
  let isRequired: Bool
  /// EXC-18.
  let attempt: Int64
  let hosts: [Text]
  let clockSkewMs: Int64
  /// Responses that the host has kept, by the certificate that they are about.
  private let kept: [(certificate: Text, der: [UInt8])]

  private static let keptCap = 4

  /// - Throws: `misuse.exchange.request`.
  init(
    _ request: ExchangeRequest, _ evidence: [VerifiedEvidence], _ configuration: Configuration,
    attempt: Int64
  ) throws(Refusal) {
    guard case .storeKit(let payload)? = evidence.first,
      let intermediate = payload.chain.intermediates.first
    else { throw Refusal(.internalAssayBug, "EXC-3", at: "evidence[0]") }
    let root = intermediate.anchor
    self.payload = payload
    subjects = [
      Subject(
        question: RevocationQuestion(
          certificate: intermediate.certificate, issuer: root.certificate, issuerKey: root.key),
        name: "intermediate"),
      Subject(
        question: RevocationQuestion(
          certificate: payload.chain.leaf, issuer: intermediate.certificate,
          issuerKey: intermediate.key),
        name: "leaf"),
    ]
    isRequired = try request.required("mode").choice(["required", "best-effort"]) == 0
    kept = try request["responses"].map { list throws(Refusal) in try OCSPTask.read(list) } ?? []
    hosts = configuration.storekit.ocspHosts
    clockSkewMs = configuration.clockSkewMs
    self.attempt = attempt
  }

  /// OCSP-21: unreadable ones count as absent.
  private static func read(
    _ list: MemberNode
  ) throws(Refusal) -> [(certificate: Text, der: [UInt8])] {
    var kept: [(certificate: Text, der: [UInt8])] = []
    let node = list.refusing(.misuseExchangeRequest, "OCSP-21")
    for entry in try node.elements(0...keptCap) {
      let pair = try entry.object(["sha256", "der"])
      let certificate = try pair.required("sha256").text()
      let der = try pair.required("der").text()
      guard let bytes = Base64.decodeStandard(der.utf8[...]),
        bytes.count <= RevocationJudgement.byteCap
      else { continue }
      kept.append((certificate, bytes))
    }
    return kept
  }

  func judgement(_ subject: Subject, nowMs: Int64) -> RevocationJudgement {
    RevocationJudgement(question: subject.question, nowMs: nowMs, clockSkewMs: clockSkewMs)
  }

  /// What a kept response says, as long as it is good; or that it was revoked, which no
  /// later answer takes back. nil: ask.
  func keptAnswer(_ subject: Subject, nowMs: Int64) -> CertificateRevocation? {
    let certificate = subject.question.certificate.fingerprint
    let judgement = judgement(subject, nowMs: nowMs)
    for entry in kept where entry.certificate == certificate {
      guard let answer = try? judgement.judge(entry.der) else { continue }
      switch answer.state {
      case .good, .revoked: return answer
      case .unknown, .undetermined: continue
      }
    }
    return nil
  }

  /// OCSP-1: nil: the certificate names no responder, which `best-effort` accepts.
  func address(_ subject: Subject) throws(Refusal) -> Text? {
    do throws(Refusal) {
      let address = try ResponderAddress.of(subject.question.certificate, hosts: hosts)
      try require(
        address != nil || !isRequired, .rejectedRevocationNoResponder, "OCSP-1",
        at: "authorityInfoAccess")
      return address
    } catch {
      throw error.inside(subject.name)
    }
  }

  /// OCSP-2, OCSP-3.
  func request(_ subject: Subject, to address: Text) -> HTTPRequest {
    HTTPRequest(
      method: "POST", url: address,
      headers: [
        ("Content-Type", "application/ocsp-request"), ("Accept", "application/ocsp-response"),
      ],
      body: SecretBytes(subject.question.request), isBinary: true, timeoutMs: 10_000,
      maxResponseBytes: Int64(RevocationJudgement.byteCap), wantHeaders: [], secret: [])
  }
}
