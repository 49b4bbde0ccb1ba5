/// The receipt that a verifyReceipt conversation asks Apple about (VRR-22).
struct SubmittedReceipt: Sendable {
  /// Proven where the receipt was verified, otherwise only claimed: good enough to
  /// compare with, never to grant from.
  struct Identity: Sendable {
    var bundleId: Text? = nil
    // Of transaction receipts only.
    var productId: Text? = nil
    var transactionId: Text? = nil
    var originalTransactionId: Text? = nil
  }

  /// As it is sent: standard base64, padded, without line breaks (VRR-1).
  let data: SecretBytes
  let isAppReceipt: Bool
  /// nil inside: the receipt does not say.
  let identity: Identity
  /// What a verification has shown; nil: nothing was verified, or it does not say.
  let environment: Environment?

  /// A receipt that the host has verified.
  init?(_ evidence: VerifiedEvidence) {
    switch evidence {
    case .transactionReceipt(let receipt):
      let info = receipt.info
      self.init(
        receipt.transport.bytes, isAppReceipt: false,
        Identity(
          bundleId: info.text(.bid), productId: info.text(.productId),
          transactionId: info.text(.transactionId),
          originalTransactionId: info.text(.originalTransactionId)),
        receipt.environment.environment)
    case .appReceipt(let receipt):
      self.init(
        receipt.transport.bytes, isAppReceipt: true, Identity(bundleId: receipt.bundleId),
        receipt.environment)
    default: return nil
    }
  }

  /// A client's text, unverified.
  ///
  /// - Throws: what `Transport` throws, and `rejected.kind.mismatch` for anything but a
  ///   receipt of purchases: Apple need not be asked.
  init(text: [UInt8], _ triage: Triage, cap: Int) throws(Refusal) {
    do throws(Refusal) {
      let transport = try Transport(text, cap: cap)
      let found = triage.look(transport.bytes)
      let isAppReceipt = transport.form == .container
      guard transport.form == .list || isAppReceipt, found.form != .attestReceipt else {
        throw Refusal(
          .rejectedKindMismatch, "RCP-5",
          detail: "expected a receipt of purchases, looks like "
            + Text(stringLiteral: found.form.name).string)
      }
      var identity = Identity()
      if let claim = found.claim {
        identity.bundleId = claim.text(claim.bundleId)
        if !isAppReceipt {
          identity.productId = claim.text(claim.productId)
          identity.transactionId = claim.text(claim.transactionId)
          identity.originalTransactionId = claim.text(claim.originalTransactionId)
        }
      }
      self.init(transport.bytes, isAppReceipt: isAppReceipt, identity, nil)
    } catch {
      throw error.inside("receipt")
    }
  }

  private init(
    _ bytes: [UInt8], isAppReceipt: Bool, _ identity: Identity, _ environment: Environment?
  ) {
    data = SecretBytes(Base64.encodeStandard(bytes))
    self.isAppReceipt = isAppReceipt
    self.identity = identity
    self.environment = environment
  }

  /// VRR-16: a verifier that does not check what a good answer is about grants
  /// whatever the client asked for.
  ///
  /// - Throws: `rejected.verify-receipt.mismatch`.
  func check(_ response: ReceiptResponse) throws(Refusal) {
    let isFlat = response.style == .ios6
    try require(
      identity.bundleId == nil || identity.bundleId == response.identity.bundleId,
      .rejectedVerifyReceiptMismatch, "VRR-16", at: isFlat ? "receipt.bid" : "receipt.bundle_id")
    guard isFlat else { return }
    for (known, name) in [
      (identity.productId, "product_id"), (identity.transactionId, "transaction_id"),
      (identity.originalTransactionId, "original_transaction_id"),
    ] as [(Text?, StaticString)] {
      try require(
        known == nil || known == response.ofReceipt(name), .rejectedVerifyReceiptMismatch,
        "VRR-16", at: "receipt." + Text(stringLiteral: name).string)
    }
  }
}

extension ReceiptResponse {
  /// A product or transaction id of `receipt`, which is the purchase that was asked
  /// about in the iOS 6 style.
  fileprivate func ofReceipt(_ name: StaticString) -> Text? {
    answer.object.present("receipt")?.present(name)
      .flatMap { ResponseValue.productId($0) }.map { Text(Array($0)) }
  }
}
