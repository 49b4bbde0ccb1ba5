/// A transaction without influence, and the reason (DCD-5, DCD-23). Its account is not compared.
struct LeftOut: Sendable {
  var reason: Reason
  var facts: PurchaseFacts

  enum Reason: Sendable, Equatable {
    /// The catalogue does not contain the product.
    case unknownProduct
    /// Assay does not know the product's type (DCD-11).
    case unknownType
    /// The catalogue and Apple state different types for the product.
    case typeMismatch
    /// A tester's purchase, which `decision.sandbox` excludes.
    case sandbox

    var name: StaticString {
      switch self {
      case .unknownProduct: return "unknown-product"
      case .unknownType: return "unknown-type"
      case .typeMismatch: return "type-mismatch"
      case .sandbox: return "sandbox"
      }
    }
  }

  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("reason", reason.name)
    writer.member("productId", facts.productId)
    writer.member("originalTransactionId", facts.originalTransactionId)
    writer.member("transactionId", facts.transactionId)
    writer.member("environment", facts.environment.name)
    writer.endObject()
  }
}

extension Configuration {
  /// Returns the transactions that decide and those that are excluded, both in the order of
  /// `transactions`.
  func selected(
    _ transactions: [StatedFacts<PurchaseFacts>], _ warnings: inout DecisionWarnings
  ) -> (candidates: [Candidate], excluded: [LeftOut]) {
    let reasons = transactions.map { reason(against: $0.facts) }
    var hasProduction = false
    for (statement, reason) in zip(transactions, reasons)
    where reason == nil && statement.facts.environment == .production {
      hasProduction = true
    }
    // Sandbox purchases beside Production ones count only if configured (DCD-23).
    let sandboxDecides =
      decision.sandbox == .equal || (decision.sandbox == .below && !hasProduction)
    var candidates: [Candidate] = []
    var excluded: [LeftOut] = []
    for (statement, reason) in zip(transactions, reasons) {
      let facts = statement.facts
      if let reason {
        warnings.add(reason, facts)
        excluded.append(LeftOut(reason: reason, facts: facts))
      } else if facts.environment == .sandbox, !sandboxDecides {
        excluded.append(LeftOut(reason: .sandbox, facts: facts))
      } else if let product = products.product(facts.productId) {
        let candidate = Candidate(statement, product)
        warnings.look(at: candidate)
        candidates.append(candidate)
      }
    }
    return (candidates, excluded)
  }

  /// Returns why a transaction is excluded; `nil` if its product is in the catalogue with its
  /// type (DCD-5).
  private func reason(against facts: PurchaseFacts) -> LeftOut.Reason? {
    guard let product = products.product(facts.productId) else { return .unknownProduct }
    if facts.typeIsUnknown { return .unknownType }
    guard let type = facts.type else { return nil }
    return type == product.type ? nil : .typeMismatch
  }
}
