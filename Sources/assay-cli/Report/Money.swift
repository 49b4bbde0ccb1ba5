/// An amount of one currency, exact to a thousandth: no currency has smaller coins.
struct Money: Sendable, Equatable {
  let currency: String
  let thousandths: Int128
  /// The number of decimals to write, 0 to 3.
  let decimals: Int

  /// Reads an amount such as `4.99`; `nil` if the text is not 1 to 30 digits with at most three
  /// decimals.
  init?(_ text: some StringProtocol, currency: some StringProtocol) {
    let parts = String(text).split(separator: ".", omittingEmptySubsequences: false)
    let isNumber = parts.allSatisfy { part in
      !part.isEmpty && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
    guard isNumber, parts.count <= 2, parts[0].utf8.count <= 30 else { return nil }
    let decimals = parts.count == 2 ? parts[1].utf8.count : 0
    guard decimals <= 3, let number = Int128(parts.joined()),
      currency.utf8.count == 3, currency.utf8.allSatisfy({ (0x41...0x5a).contains($0) })
    else { return nil }
    self.init(String(currency), number * Money.scales[3 - decimals], decimals: decimals)
  }

  init(_ currency: String, _ thousandths: Int128, decimals: Int) {
    self.currency = currency
    self.thousandths = thousandths
    self.decimals = decimals
  }

  private static let scales: [Int128] = [1, 10, 100, 1000]

  /// The amount for people, `1,234.50`.
  var grouped: String { text { Figures.grouped($0) } }

  /// The amount for programs, `1234.50`.
  var plain: String { text { String($0) } }

  private func text(_ whole: (Int128) -> String) -> String {
    let (units, rest) = thousandths.quotientAndRemainder(dividingBy: 1000)
    if decimals == 0 { return whole(units) }
    let digits = String(rest / Money.scales[3 - decimals])
    return whole(units) + "." + String(repeating: "0", count: decimals - digits.count) + digits
  }
}
