/// Whether a purchase was delivered and works, as Apple asks about it. Raw values are the indexes
/// in `words`.
enum RefundDelivery: Int, Sendable, Equatable {
  case delivered, qualityIssue, wrongItem, serverOutage, other

  /// The values of the observation `delivery`.
  static let words: [StaticString] = [
    "delivered", "quality-issue", "wrong-item", "server-outage", "other",
  ]

  /// Apple's name.
  var name: StaticString { text.name }

  /// Apple's number, which `send-consumption-data` takes (RFA-16).
  var number: Int64 { text.number }

  private var text: (name: StaticString, number: Int64) {
    switch self {
    case .delivered: return ("DELIVERED", 0)
    case .qualityIssue: return ("UNDELIVERED_QUALITY_ISSUE", 1)
    case .wrongItem: return ("UNDELIVERED_WRONG_ITEM", 2)
    case .serverOutage: return ("UNDELIVERED_SERVER_OUTAGE", 3)
    case .other: return ("UNDELIVERED_OTHER", 5)
    }
  }
}
