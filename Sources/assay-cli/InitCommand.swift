import Assay
import AssayAuthority

struct InitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Write a first configuration, and what its members mean.",
    discussion: """
      JSON has no comments, and the library refuses members that it does not know. So \
      there are two files: assay.json, which can be used as it is, and beside it \
      assay.txt, which explains every member, including those that were left out. With - \
      the configuration goes to standard output and the explanations to standard error.

      An existing file is never overwritten.

      Examples:
        assay init
        assay init --bundle-id com.example.app --app-id 1234567890 --team ABCDE12345
        assay init server/assay.json
        assay init - > assay.json

      Exit codes: 0 written, 2 usage, or the file exists already.
      """)

  @Argument(
    help: "File to write; - for standard output. Without it: assay.json.", completion: .file)
  var file: String?

  @Option(help: "Bundle id of the app.")
  var bundleId = "com.example.app"

  @Option(help: "Apple's number of the app, from App Store Connect.")
  var appId: Int64 = 1_234_567_890

  @Option(help: "Team id: with it App Attest is configured too.")
  var team: String?

  func run() throws {
    let text = Array(configuration.utf8)
    let (verifier, document) = Verifier.make(text)
    guard verifier != nil else {
      let place = document.text("error.at") ?? "?"
      throw Problem("\(Terminal.safe(place)): \(document.text("error.message") ?? "")")
    }
    let path = file ?? ConfigurationFile.usual
    if path == "-" {
      Terminal.write(text)
      return Terminal.complain(explanations)
    }
    let beside =
      (path.hasSuffix(".json") ? String(path.dropLast(5)) : path) + ".txt"
    for taken in [path, beside] where FileSystem.exists(taken) {
      throw Problem("\(taken) exists already, and is left as it is")
    }
    try OutputFile.write(text, to: path)
    try OutputFile.write(Array((explanations + "\n").utf8), to: beside)
    Terminal.complain(
      "assay: wrote \(path), and \(beside), which says what its members mean; put your app "
        + "and your products in, then: assay config check \(path)")
  }

  /// The configuration in its usual layout, one member a line.
  private var configuration: String {
    func quoted(_ text: String) -> String {
      String(decoding: JSONText.string(text).bytes, as: UTF8.self)
    }
    let teamId = team.map { ", \"teamId\": " + quoted($0) } ?? ""
    let product = quoted(bundleId + ".premium.monthly")
    let attest =
      team == nil ? "" : ",\n  \"attest\": {\"environments\": [\"production\"]}"
    return """
      {
        "apps": [{"bundleId": \(quoted(bundleId)), "appAppleId": \(appId)\(teamId)}],
        "environments": ["Production", "Sandbox"],
        "plans": ["free", "premium"],
        "products": {
          \(product): {"plan": "premium", "type": "auto-renewable"}
        },
        "decision": {"accountToken": "when-given", "sandbox": "below"}\(attest)
      }

      """
  }

  private var explanations: String {
    let members = ExplanationTable().members.map { member in
      "\(member.path)\n    \(member.meaning)\n    values: \(member.values)\n"
        + "    without it: \(member.standard)\n"
    }
    return """
      What the members of the configuration mean. The file itself is JSON without comments;
      only "apps" is required. `assay config check` says whether it is accepted, `assay
      explain MEMBER` shows one of these.

      """ + "\n" + members.joined(separator: "\n")
  }
}
