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
    default: return nil
    }
  }
}
