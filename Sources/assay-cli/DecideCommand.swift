import Assay

struct DecideCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "decide",
    abstract: "Decide from several pieces of evidence which plan is in force.",
    discussion: """
      Each piece is verified first; one that is refused ends the command with its own \
      verdict.

      Examples:
        assay decide transaction:t.jws renewal-info:r.jws --config config.json
        assay decide app-receipt:receipt.txt --config config.json
        assay decide verify-receipt-response:answer.json --config config.json
        assay decide notification:n.jws --config config.json \\
          --account 0f8fad5b-d9cb-469f-a165-70867728950e --now 2026-01-31T12:00:00Z

      Exit codes: 0 a plan above the default one is in force, 1 none is or evidence was \
      refused, 2 usage or configuration.
      """)

  @Argument(
    help: "KIND:FILE, once per piece of evidence; KIND is one of \(ProofKind.names).",
    completion: .kindAndFile(ProofKind.nameList))
  var evidence: [String]

  @OptionGroup
  var source: ConfigurationOption

  @Option(help: "The appAccountToken that the evidence must carry: a UUID.")
  var account: String?

  @Option(help: "The time to take as now: milliseconds since 1970, or 2026-01-31T12:00:00Z.")
  var now: String?

  @OptionGroup
  var output: OutputOptions

  func run() throws {
    let verifier = try source.verifier()
    let now = try Input.time(now, option: "--now")
    var documents: [Document] = []
    for piece in evidence {
      let parts = piece.split(separator: ":", maxSplits: 1).map(String.init)
      guard parts.count == 2 else {
        throw Problem("\(piece): evidence is given as KIND:FILE, like transaction:t.jws")
      }
      let kind = try ProofKind(parts[0])
      let document = try kind.verify(
        try Input.readEvidence(parts[1]), by: verifier, subject: nil, nowMs: now)
      guard document.status == .ok else { try refuse(document, piece) }
      documents.append(document)
    }
    let decision = verifier.decide(
      documents, account: account.map { Array($0.utf8) }, nowMs: now)
    let view = DocumentView(decision)
    if output.json {
      Terminal.write(decision.json + [0x0a])
    } else {
      show(decision, view)
    }
    if view.exitCode != 0 { throw Refused(exitCode: view.exitCode) }
  }

  private func refuse(_ document: Document, _ piece: String) throws -> Never {
    let view = DocumentView(document)
    if output.json {
      Terminal.write(document.json + [0x0a])
    } else {
      view.show(piece, isVerbose: output.verbose)
    }
    throw Refused(exitCode: view.exitCode)
  }

  private func show(_ decision: Document, _ view: DocumentView) {
    let entitled = decision.status == .ok
    let plan = decision.text("decision.plan") ?? "no plan"
    let state = decision.text("decision.state") ?? "\(decision.status.name)"
    let row = decision.text("decision.rule") ?? ""
    print(
      Terminal.styled(entitled ? "ENTITLED" : "NOT ENTITLED", entitled ? .good : .bad)
        + "  plan \(Terminal.safe(plan)), \(state) \(row)")
    for left in view["decision"]?["excluded"]?.elements ?? [] {
      let words = ["reason", "productId", "transactionId"].compactMap { left[$0]?.text }
      print("  left out: " + Terminal.safe(words.joined(separator: " ")))
    }
    view.showRest(isVerbose: output.verbose)
  }
}
