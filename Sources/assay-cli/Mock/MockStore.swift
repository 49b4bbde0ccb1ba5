import AssayAuthority

/// Mocks the App Store Server API (docs/spec/app-store-server-api.md §4) from the purchases of the
/// state.
struct MockStore: MockHost {
  let request: HTTPRequest
  let signer: MockSigner

  static let hosts: [String: String] = [
    "api.storekit.apple.com": "Production", "api.storekit.itunes.apple.com": "Production",
    "api.storekit-sandbox.apple.com": "Sandbox",
    "api.storekit-sandbox.itunes.apple.com": "Sandbox",
  ]

  var environment: String { Self.hosts[request.host] ?? "Sandbox" }

  func answer(_ state: inout MockState) throws -> HTTPResponse {
    let isCommerce = request.path.hasPrefix("/advancedCommerce/v1/")
    let isReport = request.path.hasPrefix("/externalPurchase/v1/reports")
    guard request.path.hasPrefix("/inApps/") || isCommerce || isReport else { return .empty(404) }
    if signer.fault.isUnreleased, environment == "Production" { return Self.unauthorized }
    guard isAuthorized(at: state.clock.now) else { return Self.unauthorized }
    do {
      if isReport { return try report(Array(request.parts.dropFirst(3)), &state) }
      if isCommerce { return try commerce(Array(request.parts.dropFirst(2)), &state) }
      return try answer(Array(request.parts.dropFirst()), &state)
    } catch let error as StoreError {
      return error.answer
    }
  }

  private static let unauthorized = HTTPResponse.text("Unauthenticated\n", status: 401)

  private func isAuthorized(at now: Int64) -> Bool {
    guard let header = request.header("authorization"), header.hasPrefix("Bearer "),
      let token = WebToken(String(header.dropFirst(7)))
    else { return false }
    return token.isSigned(by: signer.authority.apiKey, keyId: MockAuthority.apiKeyId)
      && token.header["typ"]?.text == "JWT"
      && token.claims["iss"]?.text == MockAuthority.issuerId
      && token.claims["aud"]?.text == "appstoreconnect-v1"
      && token.claims["bid"]?.text == signer.authority.app.bundleId
      && token.second("exp") != nil
      // Apple's own library sends no `iat`.
      && token.isCurrent(at: now, longest: 3600, needsIssue: false)
  }

  /// Returns the response to a request.
  ///
  /// - Parameter path: the parts of the path from the version on.
  private func answer(_ path: [String], _ state: inout MockState) throws -> HTTPResponse {
    let history = StoreHistory(store: self)
    let subscriptions = StoreSubscriptions(store: self)
    let updates = StoreUpdates(store: self)
    let notifications = StoreNotifications(store: self)
    if path.prefix(2) == ["v1", "messaging"] {
      return try messaging(Array(path.dropFirst(2)), &state)
    }
    switch Self.route(request.method, path) {
    case "GET */history/*": return try history.list(path[2], path[0], state)
    case "GET v1/transactions/*": return try history.transaction(path[2], state)
    case "GET v1/transactions/appTransactions/*":
      return try history.appTransaction(path[3], state)
    case "GET v1/lookup/*": return try history.order(path[2], state)
    case "GET v2/refund/lookup/*": return try history.refunds(path[3], state)
    case "GET v1/subscriptions/*": return try subscriptions.statuses(path[2], state)
    case "PUT v1/subscriptions/extend/*": return try subscriptions.extend(path[3], &state)
    case "POST v1/subscriptions/extend/mass": return try subscriptions.extendAll(&state)
    case "GET v1/subscriptions/extend/mass/*/*":
      return try subscriptions.extended(path[4], path[5], state)
    case "POST v1/transactions/*/finish": return try updates.finish(path[2], &state)
    case "PUT v1/transactions/*/appAccountToken": return try updates.setAccount(path[2], &state)
    case "PUT */transactions/consumption/*":
      return try updates.consume(path[3], path[0], &state)
    case "POST v1/notifications/history": return try notifications.list(state)
    case "POST v1/notifications/test": return try notifications.test(&state)
    case "GET v1/notifications/test/*": return try notifications.status(path[3], state)
    default: return .empty(404)
    }
  }

  private static let routes = [
    "GET */history/*", "GET v1/transactions/*", "GET v1/transactions/appTransactions/*",
    "GET v1/lookup/*", "GET v2/refund/lookup/*", "GET v1/subscriptions/*",
    "PUT v1/subscriptions/extend/*", "POST v1/subscriptions/extend/mass",
    "GET v1/subscriptions/extend/mass/*/*", "POST v1/transactions/*/finish",
    "PUT v1/transactions/*/appAccountToken", "PUT */transactions/consumption/*",
    "POST v1/notifications/history", "POST v1/notifications/test",
    "GET v1/notifications/test/*",
    "PUT image/*", "DELETE image/*", "GET image/list", "PUT message/*", "DELETE message/*",
    "GET message/list", "PUT default/*/*", "GET default/*/*", "DELETE default/*/*",
    "PUT realtime/url", "GET realtime/url", "DELETE realtime/url", "POST performanceTest",
    "GET performanceTest/result/*",
  ]

  /// Returns the response about a report of external purchases.
  ///
  /// - Parameter path: the parts of the path behind `reports`.
  private func report(_ path: [String], _ state: inout MockState) throws -> HTTPResponse {
    let reports = StoreReports(store: self)
    switch (request.method, path.count) {
    case ("PUT", 0): return try reports.send(&state)
    case ("GET", 1): return reports.get(path[0], state)
    default: return .empty(404)
    }
  }

  /// Returns the response of Advanced Commerce.
  ///
  /// - Parameter path: the parts of the path behind the version.
  private func commerce(_ path: [String], _ state: inout MockState) throws -> HTTPResponse {
    guard request.method == "POST", path.count == 3,
      request.host.split(separator: ".").contains("itunes"),
      let call = StoreCommerce.Call(rawValue: path[0] + "/" + path[1])
    else { return .empty(404) }
    return try StoreCommerce(store: self).answer(call, path[2], &state)
  }

  /// Returns the response of retention messaging.
  ///
  /// - Parameter path: the parts of the path behind `messaging`.
  private func messaging(_ path: [String], _ state: inout MockState) throws -> HTTPResponse {
    let messaging = StoreMessaging(store: self)
    switch Self.route(request.method, path) {
    case "PUT image/*": return try messaging.uploadImage(path[1], &state)
    case "DELETE image/*": return try messaging.deleteImage(path[1], &state)
    case "GET image/list": return messaging.images(state)
    case "PUT message/*": return try messaging.uploadMessage(path[1], &state)
    case "DELETE message/*": return try messaging.deleteMessage(path[1], &state)
    case "GET message/list": return messaging.messages(state)
    case "PUT default/*/*": return try messaging.setDefault(path[1], path[2], &state)
    case "GET default/*/*": return try messaging.getDefault(path[1], path[2], state)
    case "DELETE default/*/*": return try messaging.deleteDefault(path[1], path[2], &state)
    case "PUT realtime/url": return try messaging.setURL(&state)
    case "GET realtime/url": return try messaging.getURL(state)
    case "DELETE realtime/url": return try messaging.deleteURL(&state)
    case "POST performanceTest": return try messaging.test(&state)
    case "GET performanceTest/result/*": return try messaging.tested(path[2], state)
    default: return .empty(404)
    }
  }

  /// Returns the endpoint of a request; `*` matches one part.
  private static func route(_ method: String, _ path: [String]) -> String {
    routes.first { route in
      let words = route.split(separator: " ")
      let parts = words[1].split(separator: "/")
      return words[0] == method && parts.count == path.count
        && zip(parts, path).allSatisfy { $0 == "*" || $0 == $1 }
    } ?? ""
  }

  // MARK: purchases

  private func isHere(_ purchase: Purchase) -> Bool {
    purchase.environment == environment && purchase.bundleId == signer.authority.app.bundleId
  }

  /// Returns every purchase of the app in this environment.
  func purchases(_ state: MockState) -> [MockPurchase] {
    state.purchases.filter { isHere($0.purchase) }
  }

  /// Returns the index of a transaction; an original id is the first of its subscription.
  func place(of id: String, _ state: MockState) throws -> Int {
    guard Self.isId(id) else { throw StoreError(4_000_006) }
    guard let place = state.place(of: id), isHere(state.purchases[place].purchase) else {
      throw StoreError(4_040_010)
    }
    return place
  }

  /// Returns every purchase of the customer who has that transaction id or app transaction id.
  func customer(_ id: String, _ state: MockState) throws -> [MockPurchase] {
    guard Self.isId(id) else { throw StoreError(4_000_006) }
    let all = purchases(state)
    guard
      let one = all.first(where: {
        [$0.purchase.transactionId, $0.purchase.originalTransactionId].contains(id)
          || $0.purchase.appTransactionId == id
      })
    else { throw StoreError(4_040_010) }
    return all.filter {
      one.purchase.appTransactionId == nil
        ? $0.purchase.originalTransactionId == one.purchase.originalTransactionId
        : $0.purchase.appTransactionId == one.purchase.appTransactionId
    }
  }

  static func isId(_ text: String) -> Bool {
    (1...20).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }

  /// The unsigned members environment, bundle id and app id of many responses.
  var app: [(String, JSONText)] {
    [
      ("bundleId", .string(signer.authority.app.bundleId)),
      ("appAppleId", .integer(signer.authority.app.appAppleId)),
      ("environment", .string(environment)),
    ]
  }

  /// Returns the body as an object.
  func body() throws -> JSONTree {
    guard let json = request.json, case .object = json else { throw StoreError(4_000_000) }
    return json
  }
}
