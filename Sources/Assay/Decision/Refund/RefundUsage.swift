/// How much of a purchase was used, in thousandths of a percent (RFA-11).
struct RefundUsage: Equatable {
  /// 0 … 100000; `nil` if it is not known.
  let percentage: Int64?
  /// Whether the meter shows more than was granted.
  let isAboveGranted: Bool

  static let full: Int64 = 100_000
  static let unknown = RefundUsage(percentage: nil, isAboveGranted: false)

  /// Whether some of the purchase was used, but not all of it.
  var isPartial: Bool {
    guard let percentage else { return false }
    return percentage > 0 && percentage < RefundUsage.full
  }

  private init(percentage: Int64?, isAboveGranted: Bool) {
    self.percentage = percentage
    self.isAboveGranted = isAboveGranted
  }

  /// Computes the share of a meter, rounded down; what was used at all is at least 1. Both counts
  /// are 0 … 2^53 − 1.
  init(consumed: Int64, granted: Int64) {
    isAboveGranted = consumed > granted
    if consumed == 0 {
      percentage = granted == 0 ? nil : 0
    } else if consumed >= granted {
      percentage = RefundUsage.full
    } else {
      // The five digits of the quotient, one after another, so that no product passes 64 bits.
      var (share, rest): (Int64, Int64) = (0, consumed)
      for _ in 0..<5 {
        rest &*= 10
        share = share &* 10 &+ rest / granted
        rest %= granted
      }
      percentage = max(1, share)
    }
  }

  /// - Throws: `malformed.refund.input` for a wrong form, and for both forms at once.
  init(_ node: MemberNode) throws(Refusal) {
    let members = try node.object(["consumed", "granted", "percentage"])
    if let entry = members.present("percentage") {
      try require(
        members.present("consumed") == nil && members.present("granted") == nil, node)
      self.init(percentage: try entry.integer(0...RefundUsage.full), isAboveGranted: false)
    } else {
      self.init(
        consumed: try members.required("consumed").integer(RefundCase.integers),
        granted: try members.required("granted").integer(RefundCase.integers))
    }
  }
}
