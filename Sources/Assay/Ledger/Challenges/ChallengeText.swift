/// A challenge as text, in the encoding in which the app puts it into its client data (ASR-10).
/// Its stored id is the digest that a verified document reports.
enum ChallengeText {
  /// The lengths of a challenge's text in characters (STO-8).
  private static let lengths = 22...64
  private static let octets = 16

  /// Returns the SHA-256 of the challenge in lower-case hex; `nil` if `text` does not have the
  /// form of an issued challenge.
  static func id(_ text: Text, _ place: AttestPolicy.Challenge) -> Text? {
    guard lengths.contains(text.count), ASCII.isPrintable(text.utf8[...]),
      let challenge = decoded(text, place), challenge.count >= octets
    else { return nil }
    return Text(Hex.encode(Digest.sha256.of(challenge)))
  }

  private static func decoded(_ text: Text, _ place: AttestPolicy.Challenge) -> [UInt8]? {
    guard case .json(_, let encoding) = place else { return text.utf8 }
    return encoding.decode(text.utf8[...])
  }
}

extension OperationParameters {
  /// Returns the name of a purpose, subject or event: text without spaces and control characters.
  func label(_ name: StaticString, _ lengths: ClosedRange<Int>) throws(Refusal) -> Text {
    let node = try needed(name)
    let text = try node.text(lengths)
    try require(!text.hasControlCharacter && !text.utf8.contains(0x20), node)
    return text
  }
}
