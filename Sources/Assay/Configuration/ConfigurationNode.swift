extension ConfigurationReader {
  /// One value of a configuration with its path, for refusals that say where.
  struct Node {
    let value: JSONValue
    let path: String

    /// 2^53 − 1: the largest integer that every JSON library keeps exact.
    static let exactInteger: Int64 = 9_007_199_254_740_991

    init(_ value: JSONValue, _ path: String) {
      self.value = value
      self.path = path
    }

    /// The same node, once it is an object of these members and no others.
    func object(_ known: [StaticString]) throws(Refusal) -> Node {
      for member in try members() {
        try require(
          known.contains { member.value.isNamed($0) }, .configDocumentUnknownMember, "CNF-1",
          at: member.path)
      }
      return self
    }

    subscript(_ name: StaticString) -> Node? {
      guard let member = value.member(name) else { return nil }
      return Node(member, below(Text(stringLiteral: name).string))
    }

    func members() throws(Refusal) -> [Node] {
      try require(value.kind == .object, .configDocumentType, "CNF-1", at: path)
      return value.children.map { Node($0, below($0.name.string)) }
    }

    func elements() throws(Refusal) -> [Node] {
      try require(value.kind == .array, .configDocumentType, "CNF-1", at: path)
      return value.children.enumerated().map {
        Node($0.element, path + "[" + String($0.offset) + "]")
      }
    }

    func text() throws(Refusal) -> Text {
      guard let text = value.text else { throw Refusal(.configDocumentType, "CNF-1", at: path) }
      return text
    }

    func boolean() throws(Refusal) -> Bool {
      guard let boolean = value.boolean else {
        throw Refusal(.configDocumentType, "CNF-1", at: path)
      }
      return boolean
    }

    func integer(_ range: ClosedRange<Int64>) throws(Refusal) -> Int64 {
      try require(value.kind == .number, .configDocumentType, "CNF-1", at: path)
      guard let number = value.integer, range.contains(number) else {
        throw Refusal(.configDocumentRange, "CNF-1", at: path)
      }
      return number
    }

    /// The place of the text among the choices.
    func choice(_ choices: [StaticString]) throws(Refusal) -> Int {
      let text = try text()
      guard let index = choices.firstIndex(where: { text.utf8[...].elementsEqual($0) }) else {
        throw Refusal(.configDocumentRange, "CNF-1", at: path)
      }
      return index
    }

    private func below(_ name: String) -> String { path.isEmpty ? name : path + "." + name }
  }
}
