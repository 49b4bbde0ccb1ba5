/// The expected value at a dotted path of a document; a step that is a number is an index.
public enum ExpectedFact: Sendable, Equatable, ExpressibleByStringInterpolation,
  ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral
{
  case text(String)
  case integer(Int64)
  case flag(Bool)
  /// The member is absent or null.
  case null

  public init(stringLiteral value: String) { self = .text(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(booleanLiteral value: Bool) { self = .flag(value) }
}
