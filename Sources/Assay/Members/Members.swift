/// The type of a payload's member (docs/spec/storekit-payloads.md §2, "type notation").
enum Shape: Sendable {
  case text
  case integer
  /// Milliseconds since 1970 UTC.
  case time
  case boolean
  /// A count of 1 to 2^31−1 (PAY-6).
  case quantity
  case texts
  /// A text that is one of these values, as far as Apple has documented them.
  case name([StaticString])
  /// An integer in this range, as far as Apple has documented it.
  case number(ClosedRange<Int64>)
  case object(MemberTable)
  case objects(MemberTable)

  /// Whether a value has this JSON type. Values of enumerations are checked by `Fields`.
  func accepts(_ value: JSONValue) -> Bool {
    switch self {
    case .text, .name: return value.kind == .string
    case .integer, .number: return value.integer != nil
    case .boolean: return value.kind == .boolean
    case .time:
      guard let time = value.integer else { return false }
      return time >= 0 && time <= TimeWindow.lastPayloadTime
    case .quantity:
      guard let count = value.integer else { return false }
      return count >= 1 && count <= 0x7fff_ffff
    case .texts:
      return value.kind == .array && value.children.allSatisfy { $0.kind == .string }
    case .object: return value.kind == .object
    case .objects:
      return value.kind == .array && value.children.allSatisfy { $0.kind == .object }
    }
  }
}

/// One member of a payload.
struct Member: Sendable {
  let name: StaticString
  let hash: UInt32
  let shape: Shape
  /// Whether the member decides money or access: with a wrong type it refuses the payload
  /// (PAY-4). Other members cause only a warning (PAY-5).
  let isDecisive: Bool

  init(_ name: StaticString, _ shape: Shape, decisive: Bool = false) {
    self.name = name
    hash = JSON.hash(name)
    self.shape = shape
    isDecisive = decisive
  }
}

/// The members of one kind of object. A class, so that tables may nest.
final class MemberTable: Sendable {
  let members: [Member]
  private let hashes: [UInt32]

  init(_ members: [Member]) {
    self.members = members
    hashes = members.map { $0.hash }
  }

  /// Returns the index of a member in the table; `nil` for members unknown to Assay, which are
  /// kept and never refused (PAY-2).
  func index(of value: JSONValue) -> Int? {
    index(hash: value.nameHash) { value.isNamed($0) }
  }

  func index(of name: StaticString) -> Int? {
    index(hash: JSON.hash(name)) { $0.hasSameBytes(as: name) }
  }

  @inline(__always)
  private func index(hash: UInt32, _ isNamed: (StaticString) -> Bool) -> Int? {
    for index in hashes.indices where hashes[index] == hash && isNamed(members[index].name) {
      return index
    }
    return nil
  }
}

/// The known members of one object, checked against its table. A member that is `null` counts as
/// absent (PAY-3).
struct Fields: Sendable {
  let object: JSONValue
  let table: MemberTable
  /// The node of each member in the table's order; -1 if absent.
  private var nodes: [Int32]

  /// Properties of the evidence that change how a payload is read.
  struct Context {
    /// Whether the evidence is of Xcode, which writes times as fractions and a "distant past"
    /// (JWS-81).
    var isXcode = false
    /// The member with the evidence's date, which rules of its own check (JWS-40 … JWS-44).
    var effectiveDate: StaticString = ""
  }

  /// Checks every known member (PAY-4, PAY-5, PAY-6).
  ///
  /// - Parameter path: The path of `object`; empty at the top.
  init(
    _ object: JSONValue, _ table: MemberTable, path: String = "", _ context: Context,
    _ warnings: inout [Warning]
  ) throws(Refusal) {
    self.object = object
    self.table = table
    nodes = [Int32](repeating: -1, count: table.members.count)
    for value in object.children where !value.isNull {
      guard let index = table.index(of: value) else { continue }
      let member = table.members[index]
      nodes[index] = Int32(truncatingIfNeeded: value.index)
      if context.effectiveDate.utf8CodeUnitCount > 0, path.isEmpty,
        value.isNamed(context.effectiveDate)
      {
        continue
      }
      try Fields.check(value, member, path, context, &warnings)
    }
  }

  private static func check(
    _ value: JSONValue, _ member: Member, _ path: String, _ context: Context,
    _ warnings: inout [Warning]
  ) throws(Refusal) {
    func place() -> String {
      let name = Text(stringLiteral: member.name).string
      return path.isEmpty ? name : path + "." + name
    }
    var isAccepted = member.shape.accepts(value)
    if case .time = member.shape, context.isXcode, value.kind == .number {
      isAccepted = true
      if Fields.time(value, isXcode: true) == nil {
        warnings.append(Warning("date-out-of-range", at: place()))
      }
    }
    if !isAccepted {
      try require(!member.isDecisive, .malformedPayloadType, "PAY-4", at: place())
      warnings.append(Warning("unexpected-type", at: place()))
      return
    }
    switch member.shape {
    case .name(let known):
      guard let text = value.text else { return }
      if !known.contains(where: { text.utf8[...].elementsEqual($0) }) {
        warnings.append(Warning("unknown-value", at: place()))
      }
    case .number(let known):
      guard let number = value.integer else { return }
      if !known.contains(number) { warnings.append(Warning("unknown-value", at: place())) }
    case .object(let table):
      _ = try Fields(value, table, path: place(), context, &warnings)
    case .objects(let table):
      for (index, element) in value.children.enumerated() {
        _ = try Fields(
          element, table, path: place() + "[" + String(index) + "]", context, &warnings)
      }
    default: break
    }
  }

  // MARK: queries

  /// Returns a member's value by its index in the table; `nil` if it is absent.
  func value(at index: Int) -> JSONValue? {
    guard index >= 0, index < nodes.count, nodes[index] >= 0 else { return nil }
    return JSONValue(json: object.json, index: Int(nodes[index]))
  }

  subscript(_ name: StaticString) -> JSONValue? {
    guard let index = table.index(of: name) else { return nil }
    return value(at: index)
  }

  func text(_ name: StaticString) -> Text? { self[name]?.text }
  func integer(_ name: StaticString) -> Int64? { self[name]?.integer }
  func boolean(_ name: StaticString) -> Bool? { self[name]?.boolean }

  /// Returns a time in milliseconds since 1970 UTC. In the Xcode profile a fraction is dropped
  /// and a time outside 2008 … 2100 is `nil` (JWS-81).
  func time(_ name: StaticString, isXcode: Bool) -> Int64? {
    guard let value = self[name] else { return nil }
    return Fields.time(value, isXcode: isXcode)
  }

  static func time(_ value: JSONValue, isXcode: Bool) -> Int64? {
    guard isXcode else { return value.integer }
    guard let time = value.truncated, TimeWindow.contains(time) else { return nil }
    return time
  }
}
