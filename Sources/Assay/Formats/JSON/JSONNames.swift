import CLibCrypto

/// Finds names that occur twice in one object (JWS-6), in less than quadratic time for any input
/// (JWS-104).
///
/// The names of a small object are compared by hash as they are read. The names of a large
/// object, and of one in which two different names have the same hash, which no honest text has,
/// are sorted when the object ends.
struct JSONNames {
  /// The number of members up to which names are compared as they are read.
  static let few = 32

  /// Number of comparisons of two names or hashes.
  private(set) var comparisons = 0
  /// The members of one object: the name's hash in the upper half, the node's index in the lower.
  private var sorted: [UInt64] = []

  enum Verdict {
    case new, taken
    /// Decided when the object ends.
    case later
  }

  /// Compares a name with those of the members before it in `object`.
  mutating func judge(
    _ name: JSON.Node, in object: Int, _ nodes: [JSON.Node], _ bytes: [UInt8]
  ) -> Verdict {
    guard nodes[object].count < JSONNames.few else { return .later }
    var index = object &+ 1
    while index < nodes.count {
      let other = nodes[index]
      comparisons &+= 1
      if other.nameHash == name.nameHash {
        comparisons &+= 1
        return JSONNames.compare(other, name, bytes) == 0 ? .taken : .later
      }
      guard other.next > index else { break }
      index = Int(other.next)
    }
    return .new
  }

  /// Returns the node of the first member whose name an earlier member has; `nil` if there is
  /// none. An open object is searched as far as it was read.
  mutating func firstRepeat(
    in object: Int, _ nodes: [JSON.Node], _ bytes: [UInt8]
  ) -> Int? {
    sorted.removeAll(keepingCapacity: true)
    var index = object &+ 1
    while index < nodes.count {
      let node = nodes[index]
      sorted.append(UInt64(node.nameHash) << 32 | UInt64(truncatingIfNeeded: index))
      guard node.next > index else { break }
      index = Int(node.next)
    }
    sort(nodes, bytes)
    var first: Int? = nil
    for place in sorted.indices.dropFirst()
    where compare(sorted[place &- 1], sorted[place], nodes, bytes) == 0 {
      first = min(first ?? Int.max, JSONNames.node(sorted[place]))
    }
    return first
  }

  // MARK: order

  private static func node(_ entry: UInt64) -> Int { Int(entry & 0xffff_ffff) }

  /// Sorts the members by hash, then by the bytes of the name, then by index.
  private mutating func sort(_ nodes: [JSON.Node], _ bytes: [UInt8]) {
    // Heapsort works in place and never takes more than n log n comparisons.
    var root = sorted.count / 2
    var end = sorted.count
    while end > 1 {
      if root > 0 {
        root &-= 1
      } else {
        end &-= 1
        sorted.swapAt(0, end)
      }
      var parent = root
      while true {
        var child = 2 &* parent &+ 1
        guard child < end else { break }
        if child &+ 1 < end, precedes(sorted[child], sorted[child &+ 1], nodes, bytes) {
          child &+= 1
        }
        guard precedes(sorted[parent], sorted[child], nodes, bytes) else { break }
        sorted.swapAt(parent, child)
        parent = child
      }
    }
  }

  private mutating func precedes(
    _ left: UInt64, _ right: UInt64, _ nodes: [JSON.Node], _ bytes: [UInt8]
  ) -> Bool {
    let order = compare(left, right, nodes, bytes)
    return order == 0 ? left < right : order < 0
  }

  private mutating func compare(
    _ left: UInt64, _ right: UInt64, _ nodes: [JSON.Node], _ bytes: [UInt8]
  ) -> Int {
    comparisons &+= 1
    guard left >> 32 == right >> 32 else { return left < right ? -1 : 1 }
    return JSONNames.compare(nodes[JSONNames.node(left)], nodes[JSONNames.node(right)], bytes)
  }

  /// Orders two names by their bytes after unescaping. Returns 0 if they are equal, a negative
  /// number if `left` is first.
  static func compare(_ left: JSON.Node, _ right: JSON.Node, _ bytes: [UInt8]) -> Int {
    let text = bytes.span
    if !left.nameEscaped, !right.nameEscaped {
      let mine = text.extracting(left.nameRange)
      let theirs = text.extracting(right.nameRange)
      let order = unsafe mine.withUnsafeBytes { mine in
        unsafe theirs.withUnsafeBytes { theirs in
          guard let left = mine.baseAddress, let right = theirs.baseAddress else { return 0 }
          return Int(unsafe memcmp(left, right, min(mine.count, theirs.count)))
        }
      }
      return order == 0 ? mine.count &- theirs.count : order
    }
    var mine = JSONUnescaped(left.nameRange)
    var theirs = JSONUnescaped(right.nameRange)
    while true {
      let (one, other) = (mine.next(in: text), theirs.next(in: text))
      guard let one else { return other == nil ? 0 : -1 }
      guard let other else { return 1 }
      if one != other { return one < other ? -1 : 1 }
    }
  }
}
