/// The form in which a client sends a receipt to the server.
public enum TransportForm: String, Sendable, CaseIterable {
  case raw
  case base64
  /// Lines of 64 characters that end in CRLF.
  case wrapped
  /// Lines of 76 characters that end in LF, the last one too.
  case wrappedLF = "wrapped-lf"
  case urlSafe = "url-safe"
  case unpadded
  /// Base64 of base64.
  case doubled
  /// Base64 of base64 of base64.
  case tripled
  /// Base64 in a form post that turned `+` into a space.
  case spaceForPlus = "space-for-plus"
  /// Base64 in a form field that was not decoded.
  case percentEscaped = "percent-escaped"

  public func encode(_ bytes: [UInt8]) -> [UInt8] {
    let text = Base64Text.encode(bytes)
    switch self {
    case .raw: return bytes
    case .base64: return text
    case .wrapped: return TransportForm.lines(text, 64, [0x0d, 0x0a])
    case .wrappedLF: return TransportForm.lines(text, 76, [0x0a]) + [0x0a]
    case .urlSafe: return text.map { $0 == 0x2b ? 0x2d : $0 == 0x2f ? 0x5f : $0 }
    case .unpadded: return Array(text.prefix { $0 != 0x3d })
    case .doubled: return Base64Text.encode(text)
    case .tripled: return Base64Text.encode(Base64Text.encode(text))
    case .spaceForPlus: return text.map { $0 == 0x2b ? 0x20 : $0 }
    case .percentEscaped:
      return text.flatMap { character -> [UInt8] in
        switch character {
        case 0x2b: Array("%2B".utf8)
        case 0x2f: Array("%2F".utf8)
        case 0x3d: Array("%3D".utf8)
        default: [character]
        }
      }
    }
  }

  private static func lines(_ text: [UInt8], _ width: Int, _ end: [UInt8]) -> [UInt8] {
    var out: [UInt8] = []
    for place in stride(from: 0, to: text.count, by: width) {
      if place > 0 { out += end }
      out += text[place..<min(text.count, place + width)]
    }
    return out
  }
}
