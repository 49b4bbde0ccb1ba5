import Assay

/// Reads files and times that the command line names.
enum Input {
  /// Reads evidence without the white space that an editor or a clipboard put around the text.
  /// Input that begins as DER or CBOR is not text.
  static func readEvidence(_ path: String) throws -> [UInt8] {
    if isEvidence(path), !FileSystem.exists(path) {
      throw Problem(
        "this is the evidence itself, not the name of a file: put it into a file, or give - and "
          + "the text on standard input")
    }
    let bytes = try FileSystem.read(path)
    if let first = bytes.first, first == 0x30 || first >= 0x80 { return bytes }
    guard let begin = bytes.firstIndex(where: { !isSpace($0) }),
      let end = bytes.lastIndex(where: { !isSpace($0) })
    else { return [] }
    return Array(bytes[begin...end])
  }

  /// Whether an argument is a JWS, a receipt in base64 or JSON: a bearer text, which no message
  /// repeats.
  static func isEvidence(_ argument: String) -> Bool {
    argument.utf8.count > 1024
      || ["eyJ", "MII", "ewo", "{"].contains { argument.hasPrefix($0) }
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0d).contains(byte)
  }

  /// Reads milliseconds since 1970 UTC, "now", or an ISO 8601 date.
  static func time(_ text: String?, option: String) throws -> Int64 {
    guard let text, text != "now" else { return FileSystem.now }
    if let number = Int64(text) ?? RequestTime.date(Array(text.utf8)) { return number }
    throw Problem(
      "\(option) \(text): give milliseconds since 1970, or a date like 2026-01-31T12:00:00Z")
  }

  /// Reads bytes as hexadecimal digits, in either case, with or without colons; `nil` without a
  /// text.
  static func octets(_ text: String?, option: String) throws -> [UInt8]? {
    guard let text else { return nil }
    let digits = text.filter { $0 != ":" }.compactMap(\.hexDigitValue)
    guard digits.count == text.filter({ $0 != ":" }).count, digits.count % 2 == 0,
      !digits.isEmpty
    else { throw Problem("\(option) \(text): give hexadecimal digits, two an octet") }
    return stride(from: 0, to: digits.count, by: 2).map {
      UInt8(digits[$0] << 4 | digits[$0 + 1])
    }
  }
}
