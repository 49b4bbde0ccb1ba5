/// An X.509 certificate from any source, decoded strictly but not yet verified.
///
/// Assay has a decoder of its own because `d2i_X509` accepts trailing bytes and lenient
/// encodings, and costs a third of a cold verification. Tests compare it with libcrypto. The
/// requirements of a chain are in `Trust/`.
struct Certificate: Sendable {
  /// The encoded certificate: one DER value and nothing after it.
  let der: [UInt8]
  /// 1, 2 or 3; 0 for a version that does not exist.
  let version: Int
  /// Content bytes of the serial number, minimal by DER.
  let serial: Range<Int>
  let issuer: Range<Int>
  let subject: Range<Int>
  /// Seconds since 1970 UTC; both ends belong to the validity.
  let notBefore: Int64
  let notAfter: Int64
  /// The signed part, and the two AlgorithmIdentifiers of its signature.
  let tbs: Range<Int>
  let innerAlgorithm: Range<Int>
  let outerAlgorithm: Range<Int>
  let signature: Range<Int>
  /// The SubjectPublicKeyInfo: identifier and parameters of its algorithm, and the key.
  let keyAlgorithm: Range<Int>
  let keyParameters: Range<Int>
  let key: Range<Int>
  let extensions: [Extension]
  /// The decoded extension; `nil` if it is absent.
  let basicConstraints: BasicConstraints?
  /// Bits in the order of RFC 5280 §4.2.1.3: 0 digitalSignature, 5 keyCertSign. `nil` if absent.
  let keyUsage: KeyUsage?

  /// Genuine certificates have at most a dozen; each lookup searches all of them.
  static let extensionCap = 64

  struct Extension: Sendable {
    let identifier: Range<Int>
    let isCritical: Bool
    let value: Range<Int>
  }

  struct BasicConstraints: Sendable {
    let isAuthority: Bool
  }

  struct KeyUsage: Sendable {
    let bits: [UInt8]

    func has(_ bit: Int) -> Bool {
      let octet = bit / 8
      return octet < bits.count && bits[octet] & (0x80 >> UInt8(truncatingIfNeeded: bit % 8)) != 0
    }

    static let digitalSignature = 0
    static let keyCertSign = 5
    static let cRLSign = 6
  }

  /// Decodes one certificate (JWS-21, JWS-32); `nil` unless `der` is exactly one DER value with
  /// the structure of X.509.
  init?(_ der: [UInt8]) {
    guard DER.isCanonical(der) else { return nil }
    var outer = DER.Cursor(der)
    guard let certificate = outer.next(DER.sequence), outer.isAtEnd else { return nil }
    var parts = DER.Cursor(der, certificate.content)
    guard let tbs = parts.next(DER.sequence), let algorithm = parts.next(DER.sequence),
      let signature = parts.next(DER.bitString), parts.isAtEnd,
      let signed = Certificate.octets(of: signature, der)
    else { return nil }
    var fields = DER.Cursor(der, tbs.content)
    guard let version = Certificate.version(&fields, der),
      let serial = fields.next(DER.integer),
      let inner = fields.next(DER.sequence), Certificate.isAlgorithm(inner, der),
      Certificate.isAlgorithm(algorithm, der),
      let issuer = fields.next(DER.sequence), Certificate.isName(issuer, der),
      let validity = fields.next(DER.sequence),
      let dates = Certificate.validity(validity, der),
      let subject = fields.next(DER.sequence), Certificate.isName(subject, der),
      let keyInfo = fields.next(DER.sequence),
      let key = Certificate.publicKeyInfo(keyInfo, der)
    else { return nil }
    // issuerUniqueID and subjectUniqueID are obsolete, never used and harmless.
    _ = fields.next(0x81)
    _ = fields.next(0x82)
    var extensions: [Extension] = []
    if let wrapper = fields.next(0xa3) {
      guard let list = Certificate.extensions(wrapper, der) else { return nil }
      extensions = list
    }
    guard fields.isAtEnd else { return nil }
    var basicConstraints: BasicConstraints? = nil
    var keyUsage: KeyUsage? = nil
    for entry in extensions {
      let identifier = der[entry.identifier]
      if identifier.elementsEqual(ObjectIdentifier.basicConstraints), basicConstraints == nil {
        guard let value = Certificate.basicConstraints(entry, der) else { return nil }
        basicConstraints = value
      } else if identifier.elementsEqual(ObjectIdentifier.keyUsage), keyUsage == nil {
        guard let value = Certificate.keyUsage(entry, der) else { return nil }
        keyUsage = value
      }
    }
    self.der = der
    self.version = version
    self.serial = serial.content
    self.issuer = issuer.whole
    self.subject = subject.whole
    notBefore = dates.lowerBound
    notAfter = dates.upperBound
    self.tbs = tbs.whole
    innerAlgorithm = inner.whole
    outerAlgorithm = algorithm.whole
    self.signature = signed
    keyAlgorithm = key.algorithm
    keyParameters = key.parameters
    self.key = key.key
    self.extensions = extensions
    self.basicConstraints = basicConstraints
    self.keyUsage = keyUsage
  }

  // MARK: queries

  func bytes(_ range: Range<Int>) -> ArraySlice<UInt8> {
    guard range.lowerBound >= 0, range.upperBound <= der.count else { return [] }
    return der[range]
  }

  /// Returns the extension with this identifier; `nil` if there is none.
  func `extension`(_ identifier: [UInt8]) -> Extension? {
    extensions.first { bytes($0.identifier).elementsEqual(identifier) }
  }

  // MARK: fields

  /// Returns the content of a bit string without unused bits.
  private static func octets(of element: DER.Element, _ der: [UInt8]) -> Range<Int>? {
    guard !element.content.isEmpty, der[element.content.lowerBound] == 0 else { return nil }
    return element.content.lowerBound &+ 1..<element.content.upperBound
  }

  private static func version(_ fields: inout DER.Cursor, _ der: [UInt8]) -> Int? {
    guard let wrapper = fields.next(0xa0) else { return 1 }
    var inner = DER.Cursor(der, wrapper.content)
    guard let number = inner.next(DER.integer), inner.isAtEnd else { return nil }
    // DER omits the default, v1: a certificate that states v1 has no valid version.
    guard number.content.count == 1 else { return 0 }
    switch der[number.content.lowerBound] {
    case 1: return 2
    case 2: return 3
    default: return 0
    }
  }

  private static func isAlgorithm(_ element: DER.Element, _ der: [UInt8]) -> Bool {
    var inner = DER.Cursor(der, element.content)
    guard inner.next(DER.objectIdentifier) != nil else { return false }
    if !inner.isAtEnd { _ = inner.next() }
    return inner.isAtEnd
  }

  /// Whether the element is an RDNSequence: SEQUENCE OF SET OF SEQUENCE { type, value }.
  private static func isName(_ element: DER.Element, _ der: [UInt8]) -> Bool {
    var names = DER.Cursor(der, element.content)
    while !names.isAtEnd {
      guard let relative = names.next(DER.set), !relative.content.isEmpty else { return false }
      var attributes = DER.Cursor(der, relative.content)
      while !attributes.isAtEnd {
        guard let attribute = attributes.next(DER.sequence) else { return false }
        var pair = DER.Cursor(der, attribute.content)
        guard pair.next(DER.objectIdentifier) != nil, let value = pair.next(), pair.isAtEnd,
          isNameText(value)
        else { return false }
      }
    }
    return true
  }

  /// Whether the element has a string type of names: UTF8, Numeric, Printable, Teletex, IA5, or
  /// BMP, whose characters have two bytes (RFC 5280 §4.1.2.4).
  private static func isNameText(_ element: DER.Element) -> Bool {
    switch element.tag {
    case 0x0c, 0x12, 0x13, 0x14, 0x16: return true
    case 0x1e: return element.content.count % 2 == 0
    default: return false
    }
  }

  /// Returns notBefore … notAfter in seconds since 1970 UTC (JWS-32).
  private static func validity(_ element: DER.Element, _ der: [UInt8]) -> ClosedRange<Int64>? {
    var dates = DER.Cursor(der, element.content)
    guard let from = time(&dates, der), let to = time(&dates, der), dates.isAtEnd, from <= to
    else { return nil }
    return from...to
  }

  private static func time(_ cursor: inout DER.Cursor, _ der: [UInt8]) -> Int64? {
    guard let element = cursor.next() else { return nil }
    switch element.tag {
    case DER.utcTime: return CivilDate.seconds(asn1: der[element.content], yearDigits: 2)
    case DER.generalizedTime: return CivilDate.seconds(asn1: der[element.content], yearDigits: 4)
    default: return nil
    }
  }

  private static func publicKeyInfo(_ element: DER.Element, _ der: [UInt8])
    -> (algorithm: Range<Int>, parameters: Range<Int>, key: Range<Int>)?
  {
    var inner = DER.Cursor(der, element.content)
    guard let algorithm = inner.next(DER.sequence), let bits = inner.next(DER.bitString),
      inner.isAtEnd, let key = octets(of: bits, der)
    else { return nil }
    var parts = DER.Cursor(der, algorithm.content)
    guard let identifier = parts.next(DER.objectIdentifier) else { return nil }
    let parameters = parts.position..<algorithm.content.upperBound
    if !parts.isAtEnd {
      guard parts.next() != nil, parts.isAtEnd else { return nil }
    }
    return (identifier.content, parameters, key)
  }

  private static func extensions(_ wrapper: DER.Element, _ der: [UInt8]) -> [Extension]? {
    var outer = DER.Cursor(der, wrapper.content)
    guard let list = outer.next(DER.sequence), outer.isAtEnd, !list.content.isEmpty else {
      return nil
    }
    var entries = DER.Cursor(der, list.content)
    var extensions: [Extension] = []
    while !entries.isAtEnd {
      guard let entry = entries.next(DER.sequence), extensions.count < extensionCap else {
        return nil
      }
      var inner = DER.Cursor(der, entry.content)
      guard let identifier = inner.next(DER.objectIdentifier) else { return nil }
      var isCritical = false
      if let flag = inner.next(DER.boolean) {
        // DER omits the default, FALSE (JWS-26).
        guard der[flag.content.lowerBound] == 0xff else { return nil }
        isCritical = true
      }
      guard let value = inner.next(DER.octetString), inner.isAtEnd else { return nil }
      extensions.append(
        Extension(identifier: identifier.content, isCritical: isCritical, value: value.content))
    }
    return extensions
  }

  private static func basicConstraints(_ entry: Extension, _ der: [UInt8]) -> BasicConstraints? {
    guard let list = single(entry.value, DER.sequence, der) else { return nil }
    var inner = DER.Cursor(der, list)
    var isAuthority = false
    if let flag = inner.next(DER.boolean) {
      guard flag.content.count == 1, der[flag.content.lowerBound] == 0xff else { return nil }
      isAuthority = true
    }
    if let length = inner.next(DER.integer) {
      guard DER.isMinimalInteger(der[length.content]), der[length.content.lowerBound] < 0x80
      else { return nil }
    }
    return inner.isAtEnd ? BasicConstraints(isAuthority: isAuthority) : nil
  }

  private static func keyUsage(_ entry: Extension, _ der: [UInt8]) -> KeyUsage? {
    guard let bits = single(entry.value, DER.bitString, der),
      DER.isCanonical(Array(der[entry.value])), !bits.isEmpty
    else { return nil }
    return KeyUsage(bits: Array(der[bits.lowerBound &+ 1..<bits.upperBound]))
  }

  /// Returns the content of the only element in an extension's value.
  private static func single(_ value: Range<Int>, _ tag: UInt8, _ der: [UInt8]) -> Range<Int>? {
    var cursor = DER.Cursor(der, value)
    guard let element = cursor.next(tag), cursor.isAtEnd else { return nil }
    return element.content
  }
}
