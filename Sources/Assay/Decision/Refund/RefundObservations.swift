/// What a host knows about a purchase that Apple asks about (RFA-2). An unknown member or value is
/// refused, because a misspelt one must not look like consent, or like an unused purchase.
struct RefundObservations {
  var consent: Consent? = nil
  var usage = RefundUsage.unknown
  var delivery: RefundDelivery? = nil
  var hasSample: Bool? = nil
  var account = Account()

  /// The customer's own consent, given to the app.
  struct Consent {
    var isGiven: Bool
    /// Milliseconds since 1970 UTC, as is the withdrawal.
    var answeredAtMs: Int64
    var withdrawnAtMs: Int64? = nil
    var account: Text? = nil
  }

  /// The account of an Advanced Commerce purchase (RFA-16).
  struct Account {
    /// Milliseconds since 1970 UTC.
    var createdAtMs: Int64? = nil
    var playMs: Int64? = nil
    var spentCents: Int64? = nil
    var refundedCents: Int64? = nil
    /// Apple's numbers.
    var status: Int64? = nil
    var platform: Int64? = nil
    var token: Text? = nil
  }

  /// - Throws: `malformed.refund.input` with the member's path.
  init(_ node: MemberNode) throws(Refusal) {
    let members = try node.refusing(RefundCase.refusals).object([
      "consent", "usage", "delivery", "hasSample", "account",
    ])
    if let entry = members.present("consent") {
      consent = try RefundObservations.consent(entry)
    }
    if let entry = members.present("usage") { usage = try RefundUsage(entry) }
    if let entry = members.present("delivery") {
      delivery = RefundDelivery(rawValue: try entry.choice(RefundDelivery.words))
    }
    hasSample = try members.present("hasSample")?.boolean()
    if let entry = members.present("account") {
      account = try RefundObservations.account(entry)
    }
  }

  private static func consent(_ node: MemberNode) throws(Refusal) -> Consent {
    let members = try node.object(["isGiven", "answeredAtMs", "withdrawnAtMs", "account"])
    return Consent(
      isGiven: try members.required("isGiven").boolean(),
      answeredAtMs: try members.required("answeredAtMs").integer(RefundCase.integers),
      withdrawnAtMs: try members.present("withdrawnAtMs")?.integer(RefundCase.integers),
      account: try members.present("account")?.text(1...255))
  }

  private static func account(_ node: MemberNode) throws(Refusal) -> Account {
    let members = try node.object([
      "createdAtMs", "status", "playMs", "spentUsdCents", "refundedUsdCents", "platform",
      "appAccountToken",
    ])
    func integer(_ name: StaticString) throws(Refusal) -> Int64? {
      try members.present(name)?.integer(RefundCase.integers)
    }
    /// Returns Apple's number of a word: its index, from 1.
    func number(_ name: StaticString, _ words: [StaticString]) throws(Refusal) -> Int64? {
      guard let entry = members.present(name) else { return nil }
      return Int64(try entry.choice(words) &+ 1)
    }
    var account = Account(
      createdAtMs: try integer("createdAtMs"), playMs: try integer("playMs"),
      spentCents: try integer("spentUsdCents"), refundedCents: try integer("refundedUsdCents"),
      status: try number("status", ["active", "suspended", "terminated", "limited"]),
      platform: try number("platform", ["apple", "other"]))
    if let entry = members.present("appAccountToken") {
      let token = try entry.text()
      try require(token.isUUID, entry)
      account.token = token
    }
    return account
  }
}
