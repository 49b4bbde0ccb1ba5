/// The block `receipts` of a configuration (configuration.md §4).
enum ReceiptsBlock {
  typealias Node = ConfigurationReader.Node

  /// Configured intermediates at most.
  private static let intermediateCap = 16

  static func read(_ node: Node, _ configuration: inout Configuration) throws(Refusal) {
    let block = try node.object([
      "anchors", "intermediates", "v2", "lateSigned", "unknownEnvironment", "maxAgeMs",
      "deviceIds", "sharedSecrets", "caps",
    ])
    var policy = Configuration.ReceiptsPolicy()
    if let list = block["anchors"] {
      policy.anchors = try readAnchors(list, isRemembered: configuration.storekit.cacheChains > 0)
    }
    if let list = block["intermediates"] { policy.intermediates = try readIntermediates(list) }
    if let entry = block["v2"] { policy.v2Refused = try entry.choice(["accept", "refuse"]) == 1 }
    if let entry = block["lateSigned"] {
      policy.lateSignedRefused = try entry.choice(["accept", "refuse"]) == 1
    }
    if let entry = block["unknownEnvironment"] {
      policy.unknownEnvironmentAllowed = try entry.choice(["refuse", "allow"]) == 1
    }
    if let entry = block["maxAgeMs"] {
      policy.maxAgeMs = try entry.integer(1...Node.exactInteger)
    }
    if let entry = block["deviceIds"] {
      policy.deviceIdsReported = try entry.choice(["omit", "report"]) == 1
    }
    if let entry = block["sharedSecrets"] {
      policy.sharedSecrets = try readSecrets(entry, configuration.apps)
    }
    if let caps = block["caps"] { try readCaps(caps, &policy) }
    configuration.receipts = policy
  }

  /// CFG-3, CNF-4: base64 DER of self-signed RSA certificate authorities.
  private static func readAnchors(
    _ list: Node, isRemembered: Bool
  ) throws(Refusal) -> [ReceiptAnchor] {
    let entries = try list.elements()
    try require(
      (1...AnchorSet.cap).contains(entries.count), .configCertificatesRootSet, "CFG-3",
      at: list.path)
    var anchors: [ReceiptAnchor] = []
    for entry in entries {
      guard let der = Base64.decodeStandard(try entry.text().utf8[...]),
        let anchor = ReadAnchors.rsa(der, isRemembered: isRemembered)
      else { throw Refusal(.configCertificatesRootSet, "CFG-3", at: entry.path) }
      anchors.append(anchor)
    }
    return anchors
  }

  /// Read here; that a root signed them is proven when the verifier is made.
  private static func readIntermediates(_ list: Node) throws(Refusal) -> [Certificate] {
    let entries = try list.elements()
    try require(
      entries.count <= intermediateCap, .configCertificatesIntermediate, "CER-6", at: list.path)
    var certificates: [Certificate] = []
    for entry in entries {
      guard let der = Base64.decodeStandard(try entry.text().utf8[...]),
        let certificate = Certificate(der)
      else { throw Refusal(.configCertificatesIntermediate, "CER-6", at: entry.path) }
      certificates.append(certificate)
    }
    return certificates
  }

  /// VRR-1: 32 hex digits each, under a configured bundle id or `*`.
  private static func readSecrets(
    _ node: Node, _ apps: [Configuration.App]
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

  /// Each may be lowered, or raised to four times.
  private static func readCaps(
    _ node: Node, _ policy: inout Configuration.ReceiptsPolicy
  ) throws(Refusal) {
    let caps = try node.object([
      "inputBytes", "transactionReceiptBytes", "purchaseInfoBytes", "appReceiptBytes",
      "purchases",
    ])
    func read(_ name: StaticString, _ standard: Int) throws(Refusal) -> Int {
      guard let cap = caps[name] else { return standard }
      return Int(try cap.integer(1...Int64(standard) &* 4))
    }
    policy.inputBytes = try read("inputBytes", policy.inputBytes)
    policy.transactionReceiptBytes = try read(
      "transactionReceiptBytes", policy.transactionReceiptBytes)
    policy.purchaseInfoBytes = try read("purchaseInfoBytes", policy.purchaseInfoBytes)
    policy.appReceiptBytes = try read("appReceiptBytes", policy.appReceiptBytes)
    policy.purchases = try read("purchases", policy.purchases)
  }
}

/// `receipts.sharedSecrets`: the `password` of verifyReceipt for each app.
struct SharedSecrets: Sendable {
  /// In the order of the document.
  var all: [(bundleId: Text, secret: SecretBytes)] = []

  /// VRR-22: that of the app, else that of `*`; nil: there is none.
  func password(_ bundleId: Text?) -> SecretBytes? {
    let own = all.first { $0.bundleId == bundleId }
    return (own ?? all.first { $0.bundleId == "*" })?.secret
  }
}
