/// The parameters of an exchange with the App Store Server API.
struct AppStoreTask: Sendable {
  let endpoint: AppStoreEndpoint
  let options: AppStoreOptions
  let parameters: AppStoreParameters
  let plan: AppStorePlan
  let app: Configuration.App
  /// The number of this exchange among the exchanges for the same request, from 1 (EXC-18).
  let attempt: Int64
  /// The id of a report, as it is sent, and the ids of its line items; `nil` for other requests.
  let reportId: Text?
  let lineItems: [Text]
  /// Whether under `partial` a text of another app or environment is refused alone, and not with
  /// the whole response (RCN-30).
  let toleratesDisagreement: Bool
  private let policy: AppStoreServerAPIPolicy

  /// - Throws: `config.exchange.block-missing`, `misuse.app-store.parameter`,
  ///   `misuse.exchange.request`, `misuse.exchange.evidence`, `unsupported.app-store.environment`.
  init(_ context: OperationContext, toleratesDisagreement: Bool = false) throws(Refusal) {
    let (request, configuration) = (context.request, context.configuration)
    guard let endpoint = AppStoreEndpoint.of(request.kind) else {
      throw Refusal(.internalAssayBug, "EXC-3", at: "operation")
    }
    guard let policy = configuration.appStoreServerAPI else {
      throw Refusal(.configExchangeBlockMissing, "EXC-8", at: "appStoreServerApi")
    }
    self.policy = policy
    self.endpoint = endpoint
    self.toleratesDisagreement = toleratesDisagreement
    attempt = context.attempt
    options = try AppStoreOptions(request, endpoint)
    parameters = try AppStoreTask.parameters(request, endpoint, isStrict: options.isStrict)
    let isReport = endpoint.rule.isReport
    reportId = isReport ? request["requestIdentifier"]?.value.text?.asciiLowercased : nil
    lineItems = isReport ? ExternalPurchase.ids(request["lineItems"]?.value) : []
    plan = try AppStorePlan(request, endpoint, configuration, policy)
    app = try AppStoreTask.app(request, configuration.apps)
    try endpoint.rule.check(request, context.evidence.first, nowMs: context.nowMs)
    if endpoint.rule == .image { try AppStoreRule.checkImage(request, parameters) }
  }

  /// Returns the checked members. Advanced Commerce takes Apple's documented values alone, and has
  /// a status of its own (ACA-1), as reports have (EXP-4).
  private static func parameters(
    _ request: ExchangeRequest, _ endpoint: AppStoreEndpoint, isStrict: Bool
  ) throws(Refusal) -> AppStoreParameters {
    let isCommerce = endpoint.rule.isCommerce
    do throws(Refusal) {
      return try AppStoreParameters(request, endpoint, isStrict: isStrict || isCommerce)
    } catch {
      if endpoint.rule.isReport { throw ExternalPurchase.refusal(error) }
      throw isCommerce ? AdvancedCommerce.refusal(error) : error
    }
  }

  /// Returns the app that the request names, or the only configured one.
  private static func app(
    _ request: ExchangeRequest, _ apps: [Configuration.App]
  ) throws(Refusal) -> Configuration.App {
    guard let node = request["bundleId"]?.refusing(.misuseAppStoreParameter, "API-21") else {
      guard let only = apps.first, apps.count == 1 else {
        throw Refusal(.misuseAppStoreParameter, "API-21", at: "bundleId")
      }
      return only
    }
    let bundleId = try node.text()
    guard let app = apps.first(where: { $0.bundleId == bundleId }) else {
      throw node.refusal(.range)
    }
    return app
  }

  /// Returns the app of a transaction without a bundle id in the response of `host`: the app of
  /// our own token (API-57). `nil` if such a transaction is refused: a test server is not Apple's,
  /// and its signing key is public.
  func appWithoutBundle(at host: AppStoreHost) -> Configuration.App? {
    host == .localTesting || policy.missingBundleIdRefused ? nil : app
  }

  /// The most steps for the pages and attempts of this request (EXC-15).
  var maxSteps: Int {
    // A report is asked for before it is sent again.
    endpoint.rule == .report
      ? Int(3 &* options.attempts)
      : AppStoreEndpoint.steps(pages: options.pages, attempts: options.attempts)
  }

  /// Returns the HTTP request for what Apple has of a report (EXP-7).
  func lookUp(at host: AppStoreHost, nowMs: Int64) throws(Refusal) -> HTTPRequest {
    try request(to: host, cursor: nil, asked: reportId, nowMs: nowMs)
  }

  /// Returns the HTTP request for one page, signed with a new token (API-11).
  ///
  /// - Parameters:
  ///   - cursor: the paging value; `nil` for the first page.
  ///   - asked: the id of a report to get instead.
  ///   - nowMs: the time of this step in milliseconds since 1970 UTC.
  /// - Throws: `internal.sign.self-check`.
  func request(
    to host: AppStoreHost, cursor: Text?, asked: Text? = nil, nowMs: Int64
  ) throws(Refusal) -> HTTPRequest {
    guard let base = host.base(policy, endpoint.site) else {
      throw Refusal(.internalAssayBug, "EXC-5", at: "host")
    }
    let token = try AppStoreSigning.token(policy, app.bundleId, nowMs: nowMs)
    var headers: [(name: StaticString, value: Text)] = [
      ("Accept", "application/json"),
      ("User-Agent", Text(stringLiteral: AppStoreEndpointTable.userAgent)),
    ]
    if let asked {
      return HTTPRequest(
        method: "GET", url: parameters.url(base, below: asked),
        authorization: HTTPRequest.bearer(token), headers: headers, body: nil, isBinary: false,
        timeoutMs: 30_000, maxResponseBytes: Int64(AppStoreReading.bodyCap),
        responseHeaders: ["content-type", "retry-after"],
        sensitivePaths: ["headers.authorization"])
    }
    if parameters.body != nil {
      headers.append(
        ("Content-Type", parameters.file == nil ? "application/json" : "image/png"))
    }
    return HTTPRequest(
      method: endpoint.method, url: parameters.url(base, cursor: cursor),
      authorization: HTTPRequest.bearer(token), headers: headers,
      body: parameters.body.map { SecretBytes($0) }, isBinary: parameters.file != nil,
      timeoutMs: 30_000, maxResponseBytes: Int64(AppStoreReading.bodyCap),
      responseHeaders: ["content-type", "retry-after"], sensitivePaths: ["headers.authorization"])
  }
}
