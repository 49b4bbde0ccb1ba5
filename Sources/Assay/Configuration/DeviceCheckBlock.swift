/// `deviceCheck`: the host's key for DeviceCheck, and the meaning of the device bits
/// (docs/spec/configuration.md §6).
struct DeviceCheckPolicy: Sendable {
  /// The team that issues the tokens for Apple.
  var teamId: Text
  /// The id of the key; `nil` without a key.
  var keyId: Text?
  /// The key; `nil` if none is configured, and operations that need it are refused.
  var privateKey: PrivateKey? = nil
  var isDevelopment = false
  /// The meaning of bit 0 and bit 1 in the product; `nil` if none is configured.
  var bit0: BitMeaning? = nil
  var bit1: BitMeaning? = nil

  /// The meaning of a bit, which the product chooses (DVC-10).
  struct BitMeaning: Sendable {
    var name: Text
    /// Months after which a set bit counts as clear; `nil` if it never does (DVC-11).
    var resetAfterMonths: Int64?

    /// Whether the bit records that an offer was used on the device (DVC §2.3).
    var isPromo: Bool { hasPrefix("promo") }
    /// Whether the bit records that the device was abused (RSK-14).
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

  /// Reads the team id; without it the apps must have one team in common (DVC-1).
  private static func readTeamId(
    _ block: MemberNode, _ apps: [Configuration.App]
  ) throws(Refusal) -> Text {
    if let entry = block["teamId"]?.refusing(.configDeviceCheckTeamId, "DVC-1") {
      return try KeyMembers.teamId(entry)
    }
    guard let team = KeyMembers.team(of: apps) else {
      throw Refusal(.configDeviceCheckTeamId, "DVC-1", at: block.path + ".teamId")
    }
    return team
  }

  /// Reads the key id, which is required if there is a private key.
  private static func readKeyId(_ block: MemberNode) throws(Refusal) -> Text? {
    guard let entry = block["keyId"]?.refusing(.configDeviceCheckKeyId, "DVC-1") else {
      if block["privateKey"] != nil { throw block.missing("keyId") }
      return nil
    }
    return try KeyMembers.keyId(entry)
  }

  private static func readPrivateKey(_ block: MemberNode) throws(Refusal) -> PrivateKey? {
    guard let entry = block["privateKey"]?.refusing(.configDeviceCheckKey, "DVC-2") else {
      return nil
    }
    return try KeyMembers.privateKey(entry)
  }

  // MARK: bits

  private static func readBits(
    _ node: MemberNode, _ policy: inout DeviceCheckPolicy
  ) throws(Refusal) {
    let block = try node.refusing(.configDeviceCheckBits, "DVC-10").object(
      ConfigurationTable.deviceCheckBitsMembers)
    if let entry = block["bit0"] { policy.bit0 = try readBit(entry) }
    if let entry = block["bit1"] { policy.bit1 = try readBit(entry) }
    guard let first = policy.bit0, let second = policy.bit1 else { return }
    try require(
      first.name != second.name, .configDeviceCheckBits, "DVC-10", at: block.path + ".bit1.name")
  }

  private static func readBit(_ node: MemberNode) throws(Refusal) -> DeviceCheckPolicy.BitMeaning {
    let block = try node.object(ConfigurationTable.deviceCheckBitsBit0Members)
    var meaning = DeviceCheckPolicy.BitMeaning(
      name: try block.required("name").text(ConfigurationTable.deviceCheckBitsBit0Name))
    if let entry = block["resetAfterMonths"]?.refusing(.configDeviceCheckBits, "DVC-11") {
      meaning.resetAfterMonths = try entry.integer(
        ConfigurationTable.deviceCheckBitsBit0ResetAfterMonths)
    }
    return meaning
  }
}

extension DeviceCheckPolicy {
  /// Writes the value of `deviceCheck` in the effective configuration. The key is written as
  /// `true` (CNF-4), or as null if there is none.
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
