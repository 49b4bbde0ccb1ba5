/// The checks of one kind of verification, in the order in which they are made.
protocol CheckList: RawRepresentable<Int>, CaseIterable, Sendable {
  /// The names of the checks in documents, indexed by raw value.
  static var ids: [StaticString] { get }
}
