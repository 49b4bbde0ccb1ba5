import Testing

// Most of what these tests ask is a plain condition or an equality. `#expect` would do, but the
// compiler needs about 30 ms for each of its expansions: three minutes for all of them. What
// asks for an error (`#expect(throws:)`), or unwraps (`#require`), stays with the macros.

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
