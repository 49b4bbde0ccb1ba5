import Assay
import AssayAuthority
import CSystem

struct ServeVerifyReceiptCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve-verify-receipt",
    abstract: "Answer requests for Apple's verifyReceipt on this machine, offline.",
    discussion: """
      An old back end that sends receipts to Apple's deprecated endpoint changes one URL, and \
      reads the same JSON, made from what Apple signed. Apple is not called: what a receipt \
      cannot contain is left out, and the member assay of the answer names it.

      It listens on loopback only. The first line of output is JSON with its addresses: \
      /verifyReceipt answers for Production, /sandbox/verifyReceipt for Sandbox, each only if \
      the configuration accepts the environment. Standard error has a line of JSON for each \
      request, without receipts, secrets and ids. It ends on SIGINT or SIGTERM, and at the end \
      of a standard input that is a pipe or a socket.

      Examples:
        assay serve-verify-receipt --config config.json
        assay serve-verify-receipt --config config.json --listen 127.0.0.1:0 --ended later
        curl -d "{\\"receipt-data\\":\\"$(base64 -w0 receipt.der)\\"}" \\
          http://127.0.0.1:8310/verifyReceipt

      Exit codes: 0 ended as it was asked to, 2 usage, configuration, or an address that is \
      not loopback.
      """)

  @OptionGroup
  var source: ConfigurationOption

  @Option(help: "Where to listen: an address of this machine; port 0 is a free one.")
  var listen = "127.0.0.1:8310"

  @Option(
    help: """
      Folder with newer evidence, as ENVIRONMENT/ID.KIND: the original transaction id and a \
      kind of assay verify, such as Production/470001234567890.transaction.
      """, completion: .folder)
  var evidence: String?

  @Option(help: "What does not verify: documented (21003), or measured (21002, as Apple answers).")
  var refusals = "documented"

  @Option(help: "Encodings of receipts: apple, or tolerant (also those that Apple turns away).")
  var base64 = "apple"

  @Option(help: "A subscription that ended, nothing newer known: expired, or later (21005).")
  var ended = "expired"

  @Flag(help: "Leave out the member assay, for readers that refuse unknown members.")
  var noMark = false

  @Option(help: "The time that is taken as now: milliseconds since 1970, a date, or live.")
  var clock = "live"

  func run() throws {
    guard let (address, port) = LoopbackURL.split(listen) else {
      throw Problem(
        "--listen \(Terminal.safe(listen)): give an address of this machine alone, like "
          + "127.0.0.1:8310; for others put a server with TLS before it")
    }
    let service = try VerifyReceiptService(
      verifier: try source.verifier(), clock: try MockClock(clock), evidence: evidence,
      options: [
        "refusals": .string(refusals), "base64": .string(base64), "ended": .string(ended),
        "mark": .boolean(!noMark),
      ])
    let signals = system_end_signals()
    guard signals >= 0 else { throw Problem("signals cannot be waited for") }
    let opened = try MockServer.listen(address, port, nil)
    let shown = address.contains(":") ? "[\(address)]" : address
    let url = "http://\(shown):\(opened.number)"
    func path(_ environment: String, _ path: String) -> JSONText {
      service.environments.contains(environment) ? .string(url + path) : .null
    }
    let first: JSONText = [
      "serve": "verify-receipt", "version": 1, "url": .string(url),
      "production": path("Production", "/verifyReceipt"),
      "sandbox": path("Sandbox", "/sandbox/verifyReceipt"),
    ]
    Terminal.write(first.bytes + [0x0a])
    try MockServer(player: service).run([opened], signals: signals)
  }
}
