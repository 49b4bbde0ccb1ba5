extension Verifier {
  /// `schema`: tables, indexes and garbage of a store, for the host to run
  /// (docs/spec/store-statements.md STM-1).
  func describeSchema(
    _ request: ExchangeRequest, _ checks: Checks<ExchangeCheck>, nowMs: Int64
  ) -> Document {
    let answer = answer(request, checks)
    do throws(Refusal) {
      let schema = StoreSchema(policy: try schemaPolicy(request), nowMs: nowMs)
      return answer.done { schema.write(&$0) }
    } catch {
      return answer.refused(error)
    }
  }

  /// The block `stores`, or its defaults, with what the request names instead.
  private func schemaPolicy(_ request: ExchangeRequest) throws(Refusal) -> StoresPolicy {
    var policy: StoresPolicy
    if let node = request["dialect"] {
      let dialect = try StoresBlock.dialect(node)
      policy = configuration.stores?.speaking(dialect) ?? StoresPolicy(dialect)
    } else if let configured = configuration.stores {
      policy = configured
    } else {
      throw Refusal(.configExchangeBlockMissing, "EXC-8", at: "stores")
    }
    if let node = request["prefix"] { policy.prefix = try StoresBlock.prefix(node) }
    try policy.requireTable(of: policy.dialect)
    return policy
  }
}
