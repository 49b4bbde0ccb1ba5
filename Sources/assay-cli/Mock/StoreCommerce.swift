import AssayAuthority

/// Mocks the server requests of the Advanced Commerce API (docs/spec/advanced-commerce.md §3). A
/// request id is taken once; texts and prices are checked and forgotten, cancellation and refund
/// change the purchase.
struct StoreCommerce {
  let store: MockStore

  /// An endpoint, by the two parts of its path.
  enum Call: String {
    case cancel = "subscription/cancel"
    case revoke = "subscription/revoke"
    case refund = "transaction/requestRefund"
    case metadata = "subscription/changeMetadata"
    case price = "subscription/changePrice"
    case migrate = "subscription/migrate"
  }

  func answer(_ call: Call, _ id: String, _ state: inout MockState) throws -> HTTPResponse {
    let json = try store.body()
    let reference = try reference(json, state)
    let place = try store.place(of: id, state)
    let isSubscription = state.purchases[place].purchase.type == .autoRenewable
    guard call == .refund || isSubscription else { throw StoreError(4_030_010) }
    try check(call, json)
    switch call {
    case .cancel: state.purchases[place].purchase.autoRenewStatus = 0
    case .revoke, .refund:
      guard state.purchases[place].purchase.revocationDate == nil else {
        throw StoreError(4_030_021)
      }
      state.purchases[place].revoke(at: state.clock.now)
    case .metadata, .price, .migrate: break
    }
    state.references.insert(reference)
    state.touch(place)
    try state.keep()
    let signed = state.purchases[place].signed(at: state.clock.now)
    var members: [(String, JSONText)] = [
      ("signedTransactionInfo", try store.signer.transaction(signed))
    ]
    if isSubscription { members.append(("signedRenewalInfo", try store.signer.renewal(signed))) }
    return .json(JSONText.object([]).setting(members))
  }

  /// Returns the id of the request, which no earlier one has.
  private func reference(_ json: JSONTree, _ state: MockState) throws -> String {
    guard let info = json["requestInfo"] else { throw StoreError(4_000_079) }
    guard let text = info["requestReferenceId"]?.text else { throw StoreError(4_000_080) }
    guard (try? MintedValues.uuid(text, "requestReferenceId")) != nil else {
      throw StoreError(4_000_081)
    }
    guard !state.references.contains(text) else { throw StoreError(4_000_097) }
    return text
  }

  private func check(_ call: Call, _ json: JSONTree) throws {
    var items: [JSONTree] = []
    if case .array(let list)? = json["items"] { items = list }
    switch call {
    case .cancel: break
    case .revoke: try checkReason(json)
    case .refund:
      guard !items.isEmpty else { throw StoreError(4_000_101) }
      for item in items { try checkReason(item) }
    case .metadata:
      guard json["descriptors"] != nil || !items.isEmpty else { throw StoreError(4_000_160) }
    case .price:
      guard !items.isEmpty else { throw StoreError(4_000_101) }
      guard items.allSatisfy({ ($0["price"]?.integer ?? -1) >= 0 }) else {
        throw StoreError(4_000_086)
      }
    case .migrate:
      guard json["descriptors"] != nil else { throw StoreError(4_000_103) }
      guard json["targetProductId"]?.text != nil else { throw StoreError(4_000_166) }
    }
  }

  private func checkReason(_ json: JSONTree) throws {
    guard let reason = json["refundReason"]?.text else { throw StoreError(4_000_156) }
    guard reason != "SIMULATE_REFUND_DECLINE" || store.environment == "Sandbox" else {
      throw StoreError(4_000_158)
    }
  }
}
