import AssayAuthority

/// Mocks `/v1/attestationData`, which returns a new receipt of App Attest for a minted one
/// (docs/spec/app-attest.md §8).
struct MockAttestReceipts: MockHost {
  let request: HTTPRequest
  let signer: MockSigner

  private static let keptDays: Int64 = 30

  func answer(_ state: inout MockState) throws -> HTTPResponse {
    guard request.path == "/v1/attestationData" else { return .empty(404) }
    guard request.method == "POST" else { return .empty(405) }
    let now = state.clock.now
    guard isAuthorized(at: now) else { return .text("Unauthorized", status: 401) }
    guard let octets = Base64Text.decodeLeniently(request.body), !octets.isEmpty,
      let parts = AppReceiptParts(octets), parts.isAboutKey,
      parts.certificates.contains(signer.authority.attest.receiptChain.root),
      let created = parts.date(12)
    else { return .text("Bad Payload", status: 400) }
    let isDevelopment = request.host == "data-development.appattest.apple.com"
    guard parts.field(7) == Array((isDevelopment ? "sandbox" : "production").utf8) else {
      return .text("Incorrect Environment", status: 400)
    }
    if let notBefore = parts.date(19), now < notBefore { return .empty(304) }
    if now >= created + Self.keptDays * Purchase.day {
      return .text("No Data Found", status: 404)
    }
    return .octets(
      Base64Text.encode(try receipt(parts, state, isDevelopment: isDevelopment)), "text/plain")
  }

  /// Returns whether the request is authorized: Apple expects the bare token here.
  private func isAuthorized(at now: Int64) -> Bool {
    guard let header = request.header("authorization"), let token = WebToken(header) else {
      return false
    }
    return token.isSigned(
      by: signer.authority.deviceCheckKey, keyId: MockAuthority.deviceCheckKeyId)
      && token.claims["iss"]?.text == signer.authority.app.teamId
      && token.isCurrent(at: now, longest: 3600)
  }

  private func receipt(
    _ parts: AppReceiptParts, _ state: MockState, isDevelopment: Bool
  ) throws -> [UInt8] {
    var appId = String(decoding: parts.field(2) ?? [], as: UTF8.self)
    var isDevelopment = isDevelopment
    if signer.fault.isOtherApp { appId = "ABCDE12345." + MockSigner.otherBundle }
    if signer.fault.isOtherEnvironment { isDevelopment.toggle() }
    let device = try AttestedDevice(
      key: signer.authority.device, appId: appId,
      environment: isDevelopment ? .development : .production)
    let facts = AttestReceiptFacts(
      .receipt, device, certificate: parts.field(3) ?? [], clientHash: parts.field(4) ?? [],
      created: state.clock.now, risk: state.risk)
    var template = signer.authority.attest.receiptTemplate(facts)
    if signer.fault.hasBadSignature { template.signature = .damaged }
    return try template.signed()
  }
}

extension AppReceiptParts {
  /// Returns the bytes of a field; `nil` if there is none.
  fileprivate func field(_ type: Int64) -> [UInt8]? {
    attributes.first { $0.type == type }.map { Array($0.value) }
  }

  /// Returns a field that is a time, in milliseconds since 1970 UTC.
  fileprivate func date(_ type: Int64) -> Int64? { field(type).flatMap { RequestTime.date($0) } }
}
