/// Two bits of a test device, and the month of their last change.
struct MockDevice: Sendable {
  var bit0 = false
  var bit1 = false
  /// `2026-05`.
  var month = ""
}
