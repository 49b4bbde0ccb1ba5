/// The checks of requests of the Advanced Commerce API that no table has (ACA-1, ACA-9, ACA-10).
enum AdvancedCommerce {
  /// Returns the refusal of a member, in the words of Advanced Commerce.
  static func refusal(_ found: Refusal) -> Refusal {
    Refusal(.misuseAcaParameter, "ACA-1", at: found.place)
  }

  /// Checks the refunds of a request for Apple's servers.
  ///
  /// - Throws: `misuse.aca.parameter` for an amount without the type CUSTOM, for this type without
  ///   an amount, and for a reason of Sandbox in Production.
  static func check(_ request: ExchangeRequest) throws(Refusal) {
    let isProduction = request["environment"]?.value.text == "Production"
    try checkReason(request["refundReason"], isProduction)
    guard let items = request["items"], request["refundRiskingPreference"] != nil else { return }
    for item in try items.elements(1...256) {
      let isCustom = item["refundType"]?.value.text == "CUSTOM"
      try require(
        isCustom == (item["refundAmount"] != nil), .misuseAcaParameter, "ACA-10",
        at: item.path + ".refundAmount")
      try checkReason(item["refundReason"], isProduction)
    }
  }

  private static func checkReason(_ reason: MemberNode?, _ isProduction: Bool) throws(Refusal) {
    guard let reason, isProduction else { return }
    try require(
      reason.value.text != "SIMULATE_REFUND_DECLINE", .misuseAcaParameter, "ACA-10",
      at: reason.path)
  }

  /// The requests that the app passes to StoreKit, as Apple names them.
  private static let operations: [(name: StaticString, operation: StaticString)] = [
    ("sign-one-time-charge", "CREATE_ONE_TIME_CHARGE"),
    ("sign-subscription-creation", "CREATE_SUBSCRIPTION"),
    ("sign-subscription-modification", "MODIFY_SUBSCRIPTION"),
    ("sign-subscription-reactivation", "REACTIVATE_SUBSCRIPTION"),
  ]

  /// Returns the JSON of a request that the app passes to StoreKit (ACA-3).
  ///
  /// - Throws: `misuse.aca.parameter`.
  static func json(_ request: ExchangeRequest) throws(Refusal) -> [UInt8] {
    let name = request.kind.name
    guard let row = AppStoreSchemas.inApp.first(where: { $0.operation.hasSameBytes(as: name) }),
      let operation = operations.first(where: { $0.name.hasSameBytes(as: name) })?.operation
    else { throw Refusal(.internalAssayBug, "EXC-3", at: "operation") }
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("operation", Text(stringLiteral: operation))
    writer.member("version", "1")
    var warnings: [Warning] = []
    for member in row.schema.members {
      do throws(Refusal) {
        let values = try member.values(request[member.name], in: nil, isStrict: true, &warnings)
        member.write(values, &writer)
      } catch {
        throw refusal(error)
      }
    }
    writer.endObject()
    try checkChange(request)
    return writer.bytes
  }

  /// Refuses a modification that changes nothing (ACA-9).
  private static func checkChange(_ request: ExchangeRequest) throws(Refusal) {
    guard request.kind.name.hasSameBytes(as: "sign-subscription-modification") else { return }
    let changes: [StaticString] = [
      "addItems", "changeItems", "removeItems", "periodChange", "descriptors",
    ]
    try require(
      changes.contains { request[$0] != nil }, .misuseAcaParameter, "ACA-9", at: "addItems")
  }
}
