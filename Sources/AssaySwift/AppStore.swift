@_spi(AssaySwift) import Assay

/// The App Store Server API. Each method begins an exchange (docs/tasks/app-store-server-api.md)
/// and throws family `misuse` for members of a wrong form. Created by `Verifier.appStore`.
public struct AppStore: Sendable {
  private let verifier: Verifier
  private let common: [(String, JSON)]
  private let options: [(String, JSON)]

  init(_ verifier: Verifier, common: [(String, JSON)], options: [(String, JSON)]) {
    self.verifier = verifier
    self.common = common
    self.options = options
  }

  func begin(
    _ operation: String, _ members: [(String, JSON?)], pages: Int64? = nil,
    about transaction: Transaction? = nil, at now: Timestamp
  ) throws(AssayError) -> Exchange {
    var request = [("operation", JSON(operation))] + common
    for (name, value) in members {
      if let value { request.append((name, value)) }
    }
    let asked = options + (pages.map { [("pages", JSON($0))] } ?? [])
    if !asked.isEmpty { request.append(("options", JSON(asked))) }
    return try verifier.exchange(
      JSON(request), evidence: transaction.map { [$0] } ?? [], at: now)
  }
}

extension Verifier {
  /// Returns the App Store Server API of one environment and app. Needs the block
  /// `appStoreServerApi` of the configuration.
  ///
  /// - Parameters:
  ///   - environment: "Production", "Sandbox", or "auto": Production, then Sandbox if Production
  ///     does not have the id.
  ///   - bundleId: the app; `nil` if only one app is configured.
  ///   - attempts: the most attempts for each page, 1 to 5; `nil` for 3.
  ///   - partial: whether verified items are returned although others were refused.
  ///   - strict: whether a value that Apple has not documented is refused instead of sent with a
  ///     warning.
  public func appStore(
    _ environment: String = "Production", bundleId: String? = nil, attempts: Int64? = nil,
    partial: Bool = false, strict: Bool = false
  ) -> AppStore {
    var common = [("environment", JSON(environment))]
    if let bundleId { common.append(("bundleId", JSON(bundleId))) }
    var options: [(String, JSON)] = []
    if let attempts { options.append(("attempts", JSON(attempts))) }
    if partial { options.append(("partial", true)) }
    if strict { options.append(("values", "strict")) }
    return AppStore(self, common: common, options: options)
  }
}

extension AppStoreResponse {
  /// Reads the facts of a finished exchange with the App Store Server API.
  ///
  /// - Throws: the refusal of the exchange; family `pending` if it is not finished.
  public init(_ exchange: Exchange) throws(AssayError) {
    let document = exchange.document
    guard document.status == .ok else { throw AssayError(document) }
    self = try AppStoreResponse(try Members.of(document, "exchange", "result"))
  }
}
