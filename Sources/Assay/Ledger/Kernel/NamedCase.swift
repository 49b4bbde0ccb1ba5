/// A choice that rows, requests and documents call by its name.
protocol NamedCase: CaseIterable {
  var name: StaticString { get }
}

extension NamedCase {
  init?(_ name: Text) {
    guard let found = Self.allCases.first(where: { Text(stringLiteral: $0.name) == name }) else {
      return nil
    }
    self = found
  }
}
