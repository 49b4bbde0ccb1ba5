/// A key in the Secure Enclave of a device that does not exist, and the app that
/// made it.
public struct AttestedDevice: Changeable, Sendable {
  public let key: SigningKey
  /// `04 ‖ x ‖ y`, 65 octets.
  public let point: [UInt8]
  /// SHA-256 of the point, 32 octets.
  public let keyId: [UInt8]
  /// App ID prefix, dot, bundle id.
  public var appId: String
  public var environment: AuthenticatorDataTemplate.Environment
  public var system: System

  /// The device's system, as far as it shows in an attestation.
  public struct System: Sendable {
    /// "27.0.1".
    public var version: String
    public var build: String
    /// "iphoneos", "macosx".
    public var platform: String
    /// CFBundleVersion and validation category, which systems since iOS 27 send.
    public var extensions: [CBORText.Member]?
    /// Extended key usage in the leaf: since April 2026.
    public var hasPurpose: Bool
    /// The octets of extension 8.6; `nil`: none, before iOS 26.2.
    public var accessControl: [UInt8]?

    public static let iOS18 = System(
      version: "18.5", build: "22F76", platform: "iphoneos", extensions: nil, hasPurpose: false,
      accessControl: nil)
    public static let iOS27 = System(
      version: "27.0.1", build: "24A446", platform: "iphoneos",
      extensions: AuthenticatorDataTemplate.extensions(bundleVersion: "1314", category: 4),
      hasPurpose: true, accessControl: AttestLeafExtensions.phoneAccessControl)
    public static let macOS = System(
      version: "26.2", build: "25C56", platform: "macosx", extensions: nil, hasPurpose: false,
      accessControl: AttestLeafExtensions.macAccessControl)

    /// A copy that sends these.
    public func sending(_ extensions: [CBORText.Member]?) -> System {
      var copy = self
      copy.extensions = extensions
      return copy
    }
  }

  public init(
    key: SigningKey, appId: String,
    environment: AuthenticatorDataTemplate.Environment = .production, system: System = .iOS27
  ) throws {
    self.key = key
    self.appId = appId
    self.environment = environment
    self.system = system
    point = try key.publicKey()
    keyId = AttestDigest.sha256(point)
  }

  /// The key id in lower-case hex: the leaf's common name.
  public var keyIdHex: String { AttestDigest.hex(keyId) }
  /// The key id as iOS hands it out.
  public var keyIdBase64: String { keyId.base64Text }

  /// The bits that authenticator data of this system has set.
  var flags: UInt8 {
    system.extensions == nil
      ? AuthenticatorDataTemplate.attested : AuthenticatorDataTemplate.attestedWithExtensions
  }

  /// Authenticator data of the attestation of this key.
  public var attestationData: AuthenticatorDataTemplate {
    AuthenticatorDataTemplate(
      rpIdHash: AttestDigest.sha256(Array(appId.utf8)), flags: flags, counter: 0,
      credential: .init(
        aaguid: environment.aaguid, idLength: 32, id: keyId,
        coseKey: AuthenticatorDataTemplate.coseKey(point)),
      extensions: system.extensions)
  }

  /// Authenticator data of an assertion of this key.
  public func assertionData(counter: UInt32) -> AuthenticatorDataTemplate {
    AuthenticatorDataTemplate(
      rpIdHash: AttestDigest.sha256(Array(appId.utf8)), flags: flags, counter: counter,
      credential: nil, extensions: system.extensions)
  }
}
