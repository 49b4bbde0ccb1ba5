/// A merge sort of indexes. The compiler specializes the standard library's sort, 8 KB of code,
/// for each type and order; this one is compiled once.
enum Ordering {
  /// Returns the indexes 0 ..< `count` in sorted order; equal elements keep their order.
  @inline(never)
  static func places(_ count: Int, _ precedes: (Int, Int) -> Bool) -> [Int] {
    var places = Array(0..<count)
    var merged = places
    var width = 1
    while width < count {
      var start = 0
      while start < count {
        let middle = min(start &+ width, count)
        let end = min(middle &+ width, count)
        merge(places, into: &merged, start, middle, end, precedes)
        start = end
      }
      swap(&places, &merged)
      width = width &* 2
    }
    return places
  }

  /// Merges two adjacent sorted runs, `start..<middle` and `middle..<end`.
  private static func merge(
    _ runs: [Int], into merged: inout [Int], _ start: Int, _ middle: Int, _ end: Int,
    _ precedes: (Int, Int) -> Bool
  ) {
    var left = start
    var right = middle
    for place in start..<end {
      if left < middle, right == end || !precedes(runs[right], runs[left]) {
        merged[place] = runs[left]
        left &+= 1
      } else {
        merged[place] = runs[right]
        right &+= 1
      }
    }
  }
}

extension Array {
  /// Returns the elements in sorted order; equal elements keep their order.
  func ordered(by precedes: (Element, Element) -> Bool) -> [Element] {
    Ordering.places(count) { precedes(self[$0], self[$1]) }.map { self[$0] }
  }
}
