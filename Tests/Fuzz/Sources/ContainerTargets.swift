import CReference

@testable import Assay
@testable import AssayAuthority

private typealias Writer = AssayAuthority.DER

/// Targets for PKCS#7 containers and their payloads, without any signature, compared with a small
/// reader of BER and with libcrypto.
enum ContainerTargets {
  // MARK: containers

  /// The replacements of longer bytes in containers.
  static let pieces: [[UInt8]] = {
    let names: [(String, String)] = [("CN", "Assay Fuzz")]
    let name = DistinguishedName.make(names.map { (type: $0.0, value: $0.1) })
    let info = Writer.sequence(
      Writer.sequence(Writer.oid(OID.rsaEncryption), Writer.null),
      Writer.bitString(
        Writer.sequence(Writer.integer(octets: [5]), Writer.integer(octets: [3]))))
    let algorithm = Writer.sequence(Writer.oid(OID.sha256WithRSA), Writer.null)
    let dates = Writer.sequence(
      Writer.value(0x17, Array("261121000000Z".utf8)),
      Writer.value(0x17, Array("271121000000Z".utf8)))
    let body = Writer.sequence(
      Writer.value(0xa0, Writer.integer(octets: [2])), Writer.integer(octets: [7]), algorithm, name,
      dates, name, info)
    let certificate = Writer.sequence(body, algorithm, Writer.value(3, [0, 1, 2, 3, 4]))
    return [
      certificate, Writer.oid(OID.signedData), Writer.oid(OID.data), name,
      Writer.sequence(Writer.oid(OID.sha256), Writer.null),
      Writer.sequence(Writer.oid(OID.sha1), Writer.null),
      Writer.sequence(Writer.oid(OID.rsaEncryption), Writer.null),
    ]
  }()

  private static let limits = SignedMessage.Limits(
    ber: BER.Limits(elements: 512, depth: 24), certificates: 8, chunks: 64,
    payloadBytes: 1 << 16)

  private static let refusals = SignedMessage.Refusals(
    ber: .malformedAppReceiptBer, trailing: .malformedAppReceiptTrailing,
    structure: .malformedAppReceiptStructure, contentType: .unsupportedAppReceiptContentType,
    signers: .unsupportedAppReceiptSigners, signerId: .unsupportedAppReceiptSignerId,
    signedAttributes: .unsupportedAppReceiptSignedAttributes,
    elements: .tooLargeAppReceiptElements, depth: .tooLargeAppReceiptDepth,
    certificates: .tooLargeAppReceiptCertificates, payload: .tooLargeAppReceiptSize)

  /// Reads any bytes as a container.
  static func ber(_ input: [UInt8]) {
    let bytes = ReceiptFixture.assemble(input[...], pieces)
    let elements = reference_ber_elements(bytes, bytes.count, 512, 24)
    do throws(BER.Fault) {
      let mine = try BER.measure(bytes, limits.ber)
      demand(elements == mine, "\(mine) elements, not \(elements)")
    } catch {
      demand(elements < 0, "the other reader accepts the BER: \(error)")
      demand(error.offset >= 0 && error.offset <= bytes.count, "refused at \(error.offset)")
    }
    let unverified = SignedMessage.unverifiedPayload(of: bytes)
    if let claims = AppReceiptClaims.claims(bytes) { checkClaims(claims) }
    let message: SignedMessage
    do throws(Refusal) {
      message = try SignedMessage(bytes, limits, refusals)
    } catch {
      return
    }
    demand(elements == message.elements, "the elements of a container")
    demand(
      unverified.map { Array($0.slice) } == Array(message.payload.slice),
      "the unverified payload is another one")
    compare(message, bytes)
  }

  private static func compare(_ mine: SignedMessage, _ bytes: [UInt8]) {
    guard let other = OtherMessage(bytes) else { return }
    func part(_ number: Int) -> [UInt8]? { other.part(number) }
    demand(other.payload == Array(mine.payload.slice), "the payload differs")
    demand(part(REFERENCE_SIGNATURE) == Array(mine.signer.signature.slice), "the signature")
    demand(
      part(REFERENCE_SIGNER_DIGEST) == Array(mine.slice(mine.signer.digest.identifier)),
      "the digest differs")
    demand(
      part(REFERENCE_SIGNER_ALGORITHM)
        == Array(mine.slice(mine.signer.signatureAlgorithm.identifier)), "the algorithm differs")
    demand(
      other.certificateCount == mine.certificates.count,
      "the count of certificates differs")
    if let serial = part(REFERENCE_SIGNER_SERIAL) {
      demand(serial == Array(mine.slice(mine.signer.serial)), "the serial number differs")
    }
    if let issuer = part(REFERENCE_SIGNER_ISSUER), isDefinite(mine.slice(mine.signer.issuer)) {
      demand(issuer == Array(mine.slice(mine.signer.issuer)), "the issuer differs")
    }
  }

  /// Whether a name has definite lengths, as libcrypto writes it.
  private static func isDefinite(_ name: ArraySlice<UInt8>) -> Bool {
    Assay.DER.isCanonical(Array(name))
  }

  // MARK: payloads

  /// Reads any bytes as a payload. The first byte selects how many elements and purchases are
  /// allowed.
  static func receiptAttributes(_ input: [UInt8]) {
    guard let selector = input.first else { return }
    let bytes = Array(input.dropFirst())
    let payload = BER.Octets(bytes, 0..<bytes.count)
    let limits = ReceiptAttributes.Limits(
      elements: selector & 1 == 0 ? 4096 : 96, purchases: selector & 2 == 0 ? 64 : 1)
    checkFrame(bytes)
    let mine: ReceiptAttributes
    do throws(Refusal) {
      mine = try ReceiptAttributes(payload, limits)
    } catch {
      demand(!error.place.isEmpty, "refused nowhere")
      return
    }
    guard let other = OtherAttributes(bytes, 0..<bytes.count) else {
      fatalError("libcrypto reads no such attributes")
    }
    other.check(mine)
    demand(mine.purchases.count <= limits.purchases, "passed the cap of purchases")
    do throws(Refusal) {
      let date = try mine.creationDate()
      demand(other.date(12) == date, "the date of creation differs")
    } catch {}
  }

  /// Checks the claims of the same payload in a container, which is unverified.
  private static func checkFrame(_ payload: [UInt8]) {
    let content = Writer.sequence(
      Writer.oid(OID.data), Writer.value(0xa0, Writer.octetString(payload)))
    let data = Writer.sequence(Writer.integer(octets: [1]), Writer.value(0x31, []), content)
    let whole = Writer.sequence(Writer.oid(OID.signedData), Writer.value(0xa0, data))
    guard let claims = AppReceiptClaims.claims(whole) else { return }
    checkClaims(claims)
    guard claims.form == .appReceipt,
      let read = try? ReceiptAttributes(
        BER.Octets(payload, 0..<payload.count), .init(elements: 1 << 16, purchases: 8192))
    else { return }
    // The claims must equal what the strict reader accepts.
    demand(claims.text(claims.bundleId) == read.text(read.bundleId), "another bundle id")
    demand(claims.text(claims.type) == read.text(read.type), "another type")
    demand(claims.purchases.count == read.purchases.count, "other purchases")
    for (claim, purchase) in zip(claims.purchases, read.purchases) {
      demand(claims.text(claim.productId) == read.text(purchase.productId), "another product")
      demand(
        claims.text(claim.transactionId) == read.text(purchase.transactionId),
        "another transaction id")
      demand(claim.purchaseDate == purchase.purchaseDate, "another date")
    }
  }

  private static func checkClaims(_ claims: AppReceiptClaims) {
    let range = claims.payload.range
    func check(_ part: Range<Int>?) {
      guard let part else { return }
      demand(
        part.lowerBound >= range.lowerBound && part.upperBound <= range.upperBound,
        "a claim outside the payload")
      demand(
        String(validating: claims.slice(part), as: UTF8.self) != nil, "a claim is no text")
    }
    check(claims.type)
    check(claims.bundleId)
    for purchase in claims.purchases {
      check(purchase.productId)
      check(purchase.transactionId)
      check(purchase.originalTransactionId)
    }
  }
}

/// A container as libcrypto reads it; `nil` if it does not.
final class OtherMessage {
  private let message: OpaquePointer
  private let size: Int

  init?(_ bytes: [UInt8]) {
    guard let message = reference_message_read(bytes, bytes.count) else { return nil }
    self.message = message
    size = bytes.count
  }

  deinit { reference_message_free(message) }

  var payload: [UInt8]? { part(REFERENCE_PAYLOAD) }
  var certificateCount: Int { Int(reference_message_certificates(message)) }

  func part(_ number: Int) -> [UInt8]? {
    // A rewritten part is never longer than the container.
    var out = [UInt8](repeating: 0, count: size + 16)
    let count = reference_message_part(message, Int32(number), &out, out.count)
    return count < 0 ? nil : Array(out[..<count])
  }
}

/// The attributes of a SET as libcrypto reads them; the first of each type.
struct OtherAttributes {
  let bytes: [UInt8]
  private(set) var values: [UInt64: Range<Int>] = [:]
  private(set) var purchases: [OtherAttributes] = []

  init?(_ bytes: [UInt8], _ range: Range<Int>) {
    self.bytes = bytes
    var found = [reference_attribute](repeating: reference_attribute(), count: 1024)
    let count = reference_attributes(
      bytes, range.lowerBound, range.upperBound, &found, found.count)
    guard count >= 0 else { return nil }
    for attribute in found.prefix(count) {
      let value = attribute.value..<attribute.value + attribute.length
      if attribute.type == 17 {
        guard let purchase = OtherAttributes(bytes, value) else { return nil }
        purchases.append(purchase)
      } else {
        demand(values[attribute.type] == nil, "accepted an attribute twice")
        values[attribute.type] = value
      }
    }
  }

  private func text(_ type: UInt64, tag: Int32) -> [UInt8]? {
    guard let value = values[type] else { return nil }
    var length = 0
    let start = reference_string(bytes, value.lowerBound, value.upperBound, tag, &length)
    return start < 0 ? nil : Array(bytes[start..<start + length])
  }

  /// Returns the text of a UTF8String.
  func text(_ type: UInt64) -> [UInt8]? { text(type, tag: 12) }

  /// Returns the date of an IA5String; `nil` for an empty one.
  func date(_ type: UInt64) -> Int64? {
    guard let text = text(type, tag: 22) else { return nil }
    let found = reference_iso_date(text, text.count)
    return found == .min ? nil : found
  }

  func number(_ type: UInt64) -> UInt64? {
    guard let value = values[type] else { return nil }
    var number: UInt64 = 0
    let isNumber = reference_number(bytes, value.lowerBound, value.upperBound, &number)
    return isNumber == 1 ? number : nil
  }

  func check(_ mine: ReceiptAttributes) {
    func same(_ range: Range<Int>?, _ type: UInt64) {
      let other = text(type)
      demand(
        range.map { Array(mine.slice($0)) } ?? [] == other ?? [], "attribute \(type) differs")
    }
    same(mine.type, 0)
    same(mine.bundleId, 2)
    same(mine.applicationVersion, 3)
    same(mine.originalApplicationVersion, 19)
    demand(mine.appAppleId == number(1), "attribute 1")
    demand(mine.downloadId == number(15), "attribute 15")
    demand(mine.versionExternalIdentifier == number(16), "attribute 16")
    demand(mine.originalPurchaseDate == date(18), "attribute 18")
    if case .date(let end) = mine.expiration { demand(date(21) == end, "attribute 21") }
    demand(mine.opaqueValue == values[4] && mine.deviceHash == values[5], "attributes 4, 5")
    demand(mine.bundleIdElement == values[2], "the element of attribute 2")
    demand(mine.purchases.count == purchases.count, "the count of purchases")
    for (purchase, other) in zip(mine.purchases, purchases) { other.check(purchase, of: mine) }
  }

  private func check(_ purchase: ReceiptAttributes.Purchase, of mine: ReceiptAttributes) {
    func same(_ range: Range<Int>?, _ type: UInt64) {
      demand(
        range.map { Array(mine.slice($0)) } ?? [] == text(type) ?? [], "attribute \(type)")
    }
    same(purchase.productId, 1702)
    same(purchase.transactionId, 1703)
    same(purchase.originalTransactionId, 1705)
    same(purchase.promotionalOfferId, 1721)
    demand(purchase.purchaseDate == date(1704), "attribute 1704")
    demand(purchase.originalPurchaseDate == date(1706), "attribute 1706")
    demand(purchase.expiresDate == date(1708), "attribute 1708")
    demand(purchase.cancellationDate == date(1712), "attribute 1712")
    demand(purchase.quantity == number(1701), "attribute 1701")
    demand(purchase.type == number(1707), "attribute 1707")
    let line = number(1711)
    demand(purchase.webOrderLineItemId == (line == 0 ? nil : line), "attribute 1711")
    demand(purchase.isTrialPeriod == number(1713).map { $0 == 1 }, "attribute 1713")
    demand(purchase.isInIntroOfferPeriod == number(1719).map { $0 == 1 }, "attribute 1719")
  }
}
