/// What is at a dotted path of the document; steps that are numbers are
/// places in arrays.
public enum ExpectedFact: Sendable, Equatable, ExpressibleByStringInterpolation,
  ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral
{
  case text(String)
  case integer(Int64)
  case flag(Bool)
  /// Absent, or JSON null.
  case null

  public init(stringLiteral value: String) { self = .text(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(booleanLiteral value: Bool) { self = .flag(value) }
}
