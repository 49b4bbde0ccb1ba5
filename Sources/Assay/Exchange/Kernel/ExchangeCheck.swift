/// The checks of an exchange, which every document of the exchange lists (DOC-5).
enum ExchangeCheck: Int, CheckList {
  case request, evidence, answer, result

  static let ids: [StaticString] = [
    "exchange.request", "exchange.evidence", "exchange.reply", "exchange.result",
  ]
}
