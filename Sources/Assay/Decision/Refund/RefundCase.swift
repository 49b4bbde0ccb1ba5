/// The purchase that Apple asks about (RFA-2).
struct RefundCase {
  var environment: Environment
  let bundleId: Text
  let transactionId: Text
  let product: Text
  var type: ProductType
  /// `inAppOwnershipType`, as Apple wrote it.
  var ownership: Text
  /// Milliseconds since 1970 UTC, like all dates here.
  var purchasedAtMs: Int64
  var askedAtMs: Int64
  /// Whether the ledger granted the purchase, or its subscription has an owner.
  var isGranted: Bool
  /// `consumptionRequestReason`, as Apple wrote it.
  var reason: Text? = nil
  var isAdvancedCommerce = false
  var isTrial = false
  var account: Text? = nil
  /// Whether a parent withdrew the consent to the account's data.
  var isRestricted = false
  var history: History? = nil

  /// What one customer bought in the last 365 days.
  struct History {
    let refunds: Int64
    let purchases: Int64
  }

  /// How long Apple waits for an answer, in milliseconds (RFA-5).
  private static let waitMs: Int64 = 43_200_000

  /// The end of Apple's wait, in milliseconds since 1970 UTC.
  var dueAtMs: Int64 { askedAtMs &+ RefundCase.waitMs }

  static let refusals = MemberRefusals(.malformedRefundInput, "RFA-2")
  static let integers: ClosedRange<Int64> = 0...MemberNode.exactInteger

  private static let types: [ProductType] = [
    .autoRenewable, .nonRenewing, .nonConsumable, .consumable,
  ]

  /// - Throws: `malformed.refund.input` with the member's path.
  init(_ node: MemberNode) throws(Refusal) {
    let members = try node.refusing(RefundCase.refusals).object([
      "environment", "bundleId", "transactionId", "product", "type", "ownership",
      "purchasedAtMs", "askedAtMs", "isGranted", "reason", "isAdvancedCommerce", "isTrial",
      "account", "isRestricted", "history",
    ])
    let environments = Environment.allCases
    environment =
      environments[
        try members.required("environment").choice(environments.map { $0.name })]
    bundleId = try members.required("bundleId").text(1...255)
    let transaction = try members.required("transactionId")
    transactionId = try transaction.text(1...20)
    try require(transactionId.isDecimal, transaction)
    product = try members.required("product").text(1...255)
    type =
      RefundCase.types[
        try members.required("type").choice(RefundCase.types.map { $0.name })]
    ownership = try members.required("ownership").text(1...64)
    purchasedAtMs = try members.required("purchasedAtMs").integer(RefundCase.integers)
    askedAtMs = try members.required("askedAtMs").integer(RefundCase.integers)
    isGranted = try members.required("isGranted").boolean()
    reason = try members.present("reason")?.text(1...64)
    isAdvancedCommerce = try members.present("isAdvancedCommerce")?.boolean() ?? false
    isTrial = try members.present("isTrial")?.boolean() ?? false
    account = try members.present("account")?.text(1...255)
    isRestricted = try members.present("isRestricted")?.boolean() ?? false
    if let entry = members.present("history") {
      let counts = try entry.object(["refunds", "purchases"])
      history = History(
        refunds: try counts.required("refunds").integer(RefundCase.integers),
        purchases: try counts.required("purchases").integer(RefundCase.integers))
    }
  }
}
