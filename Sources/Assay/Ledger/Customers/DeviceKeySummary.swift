/// What counts of a device key for the signals of its account.
struct DeviceKeySummary: Sendable {
  let createdAtMs: Int64
  let isActive: Bool
  /// The risk metric of its newest receipt; `nil` without one.
  let risk: Int64?

  /// The largest number of keys that is counted.
  static let cap = 101
}
