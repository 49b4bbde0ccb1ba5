/// The commitments of signed transactions and renewal infos (docs/spec/receipts-decisions.md §3.4).
extension SignedPayload {
  /// The commitment of a transaction (CMT-2). `nil` if there is none; `isOdd` if its numbers
  /// contradict each other or no billing plan is signed beside it (CMT-8).
  var commitment: (facts: PurchaseCommitment?, isOdd: Bool) {
    guard let info = fields["commitmentInfo"] else { return (nil, false) }
    guard text("billingPlanType") != nil,
      let period = info.present("billingPeriodNumber")?.integer,
      let periods = info.present("totalBillingPeriods")?.integer, period >= 1, period <= periods
    else { return (nil, true) }
    return (
      PurchaseCommitment(
        period: period, periods: periods,
        endsAtMs: SignedPayload.moment(info.present("commitmentExpiresDate")),
        price: info.present("commitmentPrice")?.integer), false
    )
  }

  /// What follows the commitment of a renewal info's subscription; `nil` if there is none.
  var commitmentRenewal: CommitmentRenewal? {
    guard let info = fields["commitmentInfo"] else { return nil }
    return CommitmentRenewal(
      status: info.present("commitmentAutoRenewStatus")?.integer,
      productId: info.present("commitmentAutoRenewProductId")?.text,
      billingPlan: info.present("commitmentRenewalBillingPlanType")?.text,
      atMs: SignedPayload.moment(info.present("commitmentRenewalDate")),
      price: info.present("commitmentRenewalPrice")?.integer)
  }

  /// Returns a time of a descriptive member; `nil` outside the window of JWS-41.
  private static func moment(_ value: JSONValue?) -> Int64? {
    value?.integer.flatMap { TimeWindow.contains($0) ? $0 : nil }
  }
}
