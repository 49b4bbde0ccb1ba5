/// Requests of each class over time, in a fixed amount of memory: slots of equal width that become
/// wider if there are too many. The result does not depend on the order of the requests.
struct TimeGrid {
  /// The widths in milliseconds; each divides the next, so that slots can be merged exactly.
  static let widths: [Int64] = [1, 5, 15, 60, 180, 360, 1440, 10_080, 40_320].map { $0 * 60_000 }
  private static let slotLimit = 4096

  typealias Counts = [Int]

  private var step = 0
  private var slots: [Int64: Counts] = [:]

  mutating func add(_ timeMs: Int64, _ category: RequestClass) {
    let slot = timeMs / TimeGrid.widths[step]
    slots[slot, default: Counts(repeating: 0, count: RequestClass.count)][category.rawValue] += 1
    while slots.count > TimeGrid.slotLimit, step + 1 < TimeGrid.widths.count {
      step += 1
      slots = merged(TimeGrid.widths[step] / TimeGrid.widths[step - 1])
    }
  }

  private func merged(_ factor: Int64) -> [Int64: Counts] {
    var wide: [Int64: Counts] = [:]
    for (slot, counts) in slots {
      let sum = wide[slot / factor] ?? Counts(repeating: 0, count: RequestClass.count)
      wide[slot / factor] = zip(sum, counts).map { $0 + $1 }
    }
    return wide
  }

  /// The content of a chart: equal intervals without a gap.
  struct Series {
    /// The start of the first interval in milliseconds since 1970 UTC, and the width in
    /// milliseconds.
    let startMs: Int64
    let widthMs: Int64
    let intervals: [Counts]
    /// The number of requests whose time is far from all others.
    let outside: Int

    func start(_ place: Int) -> Int64 { startMs + Int64(place) * widthMs }
  }

  /// Returns at most `limit` intervals if the widest width allows that. Leaves out up to one
  /// request in a thousand if the others are then much closer together, because one wrong clock
  /// must not squeeze the day into a line.
  func series(limit: Int) -> Series? {
    let ordered = slots.sorted { $0.key < $1.key }
    guard let first = ordered.first, let last = ordered.last else { return nil }
    let total = ordered.reduce(0) { $0 + $1.value.reduce(0, +) }
    let inner = trimmed(ordered, allowed: total / 1000)
    let whole = width(first.key, last.key, limit)
    let close = width(ordered[inner.lowerBound].key, ordered[inner.upperBound - 1].key, limit)
    return series(close < whole ? ordered[inner] : ordered[...], min(close, whole), total)
  }

  /// Returns the slots without isolated ones at both ends.
  private func trimmed(_ ordered: [(key: Int64, value: Counts)], allowed: Int) -> Range<Int> {
    var left = allowed
    var range = 0..<ordered.count
    while range.count > 1 {
      let gapBelow = ordered[range.lowerBound + 1].key - ordered[range.lowerBound].key
      let gapAbove = ordered[range.upperBound - 1].key - ordered[range.upperBound - 2].key
      let isBelow = gapBelow >= gapAbove
      let place = isBelow ? range.lowerBound : range.upperBound - 1
      left -= ordered[place].value.reduce(0, +)
      if left < 0 { break }
      range = isBelow ? place + 1..<range.upperBound : range.lowerBound..<place
    }
    return range
  }

  private func width(_ first: Int64, _ last: Int64, _ limit: Int) -> Int64 {
    let own = TimeGrid.widths[step]
    for width in TimeGrid.widths[step...] {
      if last * own / width - first * own / width < Int64(limit) { return width }
    }
    return TimeGrid.widths[TimeGrid.widths.count - 1]
  }

  private func series(
    _ ordered: ArraySlice<(key: Int64, value: Counts)>, _ width: Int64, _ total: Int
  ) -> Series? {
    guard let first = ordered.first, let last = ordered.last else { return nil }
    let factor = width / TimeGrid.widths[step]
    let start = first.key / factor
    let count = Int(last.key / factor - start) + 1
    var intervals = [Counts](
      repeating: Counts(repeating: 0, count: RequestClass.count), count: count)
    var inside = 0
    for (slot, counts) in ordered {
      for (place, number) in counts.enumerated() {
        intervals[Int(slot / factor - start)][place] += number
        inside += number
      }
    }
    return Series(
      startMs: start * width, widthMs: width, intervals: intervals, outside: total - inside)
  }
}
