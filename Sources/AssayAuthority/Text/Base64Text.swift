/// Base64 as the authority writes it: correct spellings, and the ways to spell
/// the same bytes that a strict reader has to refuse.
public enum Base64Text {
  private static let standard = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let url = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// RFC 4648 §4, with padding: the entries of `x5c`.
  public static func encode(_ bytes: [UInt8]) -> [UInt8] {
    encode(bytes, standard, padded: true)
  }

  /// RFC 4648 §5, without padding: the segments of a JWS.
  public static func encodeURL(_ bytes: [UInt8]) -> [UInt8] {
    encode(bytes, url, padded: false)
  }

  /// The same text with one of the unused low bits of its last character set;
  /// `nil` when every bit of that character is used.
  public static func withLooseBits(_ text: [UInt8]) -> [UInt8]? {
    let end = text.lastIndex { $0 != UInt8(ascii: "=") } ?? -1
    guard end >= 0, (end + 1) % 4 != 0 else { return nil }
    let alphabet = text.contains { $0 == 0x2d || $0 == 0x5f } ? url : standard
    guard let value = (alphabet.firstIndex { $0 == text[end] }) else { return nil }
    var loose = text
    loose[end] = alphabet[value ^ 1]
    return loose
  }

  /// The bytes of a text in either alphabet, padded or not. Lenient on purpose:
  /// for looking into evidence, never for judging it.
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
  /// As base64, in a text.
  package var base64Text: String { String(decoding: Base64Text.encode(self), as: UTF8.self) }
}
