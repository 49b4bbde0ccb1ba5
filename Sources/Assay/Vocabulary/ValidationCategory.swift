/// Where the running build came from, as the system judged it (app-attest.md
/// §4.3).
enum ValidationCategory {
  /// ATT-45: 0 is invalid and 7…9 are reserved as not appropriate; none of them is
  /// ever accepted.
  static func mayBeAccepted(_ value: UInt32) -> Bool {
    value != 0 && !(7...9).contains(value)
  }

  /// The documented meaning; nil for a number that has none.
  static func name(_ value: UInt32) -> StaticString? {
    switch value {
    case 0: return "invalid"
    case 1: return "operating-system"
    case 2: return "testflight"
    case 3: return "development"
    case 4: return "app-store"
    case 5: return "enterprise"
    case 6: return "developer-id"
    case 10: return "other"
    default: return nil
    }
  }
}
