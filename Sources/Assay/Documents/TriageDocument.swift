extension TriageResult {
  /// Returns the document of `assay_triage` (TRI-12): the classification under `triage`, the
  /// blob's unverified content under `unverified`.
  ///
  /// - Parameter configuration: the fingerprint of the verifier's configuration.
  func document(configuration: [UInt8]) -> Document {
    let envelope = Envelope(
      kind: "triage", factsMember: "triage", checks: checks.log,
      configuration: configuration)
    return envelope.refused(
      refusal, check: refusal.status == .pendingTriageVerifyNext ? "triage" : nil,
      facts: { writer in
        write(&writer)
        writer.name("unverified")
        writeClaimed(&writer)
      })
  }
}
