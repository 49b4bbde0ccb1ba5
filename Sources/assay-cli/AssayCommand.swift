import ArgumentParser
import Foundation

/// `assay`: verify what Apple signs, from the command line.
struct AssayCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "assay",
    abstract: "Verify what Apple signs, and decide from it who may have what.",
    discussion: """
      Nothing here opens a network connection: evidence, configuration and time are \
      arguments.

      A first look, without a device:
        assay mint transaction --authority ./authority > purchase.jws
        assay verify purchase.jws --kind transaction --config ./authority/config.json
        assay decide transaction:purchase.jws --config ./authority/config.json

      What a server was sent in a day, sorted and drawn:
        assay mint --day 100000 --authority ./authority --out day.ndjson
        assay report day.ndjson --config ./authority/config.json --html day.html

      Exit codes: 0 verified (decide: entitled; triage: worth verifying), 1 refused, \
      2 usage, configuration, or output that cannot be written.
      """,
    subcommands: [
      VerifyCommand.self, TriageCommand.self, DecideCommand.self, InspectCommand.self,
      ReportCommand.self, MintCommand.self, KeyIdCommand.self,
    ])
}

/// Runs the command and turns every outcome into one of the three exit codes.
@main
enum Main {
  static func main() {
    do {
      var command = try AssayCommand.parseAsRoot()
      try command.run()
    } catch let refusal as Refused {
      exit(refusal.exitCode)
    } catch let problem as Problem {
      Terminal.complain("assay: " + problem.description)
      exit(2)
    } catch {
      if AssayCommand.exitCode(for: error) == .success {
        print(AssayCommand.fullMessage(for: error))
        exit(0)
      }
      Terminal.complain(AssayCommand.fullMessage(for: error))
      exit(2)
    }
  }
}

/// The answer was printed, and it was no.
struct Refused: Error {
  let exitCode: Int32
}

/// The command could not be carried out; says what to do about it.
struct Problem: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
