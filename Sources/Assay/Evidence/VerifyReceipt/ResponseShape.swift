/// What a known member of an answer holds, whatever its JSON type (VRR-9).
enum ResponseShape: Sendable {
  case text
  /// A text that is one of these, today.
  case name([StaticString])
  /// 1 to 20 digits.
  case id
  case productId
  /// 0 … 2^63−1.
  case number
  case quantity
  /// A number of this range, today.
  case code(ClosedRange<Int64>)
  case flag
  /// 0 or 1, today; also written as a flag.
  case onOff
  /// A plain date. Its `_ms` and `_pst` follow it in the table.
  case date
  /// The same for `expires_date`, after which `expires_date_formatted` follows too.
  case expiry
  /// The same for the end of a volume purchase, which may lie beyond 2100.
  case farDate
  /// Part of the date before it in the table, or never read at all.
  case companion
  /// A text that is personal data.
  case deviceId
}

extension ResponseShape {
  /// How many members of the table make one date; 0 for other shapes.
  var dateSpan: Int {
    switch self {
    case .date, .farDate: return 3
    case .expiry: return 5
    default: return 0
    }
  }

  /// The last time that this date may name.
  var latest: Int64 {
    if case .farDate = self { return 253_402_300_799_999 }
    return TimeWindow.lastPayloadTime
  }
}
