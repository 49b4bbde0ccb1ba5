/// The list prices of products, from a file with one product a line: its id, its price and the
/// currency, between commas or tabs.
struct PriceList: Sendable {
  /// The name of the file without its folder.
  let source: String
  /// The prices in the order of the file.
  private(set) var prices: [Money] = []
  private var places: [[UInt8]: Int] = [:]
  /// The most decimals of each currency.
  private var decimals: [String: Int] = [:]

  private static let byteCap = 4 << 20
  static let productCap = 10_000
  private static let idCap = 255
  /// In thousandths: a thousand million units of any currency.
  private static let priceCap: Int128 = 1_000_000_000_000

  init(_ path: String) throws {
    source = path == "-" ? "standard input" : FileSystem.lastPart(of: path)
    let bytes = try FileSystem.read(path)
    guard bytes.count <= PriceList.byteCap else { throw Problem("\(path) is longer than 4 MiB") }
    let content = bytes[RequestFile.byteOrderMark(bytes)...]
    guard let text = String(validating: content, as: UTF8.self) else {
      throw Problem("\(path) is not text in UTF-8")
    }
    for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .enumerated()
    {
      do throws(Fault) {
        try read(line, isFirst: prices.isEmpty)
      } catch {
        throw Problem("\(path):\(number + 1): \(error.words)")
      }
    }
    if prices.isEmpty { throw Problem("\(path) has no price: \(PriceList.form)") }
  }

  private struct Fault: Error {
    let words: String
  }

  private static let form =
    "give a product id, its price and the currency, as in com.example.app.coins100,4.99,USD"

  private mutating func read(_ line: Substring, isFirst: Bool) throws(Fault) {
    let line = PriceList.trimmed(line)
    if line.isEmpty || line.hasPrefix("#") { return }
    let fields = line.split(omittingEmptySubsequences: false) { $0 == "," || $0 == "\t" }
      .map { PriceList.trimmed($0) }
    guard fields.count == 3, !fields[0].isEmpty, fields[0].utf8.count <= PriceList.idCap else {
      throw Fault(words: PriceList.form)
    }
    if isFirst, fields[1] == "price" { return }
    guard let price = Money(fields[1], currency: fields[2]) else {
      throw Fault(
        words: "\(Terminal.safe("\(fields[1]) \(fields[2])")) is no price; " + PriceList.form)
    }
    guard price.thousandths <= PriceList.priceCap else {
      throw Fault(words: "a price is at most 1,000,000,000")
    }
    guard prices.count < PriceList.productCap else {
      throw Fault(words: "more than \(Figures.grouped(PriceList.productCap)) products")
    }
    guard places.updateValue(prices.count, forKey: Array(fields[0].utf8)) == nil else {
      throw Fault(words: "\(Terminal.safe(String(fields[0]))) has a price already")
    }
    prices.append(price)
    decimals[price.currency] = max(decimals[price.currency] ?? 0, price.decimals)
  }

  private static func trimmed(_ field: Substring) -> Substring {
    guard let begin = field.firstIndex(where: { $0 != " " }),
      let end = field.lastIndex(where: { $0 != " " })
    else { return "" }
    return field[begin...end]
  }

  /// Returns the place of a product in `prices`; `nil` if the list lacks it.
  func place(of product: [UInt8]) -> Int? { places[product] }

  func money(_ currency: String, _ thousandths: Int128) -> Money {
    Money(currency, thousandths, decimals: decimals[currency] ?? 0)
  }
}
