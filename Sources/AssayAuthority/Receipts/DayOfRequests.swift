/// The requests that a server for purchases gets on one day: mostly receipts of foreign apps,
/// texts of cracking programs, and a few genuine purchases. The same authority, count and seed
/// give the same bytes.
public struct DayOfRequests: Sendable {
  /// The class of a request, with its share of a day in tenths of a percent.
  public enum Class: String, Sendable, CaseIterable {
    case foreign, confirmed, cracker, repeated, unconfirmed

    public var share: Int {
      switch self {
      case .foreign: 790
      case .confirmed: 100
      case .cracker: 93
      case .repeated: 10
      case .unconfirmed: 7
      }
    }
  }

  public struct Request: Sendable {
    /// The time of the request in milliseconds since 1970 UTC.
    public var timeMs: Int64
    public var blob: [UInt8]
    public var kind: Class

    /// The request as `assay report` reads it: one line `{"timeMs":…,"blob":"…"}`.
    public var line: [UInt8] {
      Array("{\"timeMs\":\(timeMs),\"blob\":".utf8) + JSONText.string(utf8: blob).bytes + [
        0x7d, 0x0a,
      ]
    }
  }

  public let authority: ReceiptAuthority
  /// A purchase of the server's own app.
  public let purchase: Purchase
  /// The midnight at which the day begins, in milliseconds since 1970 UTC.
  public let start: Int64
  public let count: Int
  private var numbers: SeededNumbers
  private var made = 0
  private var earlier: [[UInt8]] = []
  private let foreignSigners: [[UInt8]]

  public init(
    _ authority: ReceiptAuthority, purchase: Purchase, start: Int64, count: Int, seed: UInt64
  ) throws {
    self.authority = authority
    self.purchase = purchase
    self.start = start
    self.count = count
    numbers = SeededNumbers(seed: seed)
    let chain = try authority.chain(.current)
    // No server verifies a foreign app's signature, so random bytes under a genuine leaf are
    // enough.
    var numbers = numbers
    foreignSigners = (0..<16).map { _ in
      let value = (0..<256).map { _ in UInt8(truncatingIfNeeded: numbers.next()) }
      let length = (0..<4).reversed().map {
        UInt8(truncatingIfNeeded: chain.leaf.count >> (8 * $0))
      }
      return Base64Text.encode([3] + value + length + chain.leaf)
    }
  }

  /// Returns the next request of the day; `nil` after the last one.
  public mutating func next() throws -> Request? {
    guard made < count else { return nil }
    let kind = draw()
    let blob = try blob(of: kind)
    let request = Request(timeMs: time(), blob: blob, kind: kind)
    made += 1
    return request
  }

  private mutating func draw() -> Class {
    var place = numbers.below(1000)
    for kind in Class.allCases {
      if place < kind.share { return kind == .repeated && earlier.isEmpty ? .confirmed : kind }
      place -= kind.share
    }
    return .foreign
  }

  /// Returns the time of the next request: few at night, most in the evening, and never earlier
  /// than the previous one.
  private func time() -> Int64 {
    let weights: [Int64] = [
      3, 2, 1, 1, 1, 2, 3, 5, 6, 6, 7, 8, 8, 8, 8, 9, 9, 10, 11, 12, 12, 10, 8, 5,
    ]
    let total = weights.reduce(0, +)
    var rest = Int64(made) * total * 3_600_000 / Int64(max(1, count))
    for (hour, weight) in weights.enumerated() {
      let width = weight * 3_600_000
      if rest < width { return start + Int64(hour) * 3_600_000 + rest / weight }
      rest -= width
    }
    return start + 86_399_999
  }

  private mutating func blob(of kind: Class) throws -> [UInt8] {
    switch kind {
    case .foreign: return foreign()
    case .confirmed: return try confirmed()
    case .cracker: return cracker()
    case .repeated: return earlier[numbers.below(earlier.count)]
    case .unconfirmed: return try unconfirmed()
    }
  }

  // MARK: the classes

  private mutating func buy() -> Purchase {
    let lifetime = numbers.below(4) == 0
    let base = lifetime ? purchase.of("com.example.app.coins100", .consumable) : purchase
    let pods = purchase.environment == "Production" ? [11, 18, 29, 47, 73] : [100, 200]
    let id =
      Int64(pods[numbers.below(pods.count)]) * 10_000_000_000_000
      + Int64(numbers.below(9_000_000_000)) * 1000 + Int64(made % 1000)
    let age = Int64(numbers.below(20 * 86_400)) * 1000
    return base.with {
      $0.transactionId = String(id)
      $0.originalTransactionId = String(id)
      if $0.webOrderLineItemId != nil { $0.webOrderLineItemId = String(id + 77) }
      $0.purchaseDate = start - age
      $0.originalPurchaseDate = start - age
      $0.expiresDate = $0.expiresDate.map { _ in start - age + 30 * Purchase.day }
    }
  }

  private mutating func foreign() -> [UInt8] {
    let app = numbers.below(400)
    let other = buy().with {
      $0.bundleId = "com.example.studio\(app % 37).game\(app)"
      $0.productId = "com.example.studio\(app % 37).game\(app).gems\(app % 9)"
      $0.environment = "Production"
    }
    var list = PropertyListText([])
    list.entries = [
      .init("signature", bytes: foreignSigners[numbers.below(foreignSigners.count)]),
      .init("purchase-info", bytes: Base64Text.encode(other.purchaseInfo.bytes)),
      .init("pod", other.pod), .init("signing-status", "0"),
    ]
    return travelled(list)
  }

  private mutating func confirmed() throws -> [UInt8] {
    let bought = buy()
    let blob: [UInt8]
    if numbers.below(8) == 0 {
      blob = try authority.appReceipt(AppReceiptFacts([bought], like: bought))
    } else {
      blob = travelled(try authority.transactionTemplate(bought).outerList())
    }
    if earlier.count < 256 {
      earlier.append(blob)
    } else {
      earlier[numbers.below(256)] = blob
    }
    return blob
  }

  private mutating func cracker() -> [UInt8] {
    let number = Int64(10_000_000 + numbers.below(89_999_999))
    switch numbers.below(20) {
    case 0: return ForgedReceipt.cracker(number)
    case 1:
      let phrases = ForgedReceipt.phrases
      return Base64Text.encode(Array(phrases[numbers.below(phrases.count)].utf8))
    case 2: return Base64Text.encode(ForgedReceipt.emptyList(purchase))
    default: return Base64Text.encode(ForgedReceipt.cracker(number))
    }
  }

  /// Returns a receipt that seems genuine but has one of the faults that Apple refuses.
  private mutating func unconfirmed() throws -> [UInt8] {
    var template = try authority.transactionTemplate(buy())
    let kept = template.info
    switch numbers.below(4) {
    case 0: template.info = kept.removing("original-transaction-id")
    case 1: template.info = kept.changing("quantity") { $0.valueQuote = .bare }
    case 2: template.info.style = .compact
    default: template.info = kept.setting("transaction-id", "0\(made)")
    }
    template.signature = .octets((0..<256).map { _ in UInt8(truncatingIfNeeded: numbers.next()) })
    return travelled(try template.outerList())
  }

  /// Encodes a list in one of the ways in which clients send receipts.
  private mutating func travelled(_ list: PropertyListText) -> [UInt8] {
    var list = list
    switch numbers.below(200) {
    case 0...1: list.style = .compact
    case 2: list.style = .windows
    default: break
    }
    switch numbers.below(200) {
    case 0...2: return TransportForm.wrapped.encode(list.bytes)
    case 3: return TransportForm.urlSafe.encode(list.bytes)
    case 4: return TransportForm.doubled.encode(list.bytes)
    case 5...6: return TransportForm.raw.encode(list.bytes)
    default: return TransportForm.base64.encode(list.bytes)
    }
  }
}

extension ReceiptAuthority {
  /// Returns a day of `count` requests to the server of `purchase`'s app, as lines of JSON.
  /// `start` is its midnight in milliseconds since 1970 UTC.
  public func dayOfRequests(
    count: Int, seed: UInt64, purchase: Purchase, start: Int64
  ) throws -> [[UInt8]] {
    var day = try DayOfRequests(
      self, purchase: purchase, start: start, count: count, seed: seed)
    var lines: [[UInt8]] = []
    lines.reserveCapacity(count)
    while let request = try day.next() { lines.append(request.line) }
    return lines
  }
}
