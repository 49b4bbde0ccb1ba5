/// The checks of a conversation's beginning, and of one that is done at once.
enum ExchangeCheck: Int, CheckList {
  case request, evidence, result

  static let ids: [StaticString] = ["exchange.request", "exchange.evidence", "exchange.result"]
}
