/// One value of a configuration with its path, for refusals that say where.
struct ConfigurationNode {
  let value: JSONValue
  private let place: Place

  /// 2^53 − 1: the largest integer that every JSON library keeps exact.
  static let exactInteger: Int64 = 9_007_199_254_740_991

  /// The top of a configuration.
  init(_ root: JSONValue) { self.init(root, .top) }

  private init(_ value: JSONValue, _ place: Place) {
    self.value = value
    self.place = place
  }

  /// "apps[0].bundleId"; written only when something is refused.
  var path: String { place.path }

  private indirect enum Place {
    case top
    case member(JSONValue, Place)
    case element(Int, Place)

    var path: String {
      switch self {
      case .top: return ""
      case .member(let value, .top): return Place.shown(value.name)
      case .member(let value, let outer): return outer.path + "." + Place.shown(value.name)
      case .element(let index, let outer): return outer.path + "[" + String(index) + "]"
      }
    }

    /// A name of at most 64 bytes, a longer one cut: a key that somebody pasted where
    /// a name belongs is not told, as its first bytes are the same in every key.
    private static func shown(_ name: Text) -> String {
      let longest = 64
      guard name.count > longest else { return name.string }
      var head = name.utf8.prefix(longest + 1)
      // The character that begins last goes, whole.
      while let last = head.popLast(), last & 0xc0 == 0x80 {}
      return Text(Array(head)).string + "…"
    }
  }

  /// The same node, once it is an object of these members and no others.
  func object(_ known: [StaticString]) throws(Refusal) -> ConfigurationNode {
    for member in try members() {
      try require(
        known.contains { member.value.isNamed($0) }, .configDocumentUnknownMember, "CNF-1",
        at: member.path)
    }
    return self
  }

  subscript(_ name: StaticString) -> ConfigurationNode? {
    guard let member = value.member(name) else { return nil }
    return ConfigurationNode(member, .member(member, place))
  }

  func members() throws(Refusal) -> [ConfigurationNode] {
    try require(value.kind == .object, .configDocumentType, "CNF-1", at: path)
    return value.children.map { ConfigurationNode($0, .member($0, place)) }
  }

  func elements() throws(Refusal) -> [ConfigurationNode] {
    try require(value.kind == .array, .configDocumentType, "CNF-1", at: path)
    return value.children.enumerated().map {
      ConfigurationNode($0.element, .element($0.offset, place))
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
}
