/// An old-style (OpenStep) property list of texts. A transaction receipt is one, and contains
/// another as the signed purchase-info (docs/spec/receipts.md §2.1).
///
/// Keys and values are ranges of the list's own bytes, because the signature covers the bytes as
/// received.
struct PropertyList: Sendable {
  /// Upper limits of one list (docs/spec/receipts.md §1).
  struct Limits: Sendable {
    var keys = 64
    var keyBytes = 64
    var valueBytes: Int

    /// Limits of the receipt that the client sends.
    static let outer = Limits(valueBytes: 12_288)
    /// Returns the limits of a receipt of at most `receiptBytes` bytes: one value may have three
    /// quarters of them, but never fewer than `outer` allows.
    static func outer(receiptBytes: Int) -> Limits {
      Limits(valueBytes: Swift.max(outer.valueBytes, receiptBytes / 4 &* 3))
    }

    /// Limits of the signed purchase-info.
    static let info = Limits(valueBytes: 4096)
  }

  /// A key with its value, both with escapes resolved.
  struct Entry: Sendable {
    let key: ArraySlice<UInt8>
    let value: ArraySlice<UInt8>
    /// Whether the value has no quotation marks.
    let isBare: Bool
  }

  /// The ranges of an entry in `bytes`.
  struct Place: Sendable {
    let key: Range<Int>
    let value: Range<Int>
    let isBare: Bool
    /// The length and three bytes of the key, compared before the key itself.
    let mark: UInt32
  }

  /// The text, followed by the resolved forms of keys and values that contain escapes.
  let bytes: [UInt8]
  /// Number of bytes of the text itself.
  let textCount: Int
  /// The entries in the order of the text.
  let places: [Place]

  /// Reads one list. Everything outside the grammar of docs/spec/receipts.md §2.1 is refused with
  /// `malformed.plist.*`, everything above the limits with `too-large.plist.entry`. The location
  /// is a byte offset.
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

  /// Returns the value of a key; `nil` if the list has no such key.
  func value(_ key: StaticString) -> ArraySlice<UInt8>? {
    place(key).map { bytes[$0.value] }
  }

  func value(_ place: Place) -> ArraySlice<UInt8> { bytes[place.value] }

  func entry(_ place: Place) -> Entry {
    Entry(key: bytes[place.key], value: bytes[place.value], isBare: place.isBare)
  }

  /// Whether the text has the layout that Apple writes: `{` LF, then for each entry TAB `"key" =
  /// "value";` LF, and `}`, without escapes. A list whose white space was removed has another
  /// layout, and its signature does not verify.
  var hasAppleLayout: Bool {
    let text = bytes.span.extracting(first: textCount)
    guard text.begins(with: "{\n") else { return false }
    var at = 2
    for index in places.indices {
      let place = places[index]
      // The range of a resolved text is after the end of the text, where no literal is found.
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
