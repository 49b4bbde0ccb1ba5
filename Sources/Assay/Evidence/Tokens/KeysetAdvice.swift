/// What a host does about an unknown key id.
enum KeysetAdvice: Sendable {
  /// Fetch the set once, then verify again.
  case refresh
  /// Refuse: it was fetched a moment ago (KST-2).
  case cooldown

  var name: StaticString { self == .refresh ? "refresh" : "cooldown" }
}
