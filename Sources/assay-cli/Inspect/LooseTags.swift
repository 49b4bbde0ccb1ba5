/// A SEQUENCE of values with context tags of any number, read leniently: for display, never for
/// verification.
struct LooseTags {
  private var values: [(tag: Int, content: ArraySlice<UInt8>)] = []

  init(_ sequence: [UInt8]) {
    var outer = sequence[...]
    guard let list = LooseBER.next(&outer), list.tag == 0x30 else { return }
    var rest = list.content
    while let value = LooseTags.next(&rest) { values.append(value) }
  }

  /// Returns the bytes of the OCTET STRING with a tag; `nil` if there is none.
  func octets(_ tag: Int) -> [UInt8]? {
    guard var content = values.first(where: { $0.tag == tag })?.content,
      let inner = LooseBER.next(&content), inner.tag == 0x04
    else { return nil }
    return inner.octets
  }

  /// Reads a constructed context tag: `A5`, or `BF 89 34` for 1204.
  private static func next(
    _ bytes: inout ArraySlice<UInt8>
  ) -> (tag: Int, content: ArraySlice<UInt8>)? {
    guard let first = bytes.popFirst(), first & 0xe0 == 0xa0 else { return nil }
    var tag = Int(first & 0x1f)
    if tag == 0x1f {
      tag = 0
      var isMore = true
      while isMore {
        guard let byte = bytes.popFirst(), tag < 1 << 21 else { return nil }
        tag = tag << 7 | Int(byte & 0x7f)
        isMore = byte >= 0x80
      }
    }
    // Length and content have the usual form, so a one-byte tag replaces this one.
    var value = [0x30] + bytes
    var slice = value[...]
    guard let read = LooseBER.next(&slice) else { return nil }
    value = Array(slice)
    bytes = value[...]
    return (tag, read.content)
  }
}
