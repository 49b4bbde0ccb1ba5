/// Apple's servers for the App Store Server API (docs/spec/app-store-server-api.md §1).
enum AppStoreHost: Equatable, Sendable {
  case production, sandbox
  /// A test server, whose address is `apiBaseUrl` of the configuration.
  case localTesting

  var environment: Environment {
    switch self {
    case .production: return .production
    case .sandbox: return .sandbox
    case .localTesting: return .localTesting
    }
  }

  /// Returns the base URL; `nil` if no server is configured.
  func base(
    _ policy: AppStoreServerAPIPolicy, _ site: AppStoreEndpoint.Site = .storeKit
  ) -> Text? {
    let isOlder = site == .itunes
    switch self {
    case .production:
      return isOlder ? "https://api.storekit.itunes.apple.com" : "https://api.storekit.apple.com"
    case .sandbox:
      return isOlder
        ? "https://api.storekit-sandbox.itunes.apple.com" : "https://api.storekit-sandbox.apple.com"
    case .localTesting: return policy.baseURL
    }
  }
}
