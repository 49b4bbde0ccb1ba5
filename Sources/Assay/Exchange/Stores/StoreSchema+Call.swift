extension StoreSchema: CallResult {
  /// `describe-schema`: the tables, indexes and cleanup statements of a database, for the host to
  /// run (STM-1), by the block `stores` or its defaults; the members of the request take
  /// precedence.
  ///
  /// - Throws: `config.exchange.block-missing`, `config.ledger.engine`, `config.ledger.prefix`,
  ///   `config.document.missing` at `stores.table`.
  init(_ context: KindContext) throws(Refusal) {
    let (request, configured) = (context.request, context.configuration.stores)
    var policy: StoresPolicy
    if let node = request["dialect"] {
      let dialect = try StoresBlock.dialect(node)
      policy = configured?.speaking(dialect) ?? StoresPolicy(dialect)
    } else if let configured {
      policy = configured
    } else {
      throw Refusal(.configExchangeBlockMissing, "EXC-8", at: "stores")
    }
    if let node = request["prefix"] { policy.prefix = try StoresBlock.prefix(node) }
    try policy.requireTable(of: policy.dialect)
    self.init(policy: policy, nowMs: context.nowMs)
  }
}
