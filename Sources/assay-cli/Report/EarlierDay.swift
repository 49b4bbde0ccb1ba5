/// The day that a report compares with: counted from its log, or read from what `--json` printed.
struct EarlierDay {
  let source: String
  let requests: Int
  let firstMs: Int64?
  let lastMs: Int64?
  /// `nil` if that day was reported without prices.
  let worth: DayWorth?
  private let counts: [Int]

  /// The longest report that is read, in bytes.
  private static let byteCap = 4 << 20

  init(_ tally: DayTally, source: String, prices: PriceList?) {
    self.source = source
    requests = tally.requests
    (firstMs, lastMs) = (tally.firstMs, tally.lastMs)
    worth = prices.map { DayWorth(tally, $0) }
    counts = RequestClass.allCases.map { tally[$0].requests }
  }

  /// Reads a report; `nil` if the file is something else, such as a log.
  init?(report path: String) throws {
    guard let size = try RequestFile(path).byteCount, size <= EarlierDay.byteCap,
      let tree = JSONTree(try FileSystem.read(path)), let version = tree["report"]?.shown
    else { return nil }
    guard version == "1" else { throw Problem("\(path) is a report of version \(version), not 1") }
    let classes = tree["classes"]?.elements ?? []
    var counts: [Int] = []
    for category in RequestClass.allCases {
      let found = classes.first { $0["name"]?.text == category.name }
      guard let count = found?["requests"]?.shown.flatMap({ Int($0) }), count >= 0,
        count <= EarlierDay.countCap
      else { throw Problem("\(path) is a report without the class \(category.name)") }
      counts.append(count)
    }
    self.counts = counts
    requests = counts.reduce(0, +)
    source = tree["source"]?.text ?? FileSystem.lastPart(of: path)
    firstMs = EarlierDay.time(tree["firstMs"])
    lastMs = EarlierDay.time(tree["lastMs"])
    worth = tree["money"]?["claimed"].flatMap { DayWorth($0) }
  }

  private static let countCap = 1 << 50

  private static func time(_ tree: JSONTree?) -> Int64? {
    tree?.shown.flatMap { RequestTime.number(Array($0.utf8)[...]) }
  }

  subscript(_ category: RequestClass) -> Int { counts[category.rawValue] }

  /// The name of the file and its period.
  var heading: String {
    guard let firstMs, let lastMs else { return source }
    return "\(source), \(Figures.period(firstMs, lastMs))"
  }
}
