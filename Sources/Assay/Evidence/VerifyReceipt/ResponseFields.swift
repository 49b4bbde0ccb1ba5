/// The known members of one object of a response, each with the form that the table states. A
/// member that is `null` counts as absent.
struct ResponseFields: Sendable {
  let object: JSONValue
  let table: ResponseTable
  /// The JSON node of each member of the table; -1 if absent.
  private var nodes: [Int32]

  /// Checks every known member (VRR-9), and warns of unknown values of enumerations.
  init(
    _ object: JSONValue, _ table: ResponseTable, at place: ResponsePath,
    _ warnings: inout ResponseWarnings
  ) throws(Refusal) {
    self.object = object
    self.table = table
    nodes = [Int32](repeating: -1, count: table.members.count)
    for value in object.children where !value.isNull {
      guard let index = table.index(of: value) else { continue }
      nodes[index] = Int32(truncatingIfNeeded: value.index)
      let member = table.members[index]
      guard let isKnown = Self.isKnown(value, member.shape) else {
        throw Self.malformed(place, member.apple)
      }
      if !isKnown { warnings.unknownValue(place, member.apple) }
    }
    for index in table.dates where hasDate(at: index) && time(at: index) == nil {
      throw Self.malformed(place, dateMember(at: index))
    }
  }

  static func malformed(_ place: ResponsePath, _ member: StaticString) -> Refusal {
    Refusal(.malformedVerifyReceiptField, "VRR-9", at: place.of(member))
  }

  /// Returns whether the value is known; `nil` if it does not have the form at all.
  private static func isKnown(_ value: JSONValue, _ shape: ResponseShape) -> Bool? {
    switch shape {
    case .text, .deviceId: return value.kind == .string ? true : nil
    case .name(let known):
      guard let text = ResponseValue.content(value) else { return nil }
      return known.contains { text.elementsEqual($0) }
    case .id: return ResponseValue.id(value).map { _ in true }
    case .productId: return ResponseValue.productId(value).map { _ in true }
    case .number: return ResponseValue.number(value).map { _ in true }
    case .quantity: return ResponseValue.quantity(value).map { _ in true }
    case .code(let known): return ResponseValue.number(value).map { known.contains($0) }
    case .flag: return ResponseValue.flag(value).map { _ in true }
    case .onOff: return ResponseValue.onOff(value).map { $0 <= 1 }
    case .date, .expiry, .farDate, .companion: return true
    }
  }

  // MARK: members by index

  func value(at index: Int) -> JSONValue? {
    guard index >= 0, index < nodes.count, nodes[index] >= 0 else { return nil }
    return JSONValue(json: object.json, index: Int(nodes[index]))
  }

  private func isAbsent(_ index: Int) -> Bool {
    index < 0 || index >= nodes.count || nodes[index] < 0
  }

  /// Returns the date at an index of the table, in milliseconds since 1970 UTC: `_ms` is
  /// authoritative, the plain text replaces an absent one, and `_pst` is never read. `nil` if
  /// absent or no date (VRR-10).
  func time(at index: Int) -> Int64? {
    guard index >= 0, index < table.members.count else { return nil }
    let shape = table.members[index].shape
    if let value = value(at: index &+ 1) {
      return ResponseValue.milliseconds(value, latest: shape.latest)
    }
    guard case .expiry = shape else {
      return value(at: index).flatMap { ResponseValue.date($0, latest: shape.latest) }
    }
    if let value = value(at: index) {
      return ResponseValue.expiry(value, latest: shape.latest)
    }
    return value(at: index &+ 3).flatMap { ResponseValue.date($0, latest: shape.latest) }
  }

  /// Whether a member that contains the date is present.
  private func hasDate(at index: Int) -> Bool {
    if !isAbsent(index) || !isAbsent(index &+ 1) { return true }
    guard case .expiry = table.members[index].shape else { return false }
    return !isAbsent(index &+ 3)
  }

  /// Returns the name of the member from which the date is read.
  private func dateMember(at index: Int) -> StaticString {
    let read = !isAbsent(index &+ 1) ? index &+ 1 : !isAbsent(index) ? index : index &+ 3
    return read < table.members.count ? table.members[read].apple : table.members[index].apple
  }

  // MARK: members by name

  subscript(_ name: StaticString) -> JSONValue? {
    table.index(of: name).flatMap { value(at: $0) }
  }

  func text(_ name: StaticString) -> Text? { self[name]?.text }
  func number(_ name: StaticString) -> Int64? { self[name].flatMap(ResponseValue.number) }
  func onOff(_ name: StaticString) -> Int64? { self[name].flatMap(ResponseValue.onOff) }
  func flag(_ name: StaticString) -> Bool? { self[name].flatMap(ResponseValue.flag) }

  func id(_ name: StaticString) -> Text? {
    self[name].flatMap(ResponseValue.id).map { Text(Array($0)) }
  }

  func productId(_ name: StaticString) -> Text? {
    self[name].flatMap(ResponseValue.productId).map { Text(Array($0)) }
  }

  func time(_ name: StaticString) -> Int64? { table.index(of: name).flatMap { time(at: $0) } }

  /// Takes over the members that this object lacks from another object of the same table and
  /// response.
  mutating func fill(from other: ResponseFields) {
    var index = 0
    while index < nodes.count, index < other.nodes.count {
      let span = table.members[index].shape.dateSpan
      if span == 0 {
        if nodes[index] < 0 { nodes[index] = other.nodes[index] }
        index &+= 1
      } else {
        let hasOwn = hasDate(at: index)
        for _ in 0..<span where index < nodes.count && index < other.nodes.count {
          if !hasOwn { nodes[index] = other.nodes[index] }
          index &+= 1
        }
      }
    }
  }

  // MARK: document

  /// Writes the document's members in the order of the table, `null` if absent.
  func write(style: ResponseStyle, deviceIds: Bool, _ writer: inout JSONWriter) {
    for index in table.members.indices {
      let member = table.members[index]
      guard let name = member.name, style == .ios6 || !member.isFlat else { continue }
      if case .deviceId = member.shape, !deviceIds { continue }
      writer.name(name)
      write(at: index, member.shape, &writer)
    }
  }

  private func write(at index: Int, _ shape: ResponseShape, _ writer: inout JSONWriter) {
    if shape.dateSpan > 0 {
      writer.integer(orNull: time(at: index))
      return
    }
    guard let value = value(at: index) else {
      writer.null()
      return
    }
    switch shape {
    case .text, .name, .deviceId: writer.raw(value.quotedSource)
    case .id: writer.string(orNull: ResponseValue.id(value))
    case .productId: writer.string(orNull: ResponseValue.productId(value))
    case .number, .quantity, .code: writer.integer(orNull: ResponseValue.number(value))
    case .onOff: writer.integer(orNull: ResponseValue.onOff(value))
    case .flag: writer.boolean(orNull: ResponseValue.flag(value))
    case .date, .expiry, .farDate, .companion: writer.null()
    }
  }

  /// Writes the unknown members as received; nothing if there are none.
  func writeUnknown(as name: StaticString = "unknown", _ writer: inout JSONWriter) {
    var isOpen = false
    for value in object.children where table.index(of: value) == nil {
      if !isOpen {
        writer.name(name)
        writer.beginObject()
        isOpen = true
      }
      writer.name(value.name)
      writer.raw(value.kind == .string ? value.quotedSource : value.source)
    }
    if isOpen { writer.endObject() }
  }
}

extension JSONWriter {
  fileprivate mutating func integer(orNull value: Int64?) {
    if let value { integer(value) } else { null() }
  }

  fileprivate mutating func boolean(orNull value: Bool?) {
    if let value { boolean(value) } else { null() }
  }

  fileprivate mutating func string(orNull value: ArraySlice<UInt8>?) {
    if let value { string(utf8: Array(value)) } else { null() }
  }
}
