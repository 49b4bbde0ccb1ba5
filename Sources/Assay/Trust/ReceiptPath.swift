/// Builds the path of a receipt: leaf, one intermediate, pinned root
/// (receipts.md §3.6), step by step. Names only select candidates (PTH-2, PTH-3), of
/// which few are tried (CER-10).
struct ReceiptPath {
  /// PTH-4.
  static let certificateCap = 4096
  /// receipts.md §1.
  static let embeddedCap = 8

  private struct Candidate {
    let certificate: Certificate
    let place: String
    /// Already proven; nil: to be proven.
    let known: ReceiptIntermediate?
  }

  private let trust: ReceiptTrust
  private let signer: ReceiptSigner
  private var record: LeafRecord? = nil
  private var leaf: Certificate? = nil
  private var candidates: [Candidate] = []
  private var embedded: [[UInt8]] = []
  /// Keys that were asked whether they signed the leaf.
  private var asked: [(key: ArraySlice<UInt8>, hasSigned: Bool)] = []
  private var isCached = false

  init(_ trust: ReceiptTrust, _ signer: ReceiptSigner) {
    self.trust = trust
    self.signer = signer
  }

  /// PTH-2, PTH-4: the leaf, and every certificate whose name its issuer is.
  /// `embedded` is the bag of the receipt; copies of the leaf and of a root in it
  /// are passed over.
  mutating func open(leaf der: [UInt8], embedded bag: [[UInt8]]) throws(Refusal) {
    try trust.checkReadiness()
    embedded = bag
    if let known = trust.cache.record(der, signer), known.covers(bag, trust.anchors) {
      record = known
      isCached = true
      return
    }
    let leaf = try ReceiptPath.certificate(der, at: "leaf")
    self.leaf = leaf
    for known in trust.intermediates { add(known.certificate, "intermediate", known) }
    for other in trust.foreignIntermediates { add(other, "intermediate", nil) }
    for (index, other) in bag.enumerated() where other != der && !isRoot(other) {
      let place = "certificates[" + String(index) + "]"
      add(try ReceiptPath.certificate(other, at: place), place, nil)
    }
    try require(
      !candidates.isEmpty, .rejectedChainIssuerUnknown, "PTH-2", at: "leaf",
      detail: IssuerName.describe(leaf))
  }

  /// PTH-2: a certificate whose name the leaf's issuer is, each once.
  @inline(never)
  private mutating func add(
    _ certificate: Certificate, _ place: String, _ known: ReceiptIntermediate?
  ) {
    guard let leaf, certificate.bytes(certificate.subject) == leaf.bytes(leaf.issuer),
      !candidates.contains(where: { $0.certificate.der == certificate.der })
    else { return }
    candidates.append(Candidate(certificate: certificate, place: place, known: known))
  }

  /// PTH-6 … PTH-10: the leaf, and at least one candidate.
  mutating func checkShape() throws(Refusal) {
    if isCached { return }
    guard let leaf else { throw ReceiptPath.bug }
    try ReceiptRules.checkLeaf(leaf, signer, at: "leaf")
    var contest = Contest()
    let signer = signer
    candidates = candidates.filter { candidate in
      contest.survives { (progress: inout Int) throws(Refusal) in
        try ReceiptRules.checkIntermediate(
          candidate.certificate, signer, at: candidate.place, &progress)
      }
    }
    if let refusal = contest.refusal(unless: candidates.isEmpty == false) { throw refusal }
    // CER-10. Where none is likely, all stay: the checks that follow name the fault.
    let likely = candidates.filter { $0.certificate.mayHaveIssued(leaf) }
    if !likely.isEmpty { candidates = likely }
  }

  /// PTH-5: signatures of the leaf and of the intermediates. Only what passes is
  /// remembered (PTH-13).
  mutating func prove(_ signatures: inout SignatureChecks) throws(Refusal) -> ProvenPath {
    if let record { return ProvenPath(record, allowed(record.intermediates), isCached: true) }
    guard let leaf else { throw ReceiptPath.bug }
    var contest = Contest()
    var proven: [ReceiptIntermediate] = []
    for candidate in candidates {
      guard proven.isEmpty else {
        // PTH-3: the date may choose another one of the same key.
        if let twin = twin(candidate, of: proven, &signatures) { proven.append(twin) }
        continue
      }
      try require(
        signatures.mayGoOn, .rejectedChainIssuerUnknown, "CER-10", at: "leaf",
        detail: IssuerName.describe(leaf))
      _ = contest.survives { (progress: inout Int) throws(Refusal) in
        proven.append(try prove(candidate, above: leaf, &progress, &signatures))
      }
    }
    if let refusal = contest.refusal(unless: !proven.isEmpty) { throw refusal }
    guard let key = leaf.publicKey() else {
      throw Refusal(.rejectedChainKey, "PTH-9", at: "leaf")
    }
    let record = LeafRecord(leaf, key, signer, proven)
    trust.cache.remember(record)
    return ProvenPath(record, proven, isCached: false)
  }

  private mutating func prove(
    _ candidate: Candidate, above leaf: Certificate, _ progress: inout Int,
    _ signatures: inout SignatureChecks
  ) throws(Refusal) -> ReceiptIntermediate {
    let issued =
      try candidate.known == nil
      ? ReceiptRules.issued(candidate.certificate, trust.anchors, at: candidate.place) : nil
    // Its root is proven, or will be asked.
    progress = 1
    let key = candidate.certificate.bytes(candidate.certificate.key)
    var hasSigned = asked.first { $0.key == key }?.hasSigned
    if hasSigned == nil, let signer = candidate.known?.key ?? issued?.key {
      hasSigned = signatures.check(leaf.isSigned(by: signer))
      asked.append((key, hasSigned == true))
    }
    try require(hasSigned == true, .rejectedChainSignatureLeaf, "PTH-5", at: "leaf")
    if let known = candidate.known { return known }
    progress = 2
    guard let issued, let proven = issued.proven(.embedded, &signatures) else {
      // The signature of the leaf was good, and for nothing.
      signatures.waste(1)
      throw Refusal(.rejectedChainSignatureIntermediate, "PTH-5", at: candidate.place)
    }
    return proven
  }

  /// A candidate with the key of a proven one: it signed the leaf, too.
  private func twin(
    _ candidate: Candidate, of proven: [ReceiptIntermediate],
    _ signatures: inout SignatureChecks
  ) -> ReceiptIntermediate? {
    let key = candidate.certificate.bytes(candidate.certificate.key)
    guard proven.contains(where: { $0.certificate.bytes($0.certificate.key) == key }) else {
      return nil
    }
    if let known = candidate.known { return known }
    guard signatures.hasSpare,
      let issued = try? ReceiptRules.issued(
        candidate.certificate, trust.anchors, at: candidate.place)
    else { return nil }
    let twin = issued.proven(.embedded, &signatures)
    if twin != nil { signatures.waste(1) }
    return twin
  }

  /// A remembered intermediate counts only where this receipt could have led to
  /// it: the answer never depends on what was verified before.
  private func allowed(_ proven: [ReceiptIntermediate]) -> [ReceiptIntermediate] {
    proven.filter { intermediate in
      intermediate.source != .embedded || embedded.contains(intermediate.certificate.der)
    }
  }

  private func isRoot(_ der: [UInt8]) -> Bool {
    trust.anchors.contains { $0.certificate.der == der }
  }

  static func certificate(_ der: [UInt8], at place: String) throws(Refusal) -> Certificate {
    try require(der.count <= certificateCap, .tooLargeChainCertificate, "PTH-4", at: place)
    guard let certificate = Certificate(der) else {
      throw Refusal(.malformedChainDer, "PTH-4", at: place)
    }
    return certificate
  }

  /// APR-21: the pinned certificate of Xcode, with no other path rule.
  static func xcode(
    _ trust: ReceiptTrust, certificate der: [UInt8]
  ) throws(Refusal) -> ProvenPath {
    try require(trust.accepts(xcode: der), .rejectedChainUnpinned, "APR-21", at: "leaf")
    let leaf = try certificate(der, at: "leaf")
    guard let key = leaf.publicKey(), case .rsa = key.type else {
      throw Refusal(.rejectedChainKey, "APR-21", at: "leaf")
    }
    return ProvenPath(LeafRecord(leaf, key, .app, []), [], isCached: false, isXcode: true)
  }

  private static var bug: Refusal { Refusal(.internalAssayBug, "DOC-1", at: "chain") }
}

/// Several candidates under the same checks: the refusal of the one that came
/// furthest speaks for all (PTH-3).
private struct Contest {
  private var furthest = -1
  private var best: Refusal? = nil

  mutating func survives(_ body: (inout Int) throws(Refusal) -> Void) -> Bool {
    var progress = 0
    do throws(Refusal) {
      try body(&progress)
      return true
    } catch {
      if progress > furthest {
        furthest = progress
        best = error
      }
      return false
    }
  }

  func refusal(unless somebodySurvived: Bool) -> Refusal? { somebodySurvived ? nil : best }
}

/// A path whose signatures are proven and whose dates nobody has judged yet.
final class ProvenPath: Sendable {
  private let record: LeafRecord
  private let intermediates: [ReceiptIntermediate]
  private let isCached: Bool
  /// APR-21: a pinned certificate of Xcode alone.
  let isXcode: Bool

  var leafKey: PublicKey { record.key }
  var leaf: Certificate { record.leaf }

  fileprivate init(
    _ record: LeafRecord, _ intermediates: [ReceiptIntermediate], isCached: Bool,
    isXcode: Bool = false
  ) {
    self.record = record
    self.intermediates = intermediates
    self.isCached = isCached
    self.isXcode = isXcode
  }

  /// PTH-3, PTH-11: every certificate valid at that moment, in whole seconds and
  /// both ends included; among several intermediates the date chooses.
  func judged(atSeconds seconds: Int64) throws(Refusal) -> JudgedPath {
    try ProvenPath.checkValidity(leaf, seconds, at: "leaf")
    if isXcode { return JudgedPath(record, nil, isCached: isCached) }
    var contest = Contest()
    for intermediate in intermediates {
      let isValid = contest.survives { (progress: inout Int) throws(Refusal) in
        try ProvenPath.checkValidity(intermediate.certificate, seconds, at: "intermediate")
        progress &+= 1
        try ProvenPath.checkValidity(intermediate.anchor.certificate, seconds, at: "root")
      }
      if isValid { return JudgedPath(record, intermediate, isCached: isCached) }
    }
    throw contest.refusal(unless: false)
      ?? Refusal(.rejectedChainIssuerUnknown, "PTH-2", at: "leaf")
  }

  private static func checkValidity(
    _ certificate: Certificate, _ seconds: Int64, at place: String
  ) throws(Refusal) {
    try require(
      seconds >= certificate.notBefore, .rejectedChainNotYetValid, "PTH-11", at: place)
    try require(seconds <= certificate.notAfter, .rejectedChainExpired, "PTH-11", at: place)
  }
}

/// A path that holds at the receipt's date.
struct JudgedPath: Sendable {
  private let record: LeafRecord
  private let intermediate: ReceiptIntermediate?
  private let isCached: Bool

  fileprivate init(
    _ record: LeafRecord, _ intermediate: ReceiptIntermediate?, isCached: Bool
  ) {
    self.record = record
    self.intermediate = intermediate
    self.isCached = isCached
  }

  /// The value of `chain` in a document (PTH-14).
  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.raw(record.report)
    if let intermediate {
      writer.raw(intermediate.report)
    } else {
      writer.name("intermediate")
      writer.null()
      writer.name("root")
      writer.null()
    }
    writer.member("cached", boolean: isCached)
    writer.endObject()
  }
}

/// Names of an issuer for a message: printable ASCII, bounded (CER-7).
enum IssuerName {
  private static let cap = 80

  static func describe(_ certificate: Certificate) -> String {
    "issuer " + quoted(certificate, ObjectIdentifier.commonName) + ", unit "
      + quoted(certificate, ObjectIdentifier.organizationalUnit)
  }

  private static func quoted(_ certificate: Certificate, _ type: [UInt8]) -> String {
    let der = certificate.der
    var outer = DER.Cursor(der, certificate.issuer)
    guard let sequence = outer.next(DER.sequence) else { return "?" }
    var names = DER.Cursor(der, sequence.content)
    while let relative = names.next(DER.set) {
      var attributes = DER.Cursor(der, relative.content)
      while let attribute = attributes.next(DER.sequence) {
        var pair = DER.Cursor(der, attribute.content)
        guard let identifier = pair.next(DER.objectIdentifier), let value = pair.next(),
          certificate.bytes(identifier.content).elementsEqual(type)
        else { continue }
        let printable = certificate.bytes(value.content).prefix(cap).map { byte -> UInt8 in
          byte >= 0x20 && byte < 0x7f && byte != 0x22 ? byte : 0x3f
        }
        return "'" + Text(printable).string + "'"
      }
    }
    return "none"
  }
}
