extension Verifier {
  /// The kinds `sign.*`: tokens for hosts that call Apple themselves, and offers for the
  /// app (docs/spec/app-store-server-api.md §9).
  func sign(
    _ request: ExchangeRequest, _ checks: Checks<ExchangeCheck>, nowMs: Int64
  ) -> Document {
    let answer = answer(request, checks)
    do throws(Refusal) {
      let result = try signature(request, nowMs: nowMs)
      return answer.done(
        room: result.room, warnings: { Warning.write(result.warnings, &$0) },
        { result.write(&$0) })
    } catch {
      return answer.refused(error)
    }
  }

  private func signature(
    _ request: ExchangeRequest, nowMs: Int64
  ) throws(Refusal) -> SigningResult {
    let configuration = receipts.configuration
    switch request.kind {
    case .signDeviceCheckToken:
      return try DeviceCheckBearer(configuration.deviceCheck, nowMs: nowMs).result
    case .signAppleIDSecret:
      return try AppleIDSecret.make(request, configuration.appleID, nowMs: nowMs)
    default: break
    }
    let signing = try AppStoreSigning(request, configuration, nowMs: nowMs)
    switch request.kind {
    case .signPromotionalOfferV1: return try signing.promotionalOfferV1()
    case .signPromotionalOfferV2: return try signing.promotionalOffer()
    case .signIntroductoryOffer: return try signing.introductoryOffer()
    default: return try signing.apiToken()
    }
  }
}
