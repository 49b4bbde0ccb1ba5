import ArgumentParser
import Assay

struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Verify one StoreKit JWS.",
    discussion: """
      Prints the verdict, every check that was made, and the facts. With --json the \
      library's document, byte for byte.

      Examples:
        assay verify purchase.jws --kind transaction --config config.json
        pbpaste | assay verify - --kind notification --config config.json --json

      Exit codes: 0 verified, 1 refused, 2 usage or configuration.
      """)

  @Argument(help: "File with the JWS alone; - for standard input.")
  var file: String

  @Option(help: "What it must turn out to be: \(Input.kinds).")
  var kind: String

  @Option(help: "Configuration of the verifier (docs/config.md).")
  var config: String

  @Option(help: "The present: milliseconds since 1970, or 2026-01-31T12:00:00Z.")
  var now: String?

  @Flag(help: "Print the document as JSON.")
  var json = false

  func run() throws {
    let kind = try Input.kind(kind)
    let verifier = try Input.verifier(config)
    let now = try Input.time(now, option: "--now")
    let document = verifier.verifyJWS(try Input.readEvidence(file), kind: kind, nowMs: now)
    let view = DocumentView(document)
    if json {
      Terminal.write(document.json + [0x0a])
    } else {
      view.show(self.kind)
      view.showFacts()
    }
    if view.exitCode != 0 { throw Refused(exitCode: view.exitCode) }
  }
}
