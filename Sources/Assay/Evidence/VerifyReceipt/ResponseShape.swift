/// The form of a known member's value, whatever its JSON type (VRR-9).
enum ResponseShape: Sendable {
  case text
  /// A text with these known values; any other value causes a warning.
  case name([StaticString])
  /// An id of 1 to 20 digits.
  case id
  case productId
  /// An integer of 0 … 2^63−1.
  case number
  case quantity
  /// An integer with known values in this range; any other value causes a warning.
  case code(ClosedRange<Int64>)
  case flag
  /// A flag, or the number 0 or 1; any other number causes a warning.
  case onOff
  /// A date text, followed in the table by its `_ms` and `_pst` members.
  case date
  /// The date `expires_date`, followed by `_ms`, `_pst` and the two `expires_date_formatted`
  /// members.
  case expiry
  /// A date text with its two members, which may be beyond 2100: the end of a volume purchase.
  case farDate
  /// A member that belongs to the date before it in the table, or is never read.
  case companion
  /// A text that is personal data.
  case deviceId
}

extension ResponseShape {
  /// The number of members in the table that make one date; 0 for other forms.
  var dateSpan: Int {
    switch self {
    case .date, .farDate: return 3
    case .expiry: return 5
    default: return 0
    }
  }

  /// The latest date that is accepted, in milliseconds since 1970 UTC.
  var latest: Int64 {
    if case .farDate = self { return 253_402_300_799_999 }
    return TimeWindow.lastPayloadTime
  }
}
