/// The block `attest` of a configuration (docs/spec/configuration.md §5).
enum AttestBlock {
  /// The most names in the path to the challenge (ASR-10).
  private static let pathCap = 8

  /// Reads the block, or sets its defaults if `node` is `nil`.
  static func read(_ node: MemberNode?, _ configuration: inout Configuration) throws(Refusal) {
    var policy = AttestPolicy(defaultsOf: configuration)
    if let node {
      try read(node, &policy, remembersAnchors: configuration.storekit.cacheChains > 0)
    }
    configuration.attest = policy
  }

  private static func read(
    _ node: MemberNode, _ policy: inout AttestPolicy, remembersAnchors: Bool
  ) throws(Refusal) {
    let block = try policy.readPlain(node)
    if let list = block["appIds"] { policy.appIds = try readAppIds(list) }
    try require(
      !policy.appIds.isEmpty, .configAttestAppIds, "ATT-23", at: block.path + ".appIds")
    if let list = block["environments"] { try readEnvironments(list, &policy) }
    try require(
      policy.acceptsProduction || policy.acceptsDevelopment, .configAttestEnvironments, "ATT-26",
      at: block.path + ".environments")
    if let list = block["anchors"] {
      policy.anchors = try StoreKitBlock.readAnchors(list, isRemembered: remembersAnchors)
    }
    if let list = block["receiptAnchors"] {
      policy.receiptAnchors = try StoreKitBlock.readAnchors(list, isRemembered: remembersAnchors)
    }
    try require(
      !(policy.storedTime && policy.ignoresReceipt), .configAttestStoredNeedsReceipt, "ATT-40",
      at: block.path + ".receipt")
    if let entry = block["category"] { policy.category = try readCategory(entry) }
    if let entry = block["bundleVersion"] {
      policy.bundleVersion = try readBundleVersion(entry)
    }
    if let entry = block["challenge"] { policy.challenge = try readChallenge(entry) }
  }

  // MARK: members

  private static func readAppIds(_ list: MemberNode) throws(Refusal) -> [AttestPolicy.AppId] {
    var ids: [AttestPolicy.AppId] = []
    for entry in try list.refusing(.configAttestAppIds, "ATT-23").elements(
      ConfigurationTable.attestAppIds)
    {
      guard let id = AttestPolicy.AppId(try entry.text()) else { throw entry.refusal(.range) }
      ids.append(id)
    }
    return ids
  }

  private static func readEnvironments(
    _ list: MemberNode, _ policy: inout AttestPolicy
  ) throws(Refusal) {
    policy.acceptsProduction = false
    policy.acceptsDevelopment = false
    for entry in try list.refusing(.configAttestEnvironments, "ATT-26").elements(1...2) {
      switch entry.value.text {
      case "production" where !policy.acceptsProduction: policy.acceptsProduction = true
      case "development" where !policy.acceptsDevelopment: policy.acceptsDevelopment = true
      default: throw entry.refusal(.range)
      }
    }
  }

  /// Reads the accepted categories; 0 and the reserved 7 to 9 are refused (ATT-45).
  private static func readCategory(_ node: MemberNode) throws(Refusal) -> AttestPolicy.Category {
    let block = try node.refusing(.configAttestPolicy, "ATT-45").object(
      ConfigurationTable.attestCategoryMembers)
    var category = AttestPolicy.Category()
    if let list = block["accept"] {
      category.accepted = []
      for entry in try list.elements(ConfigurationTable.attestCategoryAccept) {
        guard let number = entry.value.integer, let value = UInt32(exactly: number),
          ValidationCategory.mayBeAccepted(value)
        else { throw entry.refusal(.range) }
        category.accepted.append(value)
      }
    }
    if let entry = block["missing"] {
      category.missingIsRefused = try entry.choice(ConfigurationTable.attestCategoryMissing) == 1
    }
    return category
  }

  /// Reads a list of exact texts or a minimum, not both (ATT-46).
  private static func readBundleVersion(
    _ node: MemberNode
  ) throws(Refusal) -> AttestPolicy.BundleVersion {
    let block = try node.refusing(.configAttestPolicy, "ATT-46").object(
      ConfigurationTable.attestBundleVersionMembers)
    try require(block.value.count == 1, block)
    if let entry = block["minimum"] {
      let text = try entry.text()
      try require(BuildNumber(text.utf8[...]) != nil, entry)
      return .minimum(text)
    }
    var texts: [Text] = []
    for entry in try block.required("exact").elements(ConfigurationTable.attestBundleVersionExact) {
      texts.append(try entry.text(1...Int.max))
    }
    return .exact(texts)
  }

  /// Reads the challenge's location; only mode `json` has `path` and `encoding` (ASR-10).
  private static func readChallenge(_ node: MemberNode) throws(Refusal) -> AttestPolicy.Challenge {
    let block = try node.refusing(.configAttestPolicy, "ASR-10")
      .object(ConfigurationTable.attestChallengeMembers)
    let mode = try block["mode"]?.choice(ConfigurationTable.attestChallengeMode)
    guard mode == 2 else {
      try require(block["path"] == nil && block["encoding"] == nil, block)
      return mode == 1 ? .whole : .host
    }
    let path = try block.required("path")
    let names = try path.text().utf8.split(separator: 0x2e, omittingEmptySubsequences: false)
    try require(names.count <= pathCap && names.allSatisfy { !$0.isEmpty }, path)
    var encoding = AttestPolicy.Challenge.Encoding.text
    if let entry = block["encoding"] {
      let place = try entry.choice(ConfigurationTable.attestChallengeEncoding)
      encoding = AttestPolicy.Challenge.Encoding(rawValue: place) ?? .text
    }
    return .json(path: names.map { Text(Array($0)) }, encoding)
  }
}
