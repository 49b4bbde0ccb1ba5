/// How far the first phase of a run is.
struct Checkpoint {
  var position = InputReader.Position()
  var tally = MigrateTally()
  /// The sorted runs that are whole.
  var files: [String] = []
  var isDone = false

  mutating func take(_ runs: RunSet) { files = runs.files }
}
