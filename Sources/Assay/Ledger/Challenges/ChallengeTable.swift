/// Challenges.
protocol ChallengeTable: AnyObject {
  /// Inserts `row` if no row has its id, and returns the stored row.
  func insert(_ row: ChallengeRow) throws(LedgerSuspension) -> ChallengeRow

  /// Marks a challenge as used if it is unused, unexpired and was issued for the same purpose and
  /// subject.
  ///
  /// - Returns: The row as stored afterwards; `nil` if there is none.
  func consume(_ asked: ChallengeUse) throws(LedgerSuspension) -> ChallengeRow?
}
