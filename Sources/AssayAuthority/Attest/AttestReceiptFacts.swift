/// The fields of an App Attest receipt.
public struct AttestReceiptFacts: Sendable {
  /// The type of the receipt, field 6.
  public enum Kind: String, Sendable, CaseIterable {
    case attest = "ATTEST"
    case receipt = "RECEIPT"
  }

  public var kind: Kind
  /// The App ID, field 2.
  public var appId: String
  /// The attestation's leaf in DER, field 3.
  public var certificate: [UInt8]
  /// The hash of the client data, field 4.
  public var clientHash: [UInt8]
  /// A token of Apple's, field 5.
  public var token: String
  /// The environment, field 7.
  public var environment: AuthenticatorDataTemplate.Environment
  /// The creation time, field 12, in milliseconds since 1970.
  public var created: Int64
  /// The risk metric, field 17 of a RECEIPT.
  public var risk: String
  /// The time from which Apple makes a new receipt, field 19 of a RECEIPT, in milliseconds since
  /// 1970.
  public var notBefore: Int64
  /// The expiry, field 21, in milliseconds since 1970.
  public var expires: Int64

  private static let day: Int64 = 86_400_000

  /// Creates the receipt of an attestation of this device.
  public init(
    _ kind: Kind, _ device: AttestedDevice, certificate: [UInt8], clientHash: [UInt8],
    created: Int64, risk: Int = 2
  ) {
    self.kind = kind
    appId = device.appId
    self.certificate = certificate
    self.clientHash = kind == .attest ? clientHash : AttestReceiptFacts.mangled(clientHash)
    token = String(
      decoding: Base64Text.encode(
        AttestDigest.sha256(certificate) + AttestDigest.sha256(clientHash)), as: UTF8.self)
    environment = device.environment
    self.created = created
    self.risk = String(risk)
    notBefore = created + AttestReceiptFacts.day
    expires = created + 90 * AttestReceiptFacts.day
  }

  /// The fields in Apple's order: ascending in an ATTEST, with 17, 6 and 2 first in a RECEIPT.
  public var fields: [AttributeTemplate] {
    func text(_ type: Int, _ value: String) -> AttributeTemplate {
      AttributeTemplate(type, Array(value.utf8))
    }
    let appId = text(2, appId)
    let key = AttributeTemplate(3, certificate)
    let hash = AttributeTemplate(4, clientHash)
    let token = text(5, token)
    let kind = text(6, kind.rawValue)
    let environment = text(7, environment.receiptName)
    let created = text(12, AttestReceiptFacts.time(created))
    let expires = text(21, AttestReceiptFacts.time(expires))
    switch self.kind {
    case .attest: return [appId, key, hash, token, kind, environment, created, expires]
    case .receipt:
      return [
        text(17, risk), kind, appId, hash, key, token, environment, created,
        text(19, AttestReceiptFacts.time(notBefore)), expires,
      ]
    }
  }

  /// Returns a time as "2026-04-21T18:13:12.153Z".
  public static func time(_ ms: Int64) -> String {
    let seconds = CertificateTime.readable(ms: ms).split(separator: " ").joined(separator: "T")
    let fraction = String(1000 + (ms % 1000 + 1000) % 1000).dropFirst()
    return seconds + "." + fraction + "Z"
  }

  /// Returns bytes as Apple's server spoils them by treating them as text: invalid UTF-8 becomes
  /// U+FFFD.
  static func mangled(_ octets: [UInt8]) -> [UInt8] {
    Array(String(decoding: octets, as: UTF8.self).utf8)
  }
}

extension AttestAuthority {
  /// Returns a receipt before signing: BER with indefinite lengths and chunks of 1,000 bytes, as
  /// Apple's are.
  public func receiptTemplate(
    _ facts: AttestReceiptFacts, chain: CertificateChain? = nil
  ) -> AppReceiptTemplate {
    var template = AppReceiptTemplate(
      attributes: facts.fields, chain: chain ?? receiptChain, digest: .sha256)
    template.signatureAlgorithm = CertificateTemplate.algorithm(OID.ecdsaWithSHA256)
    template.form = .indefinite(chunk: 1000)
    template.signersAreDefinite = true
    return template
  }

  /// Returns a receipt of a key as Apple delivers it, raw.
  public func receipt(_ facts: AttestReceiptFacts) throws -> [UInt8] {
    try receiptTemplate(facts).signed()
  }
}
