import AssayAuthority
import CSystem

struct MintCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mint",
    abstract: "Mint test evidence shaped like Apple's under your own test root.",
    discussion: """
      Without a device: mint what Apple would sign, and run a whole backend against it. \
      The authority is made on first use; put its root.b64 into storekit.anchors, or take \
      the config.json beside it.

      Examples:
        assay mint transaction --authority ca --expired > old.jws
        assay mint transaction --authority ca --type non-consumable
        assay mint notification --authority ca --notification-type REFUND --refunded
        assay mint renewal-info --authority ca --now 2026-01-31 --expired --billing-retry \\
          --grace-until 2026-02-07
        assay mint transaction --authority ca --set price=1990 --remove currency
        assay mint transaction --authority ca --forge JWS-29 > forged.jws
        assay mint --list-forgeries
        assay mint transaction-receipt --authority ca > receipt.txt
        assay mint app-receipt --authority ca --purchases 12 --transport raw > receipt.der
        assay mint verify-receipt-response --authority ca --response-style ios6 \\
          --apple-status 21006 --expired
        assay mint attestation --authority ca --client-data hello > attestation.b64
        assay mint assertion --authority ca --counter 7 > assertion.b64
        assay mint attest-receipt --authority ca --refreshed --risk 3 > receipt.b64
        assay mint attestation --authority ca --forge ATT-21 > forged.b64
        assay mint keyset --authority ca > keys.json
        assay mint token --authority ca --subject user-1 --set 'scope="shop/read"' > token
        assay mint token --authority ca --profile apple-id --nonce $NONCE > identity
        assay mint --day 100000 --authority ca --out day.ndjson

      Exit codes: 0 minted, 2 usage.
      """)

  @Argument(
    help: "What to mint: \(MintCommand.names).",
    completion: .values(ProofKind.nameList + ["token", "keyset"]))
  var kind: String?

  @Option(
    help: "Folder of the test authority; created if it is missing.", completion: .folder)
  var authority: String?

  @Option(letter: "o", help: "File to write; without it, standard output.", completion: .file)
  var out: String?

  @OptionGroup(title: "Facts of the purchase")
  var facts: PurchaseOptions

  @Option(help: "Type of a notification, like DID_RENEW.")
  var notificationType = "SUBSCRIBED"

  @Option(help: "Subtype of a notification, like BILLING_RECOVERY.")
  var subtype: String?

  @Flag(help: "Sign as StoreKit testing in Xcode does.")
  var xcode = false

  @Option(help: "MEMBER=JSON: any member of the payload; a dotted path reaches inside.")
  var set: [String] = []

  @Option(help: "A member of the payload to leave out.")
  var remove: [String] = []

  @Option(
    help: "Rule to break, like JWS-29: a twin that differs in one thing.",
    completion: .forgeries)
  var forge: String?

  @Flag(help: "List what --forge can break.")
  var listForgeries = false

  @OptionGroup(title: "Receipts")
  var receipt: ReceiptOptions

  @OptionGroup(title: "App Attest")
  var attest: AttestOptions

  @OptionGroup(title: "Tokens")
  var tokens: TokenOptions

  @Option(help: "Mint a day with this many requests, for assay report.")
  var day: Int?

  @Option(help: "Another seed gives another day.")
  var seed: UInt64 = 1

  @Flag(letter: "q", help: "No progress bar while a day is minted.")
  var quiet = false

  private static let names = ProofKind.names + ", token, keyset"
  private static let ofXcode = "transaction, renewal-info, app-transaction and app-receipt"

  func run() throws {
    if listForgeries { return showForgeries() }
    let now = try MintedValues.date(facts.now ?? "now", "--now")
    try MintedValues.word(notificationType, "--notification-type")
    if let subtype { try MintedValues.word(subtype, "--subtype") }
    guard kind != nil || day != nil else {
      throw Problem(
        "what should be minted? There are \(MintCommand.names), and --day COUNT")
    }
    guard let authority else {
      throw Problem(
        "--authority DIR is missing: evidence under a root that is not kept proves nothing")
    }
    let purchase = try facts.purchase(now: now, xcode: xcode)
    let folder = AuthorityFolder(path: authority)
    if let day { return try mintDay(day, folder, purchase, now) }
    if let kind, AttestMint.kinds.contains(kind) {
      _ = try folder.open(now: now, purchase: purchase, appId: attest.appId(facts.bundleId))
      return try write(try attested(kind, folder, now), to: out)
    }
    if let kind, TokenOptions.kinds.contains(kind) {
      _ = try folder.open(now: now, purchase: purchase, appId: attest.appId(facts.bundleId))
      return try write(try token(kind, folder, now), to: out)
    }
    guard let kind, let evidence = EvidenceKind(rawValue: kind) else {
      _ = try folder.open(now: now, purchase: purchase, appId: attest.appId(facts.bundleId))
      return try write(try receiptText(kind ?? "", folder, purchase, now), to: out)
    }
    let signer = try folder.open(
      now: now, purchase: purchase, appId: attest.appId(facts.bundleId))
    let payload = try changed(try self.payload(evidence, purchase, signer))
    let jws = try sign(payload, evidence, signer, now)
    try write(out == nil ? jws + [0x0a] : jws, to: out)
  }

  /// Mints evidence about the key of the folder's device.
  private func attested(
    _ kind: String, _ folder: AuthorityFolder, _ now: Int64
  ) throws -> [UInt8] {
    if xcode { throw Problem("--xcode: Xcode signs no \(kind), but \(MintCommand.ofXcode)") }
    if !set.isEmpty || !remove.isEmpty {
      throw Problem("--set and --remove are for StoreKit texts alone")
    }
    let (authority, key) = try folder.attest(now: now, appId: attest.appId(facts.bundleId))
    let device = try attest.device(
      key, bundleId: facts.bundleId, isDevelopment: facts.environment == "Sandbox")
    let mint = AttestMint(authority: authority, device: device, options: attest, now: now)
    let bytes = try mint.bytes(kind, forge: forge?.uppercased())
    return (TransportForm(rawValue: receipt.transport) ?? .base64).encode(bytes)
  }

  /// Mints a token, or the key set that verifies it.
  private func token(_ kind: String, _ folder: AuthorityFolder, _ now: Int64) throws -> [UInt8] {
    if xcode || forge != nil { throw Problem("--xcode and --forge are not for tokens") }
    let authority = try folder.tokens(now: now)
    let text: [UInt8]
    if kind == "keyset" {
      text = try changed(try tokens.keyset(authority)).bytes
    } else {
      text = try tokens.token(try changed(try tokens.claims(authority)), authority)
    }
    return out == nil ? text + [0x0a] : text
  }

  /// Mints a receipt, or a verifyReceipt response.
  private func receiptText(
    _ kind: String, _ folder: AuthorityFolder, _ purchase: Purchase, _ now: Int64
  ) throws -> [UInt8] {
    let proof = try ProofKind(kind)
    if forge != nil || !set.isEmpty || !remove.isEmpty {
      throw Problem(
        "--set and --remove are for StoreKit texts alone, --forge also for App Attest")
    }
    let authority = try folder.receipts()
    switch proof {
    case .receipt(.transaction):
      if xcode { throw Problem("--xcode: Xcode signs no \(kind), but \(MintCommand.ofXcode)") }
      return try receipt.transactionReceipt(purchase, authority)
    case .receipt(.app): return try receipt.appReceipt(purchase, authority, isXcode: xcode)
    default: return try receipt.answer(purchase, authority, now: now) + [0x0a]
    }
  }

  /// Writes requests while they are made, because a whole day does not fit into memory.
  private func mintDay(
    _ count: Int, _ folder: AuthorityFolder, _ purchase: Purchase, _ now: Int64
  ) throws {
    guard (1...1_000_000_000).contains(count) else {
      throw Problem("--day \(count): give a count of requests, 1 or more")
    }
    _ = try folder.open(now: now, purchase: purchase, appId: attest.appId(facts.bundleId))
    var requests = try DayOfRequests(
      try folder.receipts(), purchase: purchase, start: now - now % Purchase.day, count: count,
      seed: seed)
    var sink = try LineSink(out)
    // The requests themselves may go to the terminal.
    let isInTheWay = (out ?? "-") == "-" && isatty(1) == 1
    var progress = ProgressBar(total: count, of: .requests, isQuiet: quiet || isInTheWay)
    // A failure says so on a line of its own.
    defer { progress.end() }
    var made = 0
    while let request = try requests.next() {
      try sink.write(request.line)
      made += 1
      // The clock is not asked for every request.
      if made % 64 == 0 { progress.show(done: made, lines: made) }
    }
    try sink.end()
  }

  private func payload(
    _ kind: EvidenceKind, _ purchase: Purchase, _ signer: Authority
  ) throws -> JSONText {
    if xcode {
      switch kind {
      case .transaction: return purchase.xcodeTransactionPayload
      case .renewalInfo: return purchase.xcodeRenewalPayload
      case .appTransaction: return purchase.xcodeAppTransactionPayload
      default: throw Problem("--xcode: Xcode signs no \(kind.rawValue), but \(MintCommand.ofXcode)")
      }
    }
    if kind == .notification {
      let initial = notificationType == "SUBSCRIBED" && subtype == nil
      return try signer.notification(
        notificationType, initial ? "INITIAL_BUY" : subtype, purchase)
    }
    return try signer.payload(kind, purchase)
  }

  private func changed(_ payload: JSONText) throws -> JSONText {
    var payload = payload
    for change in set {
      let parts = change.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2, MintCommand.isPath(parts[0]) else {
        throw Problem("--set \(change): give MEMBER=JSON, like price=1990")
      }
      let isJSON = JSONTree(Array(parts[1].utf8)) != nil
      payload = payload.setting(parts[0], isJSON ? .text(parts[1]) : .string(parts[1]))
    }
    for path in remove where payload[path] == nil {
      throw Problem("--remove \(path): the payload has no such member")
    }
    return payload.removing(remove)
  }

  /// Whether a text is names with dots between them.
  private static func isPath(_ text: String) -> Bool {
    text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { !$0.isEmpty }
  }

  private func sign(
    _ payload: JSONText, _ kind: EvidenceKind, _ signer: Authority, _ now: Int64
  ) throws -> [UInt8] {
    guard let forge else {
      return try xcode ? signer.mintXcode(payload) : signer.mint(payload)
    }
    if xcode { throw Problem("--forge and --xcode cannot be combined") }
    guard let variation = Variation.forgery(forge.uppercased()) else {
      throw Problem("nothing breaks \(forge); see assay mint --list-forgeries")
    }
    if variation.isOfTransactions, kind != .transaction {
      throw Problem("\(variation.rule) is broken in a transaction alone")
    }
    Terminal.complain(
      "assay: forged \(variation.rule), \(variation.name): must give \(variation.status)")
    return try variation.mint(.init(authority: signer, payload: payload, now: now))
  }

  /// The forgeries of --forge, one entry for each rule and kind.
  static var forgeries: [(rule: String, status: String, name: String)] {
    var seen: Set<String> = []
    let ofTexts = Variation.all.filter {
      $0.status != "ok" && seen.insert($0.rule).inserted
    }
    return ofTexts.map { ($0.rule, $0.status, $0.name) } + AttestMint.forgeries
  }

  private func showForgeries() {
    for forgery in MintCommand.forgeries { show(forgery.rule, forgery.status, forgery.name) }
  }

  private func show(_ rule: String, _ status: String, _ name: String) {
    print(
      Terminal.padded(rule, to: 9) + Terminal.padded(status, to: 46) + name)
  }

  private func write(_ bytes: [UInt8], to path: String?) throws {
    guard let path, path != "-" else { return Terminal.write(bytes) }
    try OutputFile.write(bytes, to: path)
  }
}
