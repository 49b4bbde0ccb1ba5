/// `session`: the secrets that sign session tokens (docs/spec/session.md).
struct SessionPolicy: Sendable {
  /// One or two secrets: the first signs, all verify.
  var secrets: [Entry] = []
  var ttlMs: Int64 = 900_000

  struct Entry: Sendable {
    let id: Text
    /// 32 to 64 bytes.
    let bytes: SecretBytes
  }
}

/// The block `session` of a configuration.
enum SessionBlock {
  private static let secretBytes = 32...64

  static func read(_ node: MemberNode, _ configuration: inout Configuration) throws(Refusal) {
    var policy = SessionPolicy()
    let block = try policy.readPlain(node)
    let list = try block.required("secrets").refusing(.configSessionSecrets, "SES-3")
    for entry in try list.elements(ConfigurationTable.sessionSecrets) {
      let secret = try readSecret(try entry.object(ConfigurationTable.sessionSecretsMembers))
      try require(!policy.secrets.contains { $0.id == secret.id }, entry)
      policy.secrets.append(secret)
    }
    configuration.session = policy
  }

  private static func readSecret(_ entry: MemberNode) throws(Refusal) -> SessionPolicy.Entry {
    let name = try entry.required("id")
    let id = try name.text(ConfigurationTable.sessionSecretsId)
    try require(id.utf8.allSatisfy(isIdCharacter), name)
    let text = try entry.required("secret")
    var digits = try text.text().utf8
    defer { Secret.wipe(&digits) }
    let bytes = SecretBytes(Base64.decodeStandard(digits[...]) ?? [])
    try require(secretBytes.contains(bytes.bytes.count), text)
    return SessionPolicy.Entry(id: id, bytes: bytes)
  }

  private static func isIdCharacter(_ byte: UInt8) -> Bool {
    ConfigurationReader.isTeamCharacter(byte) || (byte >= 0x61 && byte <= 0x7a)
      || byte == 0x5f || byte == 0x2d
  }
}

extension SessionPolicy {
  /// Writes the value of `session` in the effective configuration.
  func write(_ writer: inout JSONWriter) {
    write(&writer) { member, writer in
      switch member {
      case .secrets:
        writer.name("secrets")
        writer.beginArray()
        for secret in secrets {
          writer.beginObject()
          writer.member("id", secret.id)
          writer.member("secret", boolean: true)
          writer.endObject()
        }
        writer.endArray()
      }
    }
  }
}
