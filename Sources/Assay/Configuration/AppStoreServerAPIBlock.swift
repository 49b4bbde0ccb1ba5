/// `appStoreServerApi`: the host's key for the App Store Server API (docs/spec/configuration.md
/// §8).
struct AppStoreServerAPIPolicy: Sendable {
  let issuerId: Text
  let keyId: Text
  let privateKey: PrivateKey
  /// The base URL that replaces Apple's hosts; `nil` for Apple's.
  var baseURL: Text? = nil
  /// Whether a transaction without bundle id in a response is refused (API-57).
  var missingBundleIdRefused = false
}

/// The block `appStoreServerApi` of a configuration.
enum AppStoreServerAPIBlock {
  private static let scheme: StaticString = "https://"

  static func read(_ node: MemberNode, _ configuration: inout Configuration) throws(Refusal) {
    let block = try node.object(ConfigurationTable.appStoreServerApiMembers)
    let issuer = try block.required("issuerId")
    let issuerId = try issuer.text()
    try require(issuerId.isUUID, issuer)
    var policy = AppStoreServerAPIPolicy(
      issuerId: issuerId, keyId: try KeyMembers.keyId(try block.required("keyId")),
      privateKey: try KeyMembers.privateKey(
        try block.required("privateKey").refusing(.configAppStorePrivateKey, "API-10")))
    try policy.readPlain(node)
    if let entry = block["apiBaseUrl"]?.refusing(.configAppStoreBaseUrl, "API-1") {
      policy.baseURL = try readBaseURL(entry, configuration.environments)
    }
    configuration.appStoreServerAPI = policy
  }

  /// Reads a URL, which only a verifier of LocalTesting may have: a verifier of Apple's evidence
  /// must not be pointed elsewhere (API-1).
  private static func readBaseURL(
    _ entry: MemberNode, _ environments: [Environment]
  ) throws(Refusal) -> Text {
    let url = try entry.text(ConfigurationTable.appStoreServerApiApiBaseUrl)
    try require(
      url.utf8.prefix(scheme.utf8CodeUnitCount).elementsEqual(scheme)
        && url.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }, entry)
    try require(environments.contains(.localTesting), entry)
    return url
  }
}

extension AppStoreServerAPIPolicy {
  /// Writes the value of `appStoreServerApi` in the effective configuration.
  func write(_ writer: inout JSONWriter) {
    write(&writer) { member, writer in
      switch member {
      case .issuerId: writer.member("issuerId", issuerId)
      case .keyId: writer.member("keyId", keyId)
      case .privateKey: writer.member("privateKey", boolean: true)
      case .apiBaseUrl: writer.member("apiBaseUrl", baseURL)
      }
    }
  }
}
