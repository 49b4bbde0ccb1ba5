import AssayAuthority

/// What the products that a day's requests name cost by a list of prices, by currency and class.
/// Amounts of two currencies are never added.
struct DayWorth {
  struct Entry {
    let category: RequestClass
    let requests: Int
    let amount: Money
  }

  /// By currency, then class; only what a request named.
  private(set) var entries: [Entry] = []

  init(_ tally: DayTally, _ prices: PriceList) {
    for currency in Set(prices.prices.map(\.currency)).sorted() {
      for category in RequestClass.allCases {
        var (requests, sum): (Int, Int128) = (0, 0)
        for (count, price) in zip(tally.named[category.rawValue], prices.prices)
        where price.currency == currency {
          requests += count
          sum += Int128(count) * price.thousandths
        }
        guard requests > 0 else { continue }
        entries.append(
          Entry(category: category, requests: requests, amount: prices.money(currency, sum)))
      }
    }
  }

  /// Reads what `json` wrote; `nil` if it is something else.
  init?(_ tree: JSONTree) {
    for each in tree.elements {
      guard let name = each["class"]?.text, let requests = each["requests"]?.shown,
        let category = RequestClass.allCases.first(where: { $0.name == name }),
        let count = Int(requests), let amount = each["amount"]?.text,
        let money = Money(amount, currency: each["currency"]?.text ?? "")
      else { return nil }
      entries.append(Entry(category: category, requests: count, amount: money))
    }
  }

  var json: JSONText {
    .array(
      entries.map { entry in
        [
          "currency": .string(entry.amount.currency), "class": .string(entry.category.name),
          "requests": .integer(Int64(entry.requests)), "amount": .string(entry.amount.plain),
        ]
      })
  }

  func entry(like other: Entry) -> Entry? {
    entries.first {
      $0.category == other.category && $0.amount.currency == other.amount.currency
    }
  }
}
