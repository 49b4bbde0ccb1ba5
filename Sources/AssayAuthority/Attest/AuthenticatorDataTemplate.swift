/// The authenticator data of an attestation or an assertion, in the order of its bytes. Every
/// member can be set to anything.
public struct AuthenticatorDataTemplate: Sendable {
  /// The SHA-256 of the App ID.
  public var rpIdHash: [UInt8]
  public var flags: UInt8
  public var counter: UInt32
  /// The attested credential data, which only an attestation has.
  public var credential: Credential?
  /// The members of the extension map of iOS 27; `nil` omits the map.
  public var extensions: [CBORText.Member]?
  /// Bytes after all other members.
  public var trailing: [UInt8] = []

  public struct Credential: Sendable {
    public var aaguid: [UInt8]
    /// The value of the two-byte length field.
    public var idLength: UInt16
    public var id: [UInt8]
    public var coseKey: [UInt8]
  }

  /// The environment that the app was built for, which the 16 bytes of the AAGUID name.
  public enum Environment: Sendable, CaseIterable {
    case production
    case development

    public var aaguid: [UInt8] {
      switch self {
      case .production: return Array("appattest".utf8) + [UInt8](repeating: 0, count: 7)
      case .development: return Array("appattestdevelop".utf8)
      }
    }

    /// The name in documents and configurations.
    public var name: String { self == .production ? "production" : "development" }

    /// The name in field 7 of a receipt.
    public var receiptName: String { self == .production ? "production" : "sandbox" }
  }

  /// The flags of systems before iOS 27.
  public static let attested: UInt8 = 0x40
  /// The flags of iOS 27: attested data and extensions.
  public static let attestedWithExtensions: UInt8 = 0xc0

  public static let bundleVersionKey = "apple_bundle_version_01"
  public static let categoryKey = "apple_validation_category_01"

  /// Returns the two extension members of iOS 27, the category in four bytes.
  public static func extensions(bundleVersion: String, category: UInt32) -> [CBORText.Member] {
    [
      .init(bundleVersionKey, .text(bundleVersion)),
      .init(categoryKey, .bytes(littleEndian(category))),
    ]
  }

  /// Returns the category in its byte order, little-endian.
  public static func littleEndian(_ category: UInt32) -> [UInt8] {
    CBORText.octets(UInt64(category), 4).reversed()
  }

  /// Returns the COSE key, 77 bytes for a P-256 key of ES256, from its 65-byte point.
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
