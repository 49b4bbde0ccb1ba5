import Assay

/// A piece of evidence as the command line names it: `FILE`, or `KIND:FILE`.
struct EvidenceFile {
  let path: String
  let bytes: [UInt8]
  /// The kind that was given; `nil` if it is to be found.
  private let given: String?

  /// - Parameter kind: the kind that an option names.
  init(_ path: String, kind: String?) throws {
    if let kind { _ = try ProofKind(kind) }
    self.path = path
    given = kind
    bytes = try Input.readEvidence(path)
  }

  /// - Parameter piece: `FILE` or `KIND:FILE`.
  init(piece: String) throws {
    let parts = piece.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let isPair = parts.count == 2 && !FileSystem.exists(piece) && !Input.isEvidence(piece)
    try self.init(isPair ? String(parts[1]) : piece, kind: isPair ? String(parts[0]) : nil)
  }

  /// The kind that was given, or the one that triage finds in the evidence.
  ///
  /// - Returns: the name of the kind, or the document of triage, which says what the file is.
  func kind(by verifier: Verifier) throws -> (name: String?, triage: Document?) {
    if let given { return (given, nil) }
    if let answer = JSONTree(bytes), case .object = answer {
      // Triage knows no answers, since no client sends one.
      if answer["status"]?.shown != nil { return ("verify-receipt-response", nil) }
      if let member = EvidenceFile.wrappers.first(where: { answer[$0]?.text != nil }) {
        throw Problem(
          "\(path) is JSON around the evidence: give the text of its member alone, as in\n"
            + "  jq -r '.[\"\(member)\"]' \(Terminal.safe(path)) | assay verify -")
      }
    }
    // The time that a verification takes as now has no influence on triage, but may be invalid.
    let triage = verifier.triage(bytes, nowMs: FileSystem.now)
    let found = ProofKind.name(in: triage)
    if found == nil, triage.status.family == .pending {
      throw Problem(
        "what \(Terminal.safe(path)) is cannot be seen in it: name its kind, one of "
          + ProofKind.names)
    }
    return (found, found == nil ? triage : nil)
  }

  /// Members in which Apple's servers and apps send evidence.
  private static let wrappers = [
    "signedPayload", "signedTransactionInfo", "signedRenewalInfo", "signedTransaction", "jws",
    "receipt-data", "receiptData",
  ]
}
