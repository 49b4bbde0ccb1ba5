/// A simulated key in a device's Secure Enclave, and the app that made it.
public struct AttestedDevice: Changeable, Sendable {
  public let key: SigningKey
  /// The public key `04 ‖ x ‖ y`, 65 bytes.
  public let point: [UInt8]
  /// The SHA-256 of the point, 32 bytes.
  public let keyId: [UInt8]
  /// The App ID: prefix, dot, bundle id.
  public var appId: String
  public var environment: AuthenticatorDataTemplate.Environment
  public var system: System

  /// The properties of the device's system that an attestation contains.
  public struct System: Sendable {
    /// The version of the system, "27.0.1".
    public var version: String
    public var build: String
    /// The platform, "iphoneos" or "macosx".
    public var platform: String
    /// CFBundleVersion and validation category, which systems send since iOS 27.
    public var extensions: [CBORText.Member]?
    /// Whether the leaf has an extended key usage, as since April 2026.
    public var hasPurpose: Bool
    /// The bytes of extension 8.6; `nil` for none, as before iOS 26.2.
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

    /// Returns a copy that sends these extensions.
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

  /// The key id in lower-case hex, which is the leaf's common name.
  public var keyIdHex: String { AttestDigest.hex(keyId) }
  /// The key id as iOS returns it to the app.
  public var keyIdBase64: String { keyId.base64Text }

  /// The flags in the authenticator data of this system.
  var flags: UInt8 {
    system.extensions == nil
      ? AuthenticatorDataTemplate.attested : AuthenticatorDataTemplate.attestedWithExtensions
  }

  /// The authenticator data of the attestation of this key.
  public var attestationData: AuthenticatorDataTemplate {
    AuthenticatorDataTemplate(
      rpIdHash: AttestDigest.sha256(Array(appId.utf8)), flags: flags, counter: 0,
      credential: .init(
        aaguid: environment.aaguid, idLength: 32, id: keyId,
        coseKey: AuthenticatorDataTemplate.coseKey(point)),
      extensions: system.extensions)
  }

  /// Returns the authenticator data of an assertion of this key.
  public func assertionData(counter: UInt32) -> AuthenticatorDataTemplate {
    AuthenticatorDataTemplate(
      rpIdHash: AttestDigest.sha256(Array(appId.utf8)), flags: flags, counter: counter,
      credential: nil, extensions: system.extensions)
  }
}
