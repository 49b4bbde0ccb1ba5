/// The greatest of many elements, in a fixed amount of memory.
struct TopList<Element: Comparable & Sendable>: Sendable {
  private let count: Int
  /// The elements, the greatest first.
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

/// The number of lines of one kind, and the first of them.
struct LineSample: Sendable {
  static let shown = 5

  private(set) var count = 0
  /// The numbers of the first lines, ascending.
  private(set) var first: [Int] = []

  mutating func add(_ line: Int) {
    count += 1
    if first.count < LineSample.shown { first.append(line) }
  }

  /// Adds the sample of a part that begins at `offset`.
  mutating func add(_ part: LineSample, offset: Int) {
    count += part.count
    for line in part.first.prefix(LineSample.shown - first.count) { first.append(line + offset) }
  }
}
