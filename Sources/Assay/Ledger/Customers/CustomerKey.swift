/// The key of an id of Apple's in the index of customers: the id itself is not stored (CUS-2).
struct CustomerKey: Sendable, Equatable {
  /// The kind, the environment and the hash, joined by `#`.
  let text: Text
  /// Whether the id is that of a download, and not a token of the host.
  let isDownload: Bool

  /// Creates the key of an `appTransactionId`.
  init(download id: Text, in environment: Environment, _ key: SecretBytes) {
    self.init("A", Text(stringLiteral: environment.name), id, key)
  }

  /// Creates the key of an `appAccountToken`, which belongs to no environment.
  init(token: Text, _ key: SecretBytes) { self.init("T", "", token.asciiLowercased, key) }

  private init(_ kind: StaticString, _ environment: Text, _ id: Text, _ key: SecretBytes) {
    let kind = Text(stringLiteral: kind).utf8
    let body = kind + [0x0a] + environment.utf8 + [0x0a] + id.utf8
    let code = MessageCode.of(key: key, head: "", body[...])
    text = Text(kind + [0x23] + environment.utf8 + [0x23] + Hex.encode(code))
    isDownload = CustomerKey.isDownload(text)
  }

  /// Whether a stored key is of a download.
  static func isDownload(_ text: Text) -> Bool { text.utf8.starts(with: [0x41, 0x23]) }
}
