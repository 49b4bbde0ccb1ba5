/// Writes one JSON text, member by member: compact, in UTF-8, members in the order of the calls.
/// The same facts have the same bytes in every build.
struct JSONWriter {
  private(set) var bytes: [UInt8] = []
  /// Whether a comma is due before the next value at this level.
  private var pending = false

  init(capacity: Int = 256) { bytes.reserveCapacity(capacity) }

  /// Wipes what was written. A copy that shares the storage keeps its contents.
  mutating func wipe() { Secret.wipe(&bytes) }

  // MARK: structure

  mutating func beginObject() { open(0x7b) }
  mutating func endObject() { close(0x7d) }
  mutating func beginArray() { open(0x5b) }
  mutating func endArray() { close(0x5d) }

  /// Writes `"name":`. Exactly one value must follow.
  mutating func name(_ name: StaticString) {
    append(quoted: name, colon: true)
    pending = false
  }

  /// Writes `"name":` for a name that comes from a configuration or evidence.
  @_disfavoredOverload
  mutating func name(_ name: Text) {
    separate()
    quote(name.utf8[...])
    bytes.append(0x3a)
    pending = false
  }

  // MARK: values

  mutating func null() { literal("null") }
  mutating func boolean(_ value: Bool) { literal(value ? "true" : "false") }

  /// Writes an integer; as a string if its magnitude exceeds 2^53 (DOC-2), because JavaScript and
  /// many JSON libraries would round it.
  mutating func integer(_ value: Int64) {
    separate()
    let exact = value > -9_007_199_254_740_993 && value < 9_007_199_254_740_993
    if !exact { bytes.append(0x22) }
    append(decimal: value)
    if !exact { bytes.append(0x22) }
    pending = true
  }

  /// Writes a string that needs no escaping, such as a name from a table.
  mutating func string(_ value: StaticString) {
    append(quoted: value, colon: false)
    pending = true
  }

  @_disfavoredOverload
  mutating func string(_ value: Text) { string(utf8: value.utf8) }
  @_disfavoredOverload
  mutating func string(_ value: String) { string(utf8: Array(value.utf8)) }

  mutating func string(utf8: [UInt8]) { string(utf8: utf8[...]) }

  mutating func string(utf8: ArraySlice<UInt8>) {
    separate()
    quote(utf8)
    pending = true
  }

  /// Begins a string that is written in parts, none of which needs escaping.
  mutating func beginText() {
    separate()
    bytes.append(0x22)
  }

  mutating func extendText(_ part: ArraySlice<UInt8>) { append(part) }

  mutating func extendText(_ byte: UInt8) { bytes.append(byte) }

  mutating func endText() {
    bytes.append(0x22)
    pending = true
  }

  /// Writes a JSON text that the strict reader accepted or a writer made.
  mutating func raw(_ json: ArraySlice<UInt8>) {
    separate()
    bytes.append(contentsOf: json)
    pending = true
  }

  mutating func raw(_ json: [UInt8]) { raw(json[...]) }

  /// Writes one JSON text given in three parts.
  mutating func raw(_ first: StaticString, _ second: StaticString, _ third: StaticString) {
    separate()
    append(first)
    append(second)
    append(third)
    pending = true
  }

  // MARK: members

  mutating func member(_ name: StaticString, _ value: StaticString) {
    self.name(name)
    string(value)
  }

  @_disfavoredOverload
  mutating func member(_ name: StaticString, _ value: Text?) {
    self.name(name)
    if let value { string(value) } else { null() }
  }

  mutating func member(_ name: StaticString, integer value: Int64?) {
    self.name(name)
    if let value { integer(value) } else { null() }
  }

  mutating func member(_ name: StaticString, boolean value: Bool?) {
    self.name(name)
    if let value { boolean(value) } else { null() }
  }

  // MARK: parts

  private mutating func open(_ bracket: UInt8) {
    separate()
    bytes.append(bracket)
    pending = false
  }

  private mutating func close(_ bracket: UInt8) {
    bytes.append(bracket)
    pending = true
  }

  private mutating func separate() {
    if pending { bytes.append(0x2c) }
  }

  private mutating func literal(_ text: StaticString) {
    separate()
    append(text)
    pending = true
  }

  /// Appends a comma if one is due, the text in quotation marks, and a colon if asked for. The
  /// array grows once instead of five times.
  private mutating func append(quoted text: StaticString, colon: Bool) {
    let comma = pending ? 1 : 0
    text.withUTF8Buffer { text in
      bytes.append(addingCapacity: text.count &+ 4) { output in
        unsafe output.withUnsafeMutableBufferPointer { buffer, count in
          let end = comma &+ 1 &+ text.count
          unsafe buffer[0] = 0x2c
          unsafe buffer[comma] = 0x22
          let room = unsafe UnsafeMutableBufferPointer(rebasing: buffer[(comma &+ 1)..<end])
          unsafe UnsafeMutableRawBufferPointer(room).copyMemory(from: UnsafeRawBufferPointer(text))
          unsafe buffer[end] = 0x22
          unsafe buffer[end &+ 1] = 0x3a
          count = end &+ (colon ? 2 : 1)
        }
      }
    }
  }

  private mutating func append(_ text: StaticString) {
    text.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
  }

  /// Appends the bytes in one copy.
  private mutating func append(_ part: ArraySlice<UInt8>) {
    unsafe part.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
  }

  private mutating func append(decimal value: Int64) {
    // Digits are computed from the last to the first.
    var digits = InlineArray<20, UInt8>(repeating: 0x2d)
    var start = 20
    var rest = value.magnitude
    repeat {
      start &-= 1
      digits[start] = 0x30 &+ UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    } while rest != 0
    // A negative number has at most 19 digits, so there is room for its sign.
    if value < 0 { start &-= 1 }
    bytes.append(addingCapacity: 20 &- start) { output in
      for place in start..<20 { output.append(digits[place]) }
    }
  }

  /// Appends a string in quotation marks and escapes quotation marks, backslashes and control
  /// characters (RFC 8259 §7). The bytes between them are copied at once.
  private mutating func quote(_ utf8: ArraySlice<UInt8>) {
    let text = utf8.span
    bytes.append(0x22)
    var copied = 0
    while true {
      let at = ByteScan.firstEscaped(in: text, from: copied)
      append(utf8[(utf8.startIndex &+ copied)..<(utf8.startIndex &+ at)])
      guard at < text.count else { break }
      escape(text[at])
      copied = at &+ 1
    }
    bytes.append(0x22)
  }

  private mutating func escape(_ byte: UInt8) {
    switch byte {
    case 0x22, 0x5c:
      bytes.append(0x5c)
      bytes.append(byte)
    case 0x0a:
      bytes.append(0x5c)
      bytes.append(0x6e)
    case 0x0d:
      bytes.append(0x5c)
      bytes.append(0x72)
    case 0x09:
      bytes.append(0x5c)
      bytes.append(0x74)
    default:
      append("\\u00")
      bytes.append(contentsOf: Hex.encode([byte]))
    }
  }
}
