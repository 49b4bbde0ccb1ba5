extension LedgerSchema: CallResult {
  /// `describe-schema`: the tables, indexes and cleanup statements of a database, for the host to
  /// run (STM-1), by the block `ledger` or its defaults; the members of the request take
  /// precedence.
  ///
  /// - Throws: `config.exchange.block-missing`, `config.ledger.engine`, `config.ledger.prefix`,
  ///   `config.document.missing` at `ledger.table`.
  init(_ context: OperationContext) throws(Refusal) {
    let (request, configured) = (context.request, context.configuration.ledger)
    var policy: LedgerPolicy
    if let node = request["engine"] {
      let engine = try LedgerBlock.engine(node)
      policy = configured?.speaking(engine) ?? LedgerPolicy(engine)
    } else if let configured {
      policy = configured
    } else {
      throw Refusal(.configExchangeBlockMissing, "EXC-8", at: "ledger")
    }
    if let node = request["prefix"] { policy.prefix = try LedgerBlock.prefix(node) }
    try policy.requireTable(of: policy.engine)
    self.init(policy: policy, nowMs: context.nowMs)
  }
}
