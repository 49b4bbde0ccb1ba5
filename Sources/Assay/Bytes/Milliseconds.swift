/// Durations in milliseconds, and arithmetic that saturates at the ends of Int64 instead of
/// trapping (DCD-16).
enum Milliseconds {
  static let minute: Int64 = 60_000
  static let hour: Int64 = 3_600_000
  static let day: Int64 = 86_400_000

  static func sum(_ left: Int64, _ right: Int64) -> Int64 {
    let (sum, overflow) = left.addingReportingOverflow(right)
    return overflow ? (right < 0 ? .min : .max) : sum
  }

  static func product(_ left: Int64, _ right: Int64) -> Int64 {
    let (product, overflow) = left.multipliedReportingOverflow(by: right)
    return overflow ? ((left < 0) == (right < 0) ? .max : .min) : product
  }
}
