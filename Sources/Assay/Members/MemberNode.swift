/// One value of a JSON text in which unknown members are refused, with its path and the statuses
/// of its refusals.
struct MemberNode {
  let value: JSONValue
  private let refusals: MemberRefusals
  private let place: Place

  /// 2^53 − 1, the largest integer that every JSON library keeps exact.
  static let exactInteger: Int64 = 9_007_199_254_740_991

  /// Reads a text whose value must be an object without duplicate names.
  ///
  /// - Throws: the refusal of syntax, at the byte of the fault.
  static func read(
    _ bytes: [UInt8], _ caps: JSONCaps, _ refusals: MemberRefusals
  ) throws(Refusal) -> MemberNode {
    do {
      return MemberNode(try JSONReader.readObject(bytes, caps: caps).root, refusals, .top)
    } catch {
      throw refusals.refusal(error)
    }
  }

  private init(_ value: JSONValue, _ refusals: MemberRefusals, _ place: Place) {
    self.value = value
    self.refusals = refusals
    self.place = place
  }

  /// Returns this value with other statuses for its refusals.
  func refusing(_ refusals: MemberRefusals) -> MemberNode { MemberNode(value, refusals, place) }

  /// Returns this value with `status` for a wrong type, a value out of range and a missing
  /// member.
  @inline(never)
  func refusing(_ status: Status, _ rule: StaticString) -> MemberNode {
    refusing(refusals.form(status, rule))
  }

  /// Returns the refusal of this value.
  func refusal(_ fault: MemberFault, detail: String = "") -> Refusal {
    refusals.refusal(fault, of: value, at: path, detail: detail)
  }

  /// The path, such as "apps[0].bundleId"; computed only when a value is refused.
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

    /// Returns a name of at most 64 bytes; a longer one is truncated. A PEM key that was pasted
    /// as a name is not leaked, because its first 64 bytes are the same in every key.
    private static func shown(_ name: Text) -> String {
      let longest = 64
      guard name.count > longest else { return name.string }
      var head = name.utf8.prefix(longest + 1)
      // Removes the last character as a whole.
      while let last = head.popLast(), last & 0xc0 == 0x80 {}
      return Text(Array(head)).string + "…"
    }
  }

  /// Returns this value, which must be an object with no members other than `known`.
  func object(_ known: [StaticString]) throws(Refusal) -> MemberNode {
    try require(value.kind == .object, self, .type)
    for member in value.children {
      guard known.contains(where: { member.isNamed($0) }) else {
        throw MemberNode(member, refusals, .member(member, place)).refusal(.unknown)
      }
    }
    return self
  }

  // Not inlined, because hundreds of call sites use it.
  @inline(never)
  private func member(_ name: StaticString) -> MemberNode? {
    guard let member = value.member(name) else { return nil }
    return MemberNode(member, refusals, .member(member, place))
  }

  subscript(_ name: StaticString) -> MemberNode? { member(name) }

  /// Returns the member with this name unless it is null: absent facts of a document are null,
  /// and a host may pass them on unchanged (DOC-2).
  @inline(never)
  func present(_ name: StaticString) -> MemberNode? {
    guard let node = self[name], !node.value.isNull else { return nil }
    return node
  }

  /// Returns a member that must exist, null or not.
  func required(_ name: StaticString) throws(Refusal) -> MemberNode {
    guard let node = self[name] else { throw missing(Text(stringLiteral: name).string) }
    return node
  }

  /// Returns the refusal of a missing member.
  func missing(_ name: String) -> Refusal {
    let outer = path
    return refusals.refusal(.missing, at: outer.isEmpty ? name : outer + "." + name)
  }

  func members() throws(Refusal) -> [MemberNode] {
    try require(value.kind == .object, self, .type)
    return value.children.map { MemberNode($0, refusals, .member($0, place)) }
  }

  func elements(_ counts: ClosedRange<Int> = 0...Int.max) throws(Refusal) -> [MemberNode] {
    try require(value.kind == .array, self, .type)
    try require(counts.contains(value.count), self)
    return value.children.enumerated().map {
      MemberNode($0.element, refusals, .element($0.offset, place))
    }
  }

  /// - Parameter counts: The accepted lengths in bytes.
  func text(_ counts: ClosedRange<Int> = 0...Int.max) throws(Refusal) -> Text {
    guard let text = value.text else { throw refusal(.type) }
    try require(counts.contains(text.count), self)
    return text
  }

  func boolean() throws(Refusal) -> Bool {
    guard let boolean = value.boolean else { throw refusal(.type) }
    return boolean
  }

  func integer(_ range: ClosedRange<Int64>) throws(Refusal) -> Int64 {
    try require(value.kind == .number, self, .type)
    guard let number = value.integer, range.contains(number) else { throw refusal(.range) }
    return number
  }

  /// Returns the index in `choices` of this text.
  func choice(_ choices: [StaticString]) throws(Refusal) -> Int {
    let text = try text()
    guard let index = choices.firstIndex(where: { text.utf8[...].elementsEqual($0) }) else {
      throw refusal(.range)
    }
    return index
  }
}

/// Throws the refusal of `node` unless `holds`.
@inline(__always)
func require(
  _ holds: Bool, _ node: MemberNode, _ fault: MemberFault = .range,
  detail: @autoclosure () -> String = ""
) throws(Refusal) {
  if !holds { throw node.refusal(fault, detail: detail()) }
}
