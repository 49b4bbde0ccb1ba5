import Assay

struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Verify one piece of evidence: a JWS, a receipt, an attestation, an answer.",
    discussion: """
      Prints the verdict and the facts that matter most; with -v every check that was \
      made and every fact, with --json the library's document, byte for byte.

      Without --kind the kind is found from the file, and shown beside the verdict. A server \
      names the kind that it expects: whoever sends the file chooses what is found.

      Examples:
        assay verify purchase.jws
        assay verify purchase.jws --kind transaction --config config.json
        pbpaste | assay verify - --kind notification --config config.json --json
        assay verify receipt.txt --kind app-receipt --config config.json \\
          --subject 8F1A2B3C4D5E4F608A7B9C0D1E2F3A4B
        assay verify answer.json --kind verify-receipt-response --config config.json
        assay verify attestation.b64 --kind attestation --config config.json \\
          --key-id 'q1u…=' --client-data-file challenge.bin
        assay verify assertion.b64 --kind assertion --config config.json \\
          --public-key 'BAx…=' --counter 7 --client-data '{"challenge":"…"}'

      An answer from the verifyReceipt endpoint is not signed: it is worth as much as the \
      connection it came over; the receipt in it is verified.

      Exit codes: 0 verified, 1 refused, 2 usage or configuration.
      """)

  @Argument(help: "File with the evidence alone; - for standard input.", completion: .file)
  var file: String

  @Option(
    help: """
      What it must turn out to be: \(ProofKind.names). Without it the kind is found from the \
      file.
      """, completion: .values(ProofKind.nameList))
  var kind: String?

  @OptionGroup
  var source: ConfigurationOption

  @Option(
    help: """
      Device that an app receipt must belong to, in hexadecimal: the 16 octets of the \
      vendor id, or the 6 of a Mac's primary address.
      """)
  var subject: String?

  @OptionGroup(title: "Attested keys")
  var attested: AttestedInput

  @Option(help: "The time to take as now: milliseconds since 1970, or 2026-01-31T12:00:00Z.")
  var now: String?

  @OptionGroup
  var output: OutputOptions

  func run() throws {
    if let kind { _ = try ProofKind(kind) }
    let (verifier, effective) = try source.load()
    let now = try Input.time(now, option: "--now")
    let evidence = try EvidenceFile(file, kind: kind)
    let (name, triage) = try evidence.kind(by: verifier)
    guard let name else { return try refuse(evidence, triage) }
    let proof = try ProofKind(name)
    let document = try proof.verify(
      evidence.bytes, by: verifier, subject: try Input.octets(subject, option: "--subject"),
      attested: attested, nowMs: now)
    let view = DocumentView(document)
    if output.json {
      Terminal.write(document.json + [0x0a])
    } else {
      view.show(name, verdict: proof.verdict, isVerbose: output.verbose)
      Contrast(document, effective).show(evidence.bytes, by: verifier, nowMs: now)
      attested.explain(document)
    }
    if view.exitCode != 0 { throw Refused(exitCode: view.exitCode) }
  }

  /// The kind was to be found: triage says what the file is instead.
  private func refuse(_ evidence: EvidenceFile, _ triage: Document?) throws {
    guard let triage else { return }
    if output.json {
      Terminal.write(triage.json + [0x0a])
    } else {
      TriageView(triage).show(evidence.path, isVerbose: output.verbose)
    }
    throw Refused(exitCode: DocumentView(triage).exitCode)
  }
}
