extension Verifier {
  // MARK: receipts

  /// The longest receipt text that is read, in bytes (`receipts.caps.inputBytes`).
  public var receiptByteCap: Int { receipts.configuration.receipts.inputBytes }

  /// Returns the longest receipt text of this kind, in bytes; App Attest receipts have their own
  /// limit (FRC-1).
  public func receiptByteCap(_ kind: ReceiptKind) -> Int {
    kind == .attest ? AttestReceiptVerification.inputCap : receiptByteCap
  }

  /// Verifies one receipt, raw or base64, offline (docs/spec/receipts.md; docs/spec/app-attest.md
  /// §7).
  ///
  /// - Parameters:
  ///   - receipt: the receipt that the client sent.
  ///   - kind: the kind of receipt that it must be.
  ///   - subject: the owner that the receipt must belong to: for an app receipt the device, 16
  ///     bytes of the vendor id or 6 of the primary MAC address; for an App Attest receipt the
  ///     public key, 65 bytes of its point or 91 of its SubjectPublicKeyInfo. `nil` skips this
  ///     check, and the document says so.
  ///   - nowMs: milliseconds since 1970 UTC, 2008 … 2100.
  /// - Returns: a document with the facts or the refusal.
  public func verifyReceipt(
    _ receipt: [UInt8], kind: ReceiptKind, subject: [UInt8]? = nil, nowMs: Int64
  ) -> Document {
    switch kind {
    case .transaction: return verifyTransactionReceipt(receipt, subject: subject, nowMs: nowMs)
    case .app: return verifyAppReceipt(receipt, subject: subject, nowMs: nowMs)
    case .attest: return verifyAttestReceipt(receipt, subject: subject, nowMs: nowMs)
    }
  }

  private func verifyTransactionReceipt(
    _ text: [UInt8], subject: [UInt8]?, nowMs: Int64
  ) -> Document {
    var verification = TransactionReceiptVerification(receipts, nowMs: nowMs)
    do throws(Refusal) {
      try TimeWindow.checkNow(nowMs)
      try require(subject == nil, .misuseReceiptSubject, "APR-18", at: "subject")
      let receipt = try verification.run(text)
      return envelope(.transaction, verification.checks.log).accepted(
        .transactionReceipt(receipt), warnings: { receipt.writeWarnings(&$0) }
      ) { receipt.write(&$0) }
    } catch {
      return envelope(.transaction, verification.checks.log).refused(error)
    }
  }

  private func verifyAppReceipt(
    _ text: [UInt8], subject: [UInt8]?, nowMs: Int64
  ) -> Document {
    var verification = AppReceiptVerification(receipts, subject: subject, nowMs: nowMs)
    do throws(Refusal) {
      try TimeWindow.checkNow(nowMs)
      let receipt = try verification.run(text)
      return envelope(.app, verification.checks.log).accepted(
        .appReceipt(receipt), warnings: { receipt.writeWarnings(&$0) },
        capacity: 2048 &+ receipt.attributes.purchases.count &* 700
      ) { receipt.write(&$0) }
    } catch {
      return envelope(.app, verification.checks.log).refused(error)
    }
  }

  private func verifyAttestReceipt(
    _ text: [UInt8], subject: [UInt8]?, nowMs: Int64
  ) -> Document {
    var verification = AttestReceiptVerification(attest.receipts, nowMs: nowMs)
    do throws(Refusal) {
      try TimeWindow.checkNow(nowMs)
      let receipt = try verification.run(text, subject: Verifier.subjectPoint(subject))
      return envelope(.attest, verification.checks.log).accepted(
        .attestReceipt(receipt), capacity: 2048
      ) { receipt.write(&$0) }
    } catch {
      return envelope(.attest, verification.checks.log).refused(error)
    }
  }

  /// Returns the point of the public key that the receipt must be about (ATT-3).
  private static func subjectPoint(_ subject: [UInt8]?) throws(Refusal) -> [UInt8]? {
    guard let subject else { return nil }
    guard let point = AttestedKey.point(subject), PublicKey.make(.p256, point: point) != nil
    else { throw Refusal(.misuseAssertionPublicKey, "ATT-3", at: "subject") }
    return Array(point)
  }

  private func envelope(_ kind: ReceiptKind, _ checks: CheckLog) -> Envelope {
    Envelope(
      kind: kind.name, factsMember: kind.factsMember, checks: checks, configuration: fingerprint)
  }

  /// Classifies an untrusted input without cryptography, and whether it is worth verifying
  /// (docs/spec/receipts-triage.md §1).
  ///
  /// - Returns: a document that is never `ok`; `pending.triage.verify-next` means that the input
  ///   should be verified next. Under every status `triage` has the classification, and
  ///   `unverified` the unverified content.
  public func triage(_ blob: [UInt8], nowMs: Int64) -> Document {
    do throws(Refusal) {
      try TimeWindow.checkNow(nowMs)
    } catch {
      return Envelope(
        kind: "triage", factsMember: "triage", checks: .empty, configuration: fingerprint
      ).refused(error)
    }
    return firstLook.look(blob).document(configuration: fingerprint)
  }

  /// The longest verifyReceipt response that is read, in bytes (VRR-15).
  public var responseByteCap: Int { ReceiptResponseReading.bodyCap }

  /// Reads a verifyReceipt response: the body of a response with HTTP status 200
  /// (docs/spec/receipts-triage.md §2).
  public func readVerifyReceiptResponse(_ body: [UInt8], nowMs: Int64) -> Document {
    var reading = ReceiptResponseReading(receipts, nowMs: nowMs)
    do throws(Refusal) {
      try TimeWindow.checkNow(nowMs)
      let response = try reading.run(body)
      return responseEnvelope(reading.checks.log).accepted(
        .receiptResponse(response), warnings: { response.writeWarnings(&$0) },
        capacity: 2048 &+ body.count
      ) { response.write(&$0) }
    } catch {
      return responseEnvelope(reading.checks.log).refused(error)
    }
  }

  private func responseEnvelope(_ checks: CheckLog) -> Envelope {
    Envelope(
      kind: "verify-receipt-response", factsMember: "verifyReceipt", checks: checks,
      configuration: fingerprint)
  }
}

extension Document {
  /// Returns the document of a call with wrong arguments; `misuse(_:)` for a JWS is its
  /// counterpart.
  public static func misuse(_ kind: ReceiptKind?) -> Document {
    guard let kind else {
      return refusedCall(
        "unknown",
        Refusal(
          .misuseCallKind, "DOC-1", at: "kind",
          hint: .receiptKind))
    }
    return refusedCall(kind.name, facts: kind.factsMember, Refusal(.misuseCallArgument, "DOC-1"))
  }

  /// The document of a verifyReceipt call with wrong arguments, whose facts have another name.
  public static var misusedVerifyReceipt: Document {
    refusedCall(
      "verify-receipt-response", facts: "verifyReceipt", Refusal(.misuseCallArgument, "DOC-1"))
  }
}
