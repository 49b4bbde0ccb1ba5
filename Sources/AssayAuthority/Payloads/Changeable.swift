/// A value of which there are copies that differ in something.
public protocol Changeable {}

extension Changeable {
  public func with(_ change: (inout Self) throws -> Void) rethrows -> Self {
    var copy = self
    try change(&copy)
    return copy
  }
}
