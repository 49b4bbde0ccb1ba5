/// The receipt that an exchange sends to Apple's verifyReceipt endpoint (VRR-22).
struct SubmittedReceipt: Sendable {
  /// The ids in the receipt: facts if the receipt was verified, otherwise unverified content,
  /// which may be compared with Apple's response but never granted from.
  struct Identity: Sendable {
    var bundleId: Text? = nil
    // The following members are of transaction receipts only.
    var productId: Text? = nil
    var transactionId: Text? = nil
    var originalTransactionId: Text? = nil
  }

  /// The receipt as it is sent: standard base64, padded, without line breaks (VRR-1).
  let data: SecretBytes
  let isAppReceipt: Bool
  /// The ids; each is `nil` if the receipt does not contain it.
  let identity: Identity
  /// The environment of a verified receipt; `nil` if the receipt was not verified or does not
  /// name its environment.
  let environment: Environment?

  /// Takes a receipt that the host has verified; `nil` if the evidence is of another kind.
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

  /// Takes a client's text, unverified.
  ///
  /// - Throws: what `Transport` throws, and `rejected.kind.mismatch` for input that is not a
  ///   receipt of purchases, which Apple would refuse as well.
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

  /// Checks that a successful response is about this receipt. A server that omits this check
  /// grants whatever the client asked for (VRR-16).
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
  /// Returns a product or transaction id of `receipt`, which in the iOS 6 style is the submitted
  /// purchase.
  fileprivate func ofReceipt(_ name: StaticString) -> Text? {
    answer.object.present("receipt")?.present(name)
      .flatMap { ResponseValue.productId($0) }.map { Text(Array($0)) }
  }
}
