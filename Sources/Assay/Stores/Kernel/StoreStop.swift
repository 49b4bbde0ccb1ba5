/// Why an operation does not go on: its next step has no answer yet, or it is over.
enum StoreStop: Error {
  case step(StoreStep)
  /// The host grants, in its open transaction (STO-21).
  case grant(StoreGrant)
  /// The host comes back later; milliseconds since 1970 UTC.
  case wait(untilMs: Int64)
  case refused(Refusal)

  /// STO-4: a row that is not understood.
  static func shape(_ place: String) -> StoreStop {
    .refused(Refusal(.unavailableStoreReplyShape, "STO-4", at: place))
  }
}
