/// Places of equal values, in sorted order: sorting is all that grouping needs.
enum Runs {
  /// One list of places for each value, ascending; within it the places ascend too.
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
