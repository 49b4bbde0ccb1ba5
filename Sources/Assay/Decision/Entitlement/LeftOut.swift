/// A transaction that decides nothing, and why (DCD-5, DCD-23). Its account is not
/// compared.
struct LeftOut: Sendable {
  var reason: Reason
  var facts: PurchaseFacts

  enum Reason: Sendable, Equatable {
    /// The catalogue does not have the product.
    case unknownProduct
    /// A type of product that Assay does not know (DCD-11).
    case unknownType
    /// The catalogue and Apple name different types of the product.
    case typeMismatch
    /// `decide.sandbox`: a purchase of a tester.
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
  /// What decides, and what is left out; both sorted as the transactions are.
  func selected(
    _ transactions: [Statement<PurchaseFacts>], _ warnings: inout DecisionWarnings
  ) -> (candidates: [Candidate], leftOut: [LeftOut]) {
    let reasons = transactions.map { reason(against: $0.facts) }
    var hasProduction = false
    for (statement, reason) in zip(transactions, reasons)
    where reason == nil && statement.facts.environment == .production {
      hasProduction = true
    }
    // DCD-23.
    let sandboxDecides =
      decide.sandbox == .equal || (decide.sandbox == .below && !hasProduction)
    var candidates: [Candidate] = []
    var leftOut: [LeftOut] = []
    for (statement, reason) in zip(transactions, reasons) {
      let facts = statement.facts
      if let reason {
        warnings.add(reason, facts)
        leftOut.append(LeftOut(reason: reason, facts: facts))
      } else if facts.environment == .sandbox, !sandboxDecides {
        leftOut.append(LeftOut(reason: .sandbox, facts: facts))
      } else if let product = products.product(facts.productId) {
        let candidate = Candidate(statement, product)
        warnings.look(at: candidate)
        candidates.append(candidate)
      }
    }
    return (candidates, leftOut)
  }

  /// DCD-5. nil: the transaction is of a product that is sold here.
  private func reason(against facts: PurchaseFacts) -> LeftOut.Reason? {
    guard let product = products.product(facts.productId) else { return .unknownProduct }
    if facts.typeIsUnknown { return .unknownType }
    guard let type = facts.type else { return nil }
    return type == product.type ? nil : .typeMismatch
  }
}
