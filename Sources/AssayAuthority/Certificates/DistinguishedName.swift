/// An X.501 Name in DER.
public enum DistinguishedName {
  /// Returns a Name with one relative name per attribute, in the given order. The country is a
  /// PrintableString, every other attribute a UTF8String, as in Apple's certificates.
  public static func make(_ attributes: [(type: String, value: String)]) -> [UInt8] {
    DER.value(0x30, attributes.flatMap { attribute(oid($0.type), $0.value, $0.type == "C") })
  }

  /// Returns a Name in which every attribute is a PrintableString: equal text in other bytes than
  /// `make` returns.
  public static func makePrintable(_ attributes: [(type: String, value: String)]) -> [UInt8] {
    DER.value(0x30, attributes.flatMap { attribute(oid($0.type), $0.value, true) })
  }

  /// A Name without any attribute.
  public static let empty: [UInt8] = [0x30, 0x00]

  private static func attribute(_ oid: String, _ value: String, _ printable: Bool) -> [UInt8] {
    let text = printable ? DER.printable(value) : DER.utf8(value)
    return DER.set(DER.sequence(DER.oid(oid), text))
  }

  private static func oid(_ type: String) -> String {
    switch type {
    case "CN": return "2.5.4.3"
    case "OU": return "2.5.4.11"
    case "O": return "2.5.4.10"
    case "C": return "2.5.4.6"
    default: return type
    }
  }
}

/// The names in a chain. Verification never trusts a name, so that a forgery may have Apple's.
public struct ChainNames: Sendable {
  public var root: [(type: String, value: String)]
  public var intermediate: [(type: String, value: String)]
  public var leaf: [(type: String, value: String)]

  /// Names of this authority, about as long as Apple's.
  public static let own = ChainNames(
    root: [
      ("CN", "Assay Test Root CA - G3"), ("OU", "Assay Test Authority"),
      ("O", "Assay"), ("C", "US"),
    ],
    intermediate: [
      ("CN", "Assay Test Developer Relations Certification Authority"), ("OU", "G6"),
      ("O", "Assay"), ("C", "US"),
    ],
    leaf: [
      ("CN", "Test ECC Mac App Store and iTunes Store Receipt Signing"),
      ("OU", "Assay Test Developer Relations"), ("O", "Assay"), ("C", "US"),
    ])

  /// The names in Apple's certificates, for forgeries.
  public static let apple = ChainNames(
    root: [
      ("CN", "Apple Root CA - G3"), ("OU", "Apple Certification Authority"),
      ("O", "Apple Inc."), ("C", "US"),
    ],
    intermediate: [
      ("CN", "Apple Worldwide Developer Relations Certification Authority"), ("OU", "G6"),
      ("O", "Apple Inc."), ("C", "US"),
    ],
    leaf: [
      ("CN", "Prod ECC Mac App Store and iTunes Store Receipt Signing"),
      ("OU", "Apple Worldwide Developer Relations"), ("O", "Apple Inc."), ("C", "US"),
    ])
}
