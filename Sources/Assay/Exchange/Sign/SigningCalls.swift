/// An operation `sign.*`: signs a token for a host that calls Apple itself, or an offer for the
/// app (docs/spec/app-store-server-api.md §9).
protocol SigningCall: CallResult {
  var result: SigningResult { get }
}

extension SigningCall {
  var room: Int { result.room }
  var warnings: [Warning] { result.warnings }
  func write(_ writer: inout JSONWriter) { result.write(&writer) }
}

struct APITokenSigning: SigningCall {
  let result: SigningResult

  init(_ context: OperationContext) throws(Refusal) {
    result = try AppStoreSigning(context).apiToken()
  }
}

struct PromotionalOfferV1Signing: SigningCall {
  let result: SigningResult

  init(_ context: OperationContext) throws(Refusal) {
    result = try AppStoreSigning(context).promotionalOfferV1()
  }
}

struct PromotionalOfferSigning: SigningCall {
  let result: SigningResult

  init(_ context: OperationContext) throws(Refusal) {
    result = try AppStoreSigning(context).promotionalOffer()
  }
}

struct IntroductoryOfferSigning: SigningCall {
  let result: SigningResult

  init(_ context: OperationContext) throws(Refusal) {
    result = try AppStoreSigning(context).introductoryOffer()
  }
}

/// Signs a request of Advanced Commerce for the app.
struct InAppRequestSigning: SigningCall {
  let result: SigningResult

  init(_ context: OperationContext) throws(Refusal) {
    result = try AppStoreSigning(context).inAppRequest(context.request)
  }
}

struct DeviceCheckTokenSigning: SigningCall {
  let result: SigningResult

  init(_ context: OperationContext) throws(Refusal) {
    let policy = context.configuration.deviceCheck
    result = try DeviceCheckBearer(policy, nowMs: context.nowMs).result
  }
}

struct AppleIDSecretSigning: SigningCall {
  let result: SigningResult

  init(_ context: OperationContext) throws(Refusal) {
    result = try AppleIDSecret.make(
      context.request, context.configuration.appleID, nowMs: context.nowMs)
  }
}
