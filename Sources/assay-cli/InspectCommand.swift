import AssayAuthority

struct InspectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Show what a JWS, a receipt or an attestation says, WITHOUT verifying it.",
    discussion: """
      Anyone can write what is shown here. Every line is marked UNVERIFIED, and the JSON \
      form says "verified": false. Of certificates only the subject and the end are shown, \
      with -v all. To learn whether it is true, use assay verify; to learn \
      what something is, use assay triage.

      Examples:
        assay inspect purchase.jws
        assay inspect purchase.jws --json
        assay inspect receipt.txt
        assay inspect attestation.b64

      Exit codes: 0 shown, 1 nothing that can be shown, 2 usage.
      """)

  @Argument(help: "File with the evidence alone; - for standard input.", completion: .file)
  var file: String

  @OptionGroup
  var output: OutputOptions

  func run() throws {
    let text = try Input.readEvidence(file)
    if let content = UnverifiedContent(text) {
      show(content.lines(isVerbose: output.verbose), content.json)
    } else if let receipt = UnverifiedReceipt(text, isVerbose: output.verbose) {
      show(receipt.lines, receipt.json)
    } else if let object = UnverifiedAttestObject(text, isVerbose: output.verbose) {
      show(object.lines, object.json)
    } else {
      Terminal.complain(
        "assay: \(file) is neither a JWS (three base64url segments) nor a receipt nor App "
          + "Attest's; assay triage says what it may be")
      throw Refused(exitCode: 1)
    }
  }

  private func show(_ lines: [String], _ content: JSONText) {
    if output.json { return Terminal.write(content.bytes + [0x0a]) }
    for line in lines {
      print(Terminal.styled("UNVERIFIED", .caution) + "  " + Terminal.safe(line))
    }
  }
}
