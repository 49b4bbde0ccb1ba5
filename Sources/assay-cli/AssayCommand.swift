import CSystem

/// The command `assay`, which verifies what Apple signs.
struct AssayCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "assay",
    abstract: "Verify what Apple signs, and decide from it who may have what.",
    discussion: """
      Nothing here opens a network connection, but for mock-apple and \
      serve-verify-receipt, which listen on this machine, and migrate, which connects to the \
      database of --ledger: evidence, configuration and time are arguments.

      A first look, without a device:
        assay demo
        assay mint transaction --authority ./authority > purchase.jws
        assay verify purchase.jws --config ./authority/config.json
        assay decide purchase.jws --config ./authority/config.json

      Your own app: a first configuration, and what a refusal means:
        assay init --bundle-id com.example.app --app-id 1234567890
        assay config check
        assay explain rejected.chain.untrusted-root

      What a server received in a day, sorted and drawn:
        assay mint --day 100000 --authority ./authority --out day.ndjson
        assay report day.ndjson --config ./authority/config.json --html day.html

      Exit codes: 0 verified (decide: entitled; triage: worth verifying), 1 refused, \
      2 usage, configuration, or output that cannot be written.
      """,
    subcommands: [
      DemoCommand.self, InitCommand.self, ConfigCommand.self, VerifyCommand.self,
      TriageCommand.self, DecideCommand.self, InspectCommand.self, ReportCommand.self,
      MigrateCommand.self, ExplainCommand.self, MintCommand.self, MockAppleCommand.self,
      ServeVerifyReceiptCommand.self, NormalizeKeyIdCommand.self,
    ])
}

/// Runs the command and turns every outcome into one of the three exit codes.
@main
enum Main {
  static func main() {
    system_hold_standard()
    do {
      try run(Array(CommandLine.arguments.dropFirst()))
    } catch let refusal as Refused {
      exit(refusal.exitCode)
    } catch let fault as CommandLineFault {
      Terminal.complain(fault.message)
      exit(2)
    } catch {
      Terminal.complain("assay: \(error)")
      exit(2)
    }
  }

  private static func run(_ words: [String]) throws {
    let root = AssayCommand.self
    switch words.first {
    case "--complete":
      let answer = ShellCompletion(root: root).answer(Array(words.dropFirst()))
      return print(answer.joined(separator: "\n"))
    case "--generate-completion-script":
      let shell = words.dropFirst().first ?? ""
      guard let script = ShellCompletion.script(shell) else {
        throw Problem(
          "--generate-completion-script \(Terminal.safe(shell)): there are "
            + ShellCompletion.shells.joined(separator: ", "))
      }
      return print(script, terminator: "")
    case "--describe":
      let json = HelpText(.init(words: ["assay"], command: root)).json
      return Terminal.write(json.bytes + [0x0a])
    default: break
    }
    switch try CommandLineReader(root: root).read(words) {
    case .help(let path): print(HelpText(path).text)
    case .version: print("assay " + Version.text)
    case .run(let command, let path):
      if words.isEmpty { return print(HelpText(path).text) }
      do {
        try command.run()
      } catch let fault as UsageFault {
        throw CommandLineFault(path: path, text: fault.text)
      }
    }
  }
}

/// The document was printed, and it is a refusal.
struct Refused: Error {
  let exitCode: Int32
}

/// A fault that prevents the command, with a message that explains what to do.
struct Problem: Error, CustomStringConvertible {
  let description: String
  /// Whether a file or folder could not be written.
  let isOfOutput: Bool
  init(_ description: String, isOfOutput: Bool = false) {
    (self.description, self.isOfOutput) = (description, isOfOutput)
  }
}
