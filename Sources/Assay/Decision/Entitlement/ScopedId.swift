/// An id within its environment: environments are never mixed (DCD-4).
struct ScopedId: Equatable, Sendable {
  var environment: Environment
  var id: Text

  static func precedes(_ left: ScopedId, _ right: ScopedId) -> Bool {
    if left.environment != right.environment {
      return left.environment.rank < right.environment.rank
    }
    return Text.precedesAsNumber(left.id, right.id)
  }
}
