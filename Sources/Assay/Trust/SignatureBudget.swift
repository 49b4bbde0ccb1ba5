/// The budget of signature checks of one call: at most two more than the accepted path needs
/// (CER-10). Without this limit one forgery with many certificates could cause as many signature
/// checks, the most expensive step.
struct SignatureBudget: Sendable {
  /// Number of checks that may be wasted.
  static let spare = 2

  /// Number of all checks.
  private(set) var made = 0
  /// Number of checks that belong to no accepted path.
  private(set) var wasted = 0

  /// Whether a further candidate may be tried.
  var isAvailable: Bool { wasted <= SignatureBudget.spare }
  /// Whether the budget allows one check that no path needs.
  var allowsOptionalCheck: Bool { wasted < SignatureBudget.spare }

  @inline(never)
  mutating func check(_ isGood: @autoclosure () -> Bool) -> Bool {
    made &+= 1
    if isGood() { return true }
    wasted &+= 1
    return false
  }

  /// Counts valid signatures that belong to no accepted path.
  mutating func addWasted(_ count: Int) { wasted &+= count }
}

extension Certificate {
  /// Whether this certificate may have issued `issued`, which names it as its issuer, by key
  /// identifier, serial number and validity (CER-10). A value that is absent rules nothing out.
  @inline(never)
  func mayHaveIssued(_ issued: Certificate) -> Bool {
    let wanted = issued.authorityKey
    let mine = keyIdentifier
    guard mine.isEmpty || wanted.identifier.isEmpty || mine == wanted.identifier,
      wanted.serial.isEmpty || bytes(serial) == wanted.serial
    else { return false }
    // If the validities do not overlap, no date makes the two a path.
    return notBefore <= issued.notAfter && issued.notBefore <= notAfter
  }

  /// The subject key identifier (RFC 5280 §4.2.1.2); empty if absent.
  private var keyIdentifier: ArraySlice<UInt8> {
    guard let entry = `extension`(ObjectIdentifier.subjectKeyIdentifier) else { return [] }
    var outer = DER.Cursor(der, entry.value)
    guard let octets = outer.next(DER.octetString), outer.isAtEnd else { return [] }
    return bytes(octets.content)
  }

  /// The issuer's key identifier and serial number (RFC 5280 §4.2.1.1); empty if absent.
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
  /// 2.5.29.14 and 2.5.29.35.
  fileprivate static let subjectKeyIdentifier: [UInt8] = [0x55, 0x1d, 0x0e]
  fileprivate static let authorityKeyIdentifier: [UInt8] = [0x55, 0x1d, 0x23]
}
