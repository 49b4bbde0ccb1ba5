/// The objects of a response with facts. Every member has been checked; app and environment have
/// not.
struct ReceiptResponseParts: Sendable {
  /// The most entries of all lists together (VRR-15).
  static let entryCap = 16_384

  let style: ResponseStyle
  let answer: ResponseFields
  /// The members of `receipt`; `nil` in the iOS 6 style.
  let app: ResponseFields?
  /// The bundle id in `receipt`; `nil` if absent.
  let bundleId: Text?
  let transactions: [ResponseTransaction]
  let renewals: [ResponseRenewal]
  let warnings: ResponseWarnings

  /// Reads all members that the tables contain (VRR-9).
  init(_ root: JSONValue) throws(Refusal) {
    try Self.checkCount(root)
    var warnings = ResponseWarnings()
    answer = try ResponseFields(root, ResponseMembers.answer, at: ResponsePath(""), &warnings)
    let receipt = root.present("receipt")
    try require(
      receipt?.kind ?? .object == .object, .malformedVerifyReceiptField, "VRR-9", at: "receipt")
    let isFlat =
      receipt?.present("bundle_id") == nil && receipt?.present("bid") != nil
    style = isFlat ? .ios6 : .ios7
    var entries: [ResponseTransaction] = []
    var flatReceipt: ResponseTransaction? = nil
    var app: ResponseFields? = nil
    if let receipt, isFlat {
      let entry = try ResponseTransaction(
        receipt, .receipt, at: ResponsePath("receipt"), &warnings)
      flatReceipt = entry
      entries.append(entry)
    } else if let receipt {
      app = try ResponseFields(
        receipt, ResponseMembers.app, at: ResponsePath("receipt"), &warnings)
      try Self.read(receipt, "in_app", "receipt.in_app", .receipt, into: &entries, &warnings)
    }
    self.app = app
    bundleId = isFlat ? flatReceipt?.fields.text("bid") : app?.text("bundle_id")
    try Self.read(
      root, "latest_receipt_info", "latest_receipt_info", .latest, into: &entries, &warnings)
    try Self.read(
      root, "latest_expired_receipt_info", "latest_expired_receipt_info", .expired,
      into: &entries, &warnings)
    transactions = ResponseTransaction.merged(entries)
    renewals = ResponseRenewal.completed(
      try Self.renewals(root, flatReceipt, &warnings), from: transactions)
    self.warnings = warnings
  }

  // MARK: lists

  /// Counts the entries of all lists before any is read (VRR-15).
  private static func checkCount(_ root: JSONValue) throws(Refusal) {
    var count = 0
    for list in [
      root.present("receipt")?.present("in_app"), root.present("latest_receipt_info"),
      root.present("latest_expired_receipt_info"), root.present("pending_renewal_info"),
    ] {
      guard let list else { continue }
      count &+= list.kind == .array ? list.count : 1
    }
    try require(count <= entryCap, .tooLargeVerifyReceiptEntries, "VRR-15")
  }

  /// Reads the purchases of a member that is a list in one style and a single object in the
  /// other. An absent member means that there are none (VRR-13).
  private static func read(
    _ owner: JSONValue, _ member: StaticString, _ list: StaticString,
    _ source: ResponseTransaction.Source, into entries: inout [ResponseTransaction],
    _ warnings: inout ResponseWarnings
  ) throws(Refusal) {
    guard let value = owner.present(member) else { return }
    if value.kind == .object {
      entries.append(
        try ResponseTransaction(value, source, at: ResponsePath(list), &warnings))
      return
    }
    for (index, element) in try objects(value, list).enumerated() {
      entries.append(
        try ResponseTransaction(element, source, at: ResponsePath(list, index), &warnings))
    }
  }

  private static func renewals(
    _ root: JSONValue, _ flatReceipt: ResponseTransaction?, _ warnings: inout ResponseWarnings
  ) throws(Refusal) -> [ResponseRenewal] {
    var found: [ResponseRenewal] = []
    if let flatReceipt,
      let renewal = try ResponseRenewal(topOf: root, about: flatReceipt, &warnings)
    {
      found.append(renewal)
    }
    guard let value = root.present("pending_renewal_info") else { return found }
    let list: StaticString = "pending_renewal_info"
    for (index, element) in try objects(value, list).enumerated() {
      found.append(try ResponseRenewal(element, at: ResponsePath(list, index), &warnings))
    }
    return found
  }

  /// Returns the elements of an array of objects.
  private static func objects(
    _ value: JSONValue, _ list: StaticString
  ) throws(Refusal) -> [JSONValue] {
    let place = Text(stringLiteral: list).string
    try require(value.kind == .array, .malformedVerifyReceiptField, "VRR-9", at: place)
    var elements: [JSONValue] = []
    elements.reserveCapacity(value.count)
    for element in value.children {
      try require(
        element.kind == .object, .malformedVerifyReceiptField, "VRR-9",
        at: place + "[" + String(elements.count) + "]")
      elements.append(element)
    }
    return elements
  }
}
