/// The signature checks of one call (CER-10): at most two more than the path that it
/// accepts. Otherwise one forgery with many certificates buys as many of the most
/// expensive step that there is.
struct SignatureChecks: Sendable {
  /// How many may be in vain.
  static let spare = 2

  /// All of them.
  private(set) var made = 0
  /// Those that belong to no path that holds.
  private(set) var inVain = 0

  /// Whether a further candidate may be tried.
  var mayGoOn: Bool { inVain <= SignatureChecks.spare }
  /// Whether one check may be made that no path needs.
  var hasSpare: Bool { inVain < SignatureChecks.spare }

  @inline(never)
  mutating func check(_ isGood: @autoclosure () -> Bool) -> Bool {
    made &+= 1
    if isGood() { return true }
    inVain &+= 1
    return false
  }

  /// Signatures that are good and lead nowhere.
  mutating func waste(_ count: Int) { inVain &+= count }
}

extension Certificate {
  /// CER-10: whether key identifier, serial number and validity let this be the
  /// issuer of a certificate that names it as its issuer. What either does not state
  /// rules nothing out.
  @inline(never)
  func mayHaveIssued(_ issued: Certificate) -> Bool {
    let wanted = issued.authorityKey
    let mine = keyIdentifier
    guard mine.isEmpty || wanted.identifier.isEmpty || mine == wanted.identifier,
      wanted.serial.isEmpty || bytes(serial) == wanted.serial
    else { return false }
    // No moment lies in both: no date can make them a path.
    return notBefore <= issued.notAfter && issued.notBefore <= notAfter
  }

  /// The identifier of the key in it (RFC 5280 §4.2.1.2); empty: not stated.
  private var keyIdentifier: ArraySlice<UInt8> {
    guard let entry = `extension`(ObjectIdentifier.subjectKeyIdentifier) else { return [] }
    var outer = DER.Cursor(der, entry.value)
    guard let octets = outer.next(DER.octetString), outer.isAtEnd else { return [] }
    return bytes(octets.content)
  }

  /// Key identifier and serial number of the issuer (RFC 5280 §4.2.1.1); empty if
  /// not stated.
  private var authorityKey: (identifier: ArraySlice<UInt8>, serial: ArraySlice<UInt8>) {
    guard let entry = `extension`(ObjectIdentifier.authorityKeyIdentifier) else { return ([], []) }
    var outer = DER.Cursor(der, entry.value)
    guard let list = outer.next(DER.sequence), outer.isAtEnd else { return ([], []) }
    var fields = DER.Cursor(der, list.content)
    let identifier = fields.next(0x80)
    _ = fields.next(0xa1)
    let serial = fields.next(0x82)
    return (identifier.map { bytes($0.content) } ?? [], serial.map { bytes($0.content) } ?? [])
  }
}

extension ObjectIdentifier {
  /// 2.5.29.14 and 2.5.29.35
  fileprivate static let subjectKeyIdentifier: [UInt8] = [0x55, 0x1d, 0x0e]
  fileprivate static let authorityKeyIdentifier: [UInt8] = [0x55, 0x1d, 0x23]
}
