/// STO-21 on DynamoDB: the change of the row goes into the host's own TransactWriteItems,
/// at its head, so that claim and grant happen together or not at all.
extension StoreTalk {
  /// A row that another put there in between is judged once more.
  private static let grantRounds = 2

  /// - Parameter new: the row where none is; nil: an event from Apple or a stranger, who make
  ///   none.
  mutating func dynamoGrant(
    _ key: Text, _ new: LedgerRow?, _ claimant: Claimant, _ purchase: StorePurchase, note: Text?
  ) throws(StoreStop) -> Claim {
    var standing = try dynamoLedgerRow(key)?.checked(key)
    for _ in 0..<Self.grantRounds {
      var claim: Claim
      if let standing {
        claim = try judge(standing, claimant, purchase, nil)
      } else if let new {
        claim = Claim(new, .new)
      } else {
        return Claim(purchase, claimant.absent)
      }
      guard claim.outcome.isOurs, var row = claim.row else { return claim }
      // The host's transaction has no room for it.
      if standing == nil { try dynamoKeep(purchase.evidence, of: row) }
      let units = row.unitsToGive
      row.state = .granted
      row.grantedMs = context.nowMs
      row.outCount = row.units
      if let note { row.note = note }
      let change =
        standing == nil
        ? DynamoRequest.insert(row.dynamoKey, row.attributes) : grantOfClaimed(row)
      let (isMade, item) = try dynamoHandOut(change) { item in
        StoreGrant(row, units: units, isRepeated: row.isRepeated(by: claimant), item: item)
      }
      claim.units = units
      guard !isMade else {
        claim.row = row
        claim.isGranted = true
        return claim
      }
      guard let item else { throw .shape("results[0].reasons[0].item") }
      let met = try LedgerRow(item).checked(key)
      // Ours, by a call that the client library repeated (STO-72).
      if met.state == .granted && met.attempt == row.attempt && met.grantedMs == row.grantedMs {
        claim.row = met
        claim.isGranted = true
        return claim
      }
      standing = met
    }
    guard let standing else { throw .rowMissing }
    return Claim(standing, standing.owner == claimant.account ? .inProgress : .otherAccount)
  }

  /// Of a row that this attempt holds, as it was read: who was given it since under a lease, this
  /// same attempt too, has another fence (STO-37).
  private func grantOfClaimed(_ row: LedgerRow) -> DynamoRequest {
    var request = DynamoRequest.update(
      row.dynamoKey,
      if: """
        #state = :claimed AND #attempt = :attempt AND #grant_id = :grant_id \
        AND #tries = :read_tries
        """,
      [
        ("claimed", .text("claimed")), ("attempt", .text(row.attempt)),
        ("grant_id", .text(row.grantId)), ("read_tries", .integer(row.tries)),
      ])
    request.set([
      ("state", .text("granted")), ("granted_ms", StoreValue(row.grantedMs)),
      ("note", StoreValue(row.note)), ("units", .integer(row.units)),
      ("out_n", .integer(row.outCount)), ("dk", .null), ("dt", .null),
    ])
    return request
  }

  /// The grant step with its item, which is the change: whether the host's transaction was
  /// made, else the row that our item met.
  mutating func dynamoHandOut(
    _ change: DynamoRequest, _ handed: ([UInt8]) -> StoreGrant
  ) throws(StoreStop) -> (isMade: Bool, row: DynamoItem?) {
    let table = context.policy.table ?? ""
    let result = try grant {
      var writer = JSONWriter(capacity: 2048)
      change.writeElement(table, &writer)
      return handed(writer.bytes)
    }
    guard let reasons = try [result].cancellation(0) else { return (true, nil) }
    guard let ours = reasons.first, ours.isRefused else {
      // A condition of the host's own.
      throw .refused(Refusal(.unavailableLedgerInProgress, "STO-32", at: "grant"))
    }
    return (false, ours.row)
  }
}
