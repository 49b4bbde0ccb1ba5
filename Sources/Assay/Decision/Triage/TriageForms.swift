/// Recognizes forms that only triage distinguishes (docs/spec/receipts-triage.md §1.2).
enum TriageForms {
  /// The longest text, in bytes, that counts as the output of a cracking tool if it has no known
  /// form.
  static let shortTextCap = 256

  /// Whether the blob is a cracking tool's text as it is sent undecoded: `com.urus.iap.` and
  /// digits, with at most white space around them.
  static func isCrackerText(_ blob: [UInt8]) -> Bool {
    guard blob.count <= shortTextCap else { return false }
    var text = blob[...]
    while let last = text.last, ASCII.isSpace(last) { text = text.dropLast() }
    while let first = text.first, ASCII.isSpace(first) { text = text.dropFirst() }
    let prefix = text.prefix(crackerPrefix.utf8CodeUnitCount)
    guard prefix.elementsEqual(crackerPrefix), text.count > prefix.count else { return false }
    return text.dropFirst(prefix.count).allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
  }

  /// Whether the bytes are short printable text: ASCII, with blanks and line ends.
  static func isShortText(_ bytes: [UInt8]) -> Bool {
    bytes.count <= shortTextCap && ASCII.isPrintable(bytes[...])
  }

  /// Whether a text that begins with `{` cannot be a property list, because a colon follows its
  /// first, quoted name. The grammar of lists is tried first (docs/spec/receipts-triage.md §1.2);
  /// JSON differs from it here.
  static func hasColonAfterFirstName(_ bytes: [UInt8]) -> Bool {
    var at = 0
    func skipSpace() {
      while at < bytes.count, ASCII.isSpace(bytes[at]) { at &+= 1 }
    }
    func take(_ byte: UInt8) -> Bool {
      guard at < bytes.count, bytes[at] == byte else { return false }
      at &+= 1
      return true
    }
    skipSpace()
    guard take(0x7b) else { return false }
    skipSpace()
    guard take(0x22) else { return false }
    while at < bytes.count, bytes[at] != 0x22 { at &+= bytes[at] == 0x5c ? 2 : 1 }
    guard take(0x22) else { return false }
    skipSpace()
    return take(0x3a)
  }

  private static let crackerPrefix: StaticString = "com.urus.iap."
}
