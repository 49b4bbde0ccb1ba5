import CSystem

/// Records in memory, until they are enough for a sorted file.
struct RunBuffer {
  private let runs: SortedRuns
  private let byteCap: Int
  private var bytes: [UInt8] = []
  private var places: [Range<Int>] = []

  init(_ runs: SortedRuns, byteCap: Int) {
    self.runs = runs
    self.byteCap = byteCap
  }

  mutating func add(_ record: [UInt8]) throws {
    places.append(bytes.count..<bytes.count + record.count)
    bytes += record
    if bytes.count >= byteCap { try flush() }
  }

  /// Writes what is left as one file.
  mutating func flush() throws {
    guard !places.isEmpty else { return }
    let all = bytes
    places.sort { RunBuffer.precedes(all[$0], all[$1]) }
    var out: [UInt8] = []
    out.reserveCapacity(all.count + 4 * places.count)
    for place in places { RunBuffer.append(all[place], to: &out) }
    try runs.write { try $0.write(out) }
    bytes.removeAll(keepingCapacity: true)
    places.removeAll(keepingCapacity: true)
  }

  /// Appends a record with its length.
  static func append(_ record: ArraySlice<UInt8>, to out: inout [UInt8]) {
    let count = UInt32(record.count)
    for shift in [0, 8, 16, 24] as [UInt32] {
      out.append(UInt8(truncatingIfNeeded: count >> shift))
    }
    out += record
  }

  /// Whether one record comes before another, by their bytes.
  static func precedes(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
    unsafe left.withUnsafeBytes { left in
      unsafe right.withUnsafeBytes { right in
        let count = min(left.count, right.count)
        guard count > 0, let first = left.baseAddress, let other = right.baseAddress else {
          return left.count < right.count
        }
        let order = unsafe memcmp(first, other, count)
        return order == 0 ? left.count < right.count : order < 0
      }
    }
  }
}
