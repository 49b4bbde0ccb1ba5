/// The counts of the report, whose size does not depend on the number of lines.
struct DayTally {
  struct ClassCount {
    var requests = 0
    /// The bytes of the blobs as the clients sent them.
    var bytes = 0
  }

  /// A property that requests can have in common.
  struct Feature {
    enum Kind: String { case status, form, trait }

    var kind: Kind
    var name: String
    var lines = LineSample()
  }

  struct LargeInput: Comparable, Sendable {
    var bytes: Int
    var line: Int
    var category: RequestClass
    var form: String

    static func < (one: LargeInput, other: LargeInput) -> Bool {
      (one.bytes, other.line) < (other.bytes, one.line)
    }

    static func == (one: LargeInput, other: LargeInput) -> Bool {
      one.bytes == other.bytes && one.line == other.line
    }
  }

  private(set) var lines = 0
  private(set) var classes = [ClassCount](repeating: ClassCount(), count: RequestClass.count)
  private(set) var unreadable = LineSample()
  private(set) var tooLong = LineSample()
  private(set) var withoutTime = 0
  /// By class, the number of requests that name each product of the list of prices.
  private(set) var named: [[Int]]
  /// The number of requests that name a product without a price.
  private(set) var withoutPrice = 0
  /// The number of requests with a receipt that lists several purchases, of any age.
  private(set) var severalPurchases = 0
  private(set) var firstMs: Int64?
  private(set) var lastMs: Int64?
  private(set) var grid = TimeGrid()
  private(set) var largest = TopList<LargeInput>(count: 5)
  private(set) var repeats: RepeatFilter
  private(set) var slowest = TopList<LineFindings.SlowLine>(count: 10)
  /// The statuses by their code.
  private var statuses: [Int32: Feature] = [:]
  private var forms: [[UInt8]: Feature] = [:]
  private var traits: [[UInt8]: Feature] = [:]
  /// Traits are a small closed set; further ones are not distinguished.
  private static let traitLimit = 512

  init(repeatBytes: Int, products: Int) {
    named = Array(repeating: Array(repeating: 0, count: products), count: RequestClass.count)
    repeats = RepeatFilter(bytes: repeatBytes)
  }

  var requests: Int { classes.reduce(0) { $0 + $1.requests } }
  var bytes: Int { classes.reduce(0) { $0 + $1.bytes } }

  subscript(_ category: RequestClass) -> ClassCount { classes[category.rawValue] }

  subscript(_ work: RequestClass.Work) -> ClassCount {
    RequestClass.allCases.filter { $0.work == work }.reduce(into: ClassCount()) {
      $0.requests += self[$1].requests
      $0.bytes += self[$1].bytes
    }
  }

  /// The requests that need no call to Apple if the others are verified offline, or sent only after
  /// triage.
  var callsAvoided: ClassCount {
    let (nothing, lookup) = (self[.nothing], self[.lookup])
    return ClassCount(
      requests: nothing.requests + lookup.requests, bytes: nothing.bytes + lookup.bytes)
  }

  /// The statuses, the most frequent first.
  var statusesByCount: [Feature] { DayTally.sorted(Array(statuses.values)).reversed() }

  /// The forms, the most frequent first.
  var formsByCount: [Feature] { DayTally.sorted(Array(forms.values)).reversed() }

  /// Returns traits, statuses and forms that fewer than one request in a hundred has, the rarest
  /// first.
  func oddities(limit: Int) -> [Feature] {
    let all = Array(traits.values) + Array(statuses.values) + Array(forms.values)
    let rare = DayTally.sorted(all.filter { $0.lines.count * 100 < requests })
    return Array(rare.prefix(limit))
  }

  private static func sorted(_ features: [Feature]) -> [Feature] {
    features.sorted { ($0.lines.count, $0.name) < ($1.lines.count, $1.name) }
  }

  // MARK: counting

  /// Counts one part. Parts must come in the order of the file.
  mutating func add(_ part: LineFindings) {
    let names = part.forms.map { String(decoding: $0.prefix(40), as: UTF8.self) }
    for (code, name) in part.statusNames where statuses[code] == nil {
      statuses[code] = Feature(kind: .status, name: name)
    }
    for request in part.requests { add(request, part, names) }
    unreadable.add(part.unreadable, offset: lines + 1)
    tooLong.add(part.tooLong, offset: lines + 1)
    for slow in part.slowest.elements {
      slowest.offer(.init(nanoseconds: slow.nanoseconds, line: lines + 1 + slow.line))
    }
    lines += part.lines
  }

  /// Counts a line that was skipped because of its length.
  mutating func addTooLong() {
    lines += 1
    tooLong.add(lines)
  }

  private mutating func add(
    _ request: LineFindings.Request, _ part: LineFindings, _ formNames: [String]
  ) {
    let line = lines + 1 + request.line
    let category = isRepeat(request, part) ? .repeated : request.category
    classes[category.rawValue].requests += 1
    classes[category.rawValue].bytes += request.bytes
    switch request.purchase {
    case .none: break
    case .priced(let place): named[category.rawValue][place] += 1
    case .unpriced: withoutPrice += 1
    case .several: severalPurchases += 1
    }
    statuses[request.status]?.lines.add(line)
    if request.form < part.forms.count {
      let form = part.forms[request.form]
      let new = Feature(kind: .form, name: formNames[request.form])
      forms[form, default: new].lines.add(line)
    }
    for trait in part.traits[request.traits]
    where traits.count < DayTally.traitLimit || traits[trait] != nil {
      let name = String(decoding: trait.prefix(60), as: UTF8.self)
      traits[trait, default: Feature(kind: .trait, name: name)].lines.add(line)
    }
    largest.offer(
      LargeInput(
        bytes: request.bytes, line: line, category: category,
        form: request.form < formNames.count ? formNames[request.form] : ""))
    addTime(request.timeMs, category)
  }

  /// Whether a request repeats a purchase. A single purchase is a repeat if one of its keys was
  /// seen, because a restored purchase has a new transaction key. An app receipt is one if it names
  /// nothing new.
  private mutating func isRepeat(
    _ request: LineFindings.Request, _ part: LineFindings
  ) -> Bool {
    guard request.category.work == .verification, !request.keys.isEmpty else { return false }
    var seen = 0
    for key in part.keys[request.keys] where repeats.insert(key) { seen += 1 }
    let hasMany =
      request.form < part.forms.count && part.forms[request.form] == DayTally.appReceipt
    return hasMany ? seen == request.keys.count : seen > 0
  }

  private static let appReceipt = Array("app-receipt".utf8)

  private mutating func addTime(_ timeMs: Int64?, _ category: RequestClass) {
    guard let timeMs else {
      withoutTime += 1
      return
    }
    firstMs = min(firstMs ?? timeMs, timeMs)
    lastMs = max(lastMs ?? timeMs, timeMs)
    grid.add(timeMs, category)
  }
}
