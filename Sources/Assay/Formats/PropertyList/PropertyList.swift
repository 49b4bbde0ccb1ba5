/// An old-style (OpenStep) property list of texts, as transaction receipts use it
/// twice: outside, and inside as the signed purchase-info (docs/spec/receipts.md §2.1).
///
/// Keys and values are ranges of the list's own bytes. Nothing is rewritten: a
/// signature covers the bytes as received.
struct PropertyList: Sendable {
  /// What one list may hold (docs/spec/receipts.md §1).
  struct Limits: Sendable {
    var keys = 64
    var keyBytes = 64
    var valueBytes: Int

    /// For the text that the client sends.
    static let outer = Limits(valueBytes: 12_288)
    /// The same for a receipt of at most this many bytes: three quarters of them, or
    /// the usual limit where that is more.
    static func outer(receiptBytes: Int) -> Limits {
      Limits(valueBytes: Swift.max(outer.valueBytes, receiptBytes / 4 &* 3))
    }

    /// For the signed purchase-info.
    static let info = Limits(valueBytes: 4096)
  }

  /// A key with its value, both with their escapes resolved.
  struct Entry: Sendable {
    let key: ArraySlice<UInt8>
    let value: ArraySlice<UInt8>
    /// The value has no quotation marks.
    let isBare: Bool
  }

  /// Where an entry is in `bytes`.
  struct Place: Sendable {
    let key: Range<Int>
    let value: Range<Int>
    let isBare: Bool
    /// Length and three bytes of the key: what tells most keys apart.
    let mark: UInt32
  }

  /// The text; after it, resolved, the keys and values that hold escapes.
  let bytes: [UInt8]
  /// How many of the bytes are the text itself.
  let textCount: Int
  /// In the order of the text.
  let places: [Place]

  /// Reads one list; refuses everything outside the grammar of docs/spec/receipts.md §2.1
  /// with `malformed.plist.*`, and what passes the limits with
  /// `too-large.plist.entry`. `at` is the offset in bytes.
  init(_ text: [UInt8], limits: Limits) throws(Refusal) {
    var reader = PropertyListReader(limits)
    try reader.read(text.span)
    textCount = text.count
    bytes = reader.resolved.isEmpty ? text : text + reader.resolved
    places = reader.places
  }

  var count: Int { places.count }

  var entries: [Entry] { places.map { entry($0) } }

  func entry(_ key: StaticString) -> Entry? {
    place(key).map { entry($0) }
  }

  /// The value of a key; nil when the list lacks it.
  func value(_ key: StaticString) -> ArraySlice<UInt8>? {
    place(key).map { bytes[$0.value] }
  }

  func value(_ place: Place) -> ArraySlice<UInt8> { bytes[place.value] }

  func entry(_ place: Place) -> Entry {
    Entry(key: bytes[place.key], value: bytes[place.value], isBare: place.isBare)
  }

  /// Whether the text is laid out as Apple writes it: `{` LF, then for each entry
  /// TAB `"key" = "value";` LF, and `}`, without escapes. A list that was rewritten
  /// to save white space is not, and its signature no longer fits.
  var hasAppleLayout: Bool {
    let text = bytes.span.extracting(first: textCount)
    guard text.begins(with: "{\n") else { return false }
    var at = 2
    for index in places.indices {
      let place = places[index]
      // What was resolved from escapes ends past the text, where there is nothing.
      guard text.has("\t\"", at: at), text.has("\" = \"", at: place.key.upperBound),
        text.has("\";\n", at: place.value.upperBound)
      else { return false }
      at = place.value.upperBound &+ 3
    }
    return text.has("}", at: at) && at &+ 1 == textCount
  }

  private func place(_ key: StaticString) -> Place? {
    let bytes = bytes.span
    for index in places.indices where bytes.equals(key, places[index].key) {
      return places[index]
    }
    return nil
  }
}
