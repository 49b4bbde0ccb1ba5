/// One CBOR item (RFC 8949) of the strict subset that App Attest uses, as a flat list of items
/// over its bytes (CBR-1 … CBR-3). Contents are ranges; nothing is copied.
struct CBOR {
  enum Kind: UInt8 {
    case unsigned, negative, bytes, text, array, map
  }

  /// One item. The elements of an array, and the keys and values of a map, follow it in `items`;
  /// `next` is the index after them.
  struct Item {
    let kind: Kind
    /// The value of an integer, the bytes of a string, the elements of an array or the pairs of a
    /// map.
    let argument: UInt64
    /// Offset of the item's first byte.
    let start: Int
    /// Index of this item in `items`.
    let index: Int
    /// The bytes of a string, or everything inside a container; empty for integers.
    fileprivate(set) var content: Range<Int>
    /// Index of the item after this one and its contents.
    fileprivate(set) var next: Int
  }

  /// The reason why bytes are not strict CBOR, with a byte offset.
  enum Fault: Error {
    /// The item at this offset is outside the subset or exceeds the bytes.
    case unclean(Int)
    /// Bytes follow the outer item; the offset is that of the first.
    case trailing(Int)

    var offset: Int {
      switch self {
      case .unclean(let offset), .trailing(let offset): return offset
      }
    }
  }

  /// Limits of one text: nested containers and items (CBR-1).
  static let depthCap = 4
  static let itemCap = 64

  let source: [UInt8]
  let items: [Item]

  /// Reads the one item that must fill `range`.
  init(_ source: [UInt8], _ range: Range<Int>) throws(Fault) {
    var items: [Item] = []
    items.reserveCapacity(16)
    var reader = CBORReader(source, range)
    try reader.read(&items)
    self.source = source
    self.items = items
  }

  // MARK: queries

  /// The outer item. Never `nil`: an item was read by the initializer.
  var root: Item? { items.first }

  func bytes(_ item: Item) -> ArraySlice<UInt8> {
    source[item.content.clamped(to: 0..<source.count)]
  }

  /// Returns the bytes of the whole item, head included.
  func encoding(_ item: Item) -> ArraySlice<UInt8> {
    source[(item.start..<item.content.upperBound).clamped(to: 0..<source.count)]
  }

  /// Returns the elements of an array in their order; none for other kinds.
  func elements(of array: Item) -> [Item] {
    guard array.kind == .array else { return [] }
    return children(of: array)
  }

  /// Returns the pairs of a map in their order; none for other kinds.
  func pairs(of map: Item) -> [(key: Item, value: Item)] {
    guard map.kind == .map else { return [] }
    var key: Item? = nil
    var found: [(key: Item, value: Item)] = []
    for item in children(of: map) {
      if let name = key {
        found.append((name, item))
        key = nil
      } else {
        key = item
      }
    }
    return found
  }

  private func children(of container: Item) -> [Item] {
    var found: [Item] = []
    var at = container.index &+ 1
    while at < container.next, at < items.count {
      found.append(items[at])
      at = items[at].next
    }
    return found
  }
}

/// Reads one text in a single pass, without recursion.
private struct CBORReader {
  private let source: [UInt8]
  private let end: Int
  private var position: Int
  /// The open containers: the index of each item, and the number of items still to be read in it.
  private var open: [(index: Int, due: Int)] = []

  init(_ source: [UInt8], _ range: Range<Int>) {
    let range = range.clamped(to: 0..<source.count)
    self.source = source
    position = range.lowerBound
    end = range.upperBound
    open.reserveCapacity(CBOR.depthCap)
  }

  mutating func read(_ items: inout [CBOR.Item]) throws(CBOR.Fault) {
    repeat {
      try readItem(&items)
      closeFinished(&items)
    } while !open.isEmpty
    guard position == end else { throw .trailing(position) }
  }

  /// Reads the head of the next item, and the bytes of a string; leaves a container open.
  private mutating func readItem(_ items: inout [CBOR.Item]) throws(CBOR.Fault) {
    let start = position
    guard items.count < CBOR.itemCap else { throw .unclean(start) }
    guard let (kind, argument) = head() else { throw .unclean(start) }
    var content = position..<position
    var due = 0
    switch kind {
    case .unsigned, .negative: break
    case .bytes, .text:
      // Compares the length with the remaining bytes before anything uses it (CBR-2).
      guard let count = Int(exactly: argument), count <= end &- position else {
        throw .unclean(start)
      }
      content = position..<position &+ count
      position &+= count
      if kind == .text {
        guard UTF8Sequence.isValid(Array(source[content])) else { throw .unclean(start) }
      }
    case .array, .map:
      guard let count = Int(exactly: argument), count <= end &- position,
        open.count < CBOR.depthCap
      else { throw .unclean(start) }
      due = kind == .map ? count &* 2 : count
    }
    try checkKey(kind, start, content, items)
    items.append(
      CBOR.Item(
        kind: kind, argument: argument, start: start, index: items.count, content: content,
        next: items.count &+ 1))
    if let last = open.indices.last { open[last].due &-= 1 }
    if kind == .array || kind == .map { open.append((items.count &- 1, due)) }
  }

  /// Closes every container whose last item was read.
  private mutating func closeFinished(_ items: inout [CBOR.Item]) {
    while let top = open.last, top.due == 0 {
      items[top.index].content = items[top.index].content.lowerBound..<position
      items[top.index].next = items.count
      open.removeLast()
    }
  }

  /// Refuses a map key that is a container or a repetition (CBR-1). Heads are minimal, so equal
  /// keys have equal bytes.
  private func checkKey(
    _ kind: CBOR.Kind, _ start: Int, _ content: Range<Int>, _ items: [CBOR.Item]
  ) throws(CBOR.Fault) {
    guard let top = open.last, items[top.index].kind == .map, top.due % 2 == 0 else { return }
    guard kind != .array, kind != .map else { throw .unclean(start) }
    let key = source[start..<position]
    var at = top.index &+ 1
    while at < items.count {
      let other = items[at]
      let otherEnd = Swift.max(other.content.upperBound, other.start)
      if source[other.start..<otherEnd] == key { throw .unclean(start) }
      guard other.next < items.count else { return }
      at = items[other.next].next
    }
  }

  /// Reads the major type and the argument; `nil` for heads outside the subset: tags, floats and
  /// simple values, indefinite lengths, reserved and non-minimal arguments.
  private mutating func head() -> (kind: CBOR.Kind, argument: UInt64)? {
    guard position < end, let kind = CBOR.Kind(rawValue: source[position] >> 5) else {
      return nil
    }
    let short = source[position] & 0x1f
    position &+= 1
    guard short >= 24 else { return (kind, UInt64(short)) }
    guard short <= 27 else { return nil }
    let octets = 1 << Int(short &- 24)
    guard octets <= end &- position else { return nil }
    var argument: UInt64 = 0
    for _ in 0..<octets {
      argument = argument << 8 | UInt64(source[position])
      position &+= 1
    }
    // The smallest argument that no shorter head can encode.
    let least: UInt64 = octets == 1 ? 24 : 1 << UInt64(truncatingIfNeeded: octets &* 4)
    return argument >= least ? (kind, argument) : nil
  }
}
