import AssayAuthority

/// Updates of a transaction that a host sends to Apple.
struct StoreUpdates {
  let store: MockStore

  func finish(_ id: String, _ state: inout MockState) throws -> HTTPResponse {
    let place = try store.place(of: id, state)
    state.purchases[place].isFinished = true
    state.touch(place)
    try state.keep()
    return .empty(200)
  }

  func setAccount(_ id: String, _ state: inout MockState) throws -> HTTPResponse {
    let place = try store.place(of: id, state)
    let purchase = state.purchases[place].purchase
    guard let text = try store.body()["appAccountToken"]?.text,
      (try? MintedValues.uuid(text, "appAccountToken")) != nil
    else { throw StoreError(4_000_183) }
    if purchase.originalTransactionId != id { throw StoreError(4_000_187) }
    if purchase.ownership != "PURCHASED" { throw StoreError(4_000_185) }
    for other in state.purchases.indices
    where state.purchases[other].purchase.originalTransactionId == id {
      state.purchases[other].purchase.accountToken = text
      state.touch(other)
    }
    try state.keep()
    return .empty(200)
  }

  func consume(_ id: String, _ version: String, _ state: inout MockState) throws -> HTTPResponse {
    guard version == "v1" || version == "v2" else { return .empty(404) }
    let place = try store.place(of: id, state)
    let json = try store.body()
    guard json["customerConsented"]?.boolean == true else { throw StoreError(4_000_035) }
    guard json["sampleContentProvided"]?.boolean != nil else { throw StoreError(4_000_041) }
    if version == "v2" {
      let words = [
        "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM",
        "UNDELIVERED_SERVER_OUTAGE", "UNDELIVERED_OTHER",
      ]
      guard words.contains(json["deliveryStatus"]?.text ?? "") else { throw StoreError(4_000_036) }
    }
    state.purchases[place].hasConsumption = true
    state.touch(place)
    try state.keep()
    return .empty(202)
  }
}
