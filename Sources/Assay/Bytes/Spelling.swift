/// Finds the name that a misspelt word most probably means.
public enum Spelling {
  /// The longest word and the longest name that are compared, in bytes.
  public static let byteCap = 80

  /// Returns the fewest bytes to add, remove, change or swap with their neighbor that make
  /// `right` of `left`.
  public static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var before: [Int] = []
    var last = Array(0...right.count)
    for row in left.indices {
      var next = [row &+ 1]
      for column in right.indices {
        var least = last[column] &+ (left[row] == right[column] ? 0 : 1)
        least = Swift.min(least, Swift.min(last[column &+ 1], next[column]) &+ 1)
        if row > 0, column > 0, left[row] == right[column &- 1],
          left[row &- 1] == right[column]
        {
          least = Swift.min(least, before[column &- 1] &+ 1)
        }
        next.append(least)
      }
      before = last
      last = next
    }
    return last[right.count]
  }

  /// Returns the name that `word` begins, or that differs least from it, in at most a third of
  /// its bytes and regardless of case; `nil` if no name is near, or if `word` is one.
  static func nearest(to word: [UInt8], among names: [[UInt8]]) -> [UInt8]? {
    guard (1...byteCap).contains(word.count), !names.contains(word) else { return nil }
    let wanted = Text(word).asciiLowercased.utf8
    var least = Int.max
    var nearest: [UInt8]? = nil
    for name in names where name.count <= byteCap {
      let known = Text(name).asciiLowercased.utf8
      let isBeginning = wanted.count > 2 && known.starts(with: wanted)
      let distance = isBeginning ? 1 : distance(wanted, known)
      if distance <= Swift.max(1, name.count / 3), distance < least {
        least = distance
        nearest = name
      }
    }
    return nearest
  }
}
