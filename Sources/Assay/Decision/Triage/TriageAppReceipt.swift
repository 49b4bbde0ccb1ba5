/// Triage of an app receipt or attest receipt: its attributes are read, its signature is not
/// verified (TRI-3).
extension Triage {
  func lookAtContainer(_ transport: Transport) -> TriageResult {
    let bytes = transport.bytes
    guard bytes.count <= configuration.receipts.appReceiptBytes else {
      return malformed(
        Refusal(.tooLargeAppReceiptSize, "TRI-3"), .appReceipt, transport, at: .structure)
    }
    let purchases = configuration.receipts.purchases
    guard let claims = AppReceiptClaims.claims(bytes, purchases: purchases) else {
      return withoutClaims(transport)
    }
    return claims.form == .appReceipt
      ? lookAtAppReceipt(claims, transport) : lookAtAttestReceipt(claims, transport)
  }

  /// Returns the result for an unreadable container: a damaged receipt if it begins as receipts
  /// do; any other DER is of unknown form.
  private func withoutClaims(_ transport: Transport) -> TriageResult {
    guard Triage.beginsAsSignedData(transport.bytes) else {
      return unsupported(.unknown, transport)
    }
    let refusal: Refusal
    do throws(BER.Fault) {
      _ = try BER.measure(
        transport.bytes,
        BER.Limits(elements: configuration.receipts.appReceiptElements, depth: 24))
      refusal = Refusal(.malformedAppReceiptStructure, "APR-2")
    } catch {
      refusal = Triage.refusal(error)
    }
    return malformed(
      refusal, .appReceipt, transport, at: .structure, remains(ofContainer: transport.bytes))
  }

  private static func refusal(_ fault: BER.Fault) -> Refusal {
    let status: Status
    switch fault {
    case .unclean: status = .malformedAppReceiptBer
    case .trailing: status = .malformedAppReceiptTrailing
    case .tooManyElements: status = .tooLargeAppReceiptElements
    case .tooDeep: status = .tooLargeAppReceiptDepth
    }
    return Refusal(status, "APR-1", at: "byte " + String(fault.offset))
  }

  /// Whether the object identifier of SignedData is the first element of the outer SEQUENCE.
  static func beginsAsSignedData(_ bytes: [UInt8]) -> Bool {
    guard bytes.count > 2 else { return false }
    let lengthBytes = bytes[1] >= 0x80 ? Int(bytes[1] & 0x7f) : 0
    var head = bytes.dropFirst(2 &+ lengthBytes)
    guard head.first == DER.objectIdentifier, head.dropFirst().first == 9 else { return false }
    head = head.dropFirst(2)
    return head.prefix(9).elementsEqual(ObjectIdentifier.signedData)
  }

  // MARK: app receipts

  private func lookAtAppReceipt(
    _ claims: AppReceiptClaims, _ transport: Transport
  ) -> TriageResult {
    var traits = TriageTraits()
    var claim = TriageClaim(claims.payload.bytes)
    var receipt = TriageClaim.AppReceipt()
    receipt.type = claims.type
    receipt.creationDate = claims.creationDate
    receipt.purchaseCount = claims.purchases.count
    receipt.isComplete = claims.purchases.count <= TriageClaim.AppReceipt.purchaseCap
    claim.bundleId = claims.bundleId
    claim.environment = claims.type.flatMap {
      AppReceiptVerification.environment(ofType: claims.slice($0))
    }
    for purchase in claims.purchases.prefix(TriageClaim.AppReceipt.purchaseCap) {
      addProduct(purchase, claims, &receipt)
      addKeys(purchase, claims, &claim, &traits)
    }
    claim.appReceipt = receipt
    // Where no key can name a purchase, its id does (TRI-13).
    if claim.environment == nil, let purchase = claims.first { claim.name(purchase) }
    if claim.bundleId == nil { traits.missing.insert(.bundleId) }
    if receipt.creationDate == nil { traits.missing.insert(.creationDate) }
    if let environment = claim.environment {
      if !accepts(environment) { traits.flags.insert(.environment) }
    } else {
      traits.format.insert(.receiptType)
    }
    // TRI-7 does not apply: an app receipt lists all purchases ever made in the app.
    return judge(
      claim, .appReceipt, transport, traits: traits,
      isOurs: claim.bundleId.map { isOurs(bundleId: claims.slice($0)) })
  }

  private func addProduct(
    _ purchase: AppReceiptClaims.Purchase, _ claims: AppReceiptClaims,
    _ receipt: inout TriageClaim.AppReceipt
  ) {
    guard let id = purchase.productId,
      receipt.productIds.count < TriageClaim.AppReceipt.productCap
    else { return }
    for known in receipt.productIds where claims.slice(known) == claims.slice(id) { return }
    receipt.productIds.append(id)
  }

  /// Adds the keys of a purchase, with the type in the receipt or else in the catalogue.
  private func addKeys(
    _ purchase: AppReceiptClaims.Purchase, _ claims: AppReceiptClaims,
    _ claim: inout TriageClaim, _ traits: inout TriageTraits
  ) {
    let type =
      ProductType(attribute: purchase.type)
      ?? claims.text(purchase.productId).flatMap { configuration.products.product($0)?.type }
    let ids = TriageClaim.Ids(
      transactionId: purchase.transactionId,
      originalTransactionId: purchase.originalTransactionId,
      webOrderLineItemId: purchase.webOrderLineItemId.map { Text(decimal: $0) },
      purchaseDate: purchase.purchaseDate)
    traits.format.formUnion(claim.malformed(ids))
    guard let environment = claim.environment else { return }
    claim.addKeys(of: ids, in: environment, type: type)
  }

  // MARK: App Attest

  /// Classifies an attest receipt. Its App ID is a team id or an older prefix, a dot, and the
  /// bundle id (TRI-6).
  private func lookAtAttestReceipt(
    _ claims: AppReceiptClaims, _ transport: Transport
  ) -> TriageResult {
    var claim = TriageClaim(claims.payload.bytes)
    var receipt = TriageClaim.AppReceipt()
    receipt.type = claims.type
    receipt.creationDate = claims.creationDate
    claim.appReceipt = receipt
    var traits = TriageTraits()
    var isOurs: Bool? = nil
    if let id = claims.bundleId {
      claim.appId = id
      let appId = claims.slice(id)
      if let dot = appId.firstIndex(of: 0x2e) {
        claim.bundleId = dot &+ 1..<id.upperBound
        isOurs = self.isOurs(team: appId[..<dot], bundleId: appId[(dot &+ 1)...])
      } else {
        isOurs = false
      }
    } else {
      traits.missing.insert(.bundleId)
    }
    if receipt.creationDate == nil { traits.missing.insert(.creationDate) }
    return judge(claim, .attestReceipt, transport, traits: traits, isOurs: isOurs)
  }

  /// Whether an app is configured; one without a team id is recognized by its bundle id only.
  private func isOurs(team: ArraySlice<UInt8>, bundleId: ArraySlice<UInt8>) -> Bool {
    for app in configuration.apps where app.bundleId.utf8[...] == bundleId {
      guard let teamId = app.teamId else { return true }
      if teamId.utf8[...] == team { return true }
    }
    return false
  }
}
