/// The two bits of a test device, and the month of their last change.
struct MockDevice: Sendable {
  var bit0 = false
  var bit1 = false
  /// The month of the last change: `2026-05`.
  var month = ""
}
