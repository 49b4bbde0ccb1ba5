/// The block `storekit` of a configuration (docs/spec/configuration.md §3).
enum StoreKitBlock {
  static func read(_ node: MemberNode, _ configuration: inout Configuration) throws(Refusal) {
    var policy = Configuration.StoreKitPolicy()
    let block = try policy.readPlain(node)
    if let list = block["anchors"] {
      policy.anchors = try readAnchors(list, isRemembered: policy.cacheChains > 0)
    }
    if let entry = block["maxAgeMs"] { policy.maxAges = try readMaxAges(entry) }
    if let list = block["xcodeCertificates"] {
      policy.xcodeCertificates = try readFingerprints(list)
    }
    if let list = block["ocspHosts"] {
      policy.ocspHosts = try readHosts(list)
      try require(
        !policy.anchors.isEmpty, .configDocumentRange, "OCSP-1", at: list.path)
    }
    configuration.storekit = policy
  }

  /// Reads self-signed certificate authorities with keys of type `keys` (CFG-3), as base64 DER
  /// (CNF-4).
  static func readAnchors(
    _ list: MemberNode, _ keys: Anchor.Keys = .elliptic, isRemembered: Bool
  ) throws(Refusal) -> [Anchor] {
    let entries = try list.elements()
    try require(
      (1...AnchorSet.cap).contains(entries.count), .configCertificatesRootSet, "CFG-3",
      at: list.path)
    var anchors: [Anchor] = []
    for entry in entries {
      guard let der = Base64.decodeStandard(try entry.text().utf8[...]),
        let anchor = Anchor.read(der, keys, isRemembered: isRemembered)
      else { throw Refusal(.configCertificatesRootSet, "CFG-3", at: entry.path) }
      anchors.append(anchor)
    }
    return anchors
  }

  private static func readMaxAges(
    _ node: MemberNode
  ) throws(Refusal) -> [(kind: StoreKitKind, maxAgeMs: Int64)] {
    let block = try node.object(StoreKitKind.allCases.map { $0.name })
    var ages: [(kind: StoreKitKind, maxAgeMs: Int64)] = []
    for kind in StoreKitKind.allCases {
      guard let age = block[kind.name] else { continue }
      ages.append((kind, try age.integer(1...MemberNode.exactInteger)))
    }
    return ages
  }

  private static func readFingerprints(_ list: MemberNode) throws(Refusal) -> [[UInt8]] {
    var fingerprints: [[UInt8]] = []
    for entry in try list.elements() {
      guard let bytes = Hex.decode(try entry.text().utf8), bytes.count == 32 else {
        throw Refusal(.configStorekitXcodeCertificateRequired, "CFG-2", at: entry.path)
      }
      fingerprints.append(bytes)
    }
    return fingerprints
  }

  private static func readHosts(_ list: MemberNode) throws(Refusal) -> [Text] {
    var hosts: [Text] = []
    for entry in try list.elements() {
      let host = try entry.text()
      try require(isHost(host), .configDocumentRange, "OCSP-1", at: entry.path)
      hosts.append(host)
    }
    try require(!hosts.isEmpty, .configDocumentRange, "OCSP-1", at: list.path)
    return hosts
  }

  /// Whether the text has 1 to 253 lower-case letters, digits, hyphens and dots.
  private static func isHost(_ host: Text) -> Bool {
    (1...253).contains(host.count)
      && host.utf8.allSatisfy {
        ($0 >= 0x61 && $0 <= 0x7a) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2d || $0 == 0x2e
      }
  }
}
