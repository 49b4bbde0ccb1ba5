/// The host's next step after an unknown key id.
enum KeysetAdvice: Sendable {
  /// Fetch the key set once, then verify again.
  case refresh
  /// Refuse the token: the key set was fetched a moment ago (KST-2).
  case cooldown

  var name: StaticString { self == .refresh ? "refresh" : "cooldown" }
}
