extension Verifier {
  /// The kinds that count, and those of challenges and attested keys; nil: another kind.
  ///
  /// - Throws: what the operation refuses.
  func meterOperation(
    _ kind: StoreKind, _ parameters: StoreParameters, _ evidence: [VerifiedEvidence]
  ) throws(Refusal) -> AnyStoreOperation? {
    switch kind {
    case .quotaTake: return .of(try QuotaTakeOperation(parameters))
    case .quotaRefund: return .of(try QuotaRefundOperation(parameters))
    case .paceTake: return .of(try PaceTakeOperation(parameters))
    case .signupAdmit: return .of(try SignupAdmitOperation(parameters))
    case .signupSettle: return .of(try SignupSettleOperation(parameters))
    case .challengeIssue: return .of(try ChallengeIssueOperation(parameters))
    case .challengeConsume: return .of(try ChallengeConsumeOperation(parameters, evidence))
    case .keyBind: return .of(try KeyBindOperation(parameters, evidence))
    case .keyAdvance: return .of(try KeyAdvanceOperation(parameters, evidence))
    case .keyReceipt: return .of(try KeyReceiptOperation(parameters, evidence))
    case .keyRetire: return .of(try KeyRetireOperation(parameters))
    case .keyRead: return .of(try KeyReadOperation(parameters))
    case .once: return .of(try OnceOperation(parameters))
    default: return nil
    }
  }
}
