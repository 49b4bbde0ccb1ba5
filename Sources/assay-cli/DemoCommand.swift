import Assay
import AssayAuthority

struct DemoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Show the main job once: verify, decide, and refuse what is not genuine.",
    discussion: """
      Mints evidence under a test authority that exists for this run alone, and gives it to a \
      verifier that trusts it, as a server does with what an app sends. It needs no file, no \
      configuration and no network, and leaves nothing behind.

      Examples:
        assay demo
        assay demo -v

      Exit codes: 0 every outcome was the expected one, 1 one was not, 2 usage, or output that \
      cannot be written.
      """)

  @Flag(letter: "v", help: "Print every check and every fact.")
  var verbose = false

  /// What is sent to a server, and what has to come of it.
  private struct Scene {
    let title: String
    let evidence: [UInt8]
    let verifier: Verifier
    var status = Status.ok
    /// The plan and the state that are decided; `nil` if nothing is.
    var decision: (plan: String, state: String)?
  }

  func run() throws {
    let now = FileSystem.now
    let scenes = try scenes(now: now)
    print("What an app sends, and what your server makes of it. A test authority signs in Apple's")
    print("place, made for this run alone.")
    var asExpected = 0
    for (place, scene) in scenes.enumerated() {
      print("\n" + Terminal.styled("\(place + 1). \(scene.title)", .strong))
      if show(scene, now: now) { asExpected += 1 }
    }
    print("\n\(asExpected) of \(scenes.count) outcomes were the expected ones. Next, with files:\n")
    print(DemoCommand.next)
    if asExpected < scenes.count { throw Refused(exitCode: 1) }
  }

  private static let next = """
      assay mint transaction --authority ./authority > purchase.jws
      assay verify purchase.jws --config ./authority/config.json
      assay decide purchase.jws --config ./authority/config.json

    and with your own app: assay init, assay config check, assay verify.
    """

  private func scenes(now: Int64) throws -> [Scene] {
    let authority = try Authority(now: now)
    let bought = Purchase(now: now)
    let refunded = bought.with {
      $0.revocationDate = now - 120_000
      $0.revocationReason = 0
      $0.revocationType = "REFUND_FULL"
    }
    let sample = authority.sampleConfiguration(for: bought)
    let ours = try verifier(sample)
    let production = try verifier(sample.removing(["storekit"]))
    let purchase = try authority.mint(bought.transactionPayload)
    let foreign = try authority.mint(
      bought.transactionPayload.setting("bundleId", "com.example.other"))
    let base = Variation.Base(authority: authority, payload: bought.transactionPayload, now: now)
    guard let forged = try Variation.forgery("JWS-20")?.mint(base) else {
      throw Problem("nothing forges JWS-20")
    }
    return [
      Scene(
        title: "A subscription that is paid for", evidence: purchase, verifier: ours,
        decision: ("premium", "active")),
      Scene(
        title: "The same after a refund: genuine, and worth nothing",
        evidence: try authority.mint(refunded.transactionPayload), verifier: ours,
        decision: ("free", "refunded")),
      Scene(
        title: "A forgery, under a root that carries the name of the right one", evidence: forged,
        verifier: ours, status: .rejectedChainUntrustedRoot),
      Scene(
        title: "A purchase in another app", evidence: foreign, verifier: ours,
        status: .rejectedAppBundleId),
      Scene(
        title: "Test evidence at a server in production, which trusts Apple alone",
        evidence: purchase, verifier: production, status: .rejectedChainUntrustedRoot),
    ]
  }

  private func verifier(_ configuration: JSONText) throws -> Verifier {
    let (verifier, document) = Verifier.make(configuration.bytes)
    guard let verifier else { throw Problem(document.text("error.message") ?? "no verifier") }
    return verifier
  }

  /// Prints what comes of one piece of evidence; whether it is as expected.
  private func show(_ scene: Scene, now: Int64) -> Bool {
    let document = scene.verifier.verifyJWS(scene.evidence, kind: .transaction, nowMs: now)
    DocumentView(document).show("transaction", isVerbose: verbose)
    guard document.status == scene.status else { return false }
    guard let wanted = scene.decision else { return true }
    let decision = scene.verifier.decide([document], account: nil, nowMs: now)
    DecideCommand.show(decision, isVerbose: verbose)
    return decision.text("decision.plan") == wanted.plan
      && decision.text("decision.state") == wanted.state
  }
}
