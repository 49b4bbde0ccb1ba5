extension Verifier {
  /// The kinds that count, and those of challenges and attested keys; nil: another kind.
  ///
  /// - Throws: what the operation refuses.
  func meterOperation(
    _ kind: StoreKind, _ parameters: StoreParameters, _ evidence: [VerifiedEvidence]
  ) throws(Refusal) -> StoreOperation? {
    switch kind {
    case .quotaTake: return try QuotaTakeOperation(parameters)
    case .quotaRefund: return try QuotaRefundOperation(parameters)
    case .paceTake: return try PaceTakeOperation(parameters)
    case .signupAdmit: return try SignupAdmitOperation(parameters)
    case .signupSettle: return try SignupSettleOperation(parameters)
    case .challengeIssue: return try ChallengeIssueOperation(parameters)
    case .challengeConsume: return try ChallengeConsumeOperation(parameters, evidence)
    case .keyBind: return try KeyBindOperation(parameters, evidence)
    case .keyAdvance: return try KeyAdvanceOperation(parameters, evidence)
    case .keyReceipt: return try KeyReceiptOperation(parameters, evidence)
    case .keyRetire: return try KeyRetireOperation(parameters)
    case .keyRead: return try KeyReadOperation(parameters)
    case .once: return try OnceOperation(parameters)
    default: return nil
    }
  }
}
