/// One member of a request to the App Store Server API (API-21).
struct AppStoreMember: Sendable {
  enum Place: Sendable { case path, query, body }

  enum Form: Sendable {
    /// 1 to 20 decimal digits.
    case id
    /// 1 to 64 letters and digits.
    case order
    case uuid
    /// A UUID, or the empty text.
    case account
    /// Text of 1 byte up to this number of bytes.
    case text(Int)
    /// Text of 1 character up to this number of Unicode scalars.
    case characters(Int)
    /// 1 to 35 letters, digits, `-` and `_`.
    case locale
    /// A URL of at most 256 bytes: https, without user and fragment.
    case https
    /// A PNG file in base64, which becomes the body as a whole.
    case png
    /// A compact JWS: three parts of base64url, at most 64 KiB.
    case jws
    case object(AppStoreSchema)
    /// One of Apple's values; unknown ones are sent as well, because Apple may add values (ENU-3).
    case name([StaticString])
    /// Milliseconds since 1970 UTC.
    case time
    case boolean
    /// `true` only: consumption data may not be sent without the customer's consent (API-24).
    case consent
    /// A number in this range; `isDeprecated` if Apple has replaced its set (ENU-4).
    case number(ClosedRange<Int64>, isDeprecated: Bool = false)
  }

  /// One value in the form in which it is sent.
  enum Value: Sendable {
    case text(Text)
    case number(Int64)
    case flag(Bool)
    case json([UInt8])
    /// The body as a whole.
    case file([UInt8])

    /// The value as a URL contains it, before percent-encoding (API-22).
    var text: Text {
      switch self {
      case .text(let text): return text
      case .number(let number): return Text(String(number))
      case .flag(let flag): return flag ? "true" : "false"
      case .json(let json), .file(let json): return Text(json)
      }
    }
  }

  let name: StaticString
  let place: Place
  let form: Form
  let isList: Bool
  let isRequired: Bool
  /// The most elements of a list.
  let atMost: Int

  private static let jwsCap = 1 << 16

  init(
    _ name: StaticString, _ place: Place, _ form: Form, isList: Bool = false,
    atMost: Int = 256, isRequired: Bool = false
  ) {
    self.name = name
    self.place = place
    self.form = form
    self.isList = isList
    self.isRequired = isRequired
    self.atMost = atMost
  }

  /// Returns the values of this member; none if it is absent.
  ///
  /// - Parameters:
  ///   - given: the member of the request; `nil` if it is absent.
  ///   - outer: the object that has the member; `nil` for the request itself.
  ///   - isStrict: whether a value that is not in its set is refused (ENU-3).
  /// - Throws: `misuse.app-store.parameter`.
  func values(
    _ given: MemberNode?, in outer: MemberNode?, isStrict: Bool, _ warnings: inout [Warning]
  ) throws(Refusal) -> [Value] {
    guard let node = given?.refusing(.misuseAppStoreParameter, "API-21") else {
      let path = outer.map { $0.path + "." } ?? ""
      try require(
        !isRequired, .misuseAppStoreParameter, "API-21",
        at: path + Text(stringLiteral: name).string)
      return []
    }
    guard isList else { return [try value(node, isStrict, &warnings)] }
    var values: [Value] = []
    for element in try node.elements(1...atMost) {
      values.append(try value(element, isStrict, &warnings))
    }
    return values
  }

  /// Writes the member without white space; an absent one is omitted (API-23).
  func write(_ values: [Value], _ writer: inout JSONWriter) {
    guard !values.isEmpty else { return }
    writer.name(name)
    if isList { writer.beginArray() }
    for value in values {
      switch value {
      case .text(let text): writer.string(text)
      case .number(let number): writer.integer(number)
      case .flag(let flag): writer.boolean(flag)
      case .json(let json): writer.raw(json)
      case .file: writer.null()
      }
    }
    if isList { writer.endArray() }
  }

  private func value(
    _ node: MemberNode, _ isStrict: Bool, _ warnings: inout [Warning]
  ) throws(Refusal) -> Value {
    switch form {
    case .id:
      let id = try node.text(1...20)
      try require(id.isDecimal, node)
      return .text(id)
    case .order:
      let id = try node.text(1...64)
      try require(id.utf8.allSatisfy { AppStoreMember.isAlphanumeric($0) }, node)
      return .text(id)
    case .uuid: return .text(try AppStoreMember.uuid(node))
    case .account:
      let text = try node.text()
      return .text(text.isEmpty ? text : try AppStoreMember.uuid(node))
    case .text(let cap):
      let text = try AppStoreMember.text(node, cap)
      // A URL parser resolves these two as relative path segments, percent-encoded or not.
      try require(place != .path || (text != "." && text != ".."), node)
      return .text(text)
    case .name(let values):
      let text = try AppStoreMember.text(node, 64)
      if !values.contains(where: { text.utf8[...].elementsEqual($0) }) {
        try require(!isStrict, .misuseAppStoreParameter, "ENU-3", at: node.path)
        warnings.append(Warning("unknown-value", at: node.path))
      }
      return .text(text)
    case .characters(let most):
      let text = try AppStoreMember.text(node, most &* 4)
      // Continuation bytes are no scalars of their own.
      try require(text.utf8.filter { $0 & 0xc0 != 0x80 }.count <= most, node)
      return .text(text)
    case .locale:
      let text = try node.text(1...35)
      let isLocale = text.utf8.allSatisfy { AppStoreMember.isURL($0) }
      try require(isLocale, node)
      return .text(text)
    case .https:
      let text = try AppStoreMember.text(node, 256)
      try require(AppStoreMember.isAddress(text), node)
      return .text(text)
    case .png:
      let text = try node.text()
      guard let file = Base64.decodeStandard(text.utf8[...]) else {
        throw Refusal(.misuseAppStoreParameter, "ENP-5", at: node.path)
      }
      return .file(file)
    case .jws:
      let text = try node.text(1...AppStoreMember.jwsCap)
      let parts = text.utf8.split(separator: 0x2e, omittingEmptySubsequences: false)
      try require(
        parts.count == 3
          && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy { AppStoreMember.isURL($0) } }, node)
      return .text(text)
    case .object(let schema):
      return .json(try schema.read(node, isStrict: isStrict, &warnings))
    case .time: return .number(try node.integer(TimeWindow.start...TimeWindow.end &- 1))
    case .boolean: return .flag(try node.boolean())
    case .consent:
      let isGiven = try node.boolean()
      try require(isGiven, .misuseAppStoreParameter, "API-24", at: node.path)
      return .flag(true)
    case .number(let range, let isDeprecated):
      let number = try node.integer(range)
      if isDeprecated { warnings.append(Warning("deprecated-value", at: node.path)) }
      return .number(number)
    }
  }

  private static func uuid(_ node: MemberNode) throws(Refusal) -> Text {
    let text = try node.text()
    try require(text.isUUID, node)
    return text.asciiLowercased
  }

  private static func text(_ node: MemberNode, _ cap: Int) throws(Refusal) -> Text {
    let text = try node.text(1...cap)
    try require(!text.hasControlCharacter, node)
    return text
  }

  /// Whether a text is a URL of https with a host and without spaces, user and fragment.
  private static func isAddress(_ text: Text) -> Bool {
    let head = Array("https://".utf8)
    guard text.utf8.starts(with: head) else { return false }
    let rest = text.utf8.dropFirst(head.count)
    let host = rest.prefix { $0 != 0x2f && $0 != 0x3f }
    return !host.isEmpty && rest.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != 0x23 }
      && !host.contains(0x40)
  }

  /// Whether a byte is one of base64url's.
  private static func isURL(_ byte: UInt8) -> Bool {
    isAlphanumeric(byte) || byte == 0x2d || byte == 0x5f
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: return true
    default: return false
    }
  }
}
