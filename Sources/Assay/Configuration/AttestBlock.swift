/// The block `attest` of a configuration (docs/spec/configuration.md §5).
enum AttestBlock {
  typealias Node = ConfigurationReader.Node

  private static let appIdCap = 64
  private static let categoryCap = 32
  private static let versionCap = 64
  /// ASR-10: names of the path to the challenge.
  private static let pathCap = 8

  /// Reads the block, or fills in the defaults where there is none.
  static func read(_ node: Node?, _ configuration: inout Configuration) throws(Refusal) {
    var policy = AttestPolicy(defaultsOf: configuration)
    if let node {
      try read(node, &policy, remembersAnchors: configuration.storekit.cacheChains > 0)
    }
    configuration.attest = policy
  }

  private static func read(
    _ node: Node, _ policy: inout AttestPolicy, remembersAnchors: Bool
  ) throws(Refusal) {
    let block = try node.object([
      "appIds", "environments", "anchors", "receiptAnchors", "time", "maxAgeMs", "receipt",
      "category", "bundleVersion", "platform", "challenge", "refreshEveryMs",
    ])
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
    if let entry = block["time"] { policy.storedTime = try entry.choice(["live", "stored"]) == 1 }
    if let entry = block["maxAgeMs"] {
      policy.maxAgeMs = try entry.integer(1...Node.exactInteger)
    }
    if let entry = block["receipt"] {
      policy.ignoresReceipt = try entry.choice(["require", "ignore"]) == 1
    }
    try require(
      !(policy.storedTime && policy.ignoresReceipt), .configAttestStoredNeedsReceipt, "ATT-40",
      at: block.path + ".receipt")
    if let entry = block["category"] { policy.category = try readCategory(entry) }
    if let entry = block["bundleVersion"] {
      policy.bundleVersion = try readBundleVersion(entry)
    }
    if let entry = block["platform"] {
      switch try entry.choice(["any", "macos", "ios"]) {
      case 0: policy.platform = .any
      case 1: policy.platform = .macOS
      default: policy.platform = .iOS
      }
    }
    if let entry = block["challenge"] { policy.challenge = try readChallenge(entry) }
    if let entry = block["refreshEveryMs"] {
      policy.refreshEveryMs = try entry.integer(86_400_000...Node.exactInteger)
    }
  }

  // MARK: members

  private static func readAppIds(_ list: Node) throws(Refusal) -> [AttestPolicy.AppId] {
    let entries = try elements(list, 1...appIdCap, .configAttestAppIds, "ATT-23")
    var ids: [AttestPolicy.AppId] = []
    for entry in entries {
      guard let text = entry.value.text, let id = AttestPolicy.AppId(text) else {
        throw Refusal(.configAttestAppIds, "ATT-23", at: entry.path)
      }
      ids.append(id)
    }
    return ids
  }

  private static func readEnvironments(
    _ list: Node, _ policy: inout AttestPolicy
  ) throws(Refusal) {
    policy.acceptsProduction = false
    policy.acceptsDevelopment = false
    for entry in try elements(list, 1...2, .configAttestEnvironments, "ATT-26") {
      switch entry.value.text {
      case "production" where !policy.acceptsProduction: policy.acceptsProduction = true
      case "development" where !policy.acceptsDevelopment: policy.acceptsDevelopment = true
      default: throw Refusal(.configAttestEnvironments, "ATT-26", at: entry.path)
      }
    }
  }

  /// ATT-45: 0 and the reserved 7…9 may not be listed.
  private static func readCategory(_ node: Node) throws(Refusal) -> AttestPolicy.Category {
    let block = try object(node, ["accept", "missing"], "ATT-45")
    var category = AttestPolicy.Category()
    if let list = block["accept"] {
      category.accepted = []
      for entry in try elements(list, 1...categoryCap, .configAttestPolicy, "ATT-45") {
        guard let number = entry.value.integer, let value = UInt32(exactly: number),
          ValidationCategory.mayBeAccepted(value)
        else { throw Refusal(.configAttestPolicy, "ATT-45", at: entry.path) }
        category.accepted.append(value)
      }
    }
    if let entry = block["missing"] {
      category.missingIsRefused =
        try choice(entry, ["accept", "refuse"], "ATT-45") == 1
    }
    return category
  }

  /// ATT-46: a list of exact texts or a minimum, not both.
  private static func readBundleVersion(
    _ node: Node
  ) throws(Refusal) -> AttestPolicy.BundleVersion {
    let block = try object(node, ["exact", "minimum"], "ATT-46")
    try require(block.value.count == 1, .configAttestPolicy, "ATT-46", at: block.path)
    if let entry = block["minimum"] {
      guard let text = entry.value.text, BuildNumber(text.utf8[...]) != nil else {
        throw Refusal(.configAttestPolicy, "ATT-46", at: entry.path)
      }
      return .minimum(text)
    }
    guard let list = block["exact"] else {
      throw Refusal(.configAttestPolicy, "ATT-46", at: block.path)
    }
    var texts: [Text] = []
    for entry in try elements(list, 1...versionCap, .configAttestPolicy, "ATT-46") {
      guard let text = entry.value.text, !text.isEmpty else {
        throw Refusal(.configAttestPolicy, "ATT-46", at: entry.path)
      }
      texts.append(text)
    }
    return .exact(texts)
  }

  /// ASR-10: `path` and `encoding` belong to mode `json` alone.
  private static func readChallenge(_ node: Node) throws(Refusal) -> AttestPolicy.Challenge {
    let block = try object(node, ["mode", "path", "encoding"], "ASR-10")
    let mode = try block["mode"].map { entry throws(Refusal) in
      try choice(entry, ["host", "whole", "json"], "ASR-10")
    }
    guard mode == 2 else {
      try require(
        block["path"] == nil && block["encoding"] == nil, .configAttestPolicy, "ASR-10",
        at: block.path)
      return mode == 1 ? .whole : .host
    }
    guard let path = block["path"]?.value.text else {
      throw Refusal(.configAttestPolicy, "ASR-10", at: block.path + ".path")
    }
    let names = path.utf8.split(separator: 0x2e, omittingEmptySubsequences: false)
    try require(
      names.count <= pathCap && names.allSatisfy { !$0.isEmpty }, .configAttestPolicy, "ASR-10",
      at: block.path + ".path")
    var encoding = AttestPolicy.Challenge.Encoding.text
    if let entry = block["encoding"] {
      let place = try choice(entry, AttestPolicy.Challenge.Encoding.names, "ASR-10")
      encoding = AttestPolicy.Challenge.Encoding(rawValue: place) ?? .text
    }
    return .json(path: names.map { Text(Array($0)) }, encoding)
  }

  // MARK: forms

  private static func elements(
    _ list: Node, _ counts: ClosedRange<Int>, _ status: Status, _ rule: StaticString
  ) throws(Refusal) -> [Node] {
    try require(list.value.kind == .array, status, rule, at: list.path)
    try require(counts.contains(list.value.count), status, rule, at: list.path)
    return try list.elements()
  }

  private static func object(
    _ node: Node, _ known: [StaticString], _ rule: StaticString
  ) throws(Refusal) -> Node {
    try require(node.value.kind == .object, .configAttestPolicy, rule, at: node.path)
    return try node.object(known)
  }

  private static func choice(
    _ entry: Node, _ choices: [StaticString], _ rule: StaticString
  ) throws(Refusal) -> Int {
    guard let text = entry.value.text,
      let place = choices.firstIndex(where: { text.utf8[...].elementsEqual($0) })
    else { throw Refusal(.configAttestPolicy, rule, at: entry.path) }
    return place
  }
}
