/// Writes base64: correct spellings, and other spellings of the same bytes that a strict reader
/// must refuse.
public enum Base64Text {
  private static let standard = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let url = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// Encodes with padding (RFC 4648 §4), as in `x5c`.
  public static func encode(_ bytes: [UInt8]) -> [UInt8] {
    encode(bytes, standard, padded: true)
  }

  /// Encodes in the URL alphabet without padding (RFC 4648 §5), as in a JWS.
  public static func encodeURL(_ bytes: [UInt8]) -> [UInt8] {
    encode(bytes, url, padded: false)
  }

  /// Returns `text` with one unused low bit of its last character set; `nil` if every bit of that
  /// character is used.
  public static func withLooseBits(_ text: [UInt8]) -> [UInt8]? {
    let end = text.lastIndex { $0 != UInt8(ascii: "=") } ?? -1
    guard end >= 0, (end + 1) % 4 != 0 else { return nil }
    let alphabet = text.contains { $0 == 0x2d || $0 == 0x5f } ? url : standard
    guard let value = (alphabet.firstIndex { $0 == text[end] }) else { return nil }
    var loose = text
    loose[end] = alphabet[value ^ 1]
    return loose
  }

  /// Decodes a text in either alphabet, padded or not. Only for inspecting evidence: verification
  /// must not be this lenient.
  public static func decodeLeniently(_ text: [UInt8]) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3 + 3)
    var bits: UInt32 = 0
    var count: UInt32 = 0
    for character in text {
      if character == 0x3d || character == 0x0a || character == 0x0d { continue }
      guard let value = value(of: character) else { return nil }
      bits = (bits << 6 | value) & 0xffffff
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> count))
      }
    }
    return bytes
  }

  private static func value(of character: UInt8) -> UInt32? {
    switch character {
    case 0x41...0x5a: return UInt32(character - 0x41)
    case 0x61...0x7a: return UInt32(character - 0x61 + 26)
    case 0x30...0x39: return UInt32(character - 0x30 + 52)
    case 0x2b, 0x2d: return 62
    case 0x2f, 0x5f: return 63
    default: return nil
    }
  }

  private static func encode(_ bytes: [UInt8], _ alphabet: [UInt8], padded: Bool) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count / 3 * 4 + 4)
    var at = 0
    while at < bytes.count {
      let first = bytes[at]
      let second = at + 1 < bytes.count ? bytes[at + 1] : 0
      let third = at + 2 < bytes.count ? bytes[at + 2] : 0
      text.append(alphabet[Int(first >> 2)])
      text.append(alphabet[Int((first & 3) << 4 | second >> 4)])
      if at + 1 < bytes.count {
        text.append(alphabet[Int((second & 15) << 2 | third >> 6)])
      } else if padded {
        text.append(UInt8(ascii: "="))
      }
      if at + 2 < bytes.count {
        text.append(alphabet[Int(third & 63)])
      } else if padded {
        text.append(UInt8(ascii: "="))
      }
      at += 3
    }
    return text
  }
}

extension [UInt8] {
  /// The bytes in base64 as a string.
  package var base64Text: String { String(decoding: Base64Text.encode(self), as: UTF8.self) }
}
