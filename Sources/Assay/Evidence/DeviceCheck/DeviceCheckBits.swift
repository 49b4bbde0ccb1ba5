/// The two bits that Apple stores for a device and a developer team, with the month of their last
/// write (docs/spec/device-check.md §2.2).
struct DeviceCheckBits: Sendable, Equatable {
  var bit0: Bool
  var bit1: Bool
  /// The month of the last write; `nil` if Apple returns none, as before the first write.
  var month: CalendarMonth?

  /// Returns the months from the last write to `nowMs` (milliseconds since 1970 UTC); `nil` if
  /// the month is unknown.
  func ageMonths(nowMs: Int64) -> Int64? { month?.months(until: CalendarMonth(ofMs: nowMs)) }
}

extension DeviceCheckBits {
  /// Returns both bits with their configured meanings; without a configuration they have none.
  func judged(_ policy: DeviceCheckPolicy?, nowMs: Int64) -> (DeviceCheckBit, DeviceCheckBit) {
    let age = ageMonths(nowMs: nowMs)
    return (
      DeviceCheckBit(policy?.bit0, bit0, ageMonths: age),
      DeviceCheckBit(policy?.bit1, bit1, ageMonths: age)
    )
  }

  /// Whether a bit with the meaning "offer used" is set (docs/spec/device-check.md §2.3).
  func promoIsSet(_ policy: DeviceCheckPolicy?, nowMs: Int64) -> Bool {
    let (first, second) = judged(policy, nowMs: nowMs)
    return first.isSet && first.meaning?.isPromo == true
      || second.isSet && second.meaning?.isPromo == true
  }

  /// Whether a bit with the meaning "device abused" is set (RSK-14).
  func abuseIsSet(_ policy: DeviceCheckPolicy?, nowMs: Int64) -> Bool {
    let (first, second) = judged(policy, nowMs: nowMs)
    return first.isSet && first.meaning?.isAbuse == true
      || second.isSet && second.meaning?.isAbuse == true
  }
}

extension DeviceCheckPolicy {
  /// Whether one of the bits means that an offer was used.
  var hasPromoBit: Bool { bit0?.isPromo == true || bit1?.isPromo == true }
}
