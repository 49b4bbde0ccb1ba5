/// A BasicOCSPResponse (RFC 6960 §4.2), decoded strictly (OCSP-11, OCSP-12, OCSP-20) but not yet
/// verified. Ranges are offsets into `der`.
struct OCSPResponse {
  /// The responder id, by which the response names its signer (OCSP-13).
  enum Responder {
    /// The responder's encoded Name.
    case name(Range<Int>)
    /// The SHA-1 digest of the responder's public key.
    case key(Range<Int>)
  }

  enum Status: Equatable {
    case good
    /// `atMs` in milliseconds since 1970 UTC; `reason` is a CRLReason.
    case revoked(atMs: Int64, reason: Int64?)
    case unknown
  }

  /// The status of one certificate, a SingleResponse.
  struct Single {
    /// Content bytes of the CertID's members.
    let hashAlgorithm, issuerName, issuerKey, serial: Range<Int>
    let status: Status
    /// Times in milliseconds since 1970 UTC.
    let thisUpdateMs: Int64
    let nextUpdateMs: Int64?
  }

  /// The encoded BasicOCSPResponse.
  let der: [UInt8]
  /// The signed part: the encoded ResponseData.
  let signed: Range<Int>
  let responder: Responder
  let producedAtMs: Int64
  let singles: [Single]
  /// The encoded AlgorithmIdentifier of the signature.
  let algorithm: Range<Int>
  let signature: Range<Int>
  let certificates: [Range<Int>]

  /// Number of certificates and single responses that are considered; further ones are ignored
  /// (OCSP-12).
  static let lookedAt = 8

  /// Decodes a BasicOCSPResponse; `nil` if `der` is not exactly one in DER.
  init?(_ der: [UInt8]) {
    guard DER.isCanonical(der) else { return nil }
    var outer = DER.Cursor(der)
    guard let whole = outer.next(DER.sequence) else { return nil }
    var parts = DER.Cursor(der, whole.content)
    guard let data = parts.next(DER.sequence), let algorithm = parts.next(DER.sequence),
      let bits = parts.next(DER.bitString), der[bits.content].first == 0,
      let certificates = OCSPResponse.certificates(&parts, der), parts.isAtEnd
    else { return nil }
    var fields = DER.Cursor(der, data.content)
    // An explicit version would come first. Only v1 exists, which DER omits.
    guard let responder = OCSPResponse.responder(&fields, der),
      let produced = OCSPResponse.time(&fields, der), let list = fields.next(DER.sequence),
      let singles = OCSPResponse.singles(list, der),
      OCSPResponse.hasCleanExtensions(&fields, der), fields.isAtEnd
    else { return nil }
    self.der = der
    signed = data.whole
    self.responder = responder
    producedAtMs = produced
    self.singles = singles
    self.algorithm = algorithm.whole
    signature = bits.content.lowerBound &+ 1..<bits.content.upperBound
    self.certificates = certificates
  }

  // MARK: fields

  private static func certificates(
    _ parts: inout DER.Cursor, _ der: [UInt8]
  ) -> [Range<Int>]? {
    guard let wrapper = parts.next(0xa0) else { return [] }
    guard let list = single(wrapper, DER.sequence, der) else { return nil }
    var entries = DER.Cursor(der, list.content)
    var found: [Range<Int>] = []
    while !entries.isAtEnd {
      guard let entry = entries.next(DER.sequence) else { return nil }
      if found.count < lookedAt { found.append(entry.whole) }
    }
    return found
  }

  private static func responder(_ fields: inout DER.Cursor, _ der: [UInt8]) -> Responder? {
    if let wrapper = fields.next(0xa1) {
      return single(wrapper, DER.sequence, der).map { .name($0.whole) }
    }
    guard let wrapper = fields.next(0xa2) else { return nil }
    return single(wrapper, DER.octetString, der).map { .key($0.content) }
  }

  private static func singles(_ list: DER.Element, _ der: [UInt8]) -> [Single]? {
    var entries = DER.Cursor(der, list.content)
    var found: [Single] = []
    while !entries.isAtEnd {
      guard let entry = entries.next(DER.sequence) else { return nil }
      guard found.count < lookedAt else { continue }
      guard let answer = answer(entry, der) else { return nil }
      found.append(answer)
    }
    return found
  }

  private static func answer(_ entry: DER.Element, _ der: [UInt8]) -> Single? {
    var fields = DER.Cursor(der, entry.content)
    guard let id = fields.next(DER.sequence), let status = status(&fields, der),
      let thisUpdate = time(&fields, der)
    else { return nil }
    var nextUpdate: Int64? = nil
    if let wrapper = fields.next(0xa0) {
      var inner = DER.Cursor(der, wrapper.content)
      guard let time = time(&inner, der), inner.isAtEnd else { return nil }
      nextUpdate = time
    }
    guard hasCleanExtensions(&fields, der), fields.isAtEnd else { return nil }
    var parts = DER.Cursor(der, id.content)
    guard let algorithm = parts.next(DER.sequence), let hash = digest(algorithm, der),
      let name = parts.next(DER.octetString), let key = parts.next(DER.octetString),
      let serial = parts.next(DER.integer), parts.isAtEnd
    else { return nil }
    return Single(
      hashAlgorithm: hash, issuerName: name.content, issuerKey: key.content,
      serial: serial.content, status: status, thisUpdateMs: thisUpdate, nextUpdateMs: nextUpdate)
  }

  /// Returns the object identifier of a digest whose parameters are NULL or absent; `nil`
  /// otherwise.
  private static func digest(_ algorithm: DER.Element, _ der: [UInt8]) -> Range<Int>? {
    var inner = DER.Cursor(der, algorithm.content)
    guard let identifier = inner.next(DER.objectIdentifier) else { return nil }
    _ = inner.next(DER.null)
    return inner.isAtEnd ? identifier.content : nil
  }

  private static func status(_ fields: inout DER.Cursor, _ der: [UInt8]) -> Status? {
    guard let element = fields.next() else { return nil }
    switch element.tag {
    case 0x80: return element.content.isEmpty ? .good : nil
    case 0x82: return element.content.isEmpty ? .unknown : nil
    case 0xa1: return revoked(element, der)
    default: return nil
    }
  }

  private static func revoked(_ element: DER.Element, _ der: [UInt8]) -> Status? {
    var inner = DER.Cursor(der, element.content)
    guard let time = time(&inner, der) else { return nil }
    guard let wrapper = inner.next(0xa0) else {
      return inner.isAtEnd ? .revoked(atMs: time, reason: nil) : nil
    }
    guard inner.isAtEnd, let reason = single(wrapper, enumerated, der), reason.content.count == 1
    else { return nil }
    return .revoked(atMs: time, reason: Int64(der[reason.content.lowerBound]))
  }

  /// Reads a GeneralizedTime without fraction, in milliseconds since 1970 UTC; `nil` if it is
  /// outside the accepted range of dates (OCSP-20).
  private static func time(_ fields: inout DER.Cursor, _ der: [UInt8]) -> Int64? {
    guard let element = fields.next(DER.generalizedTime),
      let seconds = CivilDate.seconds(asn1: der[element.content], yearDigits: 4)
    else { return nil }
    // Years have four digits: the product cannot overflow.
    let milliseconds = seconds &* 1000
    return TimeWindow.contains(milliseconds) ? milliseconds : nil
  }

  /// Skips optional extensions. None is supported, so none may be critical.
  private static func hasCleanExtensions(_ fields: inout DER.Cursor, _ der: [UInt8]) -> Bool {
    guard let wrapper = fields.next(0xa1) else { return true }
    guard let list = single(wrapper, DER.sequence, der) else { return false }
    var entries = DER.Cursor(der, list.content)
    while !entries.isAtEnd {
      guard let entry = entries.next(DER.sequence) else { return false }
      var inner = DER.Cursor(der, entry.content)
      guard inner.next(DER.objectIdentifier) != nil, inner.next(DER.octetString) != nil,
        inner.isAtEnd
      else { return false }
    }
    return true
  }

  private static let enumerated: UInt8 = 0x0a

  /// Returns the only element inside a wrapper; `nil` if there is not exactly one with this tag.
  private static func single(
    _ wrapper: DER.Element, _ tag: UInt8, _ der: [UInt8]
  ) -> DER.Element? {
    var cursor = DER.Cursor(der, wrapper.content)
    guard let element = cursor.next(tag), cursor.isAtEnd else { return nil }
    return element
  }
}
