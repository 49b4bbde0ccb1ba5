/// The origin of the running build as determined by the operating system (docs/spec/app-attest.md
/// §4.3).
enum ValidationCategory {
  /// Whether a configuration may accept the category. 0 is invalid, 7 to 9 are reserved as not
  /// appropriate; none of them is ever accepted (ATT-45).
  static func mayBeAccepted(_ value: UInt32) -> Bool {
    value != 0 && !(7...9).contains(value)
  }

  /// Returns the documented meaning; `nil` for a number without one.
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
