import AssayAuthority

/// The history of notifications, and test notifications.
struct StoreNotifications {
  let store: MockStore

  private static let page = 20
  private static let kept: Int64 = 180 * Purchase.day

  func list(_ state: MockState) throws -> HTTPResponse {
    let json = try store.body()
    let now = state.clock.now
    guard let start = json["startDate"]?.integer else { throw StoreError(4_000_015) }
    guard let end = json["endDate"]?.integer else { throw StoreError(4_000_016) }
    if start < now - Self.kept { throw StoreError(4_000_012) }
    if start >= end { throw StoreError(4_000_013) }
    let type = json["notificationType"]?.text
    let subtype = json["notificationSubtype"]?.text
    let transaction = json["transactionId"]?.text
    if transaction != nil, type != nil { throw StoreError(4_000_019) }
    if subtype != nil, type == nil { throw StoreError(4_000_018) }
    let onlyFailures = json["onlyFailures"]?.boolean == true
    let all = state.notifications.filter {
      $0.environment == store.environment && $0.madeMs >= start && $0.madeMs <= end
        && (type == nil || type == $0.type) && (subtype == nil || subtype == $0.subtype)
        && (transaction == nil || transaction == $0.transactionId)
        && !(onlyFailures && $0.hasArrived)
    }
    let from = try offset(all.count)
    let page = all[from..<min(all.count, from + Self.page)]
    let next = from + page.count
    var answer: JSONText = ["hasMore": .boolean(next < all.count)]
    if next < all.count { answer = answer.appending("paginationToken", .string("p\(next)")) }
    return .json(answer.appending("notificationHistory", .array(page.map(\.json))))
  }

  private func offset(_ count: Int) throws -> Int {
    guard let token = store.request.one("paginationToken") else { return 0 }
    guard token.hasPrefix("p"), let offset = Int(token.dropFirst()), (0...count).contains(offset)
    else { throw StoreError(4_000_014) }
    return offset
  }

  /// Creates a test notification, which the server posts afterwards if an address is set.
  func test(_ state: inout MockState) throws -> HTTPResponse {
    guard state.notificationURL != nil else { throw StoreError(4_040_007) }
    var sample = Purchase(now: state.clock.now).with { $0.environment = store.environment }
    sample.bundleId = store.signer.authority.app.bundleId
    sample.appAppleId = store.signer.authority.app.appAppleId
    var note = try NotificationMaker(signer: store.signer).make("TEST", nil, sample, &state)
    let token = "\(note.uuid)_\(note.madeMs)"
    note.token = token
    state.notifications.append(note)
    return .json(["testNotificationToken": .string(token)])
  }

  func status(_ token: String, _ state: MockState) throws -> HTTPResponse {
    guard let note = state.notifications.first(where: { $0.token == token }) else {
      throw StoreError(4_040_008)
    }
    return .json(note.json)
  }
}
