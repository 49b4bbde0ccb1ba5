/// Several sorted files as one sequence of records, smallest first.
struct RunMerge: ~Copyable {
  /// A file with its next record.
  private final class Source {
    var file: RunFile
    var record: [UInt8] = []
    init(_ path: String) throws { file = try RunFile(path) }
    func advance() throws -> Bool {
      guard let next = try file.next() else { return false }
      record = next
      return true
    }
  }

  /// A heap: no source comes before the one at half its index.
  private var heap: [Source] = []

  init(_ paths: [String]) throws {
    for path in paths {
      let source = try Source(path)
      if try source.advance() {
        heap.append(source)
        rise(heap.count - 1)
      }
    }
  }

  mutating func next() throws -> [UInt8]? {
    guard let first = heap.first else { return nil }
    let record = first.record
    if try !first.advance() {
      heap.swapAt(0, heap.count - 1)
      heap.removeLast()
    }
    sink(0)
    return record
  }

  private func precedes(_ left: Int, _ right: Int) -> Bool {
    RunBuffer.precedes(heap[left].record[...], heap[right].record[...])
  }

  private mutating func rise(_ start: Int) {
    var place = start
    while place > 0, precedes(place, (place - 1) / 2) {
      heap.swapAt(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
  }

  private mutating func sink(_ start: Int) {
    var place = start
    while true {
      var least = place
      for child in [2 * place + 1, 2 * place + 2]
      where child < heap.count && precedes(child, least) {
        least = child
      }
      if least == place { return }
      heap.swapAt(place, least)
      place = least
    }
  }
}
