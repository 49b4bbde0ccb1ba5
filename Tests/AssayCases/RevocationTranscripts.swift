import AssayAuthority

extension CaseFixture {
  /// Adds whole exchanges with the OCSP responder of the test authority (OCSP-1 … OCSP-22).
  func addRevocationTranscripts() throws {
    configure("ocsp-host", standardConfig.setting("storekit.ocspHosts", ["ocsp.example.com"]))
    let transcript = try RevocationTranscript(self)
    try transcript.addVerdicts()
    try transcript.addUndetermined()
    try transcript.addForms()
    try transcript.addSigners()
    try transcript.addDelegates()
    try transcript.addSignatures()
    try transcript.addCertificates()
    try transcript.addTimes()
    try transcript.addKept()
    try transcript.addAddresses()
    try transcript.addRequests()
  }
}

/// Makes the transcripts. A faulty response is always the first one, about the intermediate.
private final class RevocationTranscript: Transcript {
  typealias Template = OCSPResponseTemplate

  private static let intermediateURL = "http://ocsp.apple.com/ocsp03-assaytestroot"
  private static let leafURL = "http://ocsp.apple.com/ocsp03-assaytest602"
  private static let undetermined = "unavailable.ocsp.undetermined"
  private static let malformed = "malformed.ocsp.response"
  private static let signer = "rejected.ocsp.signer"
  private static let signature = "rejected.ocsp.signature"
  private static let other = "rejected.ocsp.other-certificate"
  private static let stale = "rejected.ocsp.stale"

  private let transaction: EvidenceCase.Evidence
  /// The key of a responder that is not the issuer.
  private let key: SigningKey
  private var authority: Authority { fixture.authority }

  init(_ fixture: CaseFixture) throws {
    transaction = try fixture.transaction(fixture.purchase)
    key = try .generate(.p256)
    super.init(
      fixture, with: "revocation", verifier: "standard", asks: Self.request("required"),
      evidence: [transaction])
  }

  // MARK: parts

  private static func request(_ mode: String, _ responses: [JSONText]? = nil) -> JSONText {
    let request: JSONText = ["operation": "check-revocation", "mode": .string(mode)]
    return responses.map { request.appending("responses", .array($0)) } ?? request
  }

  private func template(_ subject: Authority.Revocable, _ status: [UInt8] = Template.good) throws
    -> Template
  { try authority.revocationResponse(subject, now: now, status: status) }

  private func good(_ subject: Authority.Revocable) throws -> [UInt8] {
    try template(subject).signed()
  }

  /// Returns the response to the request number `id`.
  private func responder(
    _ id: Int64, _ status: Int64, _ body: [UInt8]? = nil, more: [(String, JSONText)] = [],
    after: Int64 = 0, facts: Facts = []
  ) -> Said {
    answer(
      id, status, body: body.map { ["base64": .string($0.base64Text)] }, after: after, more: more,
      facts: facts)
  }

  /// Adds one response about the intermediate, which is refused at once or is good.
  private func judge(
    _ rule: String, _ name: String, _ status: String = "ok", at: String? = nil, facts: Facts = [],
    _ change: (inout Template) throws -> Void
  ) throws {
    var template = try template(.intermediate)
    try change(&template)
    let first = responder(1, 200, try template.signed())
    if status == "ok" {
      transcript(rule, name, [first, responder(2, 200, try good(.leaf))], facts: facts)
    } else {
      transcript(
        rule, name, [first], status, check: "result", at: at.map { "intermediate/" + $0 },
        facts: facts)
    }
  }

  private func asked(_ subject: Authority.Revocable, _ url: String) throws -> Facts {
    [
      ("http.method", "POST"), ("http.url", .text(url)),
      ("http.headers.0.0", "Content-Type"), ("http.headers.0.1", "application/ocsp-request"),
      ("http.headers.1.0", "Accept"), ("http.headers.1.1", "application/ocsp-response"),
      ("http.headers.2.0", .null),
      ("http.body.base64", .text(try authority.revocationRequest(subject).base64Text)),
      ("http.timeoutMs", 10_000), ("http.maxResponseBytes", 65_536),
      ("http.responseHeaders.0", .null), ("http.sensitivePaths.0", .null),
    ]
  }

  // MARK: results

  func addVerdicts() throws {
    let second = now / 1000 * 1000
    let (leaf, intermediate) = (try good(.leaf), try good(.intermediate))
    for mode in ["required", "best-effort"] {
      transcript(
        "OCSP-21", "both are good, \(mode)", asks: Self.request(mode),
        [
          responder(1, 200, intermediate, facts: try asked(.intermediate, Self.intermediateURL)),
          responder(2, 200, leaf, facts: try asked(.leaf, Self.leafURL)),
        ],
        facts: [
          ("operation", "check-revocation"), ("step", "done"),
          ("transaction.transactionId", .text(fixture.purchase.transactionId)),
          ("deviceVerified", .null), ("retry", .null), ("revocation.leaf.status", "good"),
          ("revocation.leaf.sha256", .text(Authority.fingerprint(authority.chain.leaf))),
          ("revocation.leaf.thisUpdate", .integer(second)),
          ("revocation.leaf.nextUpdate", .integer(second + 43_200_000)),
          ("revocation.leaf.responder", .text(Authority.fingerprint(authority.chain.intermediate))),
          ("revocation.leaf.response", .text(leaf.base64Text)),
          ("revocation.leaf.revokedAtMs", .null), ("revocation.intermediate.status", "good"),
          ("revocation.intermediate.responder", .text(Authority.fingerprint(authority.chain.root))),
          ("/checks.2.ok", true), ("/checks.3.ok", true),
        ])
      transcript(
        "OCSP-18", "the leaf is revoked, \(mode)", asks: Self.request(mode),
        [
          responder(1, 200, intermediate),
          responder(
            2, 200,
            try template(.leaf, Template.revoked(at: second / 1000 - 3600, reason: 1)).signed()),
        ], "rejected.ocsp.certificate-revoked", check: "result", at: "leaf",
        facts: [
          ("transaction", .null), ("retry", .null), ("revocation.leaf.status", "revoked"),
          ("revocation.leaf.revokedAtMs", .integer(second - 3_600_000)),
          ("revocation.leaf.reason", 1), ("revocation.intermediate.status", "good"),
        ])
      transcript(
        "OCSP-18", "the intermediate is revoked without a reason, \(mode)",
        asks: Self.request(mode),
        [
          responder(
            1, 200, try template(.intermediate, Template.revoked(at: second / 1000)).signed())
        ],
        "rejected.ocsp.certificate-revoked", at: "intermediate",
        facts: [
          ("revocation.leaf", .null), ("revocation.intermediate.revokedAtMs", .integer(second)),
          ("revocation.intermediate.reason", .null),
        ])
      transcript(
        "OCSP-18", "the leaf is unknown, \(mode)", asks: Self.request(mode),
        [
          responder(1, 200, intermediate),
          responder(2, 200, try template(.leaf, Template.unknown).signed()),
        ],
        "rejected.ocsp.unknown", at: "leaf", facts: [("revocation.leaf.status", "unknown")])
    }
    for (kind, payload) in [
      (.renewalInfo, "renewalInfo"), (.notification, "notification"),
      (.appTransaction, "appTransaction"),
      (.realtimeRequest, "realtimeRequest"),
    ] as [(EvidenceKind, String)] {
      let jws = try authority.mint(authority.payload(kind, fixture.purchase))
      transcript(
        "OCSP-22", "of \(kind.rawValue)", evidence: [.init(kind, jws)],
        [responder(1, 200, intermediate), responder(2, 200, leaf)],
        facts: [("\(payload).environment", "Sandbox")])
    }
  }

  /// Adds unusable responses, where one is required and where not (OCSP-10, OCSP-19).
  func addUndetermined() throws {
    let leaf = try good(.leaf)
    func outcomes(_ name: String, _ rule: String, _ answer: (Int64) -> Said) throws {
      transcript(
        rule, "\(name), required", [answer(1), responder(2, 200, leaf)], Self.undetermined,
        check: "reply", at: "intermediate",
        facts: [
          ("revocation.intermediate.status", "undetermined"),
          ("revocation.intermediate.response", .null), ("revocation.leaf.status", "good"),
          ("/error.retryClass", "later"), ("retry.request.mode", "required"), ("retry.attempt", 2),
          ("retry.notBeforeMs", .integer(now + 60_000)),
        ])
      transcript(
        rule, "\(name), best-effort", asks: Self.request("best-effort"),
        [answer(1), responder(2, 200, leaf)],
        facts: [
          ("revocation.intermediate.status", "undetermined"), ("revocation.leaf.status", "good"),
          ("transaction.environment", "Sandbox"), ("retry", .null),
        ])
    }
    for status in [0, 204, 301, 404, 429, 500, 503] as [Int64] {
      try outcomes("HTTP status \(status)", "OCSP-10") { self.responder($0, status, leaf) }
    }
    try outcomes("an empty body", "OCSP-10") { self.responder($0, 200) }
    for status in [1, 2, 3, 5, 6] as [UInt8] {
      var template = try template(.intermediate)
      template.responseStatus = status
      let body = try template.signed()
      try outcomes("responseStatus \(status)", "OCSP-11") { self.responder($0, 200, body) }
    }
    transcript(
      "OCSP-19", "nobody answers about the leaf",
      [responder(1, 200, try good(.intermediate)), responder(2, 0)], Self.undetermined, at: "leaf")
    for (attempt, pause) in [(3, 960_000), (5, 3_600_000)] as [(Int64, Int64)] {
      transcript(
        "OCSP-22", "attempt \(attempt)", asks: usual.appending("attempt", .integer(attempt)),
        [responder(1, 0), responder(2, 0)], Self.undetermined,
        facts: [("retry.notBeforeMs", .integer(now + pause))])
    }
  }

  /// Adds HTTP bodies that are no valid response (OCSP-2, OCSP-11, OCSP-12).
  func addForms() throws {
    let whole = try good(.intermediate)
    for (name, body) in [
      ("a page", Array("<html></html>".utf8)), ("an octet behind it", whole + [0]),
      ("half an answer", Array(whole.dropLast(40))), ("status 4", [0x30, 3, 0x0a, 1, 4]),
      ("status 7", [0x30, 3, 0x0a, 1, 7]), ("status 0 and nothing", [0x30, 3, 0x0a, 1, 0]),
      ("status 3 of two octets", [0x30, 4, 0x0a, 2, 1, 3]),
      ("status 3 and more", [0x30, 5, 0x0a, 1, 3, 5, 0]),
    ] {
      transcript(
        "OCSP-11", name, asks: Self.request("best-effort"), [responder(1, 200, body)],
        Self.malformed,
        check: "result", at: "intermediate/response",
        facts: [("/error.retryClass", "never"), ("retry", .null)])
    }
    try judge("OCSP-11", "another type of response", Self.malformed, at: "response") {
      $0.type = "1.3.6.1.5.5.7.48.1.2"
    }
    let nonce = CertificateExtension("1.3.6.1.5.5.7.48.1.2", DER.octetString([1]))
    let critical = CertificateExtension("1.3.6.1.5.5.7.48.1.2", critical: true, [5, 0])
    try judge("OCSP-12", "a nonce nobody asked for") { $0.extensions = [nonce] }
    try judge("OCSP-12", "an extension of the answer") { $0.singles[0].extensions = [nonce] }
    try judge("OCSP-12", "a critical extension", Self.malformed, at: "response") {
      $0.extensions = [critical]
    }
    try judge("OCSP-12", "a critical extension of the answer", Self.malformed) {
      $0.singles[0].extensions = [critical]
    }
    try judge("OCSP-12", "a version", Self.malformed, at: "response") {
      $0.version = DER.explicit(0, DER.unsigned([0]))
    }
    try judge("OCSP-12", "a signer by neither name nor key", Self.malformed) {
      $0.responder = DER.explicit(3, DER.null)
    }
    try judge("OCSP-12", "a certificate that is no sequence", Self.malformed) {
      $0.certificates = [DER.null]
    }
    for (name, status) in [
      ("good with content", DER.implicit(0, [0])), ("unknown with content", DER.implicit(2, [0])),
      ("a fourth status", DER.implicit(3, [])), ("revoked without a time", DER.explicit(1, [])),
      (
        "revoked with a reason of two octets",
        DER.explicit(
          1, CertificateTime.generalized(now / 1000).der + DER.explicit(0, DER.value(0x0a, [1, 1])))
      ),
    ] { try judge("OCSP-12", name, Self.malformed) { $0.singles[0].status = status } }
    transcript(
      "OCSP-2", "a long answer", [responder(1, 200, [UInt8](repeating: 0x30, count: 65_537))],
      "too-large.ocsp.response", at: "intermediate/response")
    transcript(
      "OCSP-2", "an answer that was cut", [responder(1, 200, more: [("truncated", true)])],
      "too-large.ocsp.response", at: "intermediate/response")
  }

  /// Adds responder ids (OCSP-13).
  func addSigners() throws {
    let root = try authority.rootKey.publicKey()
    try judge("OCSP-13", "the issuer by its key") { $0.responder = Template.byKey(root) }
    try judge("OCSP-13", "an unknown name", Self.signer, at: "signer") {
      $0.responder = Template.byName(DistinguishedName.make([("CN", "Nobody")]))
    }
    try judge("OCSP-13", "an unknown key", Self.signer, at: "signer") {
      $0.responder = Template.byKey([1])
    }
    try judge("OCSP-13", "the name of the certificate in question", Self.signer) {
      $0.responder = Template.byName(self.authority.intermediate.subject)
      $0.certificates = [self.authority.chain.intermediate]
      $0.key = self.authority.intermediateKey
    }
  }

  /// Adds a response by a delegated responder whose certificate differs from a good one in one
  /// thing.
  private func delegate(
    _ name: String, _ status: String = "ok", of subject: Authority.Revocable = .intermediate,
    signedBy signer: SigningKey? = nil, key other: SigningKey? = nil, byKey: Bool = false,
    _ change: (inout CertificateTemplate) throws -> Void = { _ in }
  ) throws {
    let key = other ?? self.key
    var certificate = try authority.responder(for: subject, key: key, now: now)
    try change(&certificate)
    let der = try certificate.signed(by: signer ?? authority.rootKey)
    try judge(
      "OCSP-14", name, status, at: status == "ok" ? nil : "signer",
      facts: status == "ok"
        ? [("revocation.intermediate.responder", .text(Authority.fingerprint(der)))] : []
    ) {
      $0.responder =
        byKey ? Template.byKey(try key.publicKey()) : Template.byName(certificate.subject)
      $0.certificates = [self.authority.chain.leaf, der]
      $0.key = key
      $0.algorithm = CertificateTemplate.algorithm(OID.ecdsaWithSHA256)
      $0.digest = .sha256
    }
  }

  /// Adds certificates of delegated responders (OCSP-14).
  func addDelegates() throws {
    try delegate("a responder")
    try delegate("a responder by its key", byKey: true)
    try delegate("a responder with a P-384 key", key: try .generate(.p384))
    try delegate("a responder whose purpose is not critical") {
      $0 = $0.replacing(OID.extendedKeyUsage, with: .extendedKeyUsage(OID.ocspSigning))
    }
    try delegate("a responder without a purpose", Self.signer) {
      $0 = $0.replacing(OID.extendedKeyUsage, with: nil)
    }
    try delegate("a responder with another purpose", Self.signer) {
      $0 = $0.replacing(OID.extendedKeyUsage, with: .extendedKeyUsage("1.3.6.1.5.5.7.3.1"))
    }
    try delegate("an authority as responder", Self.signer) {
      $0 = $0.replacing(OID.basicConstraints, with: .basicConstraints(ca: true))
    }
    try delegate("a responder of another name's authority", Self.signer) {
      $0.issuer = DistinguishedName.make([("CN", "Nobody")])
    }
    try delegate("a responder that another key signed", Self.signer, signedBy: authority.leafKey)
    try delegate(
      "a responder of the certificate in question", Self.signer, of: .leaf,
      signedBy: authority.intermediateKey)
    try delegate("a responder of version 1", Self.signer) { $0.version = [] }
    try delegate("a responder with serial 0", Self.signer) { $0.serial = [0] }
    try delegate("a responder signed with SHA-512", Self.signer) {
      $0.innerAlgorithm = CertificateTemplate.algorithm(OID.ecdsaWithSHA512)
      $0.digest = .sha512
    }
    try delegate("a responder with an RSA key", Self.signer, key: try .generate(.rsa(bits: 2048)))
    try delegate("a responder with an extension twice", Self.signer) {
      $0 = $0.adding(.keyUsage(.digitalSignature))
    }
    try delegate("a responder with an unknown critical extension", Self.signer) {
      $0 = $0.adding(CertificateExtension("1.2.3", critical: true, DER.null))
    }
    let second = now / 1000
    try delegate("a responder until now") { $0.notAfter = .standard(second) }
    try delegate("a responder that has expired", Self.signer) {
      $0.notAfter = .standard(second - 1)
    }
    try delegate("a responder from now on") { $0.notBefore = .standard(second) }
    try delegate("a responder of tomorrow", Self.signer) { $0.notBefore = .standard(second + 1) }
    var leaf = try template(.leaf)
    let certificate = try authority.responder(for: .intermediate, key: key, now: now)
    leaf.responder = Template.byName(certificate.subject)
    leaf.certificates = [try certificate.signed(by: authority.rootKey)]
    leaf.key = key
    leaf.algorithm = CertificateTemplate.algorithm(OID.ecdsaWithSHA256)
    leaf.digest = .sha256
    transcript(
      "OCSP-14", "a responder of the root speaks for a leaf",
      [responder(1, 200, try good(.intermediate)), responder(2, 200, try leaf.signed())],
      Self.signer,
      at: "leaf/signer")
    try lateDelegates()
  }

  /// Adds the ninth certificate of a response, which is ignored (OCSP-12).
  private func lateDelegates() throws {
    let certificate = try authority.responder(for: .intermediate, key: key, now: now)
    let der = try certificate.signed(by: authority.rootKey)
    for (count, status) in [(7, "ok"), (8, Self.signer)] {
      try judge("OCSP-12", "\(count) certificates before the responder's", status) {
        $0.responder = Template.byName(certificate.subject)
        $0.certificates = Array(repeating: self.authority.chain.leaf, count: count) + [der]
        $0.key = self.key
        $0.algorithm = CertificateTemplate.algorithm(OID.ecdsaWithSHA256)
        $0.digest = .sha256
      }
    }
  }

  /// Adds signature algorithms and wrong signatures (OCSP-15).
  func addSignatures() throws {
    for (name, oid, digest) in [
      ("SHA-256", OID.ecdsaWithSHA256, .sha256), ("SHA-512", OID.ecdsaWithSHA512, .sha512),
    ] as [(String, String, SigningKey.Digest)] {
      try judge("OCSP-15", "signed with \(name)") {
        $0.algorithm = CertificateTemplate.algorithm(oid)
        $0.digest = digest
      }
    }
    try judge("OCSP-15", "a damaged signature", Self.signature, at: "signature") {
      $0.signatureIsDamaged = true
    }
    try judge("OCSP-15", "the signature of another key", Self.signature, at: "signature") {
      $0.key = self.authority.intermediateKey
    }
    try judge("OCSP-15", "another digest than it says", Self.signature, at: "signature") {
      $0.algorithm = CertificateTemplate.algorithm(OID.ecdsaWithSHA256)
    }
    for (name, algorithm) in [
      ("ECDSA with SHA-1", CertificateTemplate.algorithm("1.2.840.10045.4.1")),
      ("RSA", CertificateTemplate.algorithm(OID.sha256WithRSA, parameters: DER.null)),
      (
        "ECDSA with parameters",
        CertificateTemplate.algorithm(OID.ecdsaWithSHA384, parameters: DER.null)
      ),
    ] {
      try judge("OCSP-15", name, Self.signature, at: "signatureAlgorithm") {
        $0.algorithm = algorithm
      }
    }
  }

  /// Adds responses about other certificates (OCSP-16).
  func addCertificates() throws {
    let sha1 = try authority.certificateID(.intermediate, sha1: true)
    let leaf = try authority.certificateID(.leaf)
    try judge("OCSP-16", "named with SHA-1") { $0.singles[0].certificate = sha1 }
    try judge("OCSP-16", "a digest without parameters") {
      $0.singles[0].certificate.algorithm = CertificateTemplate.algorithm(OID.sha256)
    }
    try judge("OCSP-16", "about another certificate", Self.other, at: "response") {
      $0.singles[0].certificate = leaf
    }
    try judge("OCSP-16", "about nothing", Self.other) { $0.singles = [] }
    try judge("OCSP-16", "another serial number", Self.other) {
      $0.singles[0].certificate.serial[19] ^= 1
    }
    try judge("OCSP-16", "another issuer's name", Self.other) {
      $0.singles[0].certificate.issuerName = leaf.issuerName
    }
    try judge("OCSP-16", "another issuer's key", Self.other) {
      $0.singles[0].certificate.issuerKey = leaf.issuerKey
    }
    try judge("OCSP-16", "named with SHA-384", Self.other) {
      $0.singles[0].certificate.algorithm = CertificateTemplate.algorithm(
        "2.16.840.1.101.3.4.2.2", parameters: DER.null)
    }
    for (count, status) in [(7, "ok"), (8, Self.other)] {
      try judge("OCSP-12", "\(count) answers before it", status) {
        var others = Array(repeating: $0.singles[0], count: count)
        for place in others.indices { others[place].certificate = leaf }
        $0.singles = others + $0.singles
      }
    }
  }

  /// Adds response times; the clock skew of these verifiers is a minute (OCSP-17, OCSP-20).
  func addTimes() throws {
    let second = now / 1000
    for (name, seconds, status) in [
      ("a minute ahead", 60, "ok"), ("more than a minute ahead", 61, Self.stale),
    ] as [(String, Int64, String)] {
      try judge("OCSP-17", "thisUpdate \(name)", status, at: status == "ok" ? nil : "thisUpdate") {
        $0.singles[0].thisUpdate = .generalized(second + seconds)
      }
      try judge("OCSP-17", "producedAt \(name)", status, at: status == "ok" ? nil : "producedAt") {
        $0.producedAt = .generalized(second + seconds)
      }
    }
    for (name, seconds, status) in [
      ("a minute ago", 60, "ok"), ("more than a minute ago", 61, Self.stale),
    ] as [(String, Int64, String)] {
      try judge("OCSP-17", "nextUpdate \(name)", status, at: status == "ok" ? nil : "nextUpdate") {
        $0.singles[0].thisUpdate = .generalized(second - 3600)
        $0.singles[0].nextUpdate = .generalized(second - seconds)
      }
    }
    try judge("OCSP-17", "no nextUpdate", Self.stale, at: "nextUpdate") {
      $0.singles[0].nextUpdate = nil
    }
    transcript(
      "OCSP-17", "an answer that came later than it was good for",
      [responder(1, 200, try good(.intermediate), after: 43_260_001)], Self.stale,
      at: "intermediate/nextUpdate")
    for (name, time) in [
      ("with a fraction", .generalizedText("20260101000000.5Z")),
      ("without seconds", .generalizedText("202601010000Z")),
      ("of 2007", .generalizedText("20071231235959Z")),
      ("of 2100", .generalizedText("21000101000000Z")), ("in UTCTime", .utc(second)),
    ] as [(String, CertificateTime)] {
      try judge("OCSP-20", "thisUpdate \(name)", Self.malformed) { $0.singles[0].thisUpdate = time }
      try judge("OCSP-20", "nextUpdate \(name)", Self.malformed) { $0.singles[0].nextUpdate = time }
      try judge("OCSP-20", "producedAt \(name)", Self.malformed) { $0.producedAt = time }
      try judge("OCSP-20", "revoked at a time \(name)", Self.malformed) {
        $0.singles[0].status = DER.explicit(1, time.der)
      }
    }
  }

  // MARK: stored responses

  private func kept(_ certificate: [UInt8], _ response: [UInt8]) -> JSONText {
    ["sha256": .string(Authority.fingerprint(certificate)), "der": .string(response.base64Text)]
  }

  /// Adds responses that the host has stored (OCSP-21).
  func addKept() throws {
    let chain = authority.chain
    let (leaf, intermediate) = (try good(.leaf), try good(.intermediate))
    let both = [kept(chain.leaf, leaf), kept(chain.intermediate, intermediate)]
    transcript(
      "OCSP-21", "both are kept", asks: Self.request("required", both), [],
      facts: [
        ("revocation.leaf.response", .text(leaf.base64Text)),
        ("revocation.intermediate.status", "good"),
      ])
    transcript(
      "OCSP-21", "one is kept", asks: Self.request("required", [both[1]]),
      [responder(1, 200, leaf, facts: try asked(.leaf, Self.leafURL))])
    let revoked = try template(.leaf, Template.revoked(at: now / 1000)).signed()
    transcript(
      "OCSP-21", "a kept answer says revoked",
      asks: Self.request("best-effort", [kept(chain.leaf, revoked)]), [],
      "rejected.ocsp.certificate-revoked", at: "leaf")
    var old = try template(.intermediate)
    old.singles[0].nextUpdate = .generalized(now / 1000 - 3600)
    let faulty: [(String, JSONText)] = [
      ("too old", kept(chain.intermediate, try old.signed())),
      ("unknown", kept(chain.intermediate, try template(.intermediate, Template.unknown).signed())),
      ("about another certificate", kept(chain.intermediate, leaf)),
      ("of another certificate", kept(chain.leaf, intermediate)),
      ("of nobody", kept([1], intermediate)), ("not base64", both[1].setting("der", "***")),
      ("not an answer", kept(chain.intermediate, [1, 2, 3])),
      ("empty", kept(chain.intermediate, [])),
      ("too long", kept(chain.intermediate, intermediate + [UInt8](repeating: 0, count: 65_536))),
    ]
    for (name, entry) in faulty {
      transcript(
        "OCSP-21", "a kept answer is \(name)", asks: Self.request("required", [entry]),
        [
          responder(1, 200, intermediate, facts: try asked(.intermediate, Self.intermediateURL)),
          responder(2, 200, leaf),
        ])
    }
    transcript(
      "OCSP-21", "four are kept, the last is good",
      asks: Self.request("required", [faulty[0].1, faulty[5].1, both[0], both[1]]), [])
    let misuse = "misuse.exchange.request"
    for (name, responses, at) in [
      ("five are kept", .array(both + both + [both[0]]), "responses"),
      ("what is kept is a text", "x", "responses"),
      ("a kept answer is a text", ["x"], "responses[0]"),
      ("a kept answer has more", [both[0].appending("x", 1)], "responses[0].x"),
      ("a kept answer has no certificate", [both[0].removing("sha256")], "responses[0].sha256"),
      ("a kept answer is missing", [both[0].removing("der")], "responses[0].der"),
    ] as [(String, JSONText, String)] {
      transcript("OCSP-21", name, asks: usual.appending("responses", responses), [], misuse, at: at)
    }
  }

  // MARK: addresses

  private func evidence(leaf change: @escaping (inout CertificateTemplate) throws -> Void) throws
    -> EvidenceCase.Evidence
  {
    let chain = try authority.chain(leaf: change)
    let payload = fixture.purchase.transactionPayload.bytes
    return .init(.transaction, try JWSTemplate(payload: payload, chain: chain).signed())
  }

  private func evidence(at url: String) throws -> EvidenceCase.Evidence {
    try evidence {
      $0 = $0.replacing("1.3.6.1.5.5.7.1.1", with: .authorityInformationAccess(ocsp: url))
    }
  }

  /// Adds OCSP addresses, all of which are checked before the first request (OCSP-1).
  func addAddresses() throws {
    let intermediate = try good(.intermediate)
    for url in [
      "http://ocsp.apple.com", "https://ocsp.apple.com/x", "http://ocsp.apple.com:80/x",
      "https://ocsp.apple.com:443/x", "http://ocsp.apple.com?x", "http://ocsp.apple.com#x",
    ] {
      transcript(
        "OCSP-1", url, asks: Self.request("best-effort"), evidence: [try evidence(at: url)],
        [responder(1, 200, intermediate), responder(2, 0, facts: [("http.url", .text(url))])])
    }
    let place = "leaf/authorityInfoAccess"
    let address = "rejected.chain.ocsp-address"
    for url in [
      "http://ocsp.example.com/x", "http://ocsp.apple.com.example.com/x",
      "http://xocsp.apple.com/x", "http://user@ocsp.apple.com/x", "http://ocsp.apple.com@x.com/",
      "http://ocsp.apple.com:8080/x", "http://ocsp.apple.com:443/x", "https://ocsp.apple.com:80/x",
      "http://OCSP.apple.com/x", "HTTP://ocsp.apple.com/x", "ftp://ocsp.apple.com/x",
      "ocsp.apple.com/x", "//ocsp.apple.com/x", "http:/ocsp.apple.com/x", "http://",
      "http://ocsp.apple.com/a b", "http://ocsp.apple.com/a\r\nX: y", "http://ocsp.apple.com\\x",
      "http://ocsp.apple.com/\"", "http://ocsp.apple.com/é", "",
    ] {
      transcript(
        "OCSP-1", "\"\(url)\"", asks: Self.request("best-effort"),
        evidence: [try evidence(at: url)], [], address, check: "result", at: place)
    }
    let uri = DER.implicit(6, Array(Self.leafURL.utf8))
    let (ocsp, issuers) = (DER.oid("1.3.6.1.5.5.7.48.1"), DER.oid("1.3.6.1.5.5.7.48.2"))
    func access(_ value: [UInt8]) throws -> EvidenceCase.Evidence {
      try evidence {
        $0 = $0.replacing(
          "1.3.6.1.5.5.7.1.1", with: CertificateExtension("1.3.6.1.5.5.7.1.1", value))
      }
    }
    for (name, value) in [
      ("a name of another form", DER.sequence(DER.sequence(ocsp, DER.implicit(2, [0x78])))),
      ("no list", uri),
      ("a description of three parts", DER.sequence(DER.sequence(ocsp, uri, uri))),
      ("a description that is none", DER.sequence(uri)),
      ("octets behind the list", DER.sequence(DER.sequence(ocsp, uri)) + [5, 0]),
      (
        "the second address only",
        DER.sequence(
          DER.sequence(ocsp, DER.implicit(6, Array("http://x.example/".utf8))),
          DER.sequence(ocsp, uri))
      ),
    ] { transcript("OCSP-1", name, evidence: [try access(value)], [], address, at: place) }
    for (name, evidence) in [
      ("no addresses", try self.evidence { $0 = $0.replacing("1.3.6.1.5.5.7.1.1", with: nil) }),
      ("another address only", try access(DER.sequence(DER.sequence(issuers, uri)))),
    ] {
      transcript(
        "OCSP-1", "\(name), required", evidence: [evidence], [], "rejected.ocsp.no-responder",
        check: "result", at: place)
      transcript(
        "OCSP-1", "\(name), best-effort", asks: Self.request("best-effort"), evidence: [evidence],
        [responder(1, 200, intermediate)], facts: [("revocation.leaf.status", "undetermined")])
    }
    transcript(
      "OCSP-1", "a host of our own", asks: Self.request("best-effort"), verifier: "ocsp-host", [],
      address, at: "intermediate/authorityInfoAccess")
  }

  /// Adds requests with refused members or evidence (EXC-1, EXC-2).
  func addRequests() throws {
    let misuse = "misuse.exchange.request"
    for (name, request, at) in [
      ("no mode", usual.removing("mode"), "mode"), ("another mode", Self.request("never"), "mode"),
      ("a mode that is a number", usual.setting("mode", 1), "mode"),
      ("an unknown member", usual.appending("nonce", "x"), "nonce"),
    ] as [(String, JSONText, String)] {
      transcript("EXC-1", name, asks: request, [], misuse, at: at)
    }
    let wrong = "misuse.exchange.evidence"
    transcript("EXC-2", "no evidence", evidence: [], [], wrong, at: "evidence")
    transcript(
      "EXC-2", "two documents", evidence: [transaction, transaction], [], wrong, at: "evidence")
    transcript(
      "EXC-2", "a receipt",
      evidence: [
        .init(
          .receipt(.transactionReceipt, try fixture.receipts.transactionReceipt(fixture.production))
        )
      ], [], wrong, at: "evidence[0]")
    transcript(
      "EXC-2", "evidence of Xcode",
      evidence: [
        .init(
          .transaction,
          try authority.mintXcode(
            fixture.purchase.with { $0.environment = "Xcode" }.transactionPayload))
      ], verifier: "xcode", [], wrong, at: "evidence[0]")
  }
}
