/// A JSON text, which can be written as a Swift literal: a configuration, observations.
///
///     let verifier = try Verifier([
///       "apps": [["bundleId": "com.example.app", "appAppleId": 1_234_567_890]]
///     ])
///
/// Wrap values that are not literals: `["request": JSON(request)]`.
public struct JSON: Hashable, Sendable, CustomStringConvertible {
  /// The JSON text.
  public let text: String

  /// Takes a text that is JSON already, such as `raw` of facts.
  public init(text: String) { self.text = text }

  /// Writes a JSON string.
  public init(_ string: String) { text = JSON.quoted(string) }

  public init(_ integer: some BinaryInteger & Sendable) { text = String(integer) }

  public init(_ boolean: Bool) { text = boolean ? "true" : "false" }

  /// Writes a JSON number; null for infinity and not-a-number, which JSON does not have.
  public init(_ number: Double) { text = number.isFinite ? "\(number)" : "null" }

  public init(_ elements: [JSON]) {
    text = "[" + elements.map(\.text).joined(separator: ",") + "]"
  }

  /// Writes an object with its members in this order.
  public init(_ members: [(String, JSON)]) {
    text = "{" + members.map { JSON.quoted($0) + ":" + $1.text }.joined(separator: ",") + "}"
  }

  public var description: String { text }

  private static func quoted(_ string: String) -> String {
    var quoted = "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted += "\\" + String(scalar)
      case "\u{0}"..<" ":
        let hex = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}

extension JSON: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral,
  ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
  public init(dictionaryLiteral members: (String, JSON)...) { self.init(members) }
  public init(arrayLiteral elements: JSON...) { self.init(elements) }
  public init(stringLiteral string: String) { self.init(string) }
  public init(integerLiteral integer: Int64) { self.init(integer) }
  public init(floatLiteral number: Double) { self.init(number) }
  public init(booleanLiteral boolean: Bool) { self.init(boolean) }
  public init(nilLiteral: ()) { text = "null" }
}
