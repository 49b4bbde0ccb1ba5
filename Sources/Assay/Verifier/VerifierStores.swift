extension Verifier {
  // MARK: stores

  /// A conversation with the host's own store (docs/spec/stores.md).
  ///
  /// - Throws: `config.exchange.block-missing`, `config.store.not-durable`,
  ///   `config.store.not-shared`, and what the operation refuses.
  func storeConversation(
    _ request: ExchangeRequest, _ kind: StoreKind, _ evidence: [VerifiedEvidence], nowMs: Int64
  ) throws(Refusal) -> StoreConversation {
    guard let policy = configuration.stores else {
      throw Refusal(.configExchangeBlockMissing, "EXC-8", at: "stores")
    }
    let dialect = try storeDialect(request, policy)
    try require(
      dialect != .redis || kind.isForRedis, .configStoreNotDurable, "STO-13", at: "dialect")
    try require(
      dialect != .sqlite || policy.shared, .configStoreNotShared, "STO-13", at: "stores.shared")
    let context = StoreContext(configuration, policy, dialect, nowMs: nowMs)
    let parameters = StoreParameters(request.root, context)
    return StoreConversation(try operation(kind, parameters, evidence), context)
  }

  /// STO-1.
  private func storeDialect(
    _ request: ExchangeRequest, _ policy: StoresPolicy
  ) throws(Refusal) -> StoreDialect {
    guard let node = request["dialect"], !node.value.isNull else { return policy.dialect }
    return try StoresBlock.dialect(node)
  }

  private func operation(
    _ kind: StoreKind, _ parameters: StoreParameters, _ evidence: [VerifiedEvidence]
  ) throws(Refusal) -> StoreOperation {
    if let operation = try meterOperation(kind, parameters, evidence) { return operation }
    switch kind {
    case .claim: return try ClaimOperation(parameters, evidence)
    case .complete: return try CompleteOperation(parameters)
    case .claimResume: return try ClaimResume(parameters)
    case .claimDue: return try ClaimDue(parameters)
    case .revoke: return try RevokeOperation(parameters, evidence)
    case .lookup: return try LookupOperation(parameters, evidence)
    case .subscriptionApply: return try SubscriptionApply(parameters, evidence)
    case .subscriptionRead: return try SubscriptionRead(parameters)
    case .subscriptionClear: return try SubscriptionClear(parameters)
    case .subscriptionDue: return try SubscriptionDue(parameters)
    case .accountLink: return try AccountLink(parameters)
    case .accountForget: return try AccountForget(parameters)
    case .evidenceRead: return try EvidenceRead(parameters)
    default: throw Refusal(.misuseExchangeKind, "EXC-1", at: "kind")
    }
  }
}
