import Assay
import CSystem

/// The names of the members of a line, and the longest line.
struct LineFormat: Sendable {
  var blobMember: [UInt8]
  var timeMember: [UInt8]
  var lineCap: Int
  /// The time in milliseconds since 1970 UTC for lines that have none.
  var nowMs: Int64
  var isTimed: Bool
  var prices: PriceList?
}

/// The triage of one part of a batch, line by line. Parts are processed in parallel and counted in
/// order, so that the report does not depend on how they were split.
struct LineFindings: Sendable {
  struct Request: Sendable {
    /// The index of the line in its part, from 0.
    var line: Int
    var category: RequestClass
    var status: Int32
    var bytes: Int
    /// Milliseconds since 1970 UTC; `nil` if the line has no time.
    var timeMs: Int64?
    /// Ranges of `traits` and `keys`.
    var traits: Range<Int>
    var keys: Range<Int>
    /// The index of the form in `names`.
    var form: Int
    var purchase = Purchase.none
  }

  /// The purchase that a request names, unverified, if there is a list of prices.
  enum Purchase: Sendable {
    /// None, or evidence of something else.
    case none
    /// The place of the product in the list of prices.
    case priced(Int)
    /// One whose product has no price.
    case unpriced
    /// An app receipt with several purchases of any age.
    case several
  }

  private(set) var requests: [Request] = []
  private(set) var traits: [[UInt8]] = []
  private(set) var keys: [KeyHash] = []
  /// The names of statuses by code and of forms, in the order of their first use.
  private(set) var statusNames: [(code: Int32, name: String)] = []
  private(set) var forms: [[UInt8]] = []
  /// The number of all lines, empty ones included.
  private(set) var lines = 0
  private(set) var unreadable = LineSample()
  private(set) var tooLong = LineSample()
  /// The lines that took longest, if that is measured.
  private(set) var slowest = TopList<SlowLine>(count: 10)

  struct SlowLine: Comparable, Sendable {
    var nanoseconds: UInt64
    var line: Int
    static func < (one: SlowLine, other: SlowLine) -> Bool {
      (one.nanoseconds, other.line) < (other.nanoseconds, one.line)
    }
  }

  /// Triages every line of `range`, which begins at the start of a line.
  init(
    _ bytes: [UInt8], _ range: Range<Int>, _ format: LineFormat, _ verifier: Verifier
  ) {
    var scan = LineScan(bytes, format)
    var start = range.lowerBound
    while start < range.upperBound {
      let feed = LineFindings.feed(bytes, start, range.upperBound)
      var end = feed
      if end > start, bytes[end - 1] == 0x0d { end -= 1 }
      look(start..<end, &scan, format, verifier)
      lines += 1
      start = feed + 1
    }
  }

  /// Returns the line feed of the line that begins at `start`, or the end of the text.
  private static func feed(_ bytes: [UInt8], _ start: Int, _ end: Int) -> Int {
    unsafe bytes.withUnsafeBytes { all in
      guard let base = all.baseAddress,
        let found = unsafe memchr(base + start, 0x0a, end - start)
      else { return end }
      return unsafe UnsafeRawPointer(found) - base
    }
  }

  private mutating func look(
    _ range: Range<Int>, _ scan: inout LineScan, _ format: LineFormat, _ verifier: Verifier
  ) {
    if range.count > format.lineCap { return tooLong.add(lines) }
    switch scan.read(range) {
    case .blank: break
    case .unreadable: unreadable.add(lines)
    case .request(let blob, let timeMs):
      let begin = format.isTimed ? LineFindings.clock() : 0
      let document = verifier.triage(blob, nowMs: timeMs ?? format.nowMs)
      if format.isTimed {
        slowest.offer(SlowLine(nanoseconds: LineFindings.clock() &- begin, line: lines))
      }
      add(document, bytes: blob.count, timeMs: timeMs, format.prices)
    }
  }

  private static func clock() -> UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }

  private mutating func add(
    _ document: Document, bytes: Int, timeMs: Int64?, _ prices: PriceList?
  ) {
    var request = Request(
      line: lines, category: .unsupported, status: document.status.code,
      bytes: bytes, timeMs: timeMs, traits: traits.count..<traits.count,
      keys: keys.count..<keys.count, form: 0)
    if !statusNames.contains(where: { $0.code == request.status }) {
      statusNames.append((request.status, "\(document.status.name)"))
    }
    var named = NamedPurchase()
    var cursor = JSONCursor(document.json)
    _ = cursor.members { cursor, name in
      if cursor.matches(name, LineFindings.triage) {
        return cursor.members { readTriage(&$0, $1, &request, &named) }
      }
      if cursor.matches(name, LineFindings.unverified), cursor.byte == 0x7b {
        return cursor.members { readUnverified(&$0, $1, &named) }
      }
      return cursor.skipValue()
    }
    request.traits = request.traits.lowerBound..<traits.count
    request.keys = request.keys.lowerBound..<keys.count
    if let prices { request.purchase = named.purchase(prices) }
    requests.append(request)
  }

  private static let triage = Array("triage".utf8)
  private static let unverified = Array("unverified".utf8)
  private static let category = Array("category".utf8)
  private static let format = Array("format".utf8)
  private static let anomalies = Array("anomalies".utf8)
  private static let keys = Array("keys".utf8)
  private static let kind = Array("kind".utf8)
  private static let transaction = Array("transaction".utf8)

  private mutating func readTriage(
    _ cursor: inout JSONCursor, _ name: JSONCursor.RawString, _ request: inout Request,
    _ named: inout NamedPurchase
  ) -> Bool {
    if cursor.matches(name, LineFindings.category), let text = cursor.string() {
      request.category = RequestClass(category: cursor.bytes(text.range))
      return true
    }
    if cursor.matches(name, LineFindings.format), let text = cursor.string() {
      request.form = place(ofForm: cursor.bytes(text.range))
      return true
    }
    if cursor.matches(name, LineFindings.kind), let text = cursor.string() {
      named.isTransaction = cursor.matches(text, LineFindings.transaction)
      return true
    }
    if cursor.matches(name, LineFindings.anomalies), cursor.byte == 0x5b {
      return cursor.elements { cursor in
        guard let text = cursor.string() else { return cursor.skipValue() }
        traits.append(cursor.text(text))
        return true
      }
    }
    return cursor.skipValue()
  }

  private mutating func readUnverified(
    _ cursor: inout JSONCursor, _ name: JSONCursor.RawString, _ named: inout NamedPurchase
  ) -> Bool {
    guard cursor.matches(name, LineFindings.keys), cursor.byte == 0x5b else {
      return named.read(&cursor, name)
    }
    return cursor.elements { cursor in
      guard let text = cursor.string() else { return cursor.skipValue() }
      keys.append(KeyHash(cursor.bytes(text.range)))
      return true
    }
  }

  private mutating func place(ofForm form: ArraySlice<UInt8>) -> Int {
    if let place = forms.firstIndex(where: { form.elementsEqual($0) }) { return place }
    forms.append(Array(form))
    return forms.count - 1
  }
}

/// Collects which purchase a blob names.
private struct NamedPurchase {
  /// False for a signed text that is no transaction, such as renewal info.
  var isTransaction = true
  private var product: [UInt8]?
  /// The number of purchases in an app receipt; 1 for anything else.
  private var count = 1

  private static let productId = Array("productId".utf8)
  private static let productIds = Array("productIds".utf8)
  private static let purchases = Array("purchases".utf8)

  /// Moves past a member of `unverified`.
  mutating func read(_ cursor: inout JSONCursor, _ name: JSONCursor.RawString) -> Bool {
    if cursor.matches(name, NamedPurchase.productId), let text = cursor.string() {
      product = cursor.text(text)
      return true
    }
    if cursor.matches(name, NamedPurchase.productIds), cursor.byte == 0x5b {
      return cursor.elements { cursor in
        guard let text = cursor.string() else { return cursor.skipValue() }
        product = cursor.text(text)
        return true
      }
    }
    if cursor.matches(name, NamedPurchase.purchases), let number = cursor.number() {
      count = cursor.bytes(number).elementsEqual([0x31]) ? 1 : 2
      return true
    }
    return cursor.skipValue()
  }

  func purchase(_ prices: PriceList) -> LineFindings.Purchase {
    guard isTransaction, let product else { return .none }
    if count > 1 { return .several }
    return prices.place(of: product).map { .priced($0) } ?? .unpriced
  }
}

/// Reads the two members of one line after another.
private struct LineScan {
  enum Outcome {
    case blank, unreadable
    case request(blob: [UInt8], timeMs: Int64?)
  }

  private var cursor: JSONCursor
  private let format: LineFormat

  init(_ bytes: [UInt8], _ format: LineFormat) {
    cursor = JSONCursor(bytes)
    self.format = format
  }

  mutating func read(_ range: Range<Int>) -> Outcome {
    cursor.enter(range)
    cursor.skipSpace()
    if cursor.isAtEnd { return .blank }
    var blob: JSONCursor.RawString?
    var timeMs: Int64?
    let isObject = cursor.members { cursor, name in
      if cursor.matches(name, format.blobMember) {
        blob = nil
        guard cursor.byte == 0x22 else { return cursor.skipValue() }
        blob = cursor.string()
        return blob != nil
      }
      if cursor.matches(name, format.timeMember) {
        return LineScan.time(&cursor, &timeMs)
      }
      return cursor.skipValue()
    }
    cursor.skipSpace()
    guard isObject, cursor.isAtEnd, let blob else { return .unreadable }
    return .request(blob: cursor.text(blob), timeMs: timeMs)
  }

  /// Moves past a value, and sets the time if the value is one.
  private static func time(_ cursor: inout JSONCursor, _ timeMs: inout Int64?) -> Bool {
    timeMs = nil
    switch cursor.byte {
    case 0x22:
      guard let text = cursor.string() else { return false }
      timeMs = text.range.count > 64 ? nil : RequestTime.text(cursor.text(text))
      return true
    case 0x30...0x39:
      guard let number = cursor.number() else { return false }
      timeMs = RequestTime.number(cursor.bytes(number))
      return true
    default: return cursor.skipValue()
    }
  }
}
