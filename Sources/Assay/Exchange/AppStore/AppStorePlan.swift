/// The servers that an exchange may call (API-1, API-2).
struct AppStorePlan: Sendable {
  let start: AppStoreHost
  /// Whether Sandbox may be called after Production.
  let mayHop: Bool

  private static let names: [StaticString] = [
    "Production", "Sandbox", "LocalTesting", "Xcode", "auto",
  ]

  /// - Throws: `unsupported.app-store.environment` where no server exists,
  ///   `misuse.app-store.parameter` for an environment that the configuration does not accept.
  init(
    _ request: ExchangeRequest, _ endpoint: AppStoreEndpoint, _ configuration: Configuration,
    _ policy: AppStoreServerAPIPolicy
  ) throws(Refusal) {
    let node = try request.required("environment").refusing(.misuseAppStoreParameter, "API-21")
    func isAccepted(_ environment: Environment) -> Bool {
      configuration.environments.contains(environment)
    }
    // The token of a report says where it is from (EXP-1).
    let isReport = endpoint.rule == .report
    let isSandboxToken = isReport && ExternalPurchase.isOfSandbox(request)
    let isOfProduction = endpoint.rule == .production
    let isOfSandbox = endpoint.rule == .performanceTest
    switch try node.choice(AppStorePlan.names) {
    case 0: start = .production
    case 1: start = .sandbox
    case 2: start = .localTesting
    case 3: throw Refusal(.unsupportedAppStoreEnvironment, "API-1", at: "environment")
    default:
      try require(
        !endpoint.rule.isMessaging, .unsupportedAppStoreEnvironment, "RTM-1", at: "environment")
      // A request that changes what a customer pays is never tried in a second environment.
      try require(
        !endpoint.rule.isCommerce, .unsupportedAppStoreEnvironment, "ACA-8", at: "environment")
      try require(
        endpoint.rule != .reported, .unsupportedAppStoreEnvironment, "EXP-1", at: "environment")
      if isReport {
        (start, mayHop) = (isSandboxToken ? .sandbox : .production, false)
        try require(
          isAccepted(start.environment), .misuseAppStoreParameter, "API-1", at: "environment")
        return
      }
      try require(
        isAccepted(.production) && isAccepted(.sandbox), .misuseAppStoreParameter, "API-2",
        at: "environment")
      (start, mayHop) = (.production, !isOfProduction)
      return
    }
    mayHop = false
    try require(
      start.base(policy) != nil && (start != .sandbox || !isOfProduction)
        && (start != .production || !isOfSandbox),
      .unsupportedAppStoreEnvironment, "API-1", at: "environment")
    try require(
      isAccepted(start.environment), .misuseAppStoreParameter, "API-1", at: "environment")
    try require(
      !isReport || start == (isSandboxToken ? .sandbox : .production) || start == .localTesting,
      .unsupportedAppStoreEnvironment, "EXP-1", at: "environment")
  }
}
