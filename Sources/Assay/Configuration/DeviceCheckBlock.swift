/// `deviceCheck`: whose device bits, and what they mean (docs/spec/configuration.md §6).
struct DeviceCheckPolicy: Sendable {
  /// Issuer of the token for Apple.
  var teamId: Text
  /// nil: without a key.
  var keyId: Text?
  /// nil: what needs one refuses.
  var privateKey: PrivateKey? = nil
  var isDevelopment = false
  /// What the product uses bit 0 and bit 1 for; nil: nothing that Assay knows of.
  var bit0: BitMeaning? = nil
  var bit1: BitMeaning? = nil

  /// DVC-10: what a bit means is up to the product.
  struct BitMeaning: Sendable {
    var name: Text
    /// DVC-11: a bit that is older counts as clear; nil: it never ages.
    var resetAfterMonths: Int64?

    /// An offer was used on the device (DVC §2.3).
    var isPromo: Bool { hasPrefix("promo") }
    /// The device was abused (RSK-14).
    var isAbuse: Bool { hasPrefix("abuse") }

    private func hasPrefix(_ word: StaticString) -> Bool {
      name.utf8.prefix(word.utf8CodeUnitCount).elementsEqual(word)
    }
  }
}

/// The block `deviceCheck` of a configuration.
enum DeviceCheckBlock {
  static func read(_ node: MemberNode, _ configuration: inout Configuration) throws(Refusal) {
    let block = try node.object(ConfigurationTable.deviceCheckMembers)
    var policy = DeviceCheckPolicy(
      teamId: try readTeamId(block, configuration.apps), keyId: try readKeyId(block),
      privateKey: try readPrivateKey(block))
    try policy.readPlain(node)
    if let entry = block["bits"] { try readBits(entry, &policy) }
    configuration.deviceCheck = policy
  }

  /// DVC-1: the team of the apps, if they have one in common.
  private static func readTeamId(
    _ block: MemberNode, _ apps: [Configuration.App]
  ) throws(Refusal) -> Text {
    if let entry = block["teamId"]?.refusing(.configDevicecheckTeamId, "DVC-1") {
      return try KeyMembers.teamId(entry)
    }
    guard let team = KeyMembers.team(of: apps) else {
      throw Refusal(.configDevicecheckTeamId, "DVC-1", at: block.path + ".teamId")
    }
    return team
  }

  /// Required if there is a key for it to name.
  private static func readKeyId(_ block: MemberNode) throws(Refusal) -> Text? {
    guard let entry = block["keyId"]?.refusing(.configDevicecheckKeyId, "DVC-1") else {
      if block["privateKey"] != nil { throw block.missing("keyId") }
      return nil
    }
    return try KeyMembers.keyId(entry)
  }

  private static func readPrivateKey(_ block: MemberNode) throws(Refusal) -> PrivateKey? {
    guard let entry = block["privateKey"]?.refusing(.configDevicecheckKey, "DVC-2") else {
      return nil
    }
    return try KeyMembers.privateKey(entry)
  }

  // MARK: bits

  private static func readBits(
    _ node: MemberNode, _ policy: inout DeviceCheckPolicy
  ) throws(Refusal) {
    let block = try node.refusing(.configDevicecheckBits, "DVC-10").object(
      ConfigurationTable.deviceCheckBitsMembers)
    if let entry = block["bit0"] { policy.bit0 = try readBit(entry) }
    if let entry = block["bit1"] { policy.bit1 = try readBit(entry) }
    guard let first = policy.bit0, let second = policy.bit1 else { return }
    try require(
      first.name != second.name, .configDevicecheckBits, "DVC-10", at: block.path + ".bit1.name")
  }

  private static func readBit(_ node: MemberNode) throws(Refusal) -> DeviceCheckPolicy.BitMeaning {
    let block = try node.object(ConfigurationTable.deviceCheckBitsBit0Members)
    var meaning = DeviceCheckPolicy.BitMeaning(
      name: try block.required("name").text(ConfigurationTable.deviceCheckBitsBit0Name))
    if let entry = block["resetAfterMonths"]?.refusing(.configDevicecheckBits, "DVC-11") {
      meaning.resetAfterMonths = try entry.integer(
        ConfigurationTable.deviceCheckBitsBit0ResetAfterMonths)
    }
    return meaning
  }
}

extension DeviceCheckPolicy {
  /// The value of `deviceCheck` in the effective configuration; the key is `true`
  /// (CNF-4), or null where there is none.
  func write(_ writer: inout JSONWriter) {
    write(&writer) { member, writer in
      switch member {
      case .teamId: writer.member("teamId", teamId)
      case .keyId: writer.member("keyId", keyId)
      case .privateKey: writer.member("privateKey", boolean: privateKey == nil ? nil : true)
      case .bits:
        writer.name("bits")
        writer.beginObject()
        DeviceCheckPolicy.write("bit0", bit0, &writer)
        DeviceCheckPolicy.write("bit1", bit1, &writer)
        writer.endObject()
      }
    }
  }

  private static func write(
    _ name: StaticString, _ meaning: BitMeaning?, _ writer: inout JSONWriter
  ) {
    guard let meaning else { return }
    writer.name(name)
    writer.beginObject()
    writer.member("name", meaning.name)
    writer.member("resetAfterMonths", integer: meaning.resetAfterMonths)
    writer.endObject()
  }
}
