/// What else the leaf of an attestation says (docs/spec/app-attest.md §4.4, §4.5).
/// Undocumented apart from the access control octets, and proof of nothing: a
/// part that cannot be read is left out and never refuses an attestation.
struct LeafInformation: Sendable {
  /// 8.5 [1204]: the App ID in clear.
  private(set) var appId: Text? = nil
  /// 8.7 [1400], [1403] and [1026]: "27.0.1", "24A446", "iphoneos".
  private(set) var systemVersion: Text? = nil
  private(set) var systemBuild: Text? = nil
  private(set) var platform: Text? = nil
  /// 8.6: the access control octets.
  private(set) var accessControl: [UInt8]? = nil
  /// Extensions that are there and have another form.
  private(set) var isDamaged = false

  init(_ leaf: Certificate) {
    if let entry = leaf.extension(ObjectIdentifier.attestAppFacts) {
      read(leaf, entry, [1204]) { (information, _, text) in information.appId = text }
    }
    if let entry = leaf.extension(ObjectIdentifier.attestSystemFacts) {
      read(leaf, entry, [1400, 1403, 1026]) { (information, tag, text) in
        switch tag {
        case 1400: information.systemVersion = text
        case 1403: information.systemBuild = text
        default: information.platform = text
        }
      }
    }
    if let entry = leaf.extension(ObjectIdentifier.attestAccessControl) {
      accessControl = LeafInformation.accessControl(leaf, entry)
      isDamaged = isDamaged || accessControl == nil
    }
  }

  /// Whether 8.7 names macOS (ATT-47).
  var isMac: Bool { platform?.asciiLowercased.utf8.starts(with: Text("macos").utf8) ?? false }

  /// Texts of a SEQUENCE of context-tagged EXPLICIT values; tags of no
  /// interest are skipped.
  private mutating func read(
    _ leaf: Certificate, _ entry: Certificate.Extension, _ tags: [Int],
    _ take: (inout LeafInformation, Int, Text) -> Void
  ) {
    var outer = DER.Cursor(leaf.der, entry.value)
    guard let list = outer.next(DER.sequence), outer.isAtEnd else {
      isDamaged = true
      return
    }
    var at = list.content.lowerBound
    while at < list.content.upperBound {
      guard let value = TaggedValue(leaf.der, at, list.content.upperBound) else {
        isDamaged = true
        return
      }
      at = value.content.upperBound
      if !tags.contains(value.number) { continue }
      var inner = DER.Cursor(leaf.der, value.content)
      guard let octets = inner.next(DER.octetString), inner.isAtEnd,
        LeafInformation.isReadable(leaf.bytes(octets.content))
      else {
        isDamaged = true
        continue
      }
      take(&self, value.number, Text(Array(leaf.bytes(octets.content))))
    }
  }

  /// Printable ASCII of a modest length: nothing else has been seen.
  private static func isReadable(_ text: ArraySlice<UInt8>) -> Bool {
    text.count <= 300 && text.allSatisfy { $0 >= 0x20 && $0 < 0x7f }
  }

  /// ATT-47: SEQUENCE { [3] EXPLICIT OCTET STRING }.
  private static func accessControl(
    _ leaf: Certificate, _ entry: Certificate.Extension
  ) -> [UInt8]? {
    var outer = DER.Cursor(leaf.der, entry.value)
    guard let list = outer.next(DER.sequence), outer.isAtEnd else { return nil }
    var wrapper = DER.Cursor(leaf.der, list.content)
    guard let tagged = wrapper.next(0xa3), wrapper.isAtEnd else { return nil }
    var inner = DER.Cursor(leaf.der, tagged.content)
    guard let octets = inner.next(DER.octetString), inner.isAtEnd else { return nil }
    return Array(leaf.bytes(octets.content))
  }

  /// ATT-22: whether the subject's common name is the key id in lower-case hex.
  static func names(_ keyId: [UInt8], _ leaf: Certificate) -> Bool {
    var outer = DER.Cursor(leaf.der, leaf.subject)
    guard let sequence = outer.next(DER.sequence) else { return false }
    var names = DER.Cursor(leaf.der, sequence.content)
    while let relative = names.next(DER.set) {
      var attributes = DER.Cursor(leaf.der, relative.content)
      while let attribute = attributes.next(DER.sequence) {
        var pair = DER.Cursor(leaf.der, attribute.content)
        if let identifier = pair.next(DER.objectIdentifier), let value = pair.next(),
          leaf.bytes(identifier.content).elementsEqual(ObjectIdentifier.commonName)
        {
          return leaf.bytes(value.content) == Hex.encode(keyId)[...]
        }
      }
    }
    return false
  }
}

/// A context-tagged constructed value whose tag number may take more octets
/// (`BF 89 34` is [1204]), which no certificate's own fields have.
private struct TaggedValue {
  let number: Int
  let content: Range<Int>

  /// The value at an offset; nil when there is none that ends before `end`.
  init?(_ der: [UInt8], _ start: Int, _ end: Int) {
    guard start >= 0, start < end, end <= der.count, der[start] & 0xe0 == 0xa0 else { return nil }
    var at = start &+ 1
    var tag = Int(der[start] & 0x1f)
    if tag == 0x1f {
      tag = 0
      var isMore = true
      while isMore {
        guard at < end, tag < 1 << 21 else { return nil }
        tag = tag << 7 | Int(der[at] & 0x7f)
        isMore = der[at] >= 0x80
        at &+= 1
      }
    }
    guard at < end else { return nil }
    var length = Int(der[at])
    at &+= 1
    if length >= 0x80 {
      let octets = length & 0x7f
      guard octets >= 1, octets <= 2, octets <= end &- at else { return nil }
      length = 0
      for offset in 0..<octets { length = length << 8 | Int(der[at &+ offset]) }
      at &+= octets
    }
    guard length <= end &- at else { return nil }
    number = tag
    content = at..<at &+ length
  }
}
