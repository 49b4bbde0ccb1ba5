import AssayAuthority
import CSystem

/// A test authority stored in a folder, so that the evidence of several runs has one root:
///
///     root.der root.b64       the root; storekit.anchors accepts root.b64
///     config.json             a configuration that accepts what is minted here
///     receipts.json           its block "receipts": the root that signs receipts
///     attest.json             its block "attest": the roots of App Attest
///     device.json             key id and public key of a device
///     tokens.json             its block "tokens", once a token was minted
///     intermediate.der leaf.der xcode.der attest-root.der attest-receipt-root.der
///     *-key.pem               private keys, readable by their owner only
struct AuthorityFolder {
  let path: String

  /// Opens the stored authority, or creates one.
  ///
  /// - Parameter appId: the app whose App Attest evidence its configuration accepts.
  func open(now: Int64, purchase: Purchase, appId: String) throws -> Authority {
    if FileSystem.exists(file("root.der")) { return try load(now: now) }
    return try create(now: now, purchase: purchase, appId: appId)
  }

  private func file(_ name: String) -> String { path + "/" + name }

  /// Returns the authority for receipts, whose keys are stored beside the others, and adds it to a
  /// folder of an earlier version.
  func receipts() throws -> ReceiptAuthority {
    if FileSystem.exists(file("receipts.json")) {
      return try ReceiptAuthority(keys: try ReceiptAuthority.Keys(key))
    }
    let authority = try createReceipts()
    Terminal.complain(
      "assay: made keys for receipts in \(path); put \(file("receipts.json")) into your "
        + "configuration as \"receipts\"")
    return authority
  }

  private func createReceipts() throws -> ReceiptAuthority {
    let keys = try ReceiptAuthority.Keys { name in
      let key = try ReceiptAuthority.Keys.generate(name)
      try write(try key.pem(), name + "-key.pem", mode: 0o600)
      return key
    }
    let authority = try ReceiptAuthority(keys: keys)
    try write(authority.configuration.bytes + [0x0a], "receipts.json")
    return authority
  }

  /// Returns the authority for App Attest and the key of a device, and adds them to a folder of
  /// an earlier version.
  ///
  /// - Parameter appId: the app whose evidence the configuration accepts.
  func attest(now: Int64, appId: String) throws -> (AttestAuthority, SigningKey) {
    if FileSystem.exists(file("attest.json")) {
      let authority = try AttestAuthority(
        now: now, keys: try AttestAuthority.Keys(key),
        roots: AttestAuthority.Roots(
          attestation: try FileSystem.read(file("attest-root.der")),
          receipt: try FileSystem.read(file("attest-receipt-root.der"))))
      return (authority, try key("attest-device"))
    }
    let (authority, device, _) = try createAttest(now: now, appId: appId)
    Terminal.complain(
      "assay: made keys for App Attest in \(path); put \(file("attest.json")) into your "
        + "configuration as \"attest\"")
    return (authority, device)
  }

  private func createAttest(
    now: Int64, appId: String
  ) throws -> (AttestAuthority, SigningKey, JSONText) {
    let keys = try AttestAuthority.Keys { name in
      let key = try AttestAuthority.Keys.generate(name)
      try write(try key.pem(), name + "-key.pem", mode: 0o600)
      return key
    }
    let device = try SigningKey.generate(.p256)
    try write(try device.pem(), "attest-device-key.pem", mode: 0o600)
    let authority = try AttestAuthority(now: now, keys: keys)
    try write(authority.rootCertificate, "attest-root.der")
    try write(authority.receiptChain.root, "attest-receipt-root.der")
    let known = try AttestedDevice(key: device, appId: appId)
    let facts: JSONText = [
      "keyId": .string(known.keyIdBase64),
      "publicKey": .string(utf8: Base64Text.encode(known.point)), "appId": .string(appId),
    ]
    try write(facts.bytes + [0x0a], "device.json")
    let block = authority.configuration(appIds: [appId])
    try write(block.bytes + [0x0a], "attest.json")
    return (authority, device, block)
  }

  /// Returns the issuer of tokens, whose keys are created at the first use.
  func tokens(now: Int64) throws -> TokenAuthority {
    if FileSystem.exists(file("tokens.json")) {
      return TokenAuthority(
        rsaKey: try key("token-rsa"), ellipticKey: try key("token-p256"), now: now)
    }
    let authority = try TokenAuthority(now: now)
    try write(try authority.rsaKey.pem(), "token-rsa-key.pem", mode: 0o600)
    try write(try authority.ellipticKey.pem(), "token-p256-key.pem", mode: 0o600)
    try write(TokenAuthority.configuration.bytes + [0x0a], "tokens.json")
    Terminal.complain(
      "assay: made keys for tokens in \(path); put \(file("tokens.json")) into your "
        + "configuration as \"tokens\"")
    return authority
  }

  private func key(_ name: String) throws -> SigningKey {
    do {
      return try SigningKey.read(pem: try FileSystem.read(file(name + "-key.pem")))
    } catch let error as AuthorityError {
      throw Problem("\(file(name + "-key.pem")): \(error)")
    }
  }

  private func load(now: Int64) throws -> Authority {
    let keys = Authority.Keys(
      root: try key("root"), intermediate: try key("intermediate"), leaf: try key("leaf"),
      xcode: try key("xcode"))
    let certificates = Authority.Certificates(
      root: try FileSystem.read(file("root.der")),
      intermediate: try FileSystem.read(file("intermediate.der")),
      leaf: try FileSystem.read(file("leaf.der")), xcode: try FileSystem.read(file("xcode.der")))
    return try Authority(now: now, keys: keys, certificates: certificates)
  }

  private func create(now: Int64, purchase: Purchase, appId: String) throws -> Authority {
    try FileSystem.makeFolder(path)
    let authority = try Authority(now: now)
    let keys = [
      ("root", authority.rootKey), ("intermediate", authority.intermediateKey),
      ("leaf", authority.leafKey), ("xcode", authority.xcodeKey),
    ]
    for (name, key) in keys { try write(try key.pem(), name + "-key.pem", mode: 0o600) }
    try write(authority.chain.intermediate, "intermediate.der")
    try write(authority.chain.leaf, "leaf.der")
    try write(authority.xcodeCertificate, "xcode.der")
    try write(Array((authority.anchor + "\n").utf8), "root.b64")
    let configuration = authority.sampleConfiguration(for: purchase)
      .setting("receipts", try createReceipts().configuration)
      .setting("attest", try createAttest(now: now, appId: appId).2)
    try write(configuration.bytes + [0x0a], "config.json")
    try write(authority.chain.root, "root.der")
    Terminal.complain(
      "assay: made a test authority in \(path); verify with --config \(file("config.json"))")
    return authority
  }

  /// Writes a new file, whose mode is set before it has content.
  private func write(_ bytes: [UInt8], _ name: String, mode: mode_t = 0o644) throws {
    try OutputFile.write(bytes, to: file(name), mode: mode)
  }
}
