extension Verifier {
  // MARK: stores

  /// A conversation with the host's own store (docs/spec/stores.md).
  ///
  /// - Throws: `config.exchange.block-missing`, `config.store.not-durable`,
  ///   `config.store.not-shared`, `config.document.missing` at `stores.table`, and what the
  ///   operation refuses.
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
    try policy.requireTable(of: dialect)
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
  ) throws(Refusal) -> AnyStoreOperation {
    if let operation = try meterOperation(kind, parameters, evidence) { return operation }
    switch kind {
    case .claim: return .of(try ClaimOperation(parameters, evidence))
    case .complete: return .of(try CompleteOperation(parameters))
    case .claimResume: return .of(try ClaimResume(parameters))
    case .claimDue: return .of(try ClaimDue(parameters))
    case .revoke: return .of(try RevokeOperation(parameters, evidence))
    case .revokeComplete: return .of(try RevokeComplete(parameters))
    case .revokeDue: return .of(try RevokeDue(parameters))
    case .eventApply: return .of(try EventApply(parameters, evidence))
    case .lookup: return .of(try LookupOperation(parameters, evidence))
    case .subscriptionApply: return .of(try SubscriptionApply(parameters, evidence))
    case .subscriptionRead: return .of(try SubscriptionRead(parameters))
    case .subscriptionClear: return .of(try SubscriptionClear(parameters))
    case .subscriptionDue: return .of(try SubscriptionDue(parameters))
    case .accountLink: return .of(try AccountLink(parameters))
    case .accountForget: return .of(try AccountForget(parameters))
    case .evidenceRead: return .of(try EvidenceRead(parameters))
    case .schemaCheck: return .of(SchemaCheck())
    default: throw Refusal(.misuseExchangeKind, "EXC-1", at: "kind")
    }
  }
}
