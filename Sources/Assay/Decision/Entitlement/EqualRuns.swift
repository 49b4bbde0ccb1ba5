/// Groups the indexes of equal values by sorting them.
enum EqualRuns {
  /// Returns one list of indexes per value; values ascend, and so do the indexes of each list.
  static func of<Value>(
    _ values: [Value], by precedes: (Value, Value) -> Bool
  ) -> [[Int]] {
    let places = Ordering.places(values.count) { precedes(values[$0], values[$1]) }
    var runs: [[Int]] = []
    for place in places {
      if let last = runs.last?.last, !precedes(values[last], values[place]) {
        runs[runs.count &- 1].append(place)
      } else {
        runs.append([place])
      }
    }
    return runs
  }
}
