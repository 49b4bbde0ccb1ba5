import Assay

struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Verify one piece of evidence: a JWS, a receipt, an attestation, an answer.",
    discussion: """
      Prints the verdict and the facts that matter most; with -v every check that was \
      made and every fact, with --json the library's document, byte for byte.

      Examples:
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
    help: "What it must turn out to be: \(ProofKind.names).",
    completion: .values(ProofKind.nameList))
  var kind: String

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
    let proof = try ProofKind(kind)
    let verifier = try source.verifier()
    let now = try Input.time(now, option: "--now")
    let document = try proof.verify(
      try Input.readEvidence(file), by: verifier,
      subject: try Input.octets(subject, option: "--subject"), attested: attested, nowMs: now)
    let view = DocumentView(document)
    if output.json {
      Terminal.write(document.json + [0x0a])
    } else {
      view.show(kind, verdict: proof.verdict, isVerbose: output.verbose)
    }
    if view.exitCode != 0 { throw Refused(exitCode: view.exitCode) }
  }
}
