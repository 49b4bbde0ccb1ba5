/// An old-style property list as it is written: entries keep their order, keys may occur twice,
/// and all text around them can be set.
public struct PropertyListText: Sendable {
  public enum Quote: Sendable {
    case double
    case single
    /// No quotes, which is valid for letters, digits and a few other characters.
    case bare

    func around(_ text: [UInt8]) -> [UInt8] {
      switch self {
      case .double: return [0x22] + text + [0x22]
      case .single: return [0x27] + text + [0x27]
      case .bare: return text
      }
    }
  }

  public struct Entry: Sendable {
    /// The key and the value are written unchanged, escapes included.
    public var key: [UInt8]
    public var value: [UInt8]
    public var keyQuote = Quote.double
    public var valueQuote = Quote.double

    public init(_ key: String, _ value: String) {
      self.key = Array(key.utf8)
      self.value = Array(value.utf8)
    }

    public init(_ key: String, bytes value: [UInt8]) {
      self.key = Array(key.utf8)
      self.value = value
    }
  }

  /// The text around the entries.
  public struct Style: Sendable {
    public var open: String
    public var before: String
    public var equals: String
    public var after: String
    public var close: String
    /// The quote of all entries; `nil` for each entry's own.
    public var quote: Quote?

    public init(
      open: String, before: String, equals: String, after: String, close: String,
      quote: Quote? = nil
    ) {
      self.open = open
      self.before = before
      self.equals = equals
      self.after = after
      self.close = close
      self.quote = quote
    }

    /// The style of Apple's receipts.
    public static let apple = Style(
      open: "{\n", before: "\t", equals: " = ", after: ";\n", close: "}")
    /// No white space.
    public static let compact = Style(open: "{", before: "", equals: "=", after: ";", close: "}")
    /// White space of every kind wherever it is allowed.
    public static let loose = Style(
      open: " \r\n{ \u{2028}", before: "\t\u{0b}", equals: "\u{0c} =\u{2029}", after: " ;\r\n",
      close: " } \n")
    /// Single quotes.
    public static let single = Style(
      open: "{\n", before: "    ", equals: " = ", after: ";\n", close: "}", quote: .single)
    /// Windows line ends.
    public static let windows = Style(
      open: "{\r\n", before: "\t", equals: " = ", after: ";\r\n", close: "}\r\n")

    public static let all: [(name: String, style: Style)] = [
      ("Apple's style", apple), ("compact style", compact), ("loose style", loose),
      ("single quotes", single), ("Windows line ends", windows),
    ]
  }

  public var entries: [Entry]
  public var style = Style.apple

  public init(_ entries: [Entry], style: Style = .apple) {
    self.entries = entries
    self.style = style
  }

  public var bytes: [UInt8] {
    var out = Array(style.open.utf8)
    for entry in entries {
      out += Array(style.before.utf8)
      out += (style.quote ?? entry.keyQuote).around(entry.key)
      out += Array(style.equals.utf8)
      out += (style.quote ?? entry.valueQuote).around(entry.value)
      out += Array(style.after.utf8)
    }
    return out + Array(style.close.utf8)
  }

  /// Returns the value of the first entry with this key.
  public subscript(_ key: String) -> String? {
    entries.first { $0.key == Array(key.utf8) }.map { String(decoding: $0.value, as: UTF8.self) }
  }

  /// Returns a copy in which a key has this value; a new key is the last one.
  public func setting(_ key: String, _ value: String) -> PropertyListText {
    changing(key, adding: Entry(key, value)) { $0.value = Array(value.utf8) }
  }

  /// Returns a copy in which the entry of a key is changed.
  public func changing(
    _ key: String, adding missing: Entry? = nil, _ change: (inout Entry) -> Void
  ) -> PropertyListText {
    var copy = self
    if let place = (entries.firstIndex { $0.key == Array(key.utf8) }) {
      change(&copy.entries[place])
    } else if let missing {
      copy.entries.append(missing)
    }
    return copy
  }

  /// Returns a copy without a key.
  public func removing(_ key: String) -> PropertyListText {
    PropertyListText(entries.filter { $0.key != Array(key.utf8) }, style: style)
  }

  /// Returns a copy with one more entry at the end, even if the key exists.
  public func appending(_ key: String, _ value: String) -> PropertyListText {
    PropertyListText(entries + [Entry(key, value)], style: style)
  }

  /// Returns a copy in which every byte of every value is an octal escape.
  public func escaped() -> PropertyListText {
    var copy = self
    for place in copy.entries.indices {
      copy.entries[place].value = copy.entries[place].value.flatMap { byte -> [UInt8] in
        [0x5c, 0x30 + (byte >> 6), 0x30 + (byte >> 3 & 7), 0x30 + (byte & 7)]
      }
    }
    return copy
  }
}
