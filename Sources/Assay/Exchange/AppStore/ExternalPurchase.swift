/// The checks of reports about external purchases that no table has (EXP-4), and the environment
/// of their tokens (EXP-1).
enum ExternalPurchase {
  /// Returns the refusal of a member, in the words of these reports.
  static func refusal(_ found: Refusal) -> Refusal {
    Refusal(.misuseExternalPurchaseParameter, "EXP-4", at: found.place)
  }

  private static let sandbox = Array("SANDBOX".utf8)

  /// Whether the token of a report is one of Sandbox.
  static func isOfSandbox(_ request: ExchangeRequest) -> Bool {
    request["externalPurchaseId"]?.value.text?.utf8.starts(with: sandbox) ?? false
  }

  /// Checks the members of a report together.
  ///
  /// - Throws: `misuse.external-purchase.parameter`.
  static func check(_ request: ExchangeRequest, nowMs: Int64) throws(Refusal) {
    let items = request["lineItems"]
    try require(
      (request["status"]?.value.text == "LINE_ITEM") == (items != nil),
      .misuseExternalPurchaseParameter, "EXP-4", at: "lineItems",
      detail: items == nil ? "Apple's error 9" : "Apple's error 10")
    guard let items else { return }
    var ids: [Text] = []
    for item in try items.elements(1...256) {
      let line = ExternalPurchaseLine(item)
      try line.check(nowMs: nowMs)
      guard let id = line.text("lineItemId") else { continue }
      try line.hold(!ids.contains(id), "lineItemId", 1)
      ids.append(id)
    }
  }

  /// Returns the ids of the line items of a report.
  static func ids(_ items: JSONValue?) -> [Text] {
    items.map { Array($0.children).compactMap { $0.present("lineItemId")?.text } } ?? []
  }
}
