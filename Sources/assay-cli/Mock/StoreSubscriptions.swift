import AssayAuthority

/// States of subscriptions, and extensions of their periods.
struct StoreSubscriptions {
  let store: MockStore

  func statuses(_ id: String, _ state: MockState) throws -> HTTPResponse {
    let wanted = try store.request.all("status").map { text in
      guard let status = Int64(text), (1...5).contains(status) else { throw StoreError(4_000_031) }
      return status
    }
    let now = state.clock.now
    var groups: [(group: String, lines: [JSONText])] = []
    var seen: Set<String> = []
    for one in try store.customer(id, state) where one.purchase.type == .autoRenewable {
      let line = one.purchase.originalTransactionId
      guard seen.insert(line).inserted, let place = state.newest(ofLine: line) else { continue }
      let newest = state.purchases[place]
      let status = newest.status(at: now)
      if !wanted.isEmpty, !wanted.contains(status) { continue }
      let item: JSONText = [
        "originalTransactionId": .string(line), "status": .integer(status),
        "signedTransactionInfo": try store.signer.transaction(newest.signed(at: now)),
        "signedRenewalInfo": try store.signer.renewal(newest.signed(at: now)),
      ]
      let group = newest.purchase.group ?? ""
      if let at = groups.firstIndex(where: { $0.group == group }) {
        groups[at].lines.append(item)
      } else {
        groups.append((group, [item]))
      }
    }
    let data = groups.map { group -> JSONText in
      [
        "subscriptionGroupIdentifier": .string(group.group),
        "lastTransactions": .array(group.lines),
      ]
    }
    return .json(JSONText.object([]).setting(store.app).appending("data", .array(data)))
  }

  // MARK: longer periods

  /// Returns the members that both kinds of extension have.
  private func wanted(_ json: JSONTree) throws -> (days: Int64, id: String) {
    guard let days = json["extendByDays"]?.integer, (1...90).contains(days) else {
      throw StoreError(4_000_009)
    }
    guard let reason = json["extendReasonCode"]?.integer, (0...3).contains(reason) else {
      throw StoreError(4_000_010)
    }
    guard let id = json["requestIdentifier"]?.text, (1...128).contains(id.utf8.count) else {
      throw StoreError(4_000_011)
    }
    return (days, id)
  }

  func extend(_ line: String, _ state: inout MockState) throws -> HTTPResponse {
    let (days, id) = try wanted(try store.body())
    guard MockStore.isId(line) else { throw StoreError(4_000_008) }
    let key = "\(line) \(id)"
    if let before = state.extensions[key] { return .json(before) }
    guard let place = state.newest(ofLine: line, environment: store.environment) else {
      throw StoreError(4_040_005)
    }
    let one = state.purchases[place]
    if one.purchase.ownership != "PURCHASED" { throw StoreError(4_030_007) }
    guard one.purchase.type == .autoRenewable, one.status(at: state.clock.now) == 1,
      let end = one.purchase.expiresDate
    else { throw StoreError(4_030_004) }
    if one.extensions >= 2 { throw StoreError(4_030_005) }
    let later = min(end + days * Purchase.day, MintedValues.dates.upperBound)
    state.purchases[place].purchase.expiresDate = later
    state.purchases[place].extensions += 1
    state.touch(place)
    let answer: JSONText = [
      "originalTransactionId": .string(line),
      "webOrderLineItemId": .string(one.purchase.webOrderLineItemId ?? ""), "success": true,
      "effectiveDate": .integer(later),
    ]
    state.extensions[key] = answer
    try state.keep()
    return .json(answer)
  }

  func extendAll(_ state: inout MockState) throws -> HTTPResponse {
    let json = try store.body()
    let (days, id) = try wanted(json)
    guard let product = json["productId"]?.text, !product.isEmpty else {
      throw StoreError(4_000_023)
    }
    if case .array(let list)? = json["storefrontCountryCodes"], list.isEmpty {
      throw StoreError(4_000_027)
    }
    let key = "\(product) \(id)"
    guard state.massExtensions[key] == nil else {
      return .json(["requestIdentifier": .string(id)])
    }
    var count: (good: Int64, bad: Int64) = (0, 0)
    for place in state.purchases.indices {
      let one = state.purchases[place]
      guard one.purchase.productId == product, one.purchase.environment == store.environment,
        state.newest(ofLine: one.purchase.originalTransactionId) == place,
        let end = one.purchase.expiresDate
      else { continue }
      if one.status(at: state.clock.now) == 1 {
        state.purchases[place].purchase.expiresDate = min(
          end + days * Purchase.day, MintedValues.dates.upperBound)
        state.touch(place)
        count.good += 1
      } else {
        count.bad += 1
      }
    }
    state.massExtensions[key] = [
      "requestIdentifier": .string(id), "complete": true,
      "completeDate": .integer(state.clock.now), "succeededCount": .integer(count.good),
      "failedCount": .integer(count.bad),
    ]
    try state.keep()
    return .json(["requestIdentifier": .string(id)])
  }

  func extended(_ product: String, _ id: String, _ state: MockState) throws -> HTTPResponse {
    guard let known = state.massExtensions["\(product) \(id)"] else {
      throw StoreError(4_040_009)
    }
    return .json(known)
  }
}
