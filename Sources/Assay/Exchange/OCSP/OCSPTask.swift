/// The parameters of an OCSP exchange (docs/spec/storekit-ocsp.md §1).
struct OCSPTask: Sendable {
  /// A certificate whose revocation is checked.
  struct Subject: Sendable {
    let question: OCSPRequest
    /// The name of the certificate in the locations of refusals.
    let name: String
  }

  let payload: SignedPayload
  /// The certificates in the order of the requests: intermediate, leaf.
  let subjects: [Subject]
  /// Whether every state except good is refused.
  let isRequired: Bool
  /// The number of this exchange among the exchanges for the same request, from 1 (EXC-18).
  let attempt: Int64
  let hosts: [Text]
  let clockSkewMs: Int64
  /// Responses that the host has kept, with the digest of the certificate that each is about.
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
        question: OCSPRequest(
          certificate: intermediate.certificate, issuer: root.certificate, issuerKey: root.key),
        name: "intermediate"),
      Subject(
        question: OCSPRequest(
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

  /// Reads the kept responses; an undecodable one counts as absent (OCSP-21).
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
        bytes.count <= OCSPResponseVerifier.byteCap
      else { continue }
      kept.append((certificate, bytes))
    }
    return kept
  }

  func verifier(_ subject: Subject, nowMs: Int64) -> OCSPResponseVerifier {
    OCSPResponseVerifier(question: subject.question, nowMs: nowMs, clockSkewMs: clockSkewMs)
  }

  /// Returns the result of a kept response if the certificate is good, or revoked, which is
  /// final. `nil` if the responder must be asked.
  func keptAnswer(_ subject: Subject, nowMs: Int64) -> CertificateRevocation? {
    let certificate = subject.question.certificate.fingerprint
    let verifier = verifier(subject, nowMs: nowMs)
    for entry in kept where entry.certificate == certificate {
      guard let answer = try? verifier.verify(entry.der) else { continue }
      switch answer.state {
      case .good, .revoked: return answer
      case .unknown, .undetermined: continue
      }
    }
    return nil
  }

  /// Returns the responder's address; `nil` if the certificate names none, which only
  /// `best-effort` accepts (OCSP-1).
  func address(_ subject: Subject) throws(Refusal) -> Text? {
    do throws(Refusal) {
      let address = try ResponderAddress.of(subject.question.certificate, hosts: hosts)
      try require(
        address != nil || !isRequired, .rejectedOcspNoResponder, "OCSP-1",
        at: "authorityInfoAccess")
      return address
    } catch {
      throw error.inside(subject.name)
    }
  }

  /// Returns the OCSP request, sent by POST with a bounded response (OCSP-2, OCSP-3).
  func request(_ subject: Subject, to address: Text) -> HTTPRequest {
    HTTPRequest(
      method: "POST", url: address,
      headers: [
        ("Content-Type", "application/ocsp-request"), ("Accept", "application/ocsp-response"),
      ],
      body: SecretBytes(subject.question.request), isBinary: true, timeoutMs: 10_000,
      maxResponseBytes: Int64(OCSPResponseVerifier.byteCap), responseHeaders: [], sensitivePaths: []
    )
  }
}
