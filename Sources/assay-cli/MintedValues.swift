/// The requirements on values of the command line, so that what is minted is something that Apple
/// could have signed. Other values must be requested explicitly: --set and --forge.
enum MintedValues {
  /// The dates from the App Store's first purchase to 2100, in milliseconds since 1970 UTC; a later
  /// number is in another unit.
  static let dates: ClosedRange<Int64> = 1_199_145_600_000...4_102_444_800_000

  /// Checks a requirement on a value.
  ///
  /// - Throws: a problem that names the option, the value, and a valid form.
  static func require(_ holds: Bool, _ option: String, _ value: String, _ wanted: String) throws {
    if !holds { throw Problem("\(option) \(Terminal.safe(value)): \(wanted)") }
  }

  /// Returns a time that Apple could have written, in milliseconds since 1970 UTC.
  static func date(_ text: String, _ option: String) throws -> Int64 {
    let time = try Input.time(text, option: option)
    try require(
      dates.contains(time), option, text,
      "give milliseconds since 1970 or a date, from 2008 to 2100")
    return time
  }

  /// Checks a transaction id: 1 to 20 digits (APR-25).
  static func id(_ text: String, _ option: String) throws {
    let isId = (1...20).contains(text.utf8.count) && text.utf8.allSatisfy { isDigit($0) }
    try require(isId, option, text, "give 1 to 20 digits")
  }

  /// Checks a bundle id, a product id or the like.
  static func name(_ text: String, _ option: String) throws {
    let isName =
      (1...255).contains(text.utf8.count)
      && text.utf8.allSatisfy { isDigit($0) || isLetter($0) || [0x2d, 0x2e, 0x5f].contains($0) }
    try require(isName, option, text, "give letters, digits, dots, hyphens and underscores")
  }

  /// Checks a type of a notification: Apple's are words in capitals.
  static func word(_ text: String, _ option: String) throws {
    let isWord =
      (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { (0x41...0x5a).contains($0) || isDigit($0) || $0 == 0x5f }
    try require(isWord, option, text, "give a word in capitals, like DID_RENEW")
  }

  static func uuid(_ text: String, _ option: String) throws {
    let groups = text.utf8.split(separator: 0x2d, omittingEmptySubsequences: false)
    let isUUID =
      groups.map(\.count) == [8, 4, 4, 4, 12]
      && text.allSatisfy { $0 == "-" || $0.isHexDigit && $0.isASCII }
    try require(
      isUUID, option, text,
      "give a UUID, like 0f8fad5b-d9cb-469f-a165-70867728950e")
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7a).contains(byte | 0x20) }
}
