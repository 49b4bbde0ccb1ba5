/// The values of Apple's enumerations that decisions know. An unknown value grants nothing and is
/// reported as a warning (DCD-11; docs/spec/storekit-payloads.md §3).
enum KnownValues {
  static let revocationReason: ClosedRange<Int64> = 0...1
  static let expirationIntent: ClosedRange<Int64> = 1...5
  static let offerType: ClosedRange<Int64> = 1...4
  static let autoRenewStatus: ClosedRange<Int64> = 0...1
  static let priceIncreaseStatus: ClosedRange<Int64> = 0...1

  static func isOwnership(_ text: Text) -> Bool {
    text == Ownership.purchased || text == Ownership.familyShared
      || text == Ownership.assigned
  }

  static func isRevocationType(_ text: Text) -> Bool {
    text == "REFUND_FULL" || text == "REFUND_PRORATED" || text == "FAMILY_REVOKE"
  }

  static func isOfferDiscountType(_ text: Text) -> Bool {
    text == "FREE_TRIAL" || text == "PAY_AS_YOU_GO" || text == "PAY_UP_FRONT"
      || text == "ONE_TIME"
  }
}
