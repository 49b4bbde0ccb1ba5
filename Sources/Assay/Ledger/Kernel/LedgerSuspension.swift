/// The reason why an operation stops: its next step has no reply yet, or it is refused.
enum LedgerSuspension: Error {
  case step(DatabaseStep)
  /// The host has to grant in its open transaction (STO-21).
  case grant(GrantStep)
  /// The host has to wait until that time, in milliseconds since 1970 UTC.
  case wait(untilMs: Int64)
  case refused(Refusal)

  /// Returns the refusal of a reply whose rows have an unexpected form (STO-4).
  static func shape(_ place: String) -> LedgerSuspension {
    .refused(Refusal(.unavailableDatabaseUnexpectedReply, "STO-4", at: place))
  }
}
