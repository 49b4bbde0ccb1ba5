/// Triage of a JWS: its payload is decoded, not verified (TRI-3).
extension Triage {
  func lookAtJWS(_ transport: Transport) -> TriageResult {
    let payload: JSONValue
    var traits = TriageTraits()
    let canBeSigned: Bool
    do throws(Refusal) {
      try require(
        transport.bytes.count <= configuration.storekit.jwsBytes, .tooLargeJwsInput, "JWS-1")
      let compact = try CompactJWS(transport.bytes)
      payload = try compact.decodedPayload().root
      if compact.signatureIsPlaceholder { traits.flags.insert(.placeholder) }
      canBeSigned = compact.signature.count == CompactJWS.signatureCharacters
    } catch {
      return malformed(error, .jws, transport, at: .structure)
    }
    let kind = PayloadReading.look(payload)
    let body = TriageBody(payload)
    var claim = TriageClaim([])
    claim.bundleId = claim.hold(body.text("bundleId"))
    claim.productId = claim.hold(body.text("productId"))
    claim.transactionId = claim.hold(body.text("transactionId"))
    claim.originalTransactionId = claim.hold(body.text("originalTransactionId"))
    claim.webOrderLineItemId = claim.hold(body.text("webOrderLineItemId"))
    claim.issuer = claim.hold(body.text("iss"))
    claim.purchaseDate = body.time("purchaseDate")
    readEnvironment(
      body.text(kind == .appTransaction ? "receiptType" : "environment"), &claim, &traits)
    let type = body.text("type").flatMap { ProductType(signed: $0) }
    if kind == .transaction {
      let ids = TriageClaim.Ids(
        transactionId: claim.transactionId, originalTransactionId: claim.originalTransactionId,
        webOrderLineItemId: claim.text(claim.webOrderLineItemId),
        purchaseDate: claim.purchaseDate)
      traits.format.formUnion(claim.malformed(ids))
      if let environment = claim.environment {
        claim.addKeys(of: ids, in: environment, type: type)
      }
    }
    return judge(
      claim, .jws, transport, traits: traits, kind: kind,
      isOurs: claim.bundleId.map { isOurs(bundleId: claim.slice($0)) },
      productIsKnown: canBeSigned ? productIsKnown(claim) : nil)
  }

  /// Whether the product is in the catalogue (TRI-7); `nil` without a catalogue, which no JWS
  /// needs to be verified. Not called for a JWS without a signature, which is not worth keeping.
  private func productIsKnown(_ claim: TriageClaim) -> Bool? {
    guard !configuration.products.all.isEmpty, claim.bundleId != nil,
      let id = claim.text(claim.productId)
    else { return nil }
    return configuration.products.product(id) != nil
  }

  /// Reads the environment. A payload of 2021 has no `environment`; if the configuration allows
  /// that, its transaction id implies one (JWS-71).
  private func readEnvironment(
    _ name: Text?, _ claim: inout TriageClaim, _ traits: inout TriageTraits
  ) {
    if let name {
      claim.environment = Environment(name)
      if claim.environment == nil { claim.environmentName = claim.hold(name) }
    } else if configuration.storekit.environmentFromTransactionId, let id = claim.transactionId {
      claim.environment = IdEnvironment.of(claim.slice(id)).environment
    }
    let isAccepted = claim.environment.map { accepts($0) } ?? (name == nil)
    if !isAccepted { traits.flags.insert(.environment) }
  }
}

/// The members of a payload, or of the body inside a notification.
private struct TriageBody {
  private let payload: JSONValue
  private let body: JSONValue?

  init(_ payload: JSONValue) {
    self.payload = payload
    var body: JSONValue? = nil
    for kind in NotificationParts.Body.allCases where body == nil {
      body = payload.present(kind.name)
    }
    self.body = body
  }

  func text(_ name: StaticString) -> Text? {
    payload.present(name)?.text ?? body?.present(name)?.text
  }

  /// Returns milliseconds since 1970 UTC; `nil` outside 2008 … 2100. Xcode writes fractions
  /// (JWS-81).
  func time(_ name: StaticString) -> Int64? {
    guard let time = payload.present(name)?.truncated, TimeWindow.contains(time) else {
      return nil
    }
    return time
  }
}
