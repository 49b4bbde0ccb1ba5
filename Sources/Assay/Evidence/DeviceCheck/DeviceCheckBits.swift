/// The two bits that Apple keeps for a device and a developer team, and when they
/// were last written (docs/spec/device-check.md §2.2).
struct DeviceCheckBits: Sendable, Equatable {
  var bit0: Bool
  var bit1: Bool
  /// nil: Apple gives none, as before the first write.
  var month: CalendarMonth?

  /// Months from the last write to `nowMs`; nil when the month is not known.
  func ageMonths(nowMs: Int64) -> Int64? { month?.months(until: CalendarMonth(ofMs: nowMs)) }
}

extension DeviceCheckBits {
  /// Bit 0 and bit 1 by the meanings of a configuration; without one they mean
  /// nothing.
  func judged(_ policy: DeviceCheckPolicy?, nowMs: Int64) -> (DeviceCheckBit, DeviceCheckBit) {
    let age = ageMonths(nowMs: nowMs)
    return (
      DeviceCheckBit(policy?.bit0, bit0, ageMonths: age),
      DeviceCheckBit(policy?.bit1, bit1, ageMonths: age)
    )
  }

  /// An offer was used on this device (DVC §2.3).
  func promoIsSet(_ policy: DeviceCheckPolicy?, nowMs: Int64) -> Bool {
    let (first, second) = judged(policy, nowMs: nowMs)
    return first.isSet && first.meaning?.isPromo == true
      || second.isSet && second.meaning?.isPromo == true
  }

  /// This device was abused (RSK-14).
  func abuseIsSet(_ policy: DeviceCheckPolicy?, nowMs: Int64) -> Bool {
    let (first, second) = judged(policy, nowMs: nowMs)
    return first.isSet && first.meaning?.isAbuse == true
      || second.isSet && second.meaning?.isAbuse == true
  }
}

extension DeviceCheckPolicy {
  /// Whether a bit stands for a used offer.
  var hasPromoBit: Bool { bit0?.isPromo == true || bit1?.isPromo == true }
}
