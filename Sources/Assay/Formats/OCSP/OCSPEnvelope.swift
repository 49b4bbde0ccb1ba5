/// The outer structure of an OCSP response, OCSPResponse (OCSP-11).
enum OCSPEnvelope {
  case basic(OCSPResponse)
  /// The responder reports an error instead of a status, such as tryLater.
  case noAnswer

  /// id-pkix-ocsp-basic, 1.3.6.1.5.5.7.48.1.1.
  private static let basicType: [UInt8] = [
    0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x30, 0x01, 0x01,
  ]
  /// malformedRequest, internalError, tryLater, sigRequired, unauthorized.
  private static let faults: [UInt8] = [1, 2, 3, 5, 6]

  /// Reads an OCSPResponse; `nil` if `bytes` are not exactly one in DER.
  static func read(_ bytes: [UInt8]) -> OCSPEnvelope? {
    guard DER.isCanonical(bytes) else { return nil }
    var outer = DER.Cursor(bytes)
    guard let whole = outer.next(DER.sequence) else { return nil }
    var parts = DER.Cursor(bytes, whole.content)
    guard let status = parts.next(0x0a), status.content.count == 1 else { return nil }
    let code = bytes[status.content.lowerBound]
    guard code == 0 else { return parts.isAtEnd && faults.contains(code) ? .noAnswer : nil }
    guard let wrapper = parts.next(0xa0), parts.isAtEnd else { return nil }
    var inner = DER.Cursor(bytes, wrapper.content)
    guard let pair = inner.next(DER.sequence), inner.isAtEnd else { return nil }
    var fields = DER.Cursor(bytes, pair.content)
    guard let type = fields.next(DER.objectIdentifier),
      bytes[type.content].elementsEqual(basicType),
      let octets = fields.next(DER.octetString), fields.isAtEnd,
      let response = OCSPResponse(Array(bytes[octets.content]))
    else { return nil }
    return .basic(response)
  }
}
