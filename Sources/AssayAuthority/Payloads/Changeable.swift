/// A value of which changed copies can be made.
public protocol Changeable {}

extension Changeable {
  public func with(_ change: (inout Self) throws -> Void) rethrows -> Self {
    var copy = self
    try change(&copy)
    return copy
  }
}
