/// The members of a ledger request, in the forms that several operations share.
struct OperationParameters {
  private let member: (StaticString) -> MemberNode?
  private let required: (StaticString) throws(Refusal) -> MemberNode
  let context: LedgerContext
  let evidence: [VerifiedEvidence]

  init(_ request: MemberNode, _ evidence: [VerifiedEvidence], _ context: LedgerContext) {
    member = { request[$0] }
    required = { name throws(Refusal) in try request.required(name) }
    self.evidence = evidence
    self.context = context
  }

  /// Returns a member; `nil` if it is absent or null.
  subscript(_ name: StaticString) -> MemberNode? {
    guard let node = member(name), !node.value.isNull else { return nil }
    return node
  }

  func needed(_ name: StaticString) throws(Refusal) -> MemberNode {
    let node = try required(name)
    try require(!node.value.isNull, node, .type)
    return node
  }

  /// Reads an account id: 1 … 255 bytes, no control characters, no space at either end (STO-5).
  func account(_ name: StaticString) throws(Refusal) -> Text {
    try OperationParameters.account(try needed(name).refusing(.misuseLedgerAccount, "STO-5"))
  }

  func accountIfAny(_ name: StaticString) throws(Refusal) -> Text? {
    guard let node = self[name] else { return nil }
    return try OperationParameters.account(node.refusing(.misuseLedgerAccount, "STO-5"))
  }

  private static func account(_ node: MemberNode) throws(Refusal) -> Text {
    let text = try clientText(node, 1...255)
    try require(text.utf8.first != 0x20 && text.utf8.last != 0x20, node)
    return text
  }

  /// Reads a text that a route takes from a client; control characters are the client's fault, not
  /// misuse (STO-84).
  static func clientText(
    _ node: MemberNode, _ lengths: ClosedRange<Int>
  ) throws(Refusal) -> Text {
    let text = try node.text()
    try require(!text.hasControlCharacter, node.refusing(.malformedLedgerText, "STO-84"))
    return try node.text(lengths)
  }

  /// Reads the reason for the request, 1 … 255 bytes; `nil` if there is none.
  func reason() throws(Refusal) -> Text? {
    try self["reason"].map { node throws(Refusal) in
      try OperationParameters.clientText(node, 1...255)
    }
  }

  /// Reads the attempt id: 22 … 64 printable ASCII characters (STO-8).
  func attemptId() throws(Refusal) -> Text {
    let node = try needed("attemptId").refusing(.misuseLedgerAttemptId, "STO-8")
    let text = try node.text(22...64)
    try require(text.utf8.allSatisfy { (0x21...0x7e).contains($0) }, node)
    return text
  }

  /// Returns the end of a lease that begins now, in milliseconds since 1970 UTC (STO-29).
  func leaseUntil() throws(Refusal) -> Int64 {
    let node = self["leaseMs"]?.refusing(.misuseLedgerLease, "STO-29")
    let span = try node?.integer(5000...3_600_000) ?? context.policy.leaseMs
    return Milliseconds.sum(context.nowMs, span)
  }

  /// Whether an expired lease waits for an operator, by the request or the configuration (STO-27).
  func holds() throws(Refusal) -> Bool {
    let given = try self["onExpiredLease"]?.choice(["resume", "hold"])
    return given.map { $0 == 1 } ?? context.policy.expiredLeaseHolds
  }

  /// Whether an operator has found that the grant did not happen (STO-27).
  func isResolved() throws(Refusal) -> Bool {
    try self["resolution"]?.choice(["not-granted"]) != nil
  }

  /// Refuses members that ask for something else than the other members do (EXC-1).
  func refuse(_ names: [StaticString]) throws(Refusal) {
    for name in names {
      if let node = self[name] { throw node.refusal(.range) }
    }
  }

  /// Reads a note for the ledger or the audit rows, 1 … 255 bytes.
  func note(_ name: StaticString) throws(Refusal) -> Text? {
    guard let node = self[name] else { return nil }
    let text = try node.text(1...255)
    try require(!text.hasControlCharacter, node)
    return text
  }

  /// Returns the key of the index of customers.
  ///
  /// - Throws: `config.ledger.customer-key` if there is no index (CUS-1).
  func customerKey() throws(Refusal) -> SecretBytes {
    guard let key = context.policy.customerKey else {
      throw Refusal(.configLedgerCustomerKey, "CUS-1", at: "ledger.customerKey")
    }
    return key
  }

  /// Returns the purchases whose transaction ids the member `transactionIds` lists; all of them if
  /// the request has none (STO-25).
  func chosen(_ all: [LedgerPurchase]) throws(Refusal) -> [LedgerPurchase] {
    guard let list = self["transactionIds"] else { return all }
    let ids = try list.elements(1...64).map { id throws(Refusal) in try id.text() }
    return all.filter { ids.contains($0.facts.transactionId) }
  }

  /// Reads the environment of rows: of each server of Apple's, and of tests.
  static func environment(_ node: MemberNode) throws(Refusal) -> Text {
    let names: [StaticString] = ["Production", "Sandbox", "LocalTesting"]
    return Text(stringLiteral: names[try node.choice(names)])
  }

  /// Reads the environment of rows that the request may name; empty for all.
  func environmentIfAny() throws(Refusal) -> Text {
    guard let node = self["environment"] else { return "" }
    return try OperationParameters.environment(node)
  }

  /// Reads a purchase key as a document of this library contains it.
  func purchaseKey() throws(Refusal) -> Text {
    try needed("purchaseKey").text(3...160)
  }
}
