/// Whether a purchase is that of the account that was given (DCD-20).
enum AccountBinding: Sendable, Equatable {
  /// Apple's evidence carries the account.
  case proven
  /// It carries none: only the host can know whether the purchase is the account's.
  case unproven

  var name: StaticString { self == .proven ? "proven" : "unproven" }
}
