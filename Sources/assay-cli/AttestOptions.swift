import Assay
import AssayAuthority

/// The options for minting App Attest evidence.
struct AttestOptions: ParsableArguments {
  @Option(help: "App ID prefix: team. The App ID is TEAM.BUNDLE-ID.")
  var team = "ABCDE12345"

  @Option(
    help: "System of the device: ios27, ios18 or macos.",
    completion: .values(["ios27", "ios18", "macos"]))
  var system = "ios27"

  @Option(help: "Validation category, like 2 for TestFlight (ios27).")
  var category: UInt32 = 4

  @Option(help: "Build number of the app (ios27).")
  var bundleVersion = "1314"

  @Option(help: "What the app signs: the client data, as text.")
  var clientData = "hello"

  @Option(help: "Counter of an assertion.")
  var counter: UInt32 = 1

  @Flag(help: "A refreshed receipt, with a risk metric.")
  var refreshed = false

  @Option(help: "Risk metric of a refreshed receipt.")
  var risk = 2

  func validate() throws {
    guard systems.keys.contains(system) else {
      throw UsageFault("--system \(system) does not exist; there are ios27, ios18 and macos")
    }
    guard team.utf8.count == 10,
      team.utf8.allSatisfy({ (0x41...0x5a).contains($0) || (0x30...0x39).contains($0) })
    else { throw UsageFault("--team \(team): give 10 letters in capitals and digits") }
    guard category <= 10 else { throw UsageFault("--category \(category): give 0 to 10") }
    guard (1...64).contains(bundleVersion.utf8.count),
      bundleVersion.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
    else { throw UsageFault("--bundle-version: give 1 to 64 characters without spaces") }
    guard !clientData.isEmpty else { throw UsageFault("--client-data is empty") }
    guard (0...999_999_999).contains(risk) else {
      throw UsageFault("--risk \(risk): give 0 to 999999999")
    }
  }

  private var systems: [String: AttestedDevice.System] {
    ["ios27": .iOS27, "ios18": .iOS18, "macos": .macOS]
  }

  /// Returns the App ID for which evidence is minted.
  func appId(_ bundleId: String) -> String { team + "." + bundleId }

  /// Returns the folder's device with these options.
  func device(
    _ key: SigningKey, bundleId: String, isDevelopment: Bool
  ) throws -> AttestedDevice {
    var system = systems[system] ?? .iOS27
    if system.extensions != nil {
      system.extensions = AuthenticatorDataTemplate.extensions(
        bundleVersion: bundleVersion, category: category)
    }
    return try AttestedDevice(
      key: key, appId: appId(bundleId),
      environment: isDevelopment ? .development : .production, system: system)
  }

  /// SHA-256 of the client data.
  var clientDataHash: [UInt8] { AttestDigest.sha256(Array(clientData.utf8)) }
}

/// The inputs that verifying App Attest evidence needs besides the evidence.
struct AttestedInput: ParsableArguments {
  @Option(help: "Key id of an attestation: base64 as iOS gives it, base64url or hex.")
  var keyId: String?

  @Option(
    help: """
      Public key of an assertion, or the one that an App Attest receipt must be about: \
      base64 or hex of the point or the SubjectPublicKeyInfo.
      """)
  var publicKey: String?

  @Option(help: "Counter that is stored for the key; 0 at first.")
  var counter: UInt32?

  @Option(help: "What the app signed: the client data, as text.")
  var clientData: String?

  @Option(help: "File with what the app signed.", completion: .file)
  var clientDataFile: String?

  @Option(help: "Hash of what the app signed, in hex, used as it stands.")
  var clientDataHash: String?

  /// Whether none of the options was given.
  var isEmpty: Bool {
    keyId == nil && publicKey == nil && counter == nil && clientData == nil
      && clientDataFile == nil && clientDataHash == nil
  }

  /// Prints the file whose name was given as text, if that explains a refusal.
  func explain(_ document: Document) {
    let statuses = [Status.rejectedAttestNonce, .rejectedAssertionSignature]
    guard let clientData, statuses.contains(document.status), FileSystem.exists(clientData)
    else { return }
    print(
      "  " + Terminal.padded("client data", to: 28) + " the text \(Terminal.safe(clientData)), "
        + "which is also a file: give it with --client-data-file")
  }

  /// Returns the client data or their hash, as given.
  func signed() throws -> ClientDataInput {
    let given = [clientData, clientDataFile, clientDataHash].compactMap { $0 }
    guard given.count == 1 else {
      throw Problem(
        "give one of --client-data, --client-data-file and --client-data-hash: "
          + "what the app signed")
    }
    if let clientData { return .data(Array(clientData.utf8)) }
    if let clientDataFile { return .data(try FileSystem.read(clientDataFile)) }
    return .hash(try Input.octets(clientDataHash, option: "--client-data-hash") ?? [])
  }

  /// Returns the key id as it was given.
  func key() throws -> [UInt8] {
    guard let keyId else { throw Problem("--key-id is missing: what the app calls its key") }
    return Array(keyId.utf8)
  }

  /// Returns the bytes of the public key; `nil` if none was given.
  func point() throws -> [UInt8]? {
    guard let publicKey else { return nil }
    let isHex = publicKey.count >= 130 && publicKey.allSatisfy(\.isHexDigit)
    if isHex { return try Input.octets(publicKey, option: "--public-key") }
    guard let octets = Base64Text.decodeLeniently(Array(publicKey.utf8)), !octets.isEmpty else {
      throw Problem("--public-key \(publicKey): give base64 or hex")
    }
    return octets
  }
}
