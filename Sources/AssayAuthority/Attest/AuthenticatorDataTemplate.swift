/// Authenticator data of an attestation or an assertion, member by member as on the
/// wire; every member can be set to anything.
public struct AuthenticatorDataTemplate: Sendable {
  /// SHA-256 of the App ID.
  public var rpIdHash: [UInt8]
  public var flags: UInt8
  public var counter: UInt32
  /// What only an attestation has.
  public var credential: Credential?
  /// The members of the extension map of iOS 27; `nil`: no map at all.
  public var extensions: [CBORText.Member]?
  /// Octets after everything else.
  public var trailing: [UInt8] = []

  public struct Credential: Sendable {
    public var aaguid: [UInt8]
    /// What is in the two octets of the length.
    public var idLength: UInt16
    public var id: [UInt8]
    public var coseKey: [UInt8]
  }

  /// The environment that the app was built for, by its 16 octets.
  public enum Environment: Sendable, CaseIterable {
    case production
    case development

    public var aaguid: [UInt8] {
      switch self {
      case .production: return Array("appattest".utf8) + [UInt8](repeating: 0, count: 7)
      case .development: return Array("appattestdevelop".utf8)
      }
    }

    /// The word that documents and configurations use.
    public var name: String { self == .production ? "production" : "development" }

    /// The word in field 7 of a receipt.
    public var receiptName: String { self == .production ? "production" : "sandbox" }
  }

  /// Flags of systems before iOS 27.
  public static let attested: UInt8 = 0x40
  /// Flags of iOS 27: attested data and extensions.
  public static let attestedWithExtensions: UInt8 = 0xc0

  public static let bundleVersionKey = "apple_bundle_version_01"
  public static let categoryKey = "apple_validation_category_01"

  /// The two members of iOS 27, the category in its four octets.
  public static func extensions(bundleVersion: String, category: UInt32) -> [CBORText.Member] {
    [
      .init(bundleVersionKey, .text(bundleVersion)),
      .init(categoryKey, .bytes(littleEndian(category))),
    ]
  }

  /// The category as it stands on the wire.
  public static func littleEndian(_ category: UInt32) -> [UInt8] {
    CBORText.octets(UInt64(category), 4).reversed()
  }

  /// The 77 octets of a P-256 key of ES256, from its 65-octet point.
  public static func coseKey(_ point: [UInt8]) -> [UInt8] {
    let x = Array(point.dropFirst().prefix(32))
    let y = Array(point.dropFirst(33))
    return CBORText.map([
      .init(.unsigned(1), .unsigned(2)), .init(.unsigned(3), .negative(6)),
      .init(.negative(0), .unsigned(1)), .init(.negative(1), .bytes(x)),
      .init(.negative(2), .bytes(y)),
    ]).encoded
  }

  public var bytes: [UInt8] {
    var out = rpIdHash + [flags] + CBORText.octets(UInt64(counter), 4)
    if let credential {
      out += credential.aaguid + CBORText.octets(UInt64(credential.idLength), 2)
      out += credential.id + credential.coseKey
    }
    if let extensions { out += CBORText.map(extensions).encoded }
    return out + trailing
  }
}
