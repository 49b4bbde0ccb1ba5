/// Forms that only triage tells apart (docs/spec/receipts-triage.md §1.2).
enum TriageForms {
  /// A text of at most this many bytes that is none of the known forms comes from
  /// a cracking tool.
  static let shortTextCap = 256

  /// The cracker's text as it is sent undecoded: `com.urus.iap.` and digits, with
  /// at most white space around it.
  static func isCrackerText(_ blob: [UInt8]) -> Bool {
    guard blob.count <= shortTextCap else { return false }
    var text = blob[...]
    while let last = text.last, ASCII.isSpace(last) { text = text.dropLast() }
    while let first = text.first, ASCII.isSpace(first) { text = text.dropFirst() }
    let prefix = text.prefix(crackerPrefix.utf8CodeUnitCount)
    guard prefix.elementsEqual(crackerPrefix), text.count > prefix.count else { return false }
    return text.dropFirst(prefix.count).allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
  }

  /// A short printable text: ASCII, blanks and line ends included.
  static func isShortText(_ bytes: [UInt8]) -> Bool {
    bytes.count <= shortTextCap && ASCII.isPrintable(bytes[...])
  }

  /// Whether a text that begins with `{` cannot be a list: its first name is in
  /// quotation marks and a colon follows. The grammar of lists is tried first
  /// (§1.2), and this is where the two part.
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
