import AssayAuthority
import CSystem

struct MockAppleCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mock-apple",
    abstract: "Mock Apple's servers on this machine, signed by your own test authority.",
    discussion: """
      A host runs its exchanges against it: verifyReceipt, DeviceCheck, App Attest \
      receipts, OCSP, key sets, Sign in with Apple, and the App Store Server API. Refunds, \
      21007, slow answers and 429 come when they are asked for.

      It listens on loopback only. The first line of output is JSON with its address; \
      play-config.json in the folder of the authority is a configuration for the host. It \
      ends on SIGINT or SIGTERM, and with whoever started it: at the end of a standard input \
      that is a pipe or a socket. Without one (closed, /dev/null, a terminal) it lives on.

      Examples:
        assay mock-apple --authority ca
        assay mock-apple --authority ca --state purchases.json --script faults.json
        assay mock-apple --authority ca --clock 2026-11-20T12:00:00Z --tls
        curl -H 'Host: play' -d '{"transactionId":"2000000900000001"}' \\
          http://127.0.0.1:PORT/play/refund

      Exit codes: 0 ended as it was asked to, 2 usage, or an address that is not loopback.
      """)

  @Option(help: "Folder of the test authority; created if it is missing.", completion: .folder)
  var authority: String

  @Option(help: "Where to listen: an address of this machine; port 0 is a free one.")
  var listen = "127.0.0.1:0"

  @Option(help: "File with faults: a JSON list of rules.", completion: .file)
  var script: String?

  @Option(
    help: "File with purchases; read where it is, and written after every change.",
    completion: .file)
  var state: String?

  @Option(help: "The time that is taken as now: milliseconds since 1970, a date, or live.")
  var clock = "live"

  @Flag(help: "Serve TLS, and on a second port with a certificate that has expired.")
  var tls = false

  func run() throws {
    guard let (address, port) = LoopbackURL.split(listen) else {
      throw Problem(
        "--listen \(Terminal.safe(listen)): give an address of this machine alone, like "
          + "127.0.0.1:0; nobody else must reach a server that says whatever it is asked to")
    }
    let clock = try MockClock(clock)
    let signals = system_end_signals()
    guard signals >= 0 else { throw Problem("signals cannot be waited for") }
    let keys = try MockAuthority(authority, now: FileSystem.now)
    var played = try MockState(keys, clock: clock, file: state)
    if let script {
      guard let json = JSONTree(try FileSystem.read(script)) else {
        throw Problem("\(script) is not JSON")
      }
      played.script = try MockScript(json)
    }
    try played.keep()
    let certificates = try tls ? MockCertificates(authority, now: FileSystem.now) : nil
    let ports = try ports(address, port, certificates)
    let first = try announcement(address, ports, keys, certificates)
    Terminal.write(first.bytes + [0x0a])
    try MockServer(player: MockApple(played)).run(ports, signals: signals)
  }

  private func ports(
    _ address: String, _ port: UInt16, _ certificates: MockCertificates?
  ) throws -> [MockServer.Port] {
    guard let certificates else { return [try MockServer.listen(address, port, nil)] }
    let good = try MockTLS(certificate: certificates.current, key: certificates.key)
    let expired = try MockTLS(certificate: certificates.expired, key: certificates.key)
    return [
      try MockServer.listen(address, port, good), try MockServer.listen(address, 0, expired),
    ]
  }

  /// Returns the first line, which is printed after the configuration was written (PLY-1, PLY-2).
  private func announcement(
    _ address: String, _ ports: [MockServer.Port], _ keys: MockAuthority,
    _ certificates: MockCertificates?
  ) throws -> JSONText {
    let shown = address.contains(":") ? "[\(address)]" : address
    let urls = ports.map { (tls ? "https://" : "http://") + shown + ":\($0.number)" }
    let configuration = MockConfiguration(authority: keys, apiBase: tls ? urls[0] : nil)
    let file = authority + "/play-config.json"
    try OutputFile.write(try configuration.json().bytes + [0x0a], to: file, mode: 0o600)
    var first: JSONText = [
      "play": 1, "url": .string(urls[0]), "config": .string(file),
      "ca": certificates.map { .string($0.ca) } ?? .null,
      "hosts": .array(MockRouter.names.map { .string($0) }),
    ]
    if urls.count > 1 { first = first.appending("expiredUrl", .string(urls[1])) }
    return first
  }
}
