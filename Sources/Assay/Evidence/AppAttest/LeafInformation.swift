/// Further content of an attestation's leaf (docs/spec/app-attest.md §4.4, §4.5). Apple documents
/// only the access control bytes. Proves nothing: an unreadable part is omitted and never refuses
/// an attestation.
struct LeafInformation: Sendable {
  /// The App ID in clear text: extension 1.2.840.113635.100.8.5, tag [1204].
  private(set) var appId: Text? = nil
  /// Version, build and platform ("27.0.1", "24A446", "iphoneos"): extension
  /// 1.2.840.113635.100.8.7, tags [1400], [1403] and [1026].
  private(set) var systemVersion: Text? = nil
  private(set) var systemBuild: Text? = nil
  private(set) var platform: Text? = nil
  /// The access control bytes: extension 1.2.840.113635.100.8.6.
  private(set) var accessControl: [UInt8]? = nil
  /// Whether one of these extensions is present in a form that cannot be read.
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

  /// Whether the platform is macOS (ATT-47).
  var isMac: Bool { platform?.asciiLowercased.utf8.starts(with: Text("macos").utf8) ?? false }

  /// Passes the texts with `tags` to `take`, from a SEQUENCE of context-tagged EXPLICIT values;
  /// other tags are skipped.
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

  /// Whether the text is printable ASCII of at most 300 bytes: Apple has used nothing else so
  /// far.
  private static func isReadable(_ text: ArraySlice<UInt8>) -> Bool {
    text.count <= 300 && text.allSatisfy { $0 >= 0x20 && $0 < 0x7f }
  }

  /// Returns the content of SEQUENCE { [3] EXPLICIT OCTET STRING }; `nil` for another form
  /// (ATT-47).
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

  /// Whether the subject's common name is the key id in lower-case hex (ATT-22).
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

/// A context-tagged constructed value whose tag number may take several bytes (`BF 89 34` is
/// [1204]), as only these extensions of Apple use them.
private struct TaggedValue {
  let number: Int
  let content: Range<Int>

  /// Reads the value at `start`; `nil` if no value ends at or before `end`.
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
