/// A change of one difference.
enum DifferenceChange: Sendable {
  /// A difference of which there is no row.
  case find(DifferenceRow)
  /// A difference whose row was read: it is seen again, or opened again.
  case see(DifferenceRow, over: DifferenceRow)
  /// An open difference that is in order by now.
  case settle(DifferenceRow)
}
