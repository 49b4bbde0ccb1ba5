/// The member `options` of a request: `{"attempts","pages","partial","values"}`.
struct AppStoreOptions: Sendable {
  static let attempts: ClosedRange<Int64> = 1...5
  static let pages: ClosedRange<Int64> = 1...100

  /// The number of attempts for each page (API-52).
  let attempts: Int64
  /// The number of pages to read (API-40).
  let pages: Int64
  /// Whether verified items are returned although others were refused (API-31).
  let isPartial: Bool
  /// Whether a value that Apple has not documented is refused instead of sent (ENU-3).
  let isStrict: Bool

  private static let values: [StaticString] = ["lenient", "strict"]

  /// - Throws: `misuse.exchange.request` for an unknown member, `misuse.app-store.parameter`.
  init(_ request: ExchangeRequest, _ endpoint: AppStoreEndpoint) throws(Refusal) {
    let given = try request["options"]?.object(["attempts", "pages", "partial", "values"])
      .refusing(.misuseAppStoreParameter, "API-21")
    let attempts = try given?["attempts"]?.integer(AppStoreOptions.attempts) ?? 3
    let pages = try given?["pages"]?.integer(AppStoreOptions.pages) ?? 1
    isPartial = try given?["partial"]?.boolean() ?? false
    isStrict = try given?["values"]?.choice(AppStoreOptions.values) == 1
    self.attempts = endpoint.isRepeatable ? attempts : 1
    self.pages = endpoint.paging == nil ? 1 : pages
  }
}
