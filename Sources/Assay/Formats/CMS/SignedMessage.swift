/// A decoded PKCS#7 container with its payload, its certificates and its only signer
/// (docs/spec/receipts.md §3.1). App receipts and App Attest receipts have this form. Nothing is
/// verified here; the caller's statuses and limits are in `Refusals` and `Limits`.
///
///     ContentInfo { signedData, [0] SignedData { 1, SET { digest },
///       { data, [0] OCTET STRING payload }, [0] certificates,
///       SET { SignerInfo { 1, issuer and serial, digest, signed attributes?, algorithm,
///         signature } } } }
struct SignedMessage: Sendable {
  /// The encoded container. All ranges are offsets into it.
  let bytes: [UInt8]
  /// The signed content without its ASN.1 head, chunks joined (APR-5).
  let payload: BER.Octets
  /// The encoded certificates, in the order of the container.
  let certificates: [Range<Int>]
  let digest: Algorithm
  let signer: Signer
  /// Number of BER elements in the container; the contents of primitive elements are not counted.
  let elements: Int

  /// An AlgorithmIdentifier.
  struct Algorithm: Sendable {
    /// Content bytes of the object identifier.
    let identifier: Range<Int>
    /// Whether the parameters are NULL or absent, as digests and RSA have them.
    let parametersAreEmpty: Bool
  }

  /// The signed attributes of a SignerInfo, which is signed in place of the payload
  /// (RFC 5652 §5.4, APR-4).
  struct SignedAttributes: Sendable {
    /// The DER encoding as a SET OF, which the signature covers.
    let encoded: [UInt8]
    /// The content of the attribute messageDigest.
    let messageDigest: Range<Int>
  }

  /// A SignerInfo.
  struct Signer: Sendable {
    /// The encoded issuer name, and the content bytes of the serial number.
    let issuer: Range<Int>
    let serial: Range<Int>
    let digest: Algorithm
    /// `nil` if the signature covers the payload itself.
    let attributes: SignedAttributes?
    let signatureAlgorithm: Algorithm
    let signature: BER.Octets
  }

  /// Upper limits of one container.
  struct Limits: Sendable {
    var ber: BER.Limits
    var certificates: Int
    /// Chunks of one octet string.
    var chunks: Int
    var payloadBytes: Int
    /// Whether signed attributes are read; otherwise they are refused.
    var takesSignedAttributes = true
  }

  /// The statuses with which a kind of evidence reports each fault of its container.
  struct Refusals: Sendable {
    var ber: Status
    var trailing: Status
    var structure: Status
    var contentType: Status
    var signers: Status
    var signerId: Status
    var signedAttributes: Status
    var elements: Status
    var depth: Status
    var certificates: Status
    var payload: Status
  }

  func slice(_ range: Range<Int>) -> ArraySlice<UInt8> {
    bytes[range.clamped(to: 0..<bytes.count)]
  }

  func names(_ algorithm: Algorithm, _ identifier: [UInt8]) -> Bool {
    slice(algorithm.identifier).elementsEqual(identifier)
  }

  // MARK: reading

  /// Decodes a container (APR-1 … APR-4).
  init(_ bytes: [UInt8], _ limits: Limits, _ refusals: Refusals) throws(Refusal) {
    elements = try SignedMessage.measure(bytes, limits.ber, refusals)
    var reading = Reading(bytes, limits, refusals)
    var signedData = try reading.openSignedData()
    digest = try reading.soleDigest(&signedData)
    payload = try reading.payload(&signedData)
    certificates = try reading.certificates(&signedData)
    signer = try reading.soleSigner(&signedData)
    try reading.finish(signedData)
    self.bytes = bytes
  }

  /// Requires one well-formed BER value (APR-1) with nothing after it (APR-2), and returns its
  /// number of elements.
  private static func measure(
    _ bytes: [UInt8], _ limits: BER.Limits, _ refusals: Refusals
  ) throws(Refusal) -> Int {
    do throws(BER.Fault) {
      return try BER.measure(bytes, limits)
    } catch {
      let place = "byte " + String(error.offset)
      switch error {
      case .unclean: throw Refusal(refusals.ber, "APR-1", at: place)
      case .trailing: throw Refusal(refusals.trailing, "APR-2", at: place)
      case .tooManyElements: throw Refusal(refusals.elements, "APR-1", at: place)
      case .tooDeep: throw Refusal(refusals.depth, "APR-1", at: place)
      }
    }
  }

  /// Returns the payload of a container without checking the rest; `nil` if there is none. Only
  /// triage may use it: nothing about it is verified.
  static func unverifiedPayload(of bytes: [UInt8]) -> BER.Octets? {
    let outer = BER.Cursor(bytes)
    guard var info = outer.open(DER.sequence),
      let type = info.next(DER.objectIdentifier),
      bytes[type.content].elementsEqual(ObjectIdentifier.signedData),
      let wrapper = info.open(0xa0), var data = wrapper.open(DER.sequence),
      data.next(DER.integer) != nil, data.next(DER.set) != nil,
      var content = data.open(DER.sequence),
      content.next(DER.objectIdentifier) != nil, var inner = content.open(0xa0)
    else { return nil }
    return inner.octets(chunkCap: .max)
  }

  /// Returns what is there of the payload of a container that ends too early; `nil` if it ends
  /// before. Only triage may use it: nothing about it is verified.
  static func remainingPayload(of bytes: [UInt8]) -> BER.Octets? {
    var at = 0
    for (tag, isEntered) in [
      (DER.sequence, true), (DER.objectIdentifier, false), (0xa0, true), (DER.sequence, true),
      (DER.integer, false), (DER.set, false), (DER.sequence, true), (DER.objectIdentifier, false),
      (0xa0, true),
    ] {
      guard let head = BER.head(bytes, at, bytes.count, isCut: true), head.tag == tag else {
        return nil
      }
      at = isEntered ? head.content : head.end ?? bytes.count
    }
    guard let content = BER.head(bytes, at, bytes.count, isCut: true) else { return nil }
    guard content.tag == BER.chunkedOctetString else {
      return content.tag == DER.octetString
        ? BER.Octets(bytes, content.content..<(content.end ?? bytes.count)) : nil
    }
    var joined: [UInt8] = []
    at = content.content
    while let chunk = BER.head(bytes, at, bytes.count, isCut: true), chunk.tag == DER.octetString,
      let end = chunk.end
    {
      joined.append(contentsOf: bytes[chunk.content..<end])
      at = end
    }
    return BER.Octets(joined, 0..<joined.count)
  }
}

/// Reads the members of a container in their order, in a single pass.
private struct Reading {
  private let bytes: [UInt8]
  private let limits: SignedMessage.Limits
  private let refusals: SignedMessage.Refusals
  private var outer: BER.Cursor
  private var info: BER.Cursor
  private var wrapper: BER.Cursor

  init(
    _ bytes: [UInt8], _ limits: SignedMessage.Limits, _ refusals: SignedMessage.Refusals
  ) {
    self.bytes = bytes
    self.limits = limits
    self.refusals = refusals
    outer = BER.Cursor(bytes)
    info = outer
    wrapper = outer
  }

  // MARK: the members

  /// Reads ContentInfo and the head of SignedData.
  mutating func openSignedData() throws(Refusal) -> BER.Cursor {
    info = try open(outer, DER.sequence, "ContentInfo")
    let type = try next(&info, DER.objectIdentifier, "contentType")
    try require(
      bytes[type.content].elementsEqual(ObjectIdentifier.signedData), refusals.contentType,
      "APR-2", at: "contentType")
    wrapper = try open(info, 0xa0, "content")
    var signedData = try open(wrapper, DER.sequence, "SignedData")
    let version = try next(&signedData, DER.integer, "SignedData.version")
    try require(isOne(version), refusals.contentType, "APR-2", at: "SignedData.version")
    return signedData
  }

  mutating func soleDigest(
    _ signedData: inout BER.Cursor
  ) throws(Refusal) -> SignedMessage.Algorithm {
    var set = try open(signedData, DER.set, "digestAlgorithms")
    let algorithm = try self.algorithm(&set, "digestAlgorithms")
    try close(&signedData, set, "digestAlgorithms")
    return algorithm
  }

  mutating func payload(_ signedData: inout BER.Cursor) throws(Refusal) -> BER.Octets {
    var content = try open(signedData, DER.sequence, "encapContentInfo")
    let type = try next(&content, DER.objectIdentifier, "eContentType")
    try require(
      bytes[type.content].elementsEqual(ObjectIdentifier.data), refusals.contentType, "APR-2",
      at: "eContentType")
    var wrapper = try open(content, 0xa0, "eContent")
    let payload = try octets(&wrapper, "eContent")
    try require(
      payload.range.count <= limits.payloadBytes, refusals.payload, "APR-1", at: "eContent")
    try close(&content, wrapper, "eContent")
    try close(&signedData, content, "encapContentInfo")
    return payload
  }

  mutating func certificates(_ signedData: inout BER.Cursor) throws(Refusal) -> [Range<Int>] {
    var bag = try open(signedData, 0xa0, "certificates")
    var found: [Range<Int>] = []
    while !bag.isAtEnd {
      try require(
        found.count < limits.certificates, refusals.certificates, "APR-1", at: "certificates")
      found.append(try next(&bag, DER.sequence, "certificates").whole)
    }
    try close(&signedData, bag, "certificates")
    // Skips certificate revocation lists unread (APR-4).
    _ = signedData.next(0xa1)
    return found
  }

  /// Reads the signer. There must be exactly one (APR-3).
  mutating func soleSigner(
    _ signedData: inout BER.Cursor
  ) throws(Refusal) -> SignedMessage.Signer {
    var set = try open(signedData, DER.set, "signerInfos")
    try require(!set.isAtEnd, refusals.signers, "APR-3", at: "signerInfos")
    var fields = try open(set, DER.sequence, "SignerInfo")
    let signer = try signer(&fields)
    try close(&set, fields, "SignerInfo")
    try require(set.isAtEnd, refusals.signers, "APR-3", at: "signerInfos")
    try close(&signedData, set, "signerInfos")
    return signer
  }

  private func signer(_ fields: inout BER.Cursor) throws(Refusal) -> SignedMessage.Signer {
    let version = try next(&fields, DER.integer, "SignerInfo.version")
    try require(fields.nextTag.map { $0 & 0xc0 } != 0x80, refusals.signerId, "APR-3", at: "sid")
    try require(isOne(version), refusals.signers, "APR-3", at: "SignerInfo.version")
    var name = try open(fields, DER.sequence, "sid")
    let issuer = try next(&name, DER.sequence, "sid.issuer")
    let serial = try next(&name, DER.integer, "sid.serialNumber")
    try close(&fields, name, "sid")
    let digest = try algorithm(&fields, "digestAlgorithm")
    let attributes = try signedAttributes(&fields)
    let signatureAlgorithm = try algorithm(&fields, "signatureAlgorithm")
    let signature = try octets(&fields, "signature")
    // Skips unsigned attributes unread (APR-4).
    _ = fields.next(0xa1)
    return SignedMessage.Signer(
      issuer: issuer.whole, serial: serial.content, digest: digest, attributes: attributes,
      signatureAlgorithm: signatureAlgorithm, signature: signature)
  }

  /// Reads the signed attributes in DER, because the signature covers their encoding as a SET OF
  /// (APR-4); `nil` if there are none. Each type occurs once; contentType is that of the payload.
  private func signedAttributes(
    _ fields: inout BER.Cursor
  ) throws(Refusal) -> SignedMessage.SignedAttributes? {
    guard fields.nextTag == 0xa0, let whole = fields.next()?.whole else { return nil }
    let (status, place) = (refusals.signedAttributes, "signedAttrs")
    try require(limits.takesSignedAttributes, status, "APR-4", at: place)
    let encoded = [DER.set] + bytes[whole].dropFirst()
    try require(DER.isCanonical(encoded), status, "APR-4", at: place)
    var outer = DER.Cursor(encoded)
    var list = DER.Cursor(encoded, outer.next(DER.set)?.content ?? 0..<0)
    var types: [ArraySlice<UInt8>] = []
    var contentType: Range<Int>? = nil
    var messageDigest: Range<Int>? = nil
    while !list.isAtEnd {
      guard let attribute = SignedAttribute(encoded, &list) else {
        throw Refusal(status, "APR-4", at: place)
      }
      let type = encoded[attribute.type]
      try require(!types.contains(type), status, "APR-4", at: place)
      types.append(type)
      if type.elementsEqual(ObjectIdentifier.contentType) {
        contentType = attribute.only(encoded, DER.objectIdentifier)
      } else if type.elementsEqual(ObjectIdentifier.messageDigest) {
        messageDigest = attribute.only(encoded, DER.octetString)
      }
    }
    let isData = contentType.map { encoded[$0].elementsEqual(ObjectIdentifier.data) }
    try require(isData == true, status, "APR-4", at: place)
    guard let messageDigest else { throw Refusal(status, "APR-4", at: place) }
    return SignedMessage.SignedAttributes(encoded: encoded, messageDigest: messageDigest)
  }

  /// Requires every open container to end with its last member.
  mutating func finish(_ signedData: BER.Cursor) throws(Refusal) {
    try close(&wrapper, signedData, "SignedData")
    try close(&info, wrapper, "content")
    try close(&outer, info, "ContentInfo")
  }

  // MARK: parts

  private func algorithm(
    _ cursor: inout BER.Cursor, _ place: StaticString
  ) throws(Refusal) -> SignedMessage.Algorithm {
    var inner = try open(cursor, DER.sequence, place)
    let identifier = try next(&inner, DER.objectIdentifier, place)
    var isEmpty = true
    if !inner.isAtEnd {
      guard let parameters = inner.next() else { throw refusal(place) }
      isEmpty = parameters.tag == DER.null && parameters.content.isEmpty
    }
    try close(&cursor, inner, place)
    return SignedMessage.Algorithm(
      identifier: identifier.content, parametersAreEmpty: isEmpty)
  }

  private func isOne(_ number: BER.Element) -> Bool {
    number.content.count == 1 && bytes[number.content].first == 1
  }

  /// Returns the refusal of a member that is missing or replaced by another (APR-2).
  private func refusal(_ place: StaticString) -> Refusal {
    Refusal(refusals.structure, "APR-2", at: Text(stringLiteral: place).string)
  }

  private func open(
    _ cursor: BER.Cursor, _ tag: UInt8, _ place: StaticString
  ) throws(Refusal) -> BER.Cursor {
    guard let inner = cursor.open(tag) else { throw refusal(place) }
    return inner
  }

  private func next(
    _ cursor: inout BER.Cursor, _ tag: UInt8, _ place: StaticString
  ) throws(Refusal) -> BER.Element {
    guard let element = cursor.next(tag) else { throw refusal(place) }
    return element
  }

  private func octets(
    _ cursor: inout BER.Cursor, _ place: StaticString
  ) throws(Refusal) -> BER.Octets {
    guard let octets = cursor.octets(chunkCap: limits.chunks) else { throw refusal(place) }
    return octets
  }

  private func close(
    _ cursor: inout BER.Cursor, _ inner: BER.Cursor, _ place: StaticString
  ) throws(Refusal) {
    try require(
      cursor.close(inner), refusals.structure, "APR-2", at: Text(stringLiteral: place).string)
  }
}

/// One attribute of a signer, `SEQUENCE { type, SET { value … } }`.
private struct SignedAttribute {
  /// The content bytes of the object identifier.
  let type: Range<Int>
  /// The encoded values.
  private let values: Range<Int>

  /// Reads the next attribute of `list`; `nil` if it has another form.
  init?(_ bytes: [UInt8], _ list: inout DER.Cursor) {
    guard let whole = list.next(DER.sequence) else { return nil }
    var parts = DER.Cursor(bytes, whole.content)
    guard let type = parts.next(DER.objectIdentifier), let values = parts.next(DER.set),
      parts.isAtEnd
    else { return nil }
    (self.type, self.values) = (type.content, values.content)
  }

  /// Returns the content of the value, if there is exactly one and it has this tag.
  func only(_ bytes: [UInt8], _ tag: UInt8) -> Range<Int>? {
    var cursor = DER.Cursor(bytes, values)
    guard let value = cursor.next(tag), cursor.isAtEnd else { return nil }
    return value.content
  }
}

extension ObjectIdentifier {
  /// 1.2.840.113549.1.9.3 and .4.
  static let contentType: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x03]
  static let messageDigest: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x04]
  /// 1.2.840.113549.1.7.2 and .1.
  static let signedData: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02]
  static let data: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01]
  /// 1.3.14.3.2.26 and 2.16.840.1.101.3.4.2.1.
  static let sha1: [UInt8] = [0x2b, 0x0e, 0x03, 0x02, 0x1a]
  static let sha256: [UInt8] = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01]
}
