/// The checks of a conversation, in every document of it (DOC-5).
enum ExchangeCheck: Int, CheckList {
  case request, evidence, answer, result

  static let ids: [StaticString] = [
    "exchange.request", "exchange.evidence", "exchange.answer", "exchange.result",
  ]
}
