/// Whether a purchase is that of the account that was given (DCD-20).
enum AccountBinding: Sendable, Equatable {
  /// Apple's evidence carries the account.
  case proven
  /// It carries none: that the purchase is the account's is for the host to know.
  case unproven

  var name: StaticString { self == .proven ? "proven" : "unproven" }
}
