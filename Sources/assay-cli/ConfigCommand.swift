import Assay

struct ConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config",
    abstract: "Work with configurations of verifiers.",
    subcommands: [ConfigCheckCommand.self])
}

struct ConfigCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Say whether a configuration is accepted, and show what is in effect.",
    discussion: """
      The library itself judges it. A refusal names the member that is wrong; for a good \
      one the apps, environments, plans and roots are shown, with -v every member, with \
      defaults filled in.

      Examples:
        assay config check
        assay config check server/assay.json
        assay config check assay.json --json

      Exit codes: 0 accepted, 1 refused, 2 there is no such file.
      """)

  @Argument(
    help: """
      The configuration; without it the file that ASSAY_CONFIG names, else ./assay.json; \
      - for standard input.
      """, completion: .file)
  var file: String?

  @OptionGroup
  var output: OutputOptions

  func run() throws {
    let file = try ConfigurationFile.find(self.file)
    let (verifier, document) = try file.make()
    if output.json {
      Terminal.write(document.json + [0x0a])
    } else if verifier == nil {
      print(
        Terminal.styled("REFUSED", .bad) + "  " + file.path + file.origin + "  "
          + Terminal.styled("\(document.status.name)", .strong))
      DocumentView(document).showError(isVerbose: output.verbose)
    } else {
      print(Terminal.styled("ACCEPTED", .good) + "  " + file.path + file.origin)
      show(document)
    }
    if verifier == nil { throw Refused(exitCode: 1) }
  }

  private func show(_ document: Document) {
    let view = DocumentView(document)
    view.showWarnings()
    if output.verbose { return view.showFacts() }
    let effective = view["configuration"]
    func line(_ name: String, _ text: String) {
      if !text.isEmpty { print("  " + Terminal.padded(name, to: 16) + Terminal.safe(text)) }
    }
    for app in effective?["apps"]?.elements ?? [] {
      let words = [app["teamId"]?.text, app["bundleId"]?.text, app["appAppleId"]?.shown]
      line("app", words.compactMap { $0 }.joined(separator: "  "))
    }
    func texts(_ value: JSONTree?) -> String {
      (value?.elements ?? []).compactMap { $0.text }.joined(separator: ", ")
    }
    line("environments", texts(effective?["environments"]))
    line("plans", texts(effective?["plans"]))
    line("products", "\(effective?["products"]?.members.count ?? 0)")
    line("App IDs", texts(effective?["attest"]?["appIds"]))
    line("attested keys", texts(effective?["attest"]?["environments"]))
    line("DeviceCheck", effective?["deviceCheck"]?["environment"]?.text ?? "not configured")
    line("risk rules", effective?["risk"]?["mode"]?.text ?? "")
  }
}
