import Testing

// These functions replace `#expect` and `#require` for plain conditions, equalities and values: the
// compiler needs about 30 ms for each expansion of the macros, three minutes in all. Expectations
// of errors (`#expect(throws:)`) stay with the macro.

/// Records an issue unless `holds`.
func check(
  _ holds: Bool, _ comment: @autoclosure () -> Comment? = nil,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  if !holds { Issue.record(comment() ?? "It does not hold.", sourceLocation: sourceLocation) }
}

/// Records an issue with both values if they differ.
func checkEqual<Value: Equatable>(
  _ value: Value, _ expected: Value, _ comment: @autoclosure () -> Comment? = nil,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  guard value != expected else { return }
  let told = comment().map { ": \($0)" } ?? ""
  Issue.record("\(value) is not \(expected)\(told)", sourceLocation: sourceLocation)
}

/// Returns the value; ends the test if there is none.
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

/// Ends the test unless `holds`.
func require(
  _ holds: Bool, _ comment: @autoclosure () -> Comment? = nil,
  sourceLocation: SourceLocation = #_sourceLocation
) throws {
  try require(holds ? true : nil, comment(), sourceLocation: sourceLocation)
}

/// Ends a test after its issue was recorded.
private struct Ended: Error {}
