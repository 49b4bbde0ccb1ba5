/// The style of a response, which follows from the receipt that was submitted
/// (docs/spec/receipts-triage.md §2.3).
enum ResponseStyle: Sendable {
  /// A transaction receipt was submitted: `receipt` is one flat purchase.
  case ios6
  /// An app receipt was submitted: `receipt` has the purchases in `in_app`.
  case ios7

  var name: StaticString { self == .ios6 ? "ios6" : "ios7" }
}
