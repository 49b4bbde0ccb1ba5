/// Rows of notifications.
extension RefundRow {
  /// The largest number of bytes in a text of Apple's.
  private static let textCap = 64

  /// Creates the row of a purchase, without question and decision.
  ///
  /// - Throws: `rejected.payload.incomplete`, `rejected.purchase.invalid-id`.
  private init(_ payload: SignedPayload, _ purchase: LedgerPurchase) throws(Refusal) {
    let facts = purchase.facts
    guard let id = purchase.transactionKey, facts.transactionId.isDecimal,
      facts.transactionId.count <= 20
    else { throw Refusal(.rejectedPurchaseInvalidId, "RPL-3", at: "transactionId") }
    guard let bundleId = payload.identity.bundleId else {
      throw Refusal(.rejectedPayloadIncomplete, "PAY-7", at: "data.bundleId")
    }
    let signed = payload.notification?.nested(.transaction)
    self.id = id
    self.bundleId = bundleId
    environment = Text(stringLiteral: facts.environment.name)
    transactionId = facts.transactionId
    originalTransactionId = facts.originalTransactionId
    product = facts.productId
    type = (facts.type ?? purchase.product?.type).map { Text(stringLiteral: $0.name) } ?? ""
    ownership = RefundRow.short(facts.ownership) ?? ""
    reason = RefundRow.short(payload.notification?.fields.text("consumptionRequestReason"))
    purchasedAtMs = max(0, purchase.purchasedAtMs)
    isTrial = facts.offerDiscountType == "FREE_TRIAL"
    isAdvancedCommerce = signed?.json.root.present("advancedCommerceInfo") != nil
  }

  /// Returns a text that a column takes; `nil` for any other.
  private static func short(_ text: Text?) -> Text? {
    guard let text, (1...textCap).contains(text.count), !text.hasControlCharacter else {
      return nil
    }
    return text
  }

  /// Creates the row of Apple's question.
  ///
  /// - Throws: `misuse.exchange.evidence`, `rejected.payload.incomplete`,
  ///   `rejected.purchase.invalid-id`.
  init(
    asking item: VerifiedEvidence, _ catalogue: Catalogue, nowMs: Int64
  ) throws(Refusal) {
    guard case .storeKit(let payload) = item else {
      throw Refusal(.misuseExchangeEvidence, "EXC-2", at: "evidence[0]")
    }
    guard let purchase = try LedgerPurchase.all([item], catalogue).first else {
      throw Refusal(.rejectedPayloadIncomplete, "PAY-7", at: "data.signedTransactionInfo")
    }
    try self.init(payload, purchase)
    try require(!type.isEmpty, .rejectedPayloadIncomplete, "PAY-7", at: "type")
    try require(!ownership.isEmpty, .rejectedPayloadIncomplete, "PAY-7", at: "inAppOwnershipType")
    let uuid = payload.text("notificationUUID") ?? ""
    notificationId =
      RefundRow.short(uuid) ?? Text(Hex.encode(Digest.sha256.of(uuid.utf8)))
    askedAtMs = RefundRow.told(payload, orElse: nowMs)
    state = .open
  }

  /// Creates the row of Apple's decision; `nil` for evidence that tells none, or whose transaction
  /// nobody can have asked about.
  init?(deciding item: VerifiedEvidence, _ catalogue: Catalogue) {
    guard case .storeKit(let payload) = item, payload.kind == .notification,
      let outcome = RefundOutcome(notificationType: payload.text("notificationType") ?? "")
    else { return nil }
    do throws(Refusal) {
      guard let purchase = try LedgerPurchase.all([item], catalogue).first else { return nil }
      try self.init(payload, purchase)
      self.outcome = outcome
      outcomeAtMs = RefundRow.told(payload, orElse: max(1, purchase.facts.asOfMs))
      let share = outcome == .refunded ? purchase.facts.revocationPercentage : nil
      outcomeShare = share.map { min(max(0, $0), RefundShare.full) }
    } catch {
      return nil
    }
  }

  /// Returns Apple's newest decision about each transaction.
  static func decisions(_ evidence: [VerifiedEvidence], _ catalogue: Catalogue) -> [RefundRow] {
    var found: [RefundRow] = []
    for item in evidence {
      guard let row = RefundRow(deciding: item, catalogue) else { continue }
      if let place = found.firstIndex(where: { $0.id == row.id }) {
        if found[place].outcomeAtMs < row.outcomeAtMs { found[place] = row }
      } else {
        found.append(row)
      }
    }
    return found
  }

  /// Returns the questions of notifications that Apple still waits for, each transaction's newest.
  static func questions(
    _ evidence: [VerifiedEvidence], _ catalogue: Catalogue, nowMs: Int64
  ) -> [RefundRow] {
    var found: [RefundRow] = []
    for item in evidence where item.isRefundQuestion {
      do throws(Refusal) {
        let row = try RefundRow(asking: item, catalogue, nowMs: nowMs)
        guard row.dueAtMs > nowMs else { continue }
        if let place = found.firstIndex(where: { $0.id == row.id }) {
          if found[place].askedAtMs < row.askedAtMs { found[place] = row }
        } else {
          found.append(row)
        }
      } catch {
        // An incomplete question cannot be answered.
        continue
      }
    }
    return found
  }

  /// Returns the signed date of a notification, in milliseconds since 1970 UTC.
  private static func told(_ payload: SignedPayload, orElse absent: Int64) -> Int64 {
    min(max(1, payload.time("signedDate") ?? absent), MemberNode.exactInteger &- waitMs)
  }
}

extension VerifiedEvidence {
  /// Whether the evidence is a notification with Apple's question about a refund.
  var isRefundQuestion: Bool {
    guard case .storeKit(let payload) = self, payload.kind == .notification else { return false }
    return payload.text("notificationType") == "CONSUMPTION_REQUEST"
  }
}
