/// Reads RFC 8259 JSON strictly: valid UTF-8, no byte order mark, nothing after the value, no
/// duplicate names, no NUL, and within all limits of `JSONCaps`. The reader is iterative, so that
/// nesting uses no stack.
struct JSONReader {
  private let bytes: [UInt8]
  private let caps: JSONCaps
  private var position = 0
  private var nodes: [JSON.Node] = []
  /// Indexes of the open containers.
  private var open: [Int] = []
  private var names = JSONNames()

  /// Reads one text whose value is an object.
  static func readObject(_ bytes: [UInt8], caps: JSONCaps = .evidence) throws(JSONFault) -> JSON {
    let json = try readValue(bytes, caps: caps)
    guard json.root.kind == .object else { throw JSONFault(reason: .notObject, offset: 0) }
    return json
  }

  /// Reads one text whose value is of any kind.
  static func readValue(_ bytes: [UInt8], caps: JSONCaps = .evidence) throws(JSONFault) -> JSON {
    var comparisons = 0
    return try readValue(bytes, caps: caps, comparisons: &comparisons)
  }

  /// Reads one text and counts the comparisons of names, by which tests bound the cost.
  static func readValue(
    _ bytes: [UInt8], caps: JSONCaps, comparisons: inout Int
  ) throws(JSONFault) -> JSON {
    guard bytes.count < Int(Int32.max) else { throw JSONFault(reason: .syntax, offset: 0) }
    var reader = JSONReader(bytes: bytes, caps: caps)
    defer { comparisons = reader.names.comparisons }
    do {
      try reader.read()
    } catch {
      throw reader.earlierRepeat(than: error) ?? error
    }
    return JSON(bytes: bytes, nodes: reader.nodes)
  }

  private init(bytes: [UInt8], caps: JSONCaps) {
    self.bytes = bytes
    self.caps = caps
    nodes.reserveCapacity(min(bytes.count / 24, caps.values) &+ 4)
  }

  // MARK: structure

  private mutating func read() throws(JSONFault) {
    if bytes.starts(with: [0xef, 0xbb, 0xbf]) { throw JSONFault(reason: .bom, offset: 0) }
    skipSpace()
    var name: JSON.Node? = nil
    while true {
      let isOpen = try value(name)
      name = nil
      if isOpen {
        guard let top = open.last else { throw fault(.syntax) }
        skipSpace()
        if peek() == closing(top) {
          position &+= 1
          try close()
        } else {
          if nodes[top].kind == .object { name = try memberName() }
          continue
        }
      }
      // After a complete value, a comma leads to the next one and a bracket closes the container.
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
        try close()
      }
      if !hasNext { break }
    }
    skipSpace()
    if let byte = peek() { throw fault(byte == 0 ? .nul : .trailing) }
  }

  /// Reads one value, or the opening bracket of a container. Returns whether a container was
  /// opened.
  private mutating func value(_ name: JSON.Node?) throws(JSONFault) -> Bool {
    guard let byte = peek() else { throw fault(.syntax) }
    if let top = open.last, nodes[top].kind == .array {
      guard nodes[top].count < caps.elements else { throw fault(.elements) }
      nodes[top].count &+= 1
    }
    guard nodes.count < caps.values else { throw fault(.elements) }
    var node = name ?? JSON.Node()
    node.start = Int32(truncatingIfNeeded: position)
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

  private mutating func close() throws(JSONFault) {
    guard let top = open.popLast() else { return }
    nodes[top].end = Int32(truncatingIfNeeded: position)
    nodes[top].next = Int32(truncatingIfNeeded: nodes.count)
    if nodes[top].comparesLater, let fault = repeated(in: top) { throw fault }
  }

  private func closing(_ container: Int) -> UInt8 {
    nodes[container].kind == .object ? 0x7d : 0x5d
  }

  // MARK: names

  /// Reads `"name" :` and counts the member. Returns a node that has only its name.
  private mutating func memberName() throws(JSONFault) -> JSON.Node {
    guard let top = open.last else { throw fault(.syntax) }
    guard let byte = peek(), byte == 0x22 else { throw fault(peek() == 0 ? .nul : .syntax) }
    let offset = position
    position &+= 1
    var name = JSON.Node()
    name.nameStart = Int32(truncatingIfNeeded: position)
    (name.nameEnd, name.nameEscaped, name.nameHash) = try string()
    var length = name.nameRange.count
    if name.nameEscaped {
      (name.nameHash, length) = (JSON.hashStart, 0)
      let text = bytes.span
      var unescaped = JSONUnescaped(name.nameRange)
      while let byte = unescaped.next(in: text) {
        name.nameHash = JSON.hash(name.nameHash, byte)
        length &+= 1
      }
    }
    guard length <= caps.nameBytes else { throw JSONFault(reason: .name, offset: offset) }
    guard nodes[top].count < caps.members else {
      throw JSONFault(reason: .members, offset: offset)
    }
    if !nodes[top].comparesLater {
      switch names.judge(name, in: top, nodes, bytes) {
      case .new: break
      case .taken: throw JSONFault(reason: .duplicateName, offset: offset)
      case .later: nodes[top].comparesLater = true
      }
    }
    nodes[top].count &+= 1
    skipSpace()
    guard peek() == 0x3a else { throw fault(peek() == 0 ? .nul : .syntax) }
    position &+= 1
    skipSpace()
    return name
  }

  /// Returns a fault at the quotation mark of the object's first repeated name; `nil` if there is
  /// none.
  private mutating func repeated(in object: Int) -> JSONFault? {
    names.firstRepeat(in: object, nodes, bytes).map {
      JSONFault(reason: .duplicateName, offset: Int(nodes[$0].nameStart) &- 1)
    }
  }

  /// Returns a repeated name in an object that is still open, if it precedes `fault`: the first
  /// fault of a text is reported.
  private mutating func earlierRepeat(than fault: JSONFault) -> JSONFault? {
    var first: JSONFault? = nil
    for object in open where nodes[object].comparesLater {
      guard let found = repeated(in: object), found.offset < (first ?? fault).offset else {
        continue
      }
      first = found
    }
    return first
  }

  // MARK: scalars

  /// Reads a string up to and with its closing quotation mark. Returns the end offset, whether
  /// there are escapes, and the hash of the raw bytes outside of escapes.
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

  /// Validates the escape that begins at `at` and returns the offset after it.
  private func escape(_ at: Int) throws(JSONFault) -> Int {
    guard at &+ 1 < bytes.count else { throw JSONFault(reason: .syntax, offset: at) }
    switch bytes[at &+ 1] {
    case 0x22, 0x5c, 0x2f, 0x62, 0x66, 0x6e, 0x72, 0x74: return at &+ 2
    case 0x75:
      guard let unit = JSONEscapes.unit(bytes.span, at &+ 2) else {
        throw JSONFault(reason: .syntax, offset: at)
      }
      if unit == 0 { throw JSONFault(reason: .nul, offset: at) }
      if unit & 0xf800 != 0xd800 { return at &+ 6 }
      // A high surrogate encodes a character only together with a low one.
      guard unit < 0xdc00, at &+ 7 < bytes.count, bytes[at &+ 6] == 0x5c,
        bytes[at &+ 7] == 0x75, let low = JSONEscapes.unit(bytes.span, at &+ 8),
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
