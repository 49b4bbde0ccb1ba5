/// The member `options` of a request: `{"attempts","pages","partial"}`.
struct AppStoreOptions: Sendable {
  static let attempts: ClosedRange<Int64> = 1...5
  static let pages: ClosedRange<Int64> = 1...100

  /// The number of attempts for each page (API-52).
  let attempts: Int64
  /// The number of pages to read (API-40).
  let pages: Int64
  /// Whether verified items are returned although others were refused (API-31).
  let isPartial: Bool

  /// - Throws: `misuse.exchange.request` for an unknown member, `misuse.app-store.parameter`.
  init(_ request: ExchangeRequest, _ endpoint: AppStoreEndpoint) throws(Refusal) {
    let given = try request["options"]?.object(["attempts", "pages", "partial"])
      .refusing(.misuseAppStoreParameter, "API-21")
    let attempts = try given?["attempts"]?.integer(AppStoreOptions.attempts) ?? 3
    let pages = try given?["pages"]?.integer(AppStoreOptions.pages) ?? 1
    isPartial = try given?["partial"]?.boolean() ?? false
    self.attempts = endpoint.isRepeatable ? attempts : 1
    self.pages = endpoint.paging == nil ? 1 : pages
  }
}
