/// The block `receipts` of a configuration (docs/spec/configuration.md §4).
enum ReceiptsBlock {
  static func read(_ node: MemberNode, _ configuration: inout Configuration) throws(Refusal) {
    var policy = Configuration.ReceiptsPolicy()
    let block = try policy.readPlain(node)
    if let list = block["anchors"] {
      policy.anchors = try StoreKitBlock.readAnchors(
        list, .rsa, isRemembered: configuration.storekit.cacheChains > 0)
    }
    if let list = block["intermediates"] { policy.intermediates = try readIntermediates(list) }
    if let entry = block["sharedSecrets"] {
      policy.sharedSecrets = try readSecrets(entry, configuration.apps)
    }
    configuration.receipts = policy
  }

  /// Decodes the certificates. Their signatures are verified when the verifier is made.
  private static func readIntermediates(_ list: MemberNode) throws(Refusal) -> [Certificate] {
    let entries = try list.elements()
    try require(
      ConfigurationTable.receiptsIntermediates.contains(entries.count),
      .configCertificatesIntermediate, "CER-6", at: list.path)
    var certificates: [Certificate] = []
    for entry in entries {
      guard let der = Base64.decodeStandard(try entry.text().utf8[...]),
        let certificate = Certificate(der)
      else { throw Refusal(.configCertificatesIntermediate, "CER-6", at: entry.path) }
      certificates.append(certificate)
    }
    return certificates
  }

  /// Reads secrets of 32 hex digits, each for a configured bundle id or for `*` (VRR-1).
  private static func readSecrets(
    _ node: MemberNode, _ apps: [Configuration.App]
  ) throws(Refusal) -> SharedSecrets {
    var secrets = SharedSecrets()
    for entry in try node.members() {
      let bundleId = entry.value.name
      try require(
        bundleId == "*" || apps.contains { $0.bundleId == bundleId },
        .configReceiptsSharedSecret, "VRR-1", at: entry.path)
      let secret = SecretBytes(try entry.text().utf8)
      try require(
        secret.bytes.count == 32 && secret.bytes.allSatisfy { Hex.value($0) != nil },
        .configReceiptsSharedSecret, "VRR-1", at: entry.path)
      secrets.all.append((bundleId, secret))
    }
    return secrets
  }
}
