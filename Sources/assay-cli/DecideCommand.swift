import Assay

struct DecideCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "decide",
    abstract: "Decide from several pieces of evidence which plan is in force.",
    discussion: """
      Each piece is verified first; one that is refused ends the command with its own \
      verdict. Its kind is found from the file, or stands before it with a colon.

      Examples:
        assay decide *.jws
        assay decide transaction:t.jws renewal-info:r.jws --config config.json
        assay decide app-receipt:receipt.txt --config config.json
        assay decide verify-receipt-response:answer.json --config config.json
        assay decide notification:n.jws --config config.json \\
          --account 0f8fad5b-d9cb-469f-a165-70867728950e --now 2026-01-31T12:00:00Z

      Exit codes: 0 a plan above the default one is in force, 1 none is or evidence was \
      refused, 2 usage or configuration.
      """)

  @Argument(
    help: """
      FILE or KIND:FILE, once per piece of evidence; KIND is one of \(ProofKind.names).
      """,
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
    let (verifier, effective) = try source.load()
    let now = try Input.time(now, option: "--now")
    var documents: [Document] = []
    for piece in evidence {
      let file = try EvidenceFile(piece: piece)
      let (name, triage) = try file.kind(by: verifier)
      let document =
        try triage
        ?? ProofKind(name ?? "").verify(file.bytes, by: verifier, subject: nil, nowMs: now)
      guard document.status == .ok else {
        let kind = name.map { $0 + "  " } ?? ""
        try refuse(document, kind + file.path) {
          Contrast(document, effective).show(file.bytes, by: verifier, nowMs: now)
        }
      }
      documents.append(document)
    }
    let decision = verifier.decide(
      documents, account: account.map { Array($0.utf8) }, nowMs: now)
    let view = DocumentView(decision)
    if output.json {
      Terminal.write(decision.json + [0x0a])
    } else {
      DecideCommand.show(decision, isVerbose: output.verbose)
      if decision.status.family == .misuse { showKinds(documents) }
    }
    if view.exitCode != 0 { throw Refused(exitCode: view.exitCode) }
  }

  private func refuse(
    _ document: Document, _ title: String, _ showMore: () -> Void
  ) throws -> Never {
    let view = DocumentView(document)
    if output.json {
      Terminal.write(document.json + [0x0a])
    } else if document.text("kind") == "triage" {
      TriageView(document).show(title, isVerbose: output.verbose)
    } else {
      view.show(title, isVerbose: output.verbose)
      showMore()
    }
    throw Refused(exitCode: view.exitCode)
  }

  /// What each piece was taken for, where the library did not take one of them.
  private func showKinds(_ documents: [Document]) {
    for (place, (piece, document)) in zip(evidence, documents).enumerated() {
      let kind = document.text("kind") ?? "?"
      print("  evidence[\(place)] is \(Terminal.safe(piece)), \(kind)")
    }
  }

  /// Prints a decision, and what had no influence on it.
  static func show(_ decision: Document, isVerbose: Bool) {
    let view = DocumentView(decision)
    guard let plan = decision.text("decision.plan") else {
      return view.show("decision", isVerbose: isVerbose)
    }
    let entitled = decision.status == .ok
    let state = decision.text("decision.state") ?? "none"
    let row = decision.text("decision.rule") ?? ""
    print(
      Terminal.styled(entitled ? "ENTITLED" : "NOT ENTITLED", entitled ? .good : .bad)
        + "  plan \(Terminal.safe(plan)), \(state) \(row)")
    for left in view["decision"]?["excluded"]?.elements ?? [] {
      let words = ["reason", "productId", "transactionId"].compactMap { left[$0]?.text }
      print("  left out: " + Terminal.safe(words.joined(separator: " ")))
      if let remedy = left["reason"]?.text.flatMap({ remedies[$0] }) { print("    " + remedy) }
    }
    view.showRest(isVerbose: isVerbose)
  }

  /// What to do about a transaction that was left out, by the reason (DCD-5, DCD-23).
  private static let remedies = [
    "unknown-product": "the catalogue lacks this product: add it to products if you sell it",
    "type-mismatch": "Apple says another type than the catalogue: correct its type in products",
    "unknown-type": "the type is newer than this library: look for an update",
    "sandbox": "a tester's purchase, which decision.sandbox leaves out",
  ]
}
