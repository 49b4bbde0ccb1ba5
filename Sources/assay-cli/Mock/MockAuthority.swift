import Assay
import AssayAuthority

/// The keys of a test authority's folder, and those that the mock adds to it:
///
///     play-api-key.pem play-devicecheck-key.pem play-apple-id-key.pem
///                             the keys with which the host signs its tokens
///     play-rsa-N-key.pem play-p256-N-key.pem
///                             the keys with which token issuers sign, in turn
///     play-config.json        a configuration with all of it
struct MockAuthority: Sendable {
  let path: String
  let store: Authority
  let receipts: ReceiptAuthority
  let attest: AttestAuthority
  let device: SigningKey
  let apiKey: SigningKey
  let deviceCheckKey: SigningKey
  let appleIdKey: SigningKey
  let rsaKeys: [SigningKey]
  let ellipticKeys: [SigningKey]
  let app: App
  /// Verifies the receipts that a host sends, as Apple's server does first.
  let judge: Verifier

  /// The app of the authority.
  struct App: Sendable {
    var bundleId: String
    var appAppleId: Int64
    var teamId: String
    var appId: String { teamId + "." + bundleId }
  }

  static let keyCount = 4
  static let apiKeyId = "PLAYAPI001"
  static let deviceCheckKeyId = "PLAYDC0001"
  static let appleIdKeyId = "PLAYSIWA01"
  static let issuerId = "5ca1ab1e-0000-4000-8000-00000000a55a"

  init(_ path: String, now: Int64) throws {
    self.path = path
    let folder = AuthorityFolder(path: path)
    let sample = Purchase(now: now)
    store = try folder.open(now: now, purchase: sample, appId: "ABCDE12345.com.example.app")
    receipts = try folder.receipts()
    (attest, device) = try folder.attest(now: now, appId: "ABCDE12345.com.example.app")
    app = try MockAuthority.app(path)
    judge = try MockAuthority.judge(app, receipts)
    apiKey = try MockAuthority.key(path, "play-api", .p256)
    deviceCheckKey = try MockAuthority.key(path, "play-devicecheck", .p256)
    appleIdKey = try MockAuthority.key(path, "play-apple-id", .p256)
    rsaKeys = try (1...MockAuthority.keyCount).map {
      try MockAuthority.key(path, "play-rsa-\($0)", .rsa(bits: 2048))
    }
    ellipticKeys = try (1...MockAuthority.keyCount).map {
      try MockAuthority.key(path, "play-p256-\($0)", .p256)
    }
  }

  /// The `password` of verifyReceipt: 32 hex digits, constant for an authority.
  var sharedSecret: String {
    AttestDigest.hex(Array(AttestDigest.sha256(store.chain.root).prefix(16)))
  }

  /// Returns a key of the folder, created if it is missing.
  static func key(_ path: String, _ name: String, _ kind: SigningKey.Kind) throws -> SigningKey {
    let file = "\(path)/\(name)-key.pem"
    if FileSystem.exists(file) {
      do {
        return try SigningKey.read(pem: try FileSystem.read(file))
      } catch let error as AuthorityError {
        throw Problem("\(file): \(error)")
      }
    }
    let key = try SigningKey.generate(kind)
    try OutputFile.write(try key.pem(), to: file, mode: 0o600)
    return key
  }

  /// Returns a verifier that requires only this authority's signature.
  private static func judge(_ app: App, _ receipts: ReceiptAuthority) throws -> Verifier {
    let configuration: JSONText = [
      "apps": [["bundleId": .string(app.bundleId)]], "environments": ["Sandbox"],
      "receipts": receipts.configuration,
    ]
    let (verifier, document) = Verifier.make(configuration.bytes)
    guard let verifier else { throw Problem("\(document.text("error.message") ?? "")") }
    return verifier
  }

  /// Whether a receipt has a valid signature of this authority; nothing else of it is checked.
  func hasSigned(_ receipt: [UInt8], kind: ReceiptKind, now: Int64) -> Bool {
    let document = judge.verifyReceipt(receipt, kind: kind, subject: nil, nowMs: now)
    let checks = JSONTree(document.json)?["checks"]?.elements ?? []
    return checks.contains { $0["id"]?.text == "receipt.signature" && $0["ok"]?.boolean == true }
  }

  /// Reads the first app of the configuration beside the keys.
  private static func app(_ path: String) throws -> App {
    let configuration = JSONTree(try FileSystem.read(path + "/config.json"))
    let block = JSONTree(try FileSystem.read(path + "/attest.json"))
    guard let first = configuration?["apps"]?.elements.first,
      let bundleId = first["bundleId"]?.text
    else { throw Problem("\(path)/config.json names no app") }
    let prefix = block?["appIds"]?.elements.first?.text?.prefix { $0 != "." }
    return App(
      bundleId: bundleId, appAppleId: first["appAppleId"]?.integer ?? 0,
      teamId: first["teamId"]?.text ?? prefix.map(String.init) ?? "ABCDE12345")
  }
}
