/// The rules of the script, in order.
struct MockScript: Sendable {
  private var rules: [MockRule] = []

  init() {}

  init(_ json: JSONTree) throws {
    guard case .array(let list) = json else { throw Problem("the script is not a list of rules") }
    rules = try list.enumerated().map { try MockRule($0.element, at: "script[\($0.offset)]") }
  }

  /// Returns the fault of the first rule that applies. Every rule that matches counts the request.
  mutating func fault(for request: HTTPRequest) -> MockFault? {
    var found: MockFault?
    for place in rules.indices where rules[place].takes(request) && found == nil {
      found = rules[place].fault
    }
    return found
  }
}
