/// A host's observations of a request (docs/spec/device-check.md §4). All members but `request`
/// and `attestation` may be absent or null; an unknown member or value is refused, since a
/// misspelt one must not lower the risk (RSK-1).
struct RiskObservations {
  enum Request: Int { case read, free, metered, paid, promo, restore }
  enum Attestation: Int { case verified, refused, unsupported, temporarilyUnavailable, absent }
  enum Platform: Int { case iOS, iPadOS, tvOS, watchOS, visionOS, macOS, catalyst, iOSOnMac }
  enum Context: Int {
    case app, watchExtension, actionExtension, ssoExtension, otherExtension
  }
  enum Purchase: Int { case verified, none, refused, foreign }
  enum DeviceCheck: Equatable {
    case bits(DeviceCheckBits)
    case noBits, tokenRefused, unavailable, absent
  }

  var request: Request
  var attestation: Attestation
  var clientError: DeviceCheckClientError? = nil
  var platform: Platform? = nil
  var osMajor: Int64? = nil
  var context: Context? = nil
  var accountHadKey: Bool? = nil
  var deviceHadKey: Bool? = nil
  /// Milliseconds since 1970 UTC.
  var lastAttestedMs: Int64? = nil
  var deviceCheck = DeviceCheck.absent
  /// The risk metric of the account's last attest receipt (FRC-12).
  var receiptRisk: Int64? = nil
  var category: Int64? = nil
  var clientSends: Bool? = nil
  var purchase: Purchase? = nil
  var unsupportedNow: UnitFraction? = nil
  var unsupportedBase: UnitFraction? = nil
  var accountsPerIpDay: Int64? = nil
  /// The signals of the customer (CUS-41); `nil` if the host passes none.
  var customer: Customer? = nil

  /// The signals of `get-customer-signals` that rules use.
  struct Customer {
    let accountsPerDownload: Int64
    let newKeys: Int64
    let transfers: Int64
    let isRestricted: Bool
    /// Purchases and refunds of a year: of the account, and of the accounts at its downloads.
    let counts: [(purchases: Int64, refunds: Int64)]
  }

  private typealias Node = MemberNode

  private static let refusals = MemberRefusals(.malformedRiskInput, "RSK-1")

  /// - Parameter policy: the configured names of the bits; observed bits with other names belong
  ///   to another product and are refused.
  /// - Throws: `malformed.risk.input` with the member's path.
  init(_ node: MemberNode, _ policy: DeviceCheckPolicy?) throws(Refusal) {
    let members = try node.refusing(RiskObservations.refusals).object([
      "request", "attestation", "errorCode", "platform", "osMajor", "context", "history",
      "deviceCheck", "receipt", "category", "clientSends", "purchase", "rates", "customer",
    ])
    let asked = try members.required("request")
    let attested = try members.required("attestation")
    request =
      Request(
        rawValue: try asked.choice(["read", "free", "metered", "paid", "promo", "restore"]))
      ?? .promo
    attestation =
      Attestation(
        rawValue: try attested.choice([
          "verified", "refused", "unsupported", "temporarily-unavailable", "absent",
        ])) ?? .refused
    if let entry = members.present("errorCode") {
      clientError = DeviceCheckClientError(rawValue: try entry.integer(0...4))
    }
    try readClient(members)
    if let entry = members.present("history") { try readHistory(entry) }
    if let entry = members.present("deviceCheck") {
      deviceCheck = try RiskObservations.deviceCheck(entry, policy)
    }
    if let entry = members.present("receipt") { try readReceipt(entry) }
    category = try members.present("category")?.integer(0...10)
    clientSends = try members.present("clientSends")?.boolean()
    if let entry = members.present("purchase") {
      purchase = Purchase(rawValue: try entry.choice(["verified", "none", "refused", "foreign"]))
    }
    if let entry = members.present("rates") { try readRates(entry) }
    if let entry = members.present("customer") { customer = try Customer(entry) }
  }

  // MARK: groups

  private mutating func readClient(_ members: Node) throws(Refusal) {
    if let entry = members.present("platform") {
      platform = Platform(
        rawValue: try entry.choice([
          "ios", "ipados", "tvos", "watchos", "visionos", "macos", "catalyst", "ios-on-mac",
        ]))
    }
    osMajor = try members.present("osMajor")?.integer(0...9999)
    if let entry = members.present("context") {
      context = Context(
        rawValue: try entry.choice([
          "app", "watch-extension", "action-extension", "sso-extension", "other-extension",
        ]))
    }
  }

  private mutating func readHistory(_ node: Node) throws(Refusal) {
    let members = try node.object([
      "accountHadKey", "deviceHadKey", "accountAgeDays", "lastAttestedMs",
    ])
    accountHadKey = try members.present("accountHadKey")?.boolean()
    deviceHadKey = try members.present("deviceHadKey")?.boolean()
    // No rule uses the age; its form is checked all the same.
    _ = try members.present("accountAgeDays")?.integer(0...Node.exactInteger)
    lastAttestedMs = try members.present("lastAttestedMs")?.integer(0...Node.exactInteger)
  }

  private mutating func readReceipt(_ node: Node) throws(Refusal) {
    let members = try node.object(["risk", "ageMs", "expired"])
    receiptRisk = try members.present("risk")?.integer(0...Node.exactInteger)
    _ = try members.present("ageMs")?.integer(0...Node.exactInteger)
    _ = try members.present("expired")?.boolean()
  }

  private mutating func readRates(_ node: Node) throws(Refusal) {
    let members = try node.object(["unsupportedNow", "unsupportedBase", "accountsPerIpDay"])
    unsupportedNow = try RiskObservations.share(members.present("unsupportedNow"))
    unsupportedBase = try RiskObservations.share(members.present("unsupportedBase"))
    accountsPerIpDay = try members.present("accountsPerIpDay")?.integer(0...Node.exactInteger)
  }

  private static func share(_ node: Node?) throws(Refusal) -> UnitFraction? {
    guard let node else { return nil }
    guard node.value.kind == .number, let share = UnitFraction(node.value.source) else {
      throw node.refusal(.range)
    }
    return share
  }

  // MARK: DeviceCheck

  /// Reads a word, or the result of `read-device-check-response`, whose ages are computed again.
  private static func deviceCheck(
    _ node: Node, _ policy: DeviceCheckPolicy?
  ) throws(Refusal) -> DeviceCheck {
    let words: [StaticString] = ["no-bits", "token-refused", "unavailable", "absent"]
    if node.value.kind == .string { return deviceCheck(word: try node.choice(words)) }
    let members = try node.object(["outcome", "fault", "month", "ageMonths", "bits", "offer"])
    let place = try members.required("outcome").choice(words + ["bits"])
    // No rule uses these two members; their form is checked all the same.
    _ = try members.present("fault")?.choice(["client", "ours", "transient", "unknown"])
    _ = try members.present("offer")?.choice(["free", "device-used"])
    guard place == words.count else {
      for name in ["bits", "month", "ageMonths"] as [StaticString] {
        if let entry = members.present(name) { throw entry.refusal(.range) }
      }
      return deviceCheck(word: place)
    }
    guard let bits = try members.present("bits")?.object(["bit0", "bit1"]) else {
      throw members.missing("bits")
    }
    var month: CalendarMonth? = nil
    if let entry = members.present("month") {
      month = CalendarMonth(try entry.text())
      try require(month != nil, entry)
    }
    if let entry = members.present("ageMonths") {
      _ = try entry.integer(-Node.exactInteger...Node.exactInteger)
      // An age without a month could not be computed again.
      try require(month != nil, entry)
    }
    return .bits(
      DeviceCheckBits(
        bit0: try bit(bits, "bit0", policy?.bit0), bit1: try bit(bits, "bit1", policy?.bit1),
        month: month))
  }

  private static func deviceCheck(word: Int) -> DeviceCheck {
    switch word {
    case 0: return .noBits
    case 1: return .tokenRefused
    case 2: return .unavailable
    default: return .absent
    }
  }

  /// Returns the value of one bit. A name other than the configured one means that the bit has
  /// another meaning, and is refused (DVC-10).
  private static func bit(
    _ bits: Node, _ name: StaticString, _ meaning: DeviceCheckPolicy.BitMeaning?
  ) throws(Refusal) -> Bool {
    guard let node = try bits[name]?.object(["name", "value", "aged", "set"]),
      let value = node["value"]
    else { throw bits.missing(Text(stringLiteral: name).string + ".value") }
    if let entry = node.present("name") {
      let text = try entry.text()
      try require(text == meaning?.name, entry)
    }
    let isSet = try value.boolean()
    _ = try node.present("aged")?.boolean()
    if let entry = node.present("set") {
      let counts = try entry.boolean()
      try require(isSet || !counts, entry)
    }
    return isSet
  }
}

extension RiskObservations.Customer {
  /// Reads the object `signals` of `get-customer-signals`. All its members are required, because a
  /// missing count would lower the risk (RSK-1); of `deviceRisk`, which no rule uses, the form is
  /// checked.
  fileprivate init(_ node: MemberNode) throws(Refusal) {
    let members = try node.object([
      "accountsPerDownload", "downloadCount", "accountsPerToken", "purchases", "refunds",
      "downloadPurchases", "downloadRefunds", "newKeys", "activeKeys", "deviceRisk", "transfers",
      "isRestricted",
    ])
    func count(_ name: StaticString) throws(Refusal) -> Int64 {
      try members.required(name).integer(0...MemberNode.exactInteger)
    }
    accountsPerDownload = try count("accountsPerDownload")
    _ = try count("downloadCount")
    _ = try count("accountsPerToken")
    counts = [
      (try count("purchases"), try count("refunds")),
      (try count("downloadPurchases"), try count("downloadRefunds")),
    ]
    newKeys = try count("newKeys")
    _ = try count("activeKeys")
    _ = try members.present("deviceRisk")?.integer(0...MemberNode.exactInteger)
    transfers = try count("transfers")
    isRestricted = try members.required("isRestricted").boolean()
  }
}
