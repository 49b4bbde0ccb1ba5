import Assay

struct TriageCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "triage",
    abstract: "Say what a blob is and what to do with it, without verifying it.",
    discussion: """
      Takes anything that a client may send as proof of a purchase: receipts of both kinds, \
      StoreKit texts, App Attest objects, damaged ones, the strings of cracking tools. \
      Nothing is verified: what is shown as claimed could have been written by anyone.

      Examples:
        assay triage upload.txt --config config.json
        assay triage inbox/* --config config.json
        pbpaste | assay triage - --config config.json --json

      A file that is worth verifying gets one line, any other also says why it is not; \
      with -v everything that was seen and claimed. With --json one document per line, in \
      the order of the files.

      Exit codes: 0 every blob is worth verifying, 1 at least one is not, 2 usage or \
      configuration.
      """)

  @Argument(help: "Files with one blob each; - for standard input.", completion: .file)
  var files: [String]

  @OptionGroup
  var source: ConfigurationOption

  @Option(help: "The time to take as now: milliseconds since 1970, or 2026-01-31T12:00:00Z.")
  var now: String?

  @OptionGroup
  var output: OutputOptions

  func run() throws {
    let verifier = try source.verifier()
    let now = try Input.time(now, option: "--now")
    var exitCode: Int32 = 0
    for (place, file) in files.enumerated() {
      let document = verifier.triage(try Input.readEvidence(file), nowMs: now)
      if output.json {
        Terminal.write(document.json + [0x0a])
      } else {
        if place > 0, output.verbose { print("") }
        TriageView(document).show(file, isVerbose: output.verbose)
      }
      switch document.status.family {
      case .pending: break
      case .misuse, .config, .internal: exitCode = 2
      default: exitCode = max(exitCode, 1)
      }
    }
    if exitCode != 0 { throw Refused(exitCode: exitCode) }
  }
}

/// A triage document as text for people.
struct TriageView {
  private let document: Document

  init(_ document: Document) {
    self.document = document
  }

  func show(_ file: String, isVerbose: Bool) {
    let isWorth = document.status.family == .pending
    let category = document.text("triage.category") ?? "not looked at"
    print(
      Terminal.styled(Terminal.safe(category).uppercased(), isWorth ? .good : .bad)
        + "  " + Terminal.safe(file) + "  "
        + Terminal.styled("\(document.status.name)", .strong))
    if isWorth, !isVerbose { return }
    for (name, path) in [
      ("message", "error.message"), ("at", "error.at"), ("hint", "error.hint"),
    ] {
      if let text = document.text(path) { line(name, text) }
    }
    if !isVerbose { return }
    for (name, path) in [
      ("format", "triage.format"), ("disposition", "triage.disposition"),
      ("next step", "triage.nextStep"),
    ] {
      if let text = document.text(path) { line(name, text) }
    }
    let anomalies = DocumentView.texts(document, "triage.anomalies")
    if !anomalies.isEmpty { line("anomalies", anomalies.joined(separator: ", ")) }
    let claims = DocumentView(document).facts("unverified")
    for claim in claims {
      print("  " + Terminal.styled("UNVERIFIED", .caution) + "  " + claim)
    }
  }

  private func line(_ name: String, _ text: String) {
    print("  " + Terminal.padded(name, to: 12) + Terminal.safe(text))
  }
}
