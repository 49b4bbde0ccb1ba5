import Testing

// Most of what these tests ask is a plain condition, an equality or a value. `#expect` and
// `#require` would do, but the compiler needs about 30 ms for each of their expansions: three
// minutes for all of them. What asks for an error (`#expect(throws:)`) stays with the macro.

/// Records an issue where `holds` is false.
func check(
  _ holds: Bool, _ comment: @autoclosure () -> Comment? = nil,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  if !holds { Issue.record(comment() ?? "It does not hold.", sourceLocation: sourceLocation) }
}

/// Records an issue that shows both values where they differ.
func checkEqual<Value: Equatable>(
  _ value: Value, _ expected: Value, _ comment: @autoclosure () -> Comment? = nil,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  guard value != expected else { return }
  let told = comment().map { ": \($0)" } ?? ""
  Issue.record("\(value) is not \(expected)\(told)", sourceLocation: sourceLocation)
}

/// The value; where there is none, the test ends.
@discardableResult
func require<Value>(
  _ value: Value?, _ comment: @autoclosure () -> Comment? = nil,
  sourceLocation: SourceLocation = #_sourceLocation
) throws -> Value {
  guard let value else {
    Issue.record(comment() ?? "There is no value.", sourceLocation: sourceLocation)
    throw Ended()
  }
  return value
}

/// Ends the test where `holds` is false.
func require(
  _ holds: Bool, _ comment: @autoclosure () -> Comment? = nil,
  sourceLocation: SourceLocation = #_sourceLocation
) throws {
  try require(holds ? true : nil, comment(), sourceLocation: sourceLocation)
}

/// What ends a test; why is recorded.
private struct Ended: Error {}
