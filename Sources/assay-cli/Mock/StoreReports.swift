import AssayAuthority

/// Mocks reports about external purchases (docs/spec/external-purchase.md): each report and each
/// line item is taken once, and a report can be read again.
struct StoreReports {
  let store: MockStore

  func send(_ state: inout MockState) throws -> HTTPResponse {
    let json = try store.body()
    guard let id = json["requestIdentifier"]?.text, json["externalPurchaseId"]?.text != nil else {
      return Self.refused(4, "requestIdentifier")
    }
    let key = store.environment + " " + id
    guard state.reports[key] == nil else { return Self.refused(1, "requestIdentifier") }
    var items: [JSONTree] = []
    if case .array(let list)? = json["lineItems"] { items = list }
    guard (json["status"]?.text == "LINE_ITEM") == !items.isEmpty else {
      return Self.refused(items.isEmpty ? 9 : 10, "lineItems")
    }
    var ids: [String] = []
    for item in items {
      guard let id = item["lineItemId"]?.text else { return Self.refused(4, "lineItemId") }
      let isKnown = state.lineItems.contains(store.environment + " " + id)
      guard isKnown == (item["restatement"]?.boolean ?? false), !ids.contains(id) else {
        return Self.refused(isKnown ? 1 : 39, "lineItemId", id)
      }
      ids.append(id)
    }
    state.reports[key] = store.request.body
    for id in ids { state.lineItems.insert(store.environment + " " + id) }
    return .json(["requestIdentifier": .string(id)])
  }

  func get(_ id: String, _ state: MockState) -> HTTPResponse {
    guard let report = state.reports[store.environment + " " + id] else {
      return Self.refused(3, "requestIdentifier")
    }
    return .octets(report, "application/json")
  }

  private static func refused(_ code: Int64, _ field: String, _ item: String? = nil) -> HTTPResponse
  {
    var error: JSONText = [
      "errorCode": .integer(code), "errorMessage": "The report is wrong.",
      "fieldName": .string(field),
    ]
    if let item { error = error.appending("lineItemId", .string(item)) }
    return .json(["errors": [error]], status: 400)
  }
}
