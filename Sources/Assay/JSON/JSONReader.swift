/// What the strict reader refuses, by the rule that was broken (JWS-6).
struct JSONFault: Error, Equatable {
  enum Reason: Equatable {
    case utf8, bom, syntax, trailing, duplicateName, nul, notObject
    case depth, members, elements, name, number
  }
  let reason: Reason
  /// Byte offset in the text.
  let offset: Int

  var status: Status {
    switch reason {
    case .utf8: return .malformedJsonUtf8
    case .bom: return .malformedJsonBom
    case .syntax: return .malformedJsonSyntax
    case .trailing: return .malformedJsonTrailing
    case .duplicateName: return .malformedJsonDuplicateName
    case .nul: return .malformedJsonNul
    case .notObject: return .malformedJsonNotObject
    case .depth: return .tooLargeJsonDepth
    case .members: return .tooLargeJsonMembers
    case .elements: return .tooLargeJsonElements
    case .name: return .tooLargeJsonName
    case .number: return .tooLargeJsonNumber
    }
  }
}

/// Limits of one JSON text, checked before memory is asked for.
struct JSONCaps: Sendable {
  var depth = 32
  var members = 256
  var elements = 1024
  var nameBytes = 256
  var numberBytes = 64
  /// Of the whole text, containers and members' values counted.
  var values = Int.max

  /// Headers and payloads of evidence (JWS-6).
  static let evidence = JSONCaps()
  /// The app's own request, whose size is limited before (ASR-10). Each name is
  /// looked for among all before it: few names an object bound that work.
  static let clientData = JSONCaps(members: 1024, elements: 65_536, values: 131_072)
  /// A configuration: a catalogue may have 4,096 products, and one that has more
  /// is refused for that, not for its syntax.
  static let configuration = JSONCaps(members: 8192, elements: 8192)
  /// An answer of verifyReceipt: as many entries as it may have (VRR-15).
  static let receiptAnswer = JSONCaps(elements: 16_384, values: 1 << 20)
}

/// Reads RFC 8259 JSON strictly: checked UTF-8, no byte order mark, nothing
/// after the value, no duplicate names, no NUL, and every limit of `JSONCaps`.
/// Iterative: nesting costs no stack.
struct JSONReader {
  private let bytes: [UInt8]
  private let caps: JSONCaps
  private var position = 0
  private var nodes: [JSON.Node] = []
  /// Indexes of the containers that are open.
  private var open: [Int] = []

  /// Reads one text whose top value is an object.
  static func readObject(_ bytes: [UInt8], caps: JSONCaps = .evidence) throws(JSONFault) -> JSON {
    let json = try readValue(bytes, caps: caps)
    guard json.root.kind == .object else { throw JSONFault(reason: .notObject, offset: 0) }
    return json
  }

  /// Reads one text with any value at its top.
  static func readValue(_ bytes: [UInt8], caps: JSONCaps = .evidence) throws(JSONFault) -> JSON {
    guard bytes.count < Int(Int32.max) else { throw JSONFault(reason: .syntax, offset: 0) }
    var reader = JSONReader(bytes: bytes, caps: caps)
    try reader.read()
    return JSON(bytes: bytes, nodes: reader.nodes)
  }

  private init(bytes: [UInt8], caps: JSONCaps) {
    self.bytes = bytes
    self.caps = caps
    nodes.reserveCapacity(bytes.count / 24 &+ 4)
  }

  // MARK: structure

  private mutating func read() throws(JSONFault) {
    if bytes.starts(with: [0xef, 0xbb, 0xbf]) { throw JSONFault(reason: .bom, offset: 0) }
    skipSpace()
    var name: (start: Int32, end: Int32, escaped: Bool, hash: UInt32)? = nil
    while true {
      let isOpen = try value(name)
      name = nil
      if isOpen {
        guard let top = open.last else { throw fault(.syntax) }
        skipSpace()
        if peek() == closing(top) {
          position &+= 1
          close()
        } else {
          if nodes[top].kind == .object { name = try memberName() }
          continue
        }
      }
      // A value is complete: a comma leads to the next one, a bracket closes.
      var hasNext = false
      while let top = open.last {
        skipSpace()
        guard let byte = peek() else { throw fault(.syntax) }
        if byte == 0x2c {
          position &+= 1
          skipSpace()
          if nodes[top].kind == .object { name = try memberName() }
          hasNext = true
          break
        }
        guard byte == closing(top) else { throw fault(byte == 0 ? .nul : .syntax) }
        position &+= 1
        close()
      }
      if !hasNext { break }
    }
    skipSpace()
    if let byte = peek() { throw fault(byte == 0 ? .nul : .trailing) }
  }

  /// Reads one value, or the opening bracket of one; true: a container is open.
  private mutating func value(
    _ name: (start: Int32, end: Int32, escaped: Bool, hash: UInt32)?
  ) throws(JSONFault) -> Bool {
    guard let byte = peek() else { throw fault(.syntax) }
    if let top = open.last, nodes[top].kind == .array {
      guard nodes[top].count < caps.elements else { throw fault(.elements) }
      nodes[top].count &+= 1
    }
    guard nodes.count < caps.values else { throw fault(.elements) }
    var node = JSON.Node(kind: .null, start: Int32(truncatingIfNeeded: position), end: 0)
    if let name {
      node.nameStart = name.start
      node.nameEnd = name.end
      node.nameEscaped = name.escaped
      node.nameHash = name.hash
    }
    switch byte {
    case 0x7b, 0x5b:
      guard open.count < caps.depth else { throw fault(.depth) }
      node.kind = byte == 0x7b ? .object : .array
      position &+= 1
      open.append(nodes.count)
      nodes.append(node)
      return true
    case 0x22:
      node.kind = .string
      position &+= 1
      node.start = Int32(truncatingIfNeeded: position)
      let (end, escaped, _) = try string()
      node.end = end
      node.escaped = escaped
    case 0x2d, 0x30...0x39:
      node.kind = .number
      try number()
      node.end = Int32(truncatingIfNeeded: position)
    case 0x74:
      node.kind = .boolean
      try literal("true")
      node.end = Int32(truncatingIfNeeded: position)
    case 0x66:
      node.kind = .boolean
      try literal("false")
      node.end = Int32(truncatingIfNeeded: position)
    case 0x6e:
      try literal("null")
      node.end = Int32(truncatingIfNeeded: position)
    case 0: throw fault(.nul)
    default: throw fault(.syntax)
    }
    node.next = Int32(truncatingIfNeeded: nodes.count &+ 1)
    nodes.append(node)
    return false
  }

  private mutating func close() {
    guard let top = open.popLast() else { return }
    nodes[top].end = Int32(truncatingIfNeeded: position)
    nodes[top].next = Int32(truncatingIfNeeded: nodes.count)
  }

  private func closing(_ container: Int) -> UInt8 {
    nodes[container].kind == .object ? 0x7d : 0x5d
  }

  // MARK: names

  /// Reads `"name" :` and counts the member.
  private mutating func memberName() throws(JSONFault)
    -> (start: Int32, end: Int32, escaped: Bool, hash: UInt32)
  {
    guard let top = open.last else { throw fault(.syntax) }
    guard let byte = peek(), byte == 0x22 else { throw fault(peek() == 0 ? .nul : .syntax) }
    let offset = position
    position &+= 1
    let start = Int32(truncatingIfNeeded: position)
    var (end, escaped, hash) = try string()
    var length = Int(end &- start)
    if escaped {
      hash = JSON.hashStart
      length = 0
      JSONEscapes.resolve(bytes[Int(start)..<Int(end)]) {
        hash = JSON.hash(hash, $0)
        length &+= 1
      }
    }
    guard length <= caps.nameBytes else { throw JSONFault(reason: .name, offset: offset) }
    guard nodes[top].count < caps.members else {
      throw JSONFault(reason: .members, offset: offset)
    }
    if isTaken(top, start, end, escaped, hash) {
      throw JSONFault(reason: .duplicateName, offset: offset)
    }
    nodes[top].count &+= 1
    skipSpace()
    guard peek() == 0x3a else { throw fault(peek() == 0 ? .nul : .syntax) }
    position &+= 1
    skipSpace()
    return (start, end, escaped, hash)
  }

  /// Whether an earlier member of the object has this name, after unescaping.
  private func isTaken(
    _ object: Int, _ start: Int32, _ end: Int32, _ escaped: Bool, _ hash: UInt32
  ) -> Bool {
    var index = object &+ 1
    while index < nodes.count {
      let other = nodes[index]
      if other.nameHash == hash, sameName(other, start, end, escaped) { return true }
      guard other.next > index else { return false }
      index = Int(other.next)
    }
    return false
  }

  private func sameName(
    _ other: JSON.Node, _ start: Int32, _ end: Int32, _ escaped: Bool
  ) -> Bool {
    let mine = bytes[Int(start)..<Int(end)]
    let theirs = bytes[Int(other.nameStart)..<Int(other.nameEnd)]
    if !escaped, !other.nameEscaped { return mine == theirs }
    var left: [UInt8] = []
    var right: [UInt8] = []
    JSONEscapes.resolve(mine) { left.append($0) }
    JSONEscapes.resolve(theirs) { right.append($0) }
    return left == right
  }

  // MARK: scalars

  /// Reads a string's text up to and with its closing quotation mark. The hash
  /// is that of the raw bytes.
  private mutating func string() throws(JSONFault) -> (Int32, Bool, UInt32) {
    let source = bytes
    let text = source.span
    var escaped = false
    var hash = JSON.hashStart
    var at = position
    while at < text.count {
      let byte = text[at]
      if byte == 0x22 {
        position = at &+ 1
        return (Int32(truncatingIfNeeded: at), escaped, hash)
      }
      if byte < 0x20 {
        throw JSONFault(reason: byte == 0 ? .nul : .syntax, offset: at)
      }
      if byte == 0x5c {
        escaped = true
        at = try escape(at)
        continue
      }
      hash = JSON.hash(hash, byte)
      if byte < 0x80 {
        at &+= 1
      } else {
        let length = UTF8Sequence.length(bytes, at)
        guard length > 0 else { throw JSONFault(reason: .utf8, offset: at) }
        for next in 1..<length { hash = JSON.hash(hash, text[at &+ next]) }
        at &+= length
      }
    }
    throw JSONFault(reason: .syntax, offset: bytes.count)
  }

  /// Checks the escape that begins at `at`; returns the offset after it.
  private func escape(_ at: Int) throws(JSONFault) -> Int {
    guard at &+ 1 < bytes.count else { throw JSONFault(reason: .syntax, offset: at) }
    switch bytes[at &+ 1] {
    case 0x22, 0x5c, 0x2f, 0x62, 0x66, 0x6e, 0x72, 0x74: return at &+ 2
    case 0x75:
      guard let unit = JSONEscapes.unit(bytes[...], at &+ 2) else {
        throw JSONFault(reason: .syntax, offset: at)
      }
      if unit == 0 { throw JSONFault(reason: .nul, offset: at) }
      if unit & 0xf800 != 0xd800 { return at &+ 6 }
      // A surrogate stands for a character only together with its other half.
      guard unit < 0xdc00, at &+ 7 < bytes.count, bytes[at &+ 6] == 0x5c,
        bytes[at &+ 7] == 0x75, let low = JSONEscapes.unit(bytes[...], at &+ 8),
        low & 0xfc00 == 0xdc00
      else { throw JSONFault(reason: .utf8, offset: at) }
      return at &+ 12
    default: throw JSONFault(reason: .syntax, offset: at)
    }
  }

  private mutating func number() throws(JSONFault) {
    let start = position
    if peek() == 0x2d { position &+= 1 }
    guard let first = peek(), isDigit(first) else { throw fault(.syntax) }
    position &+= 1
    if first != 0x30 { skipDigits() }
    if peek() == 0x2e {
      position &+= 1
      guard let digit = peek(), isDigit(digit) else { throw fault(.syntax) }
      skipDigits()
    }
    if let mark = peek(), mark | 0x20 == 0x65 {
      position &+= 1
      if let sign = peek(), sign == 0x2b || sign == 0x2d { position &+= 1 }
      guard let digit = peek(), isDigit(digit) else { throw fault(.syntax) }
      skipDigits()
    }
    guard position &- start <= caps.numberBytes else {
      throw JSONFault(reason: .number, offset: start)
    }
  }

  private mutating func skipDigits() {
    while let byte = peek(), isDigit(byte) { position &+= 1 }
  }

  private mutating func literal(_ word: StaticString) throws(JSONFault) {
    let length = word.utf8CodeUnitCount
    guard position &+ length <= bytes.count,
      bytes[position..<(position &+ length)].elementsEqual(word)
    else { throw fault(.syntax) }
    position &+= length
  }

  // MARK: bytes

  private func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

  private func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

  private mutating func skipSpace() {
    while let byte = peek(), byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 {
      position &+= 1
    }
  }

  private func fault(_ reason: JSONFault.Reason) -> JSONFault {
    JSONFault(reason: reason, offset: position)
  }
}

/// The escapes of JSON strings (RFC 8259 §7).
enum JSONEscapes {
  /// Gives out the bytes that a checked text stands for.
  static func resolve(_ text: ArraySlice<UInt8>, _ emit: (UInt8) -> Void) {
    var at = text.startIndex
    while at < text.endIndex {
      let byte = text[at]
      guard byte == 0x5c, at &+ 1 < text.endIndex else {
        emit(byte)
        at &+= 1
        continue
      }
      switch text[at &+ 1] {
      case 0x62: emit(0x08)
      case 0x66: emit(0x0c)
      case 0x6e: emit(0x0a)
      case 0x72: emit(0x0d)
      case 0x74: emit(0x09)
      case 0x75:
        guard let unit = unit(text, at &+ 2) else { return }
        if unit & 0xfc00 == 0xd800, let low = self.unit(text, at &+ 8) {
          encode(0x10000 &+ (unit & 0x3ff) << 10 &+ (low & 0x3ff), emit)
          at &+= 12
        } else {
          encode(unit, emit)
          at &+= 6
        }
        continue
      case let other: emit(other)
      }
      at &+= 2
    }
  }

  /// The value of the four hex digits at `at`, or nil.
  static func unit(_ text: ArraySlice<UInt8>, _ at: Int) -> UInt32? {
    guard at >= text.startIndex, at &+ 4 <= text.endIndex else { return nil }
    var unit: UInt32 = 0
    for digit in text[at..<at &+ 4] {
      guard let value = Hex.value(digit) else { return nil }
      unit = unit << 4 | UInt32(value)
    }
    return unit
  }

  /// The UTF-8 of a scalar that is no surrogate.
  static func encode(_ scalar: UInt32, _ emit: (UInt8) -> Void) {
    func tail(_ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: scalar >> shift & 0x3f) | 0x80 }
    if scalar < 0x80 {
      emit(UInt8(truncatingIfNeeded: scalar))
    } else if scalar < 0x800 {
      emit(UInt8(truncatingIfNeeded: scalar >> 6) | 0xc0)
      emit(tail(0))
    } else if scalar < 0x10000 {
      emit(UInt8(truncatingIfNeeded: scalar >> 12) | 0xe0)
      emit(tail(6))
      emit(tail(0))
    } else {
      emit(UInt8(truncatingIfNeeded: scalar >> 18) | 0xf0)
      emit(tail(12))
      emit(tail(6))
      emit(tail(0))
    }
  }
}

/// Well-formed UTF-8 (Unicode, table 3-7): no overlong forms, no surrogates,
/// nothing above U+10FFFF.
enum UTF8Sequence {
  /// The length of the sequence that begins at `at`: 1…4, or 0 when it is none.
  static func length(_ bytes: [UInt8], _ at: Int) -> Int { length(bytes.span, at) }

  /// The same within a part of some bytes.
  static func length(_ bytes: Span<UInt8>, _ at: Int) -> Int {
    guard at < bytes.count else { return 0 }
    let first = bytes[at]
    var low: UInt8 = 0x80
    var high: UInt8 = 0xbf
    let length: Int
    switch first {
    case 0x00...0x7f: return 1
    case 0xc2...0xdf: length = 2
    case 0xe0...0xef:
      length = 3
      if first == 0xe0 { low = 0xa0 }
      if first == 0xed { high = 0x9f }
    case 0xf0...0xf4:
      length = 4
      if first == 0xf0 { low = 0x90 }
      if first == 0xf4 { high = 0x8f }
    default: return 0
    }
    guard at &+ length <= bytes.count else { return 0 }
    guard bytes[at &+ 1] >= low, bytes[at &+ 1] <= high else { return 0 }
    for next in 2..<max(length, 2) where bytes[at &+ next] & 0xc0 != 0x80 { return 0 }
    return length
  }

  static func isValid(_ bytes: [UInt8]) -> Bool {
    var at = 0
    while at < bytes.count {
      let length = length(bytes, at)
      if length == 0 { return false }
      at &+= length
    }
    return true
  }
}
