/// The next action of an exchange.
enum ExchangeAction {
  /// The host sends the HTTP request.
  case request(HTTPRequest)
  /// The host runs the statements in its database.
  case database(DatabaseStep, LedgerContext)
  /// The host grants a purchase (STO-21).
  case grant(GrantStep)
  /// The host replies again at a later time.
  case wait(ExchangeWait)
  /// The exchange succeeded. The evidence is `nil` if the response proves nothing new. `capacity`
  /// is the approximate size of the result in bytes.
  case accepted(VerifiedEvidence?, capacity: Int)
  case refused(ExchangeRefusal)
}
