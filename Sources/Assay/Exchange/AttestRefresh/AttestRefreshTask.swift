/// The parameters of a refresh: the receipt of an attested key, and the key that signs the
/// request's token (docs/spec/app-attest.md §8).
struct AttestRefreshTask: Sendable {
  let receipt: AttestReceipt
  let trust: AttestReceiptTrust
  /// The number of this exchange among the exchanges for the same request, from 1 (EXC-18).
  let attempt: Int64
  private let policy: DeviceCheckPolicy
  private let body: SecretBytes

  static let bodyCap = 65_536

  /// - Throws: `config.exchange.block-missing`.
  init(
    _ evidence: [VerifiedEvidence], _ trust: AttestReceiptTrust, _ policy: DeviceCheckPolicy?,
    attempt: Int64
  ) throws(Refusal) {
    guard let policy, policy.privateKey != nil else {
      throw Refusal(
        .configExchangeBlockMissing, "EXC-8",
        at: policy == nil ? "deviceCheck" : "deviceCheck.privateKey")
    }
    switch evidence.first {
    case .attestReceipt(let given): receipt = given
    case .attestation(let attestation):
      guard let embedded = attestation.receipt else { fallthrough }
      receipt = embedded
    default: throw Refusal(.internalAssayBug, "EXC-3", at: "evidence[0]")
    }
    self.trust = trust
    self.policy = policy
    self.attempt = attempt
    body = SecretBytes(Base64.encodeStandard(receipt.bytes))
  }

  /// Returns the HTTP request (RFR-5). The receipt determines the environment, never the
  /// configuration of `deviceCheck` (RFR-4).
  ///
  /// - Throws: `internal.sign.self-check`.
  func request(nowMs: Int64) throws(Refusal) -> HTTPRequest {
    HTTPRequest(
      method: "POST",
      url: receipt.isProduction
        ? "https://data.appattest.apple.com/v1/attestationData"
        : "https://data-development.appattest.apple.com/v1/attestationData",
      authorization: try DeviceCheckBearer(policy, nowMs: nowMs).token,
      headers: [("Content-Type", "text/plain")], body: body, timeoutMs: 30_000,
      maxResponseBytes: Int64(AttestRefreshTask.bodyCap), responseHeaders: ["retry-after"],
      sensitivePaths: ["headers.authorization", "body"])
  }
}
