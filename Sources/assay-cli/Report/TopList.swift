/// The greatest few of many, in a fixed amount of memory.
struct TopList<Element: Comparable & Sendable>: Sendable {
  private let count: Int
  /// The greatest first.
  private(set) var elements: [Element] = []

  init(count: Int) {
    self.count = count
  }

  mutating func offer(_ element: Element) {
    if elements.count == count, let least = elements.last, element <= least { return }
    let place = elements.firstIndex { $0 < element } ?? elements.count
    elements.insert(element, at: place)
    if elements.count > count { elements.removeLast() }
  }
}

/// How many lines there were of one sort, and which came first.
struct LineSample: Sendable {
  static let shown = 5

  private(set) var count = 0
  /// The first few, ascending.
  private(set) var first: [Int] = []

  mutating func add(_ line: Int) {
    count += 1
    if first.count < LineSample.shown { first.append(line) }
  }

  /// Takes over what was found in a part that begins at `offset`.
  mutating func add(_ part: LineSample, offset: Int) {
    count += part.count
    for line in part.first.prefix(LineSample.shown - first.count) { first.append(line + offset) }
  }
}
