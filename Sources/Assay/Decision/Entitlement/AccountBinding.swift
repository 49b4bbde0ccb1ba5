/// Whether a purchase belongs to the given account (DCD-20).
enum AccountBinding: Sendable, Equatable {
  /// Apple's evidence contains the account.
  case proven
  /// The evidence contains no account: only the host can know whose purchase it is.
  case unproven

  var name: StaticString { self == .proven ? "proven" : "unproven" }
}
