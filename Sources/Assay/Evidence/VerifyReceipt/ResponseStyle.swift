/// The style of an answer: what was sent to Apple decides it
/// (docs/spec/receipts-triage.md §2.3).
enum ResponseStyle: Sendable {
  /// A transaction receipt was sent: `receipt` is one flat purchase.
  case ios6
  /// An app receipt was sent: `receipt` has the purchases in `in_app`.
  case ios7

  var name: StaticString { self == .ios6 ? "ios6" : "ios7" }
}
