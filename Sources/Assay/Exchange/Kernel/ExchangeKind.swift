/// What a conversation is about (docs/spec/documents-and-exchanges.md §3).
enum ExchangeKind: Sendable {
  /// docs/spec/device-check.md §4.
  case riskAssess
  /// An answer from Apple's DeviceCheck endpoint, fetched by the host (§2.1).
  case deviceCheckRead
  /// The form of a device token (DVC-4).
  case deviceCheckToken
  /// The one text of an App Attest key identifier (ATT-2).
  case attestKeyId
  /// Apple's answer about a receipt (docs/spec/receipts-triage.md §2).
  case verifyReceipt
  /// docs/spec/app-store-server-api.md §9.
  case signAPIToken, signPromotionalOfferV1, signPromotionalOfferV2, signIntroductoryOffer
  case signDeviceCheckToken
  /// docs/spec/apple-id.md §4.
  case signAppleIDSecret
  /// docs/spec/session.md.
  case sessionIssue, sessionCheck
  /// Apple's DeviceCheck endpoint (docs/spec/device-check.md §2).
  case deviceCheckQuery, deviceCheckUpdate, deviceCheckValidate
  /// The App Store Server API: the rows of AppStore/endpoints.tsv.
  case appStore(AppStoreEndpoint)
  /// Revocation of a JWS's certificates (docs/spec/storekit-ocsp.md).
  case ocsp
  /// Whether a JWS was made for a device (JWS-93).
  case deviceVerify
  /// A new receipt of an attested key (docs/spec/app-attest.md §8).
  case attestRefresh
  /// Tables of a store (docs/spec/store-statements.md STM-1).
  case schema
  /// The keys of a token issuer (docs/spec/access-tokens.md §5.1).
  case jwks
  /// docs/spec/apple-id.md §2 … §4.
  case appleIDIdentity, appleIDNotification, appleIDExchangeCode, appleIDRevoke
  /// The host's own store (docs/spec/stores.md).
  case store(StoreKind)

  /// Those that have their row here.
  private static let own: [ExchangeKind] = [
    .riskAssess, .deviceCheckRead, .deviceCheckToken, .attestKeyId, .verifyReceipt,
    .signAPIToken, .signPromotionalOfferV1, .signPromotionalOfferV2, .signIntroductoryOffer,
    .signDeviceCheckToken, .signAppleIDSecret, .sessionIssue, .sessionCheck, .deviceCheckQuery,
    .deviceCheckUpdate, .deviceCheckValidate, .ocsp, .deviceVerify, .attestRefresh,
    .schema, .jwks, .appleIDIdentity, .appleIDNotification, .appleIDExchangeCode,
    .appleIDRevoke,
  ]

  /// The same by name: to make a row for each is slow.
  private static let named: [(name: StaticString, kind: ExchangeKind)] = own.map {
    ($0.name, $0)
  }

  /// nil: there is no such kind.
  init?(_ name: Text) {
    if let found = Self.named.first(where: { name.utf8[...].elementsEqual($0.name) }) {
      self = found.kind
      return
    }
    if let kind = StoreKind.named(name) {
      self = .store(kind)
      return
    }
    guard let endpoint = AppStoreEndpoint.named(name) else { return nil }
    self = .appStore(endpoint)
  }

  var name: StaticString { row.name }

  /// EXC-25: everything about a kind except its code.
  var row: ExchangeRow {
    switch self {
    case .riskAssess: return ExchangeRow("risk.assess", ["observations"])
    case .deviceCheckRead:
      return ExchangeRow("deviceCheck.read", ["call", "status", "body", "offer"])
    case .deviceCheckToken: return ExchangeRow("deviceCheck.token", ["deviceToken"])
    case .attestKeyId: return ExchangeRow("attest.key-id", ["keyId"])
    case .verifyReceipt:
      return ExchangeRow(
        "verifyReceipt", ["receipt", "excludeOldTransactions", "start"], withheld: ["receipt"],
        evidence: 0...1, maxSteps: 8, isRepeatable: true, hints: .verifyReceipt)
    case .signAPIToken, .signPromotionalOfferV1, .signPromotionalOfferV2,
      .signIntroductoryOffer, .signDeviceCheckToken, .signAppleIDSecret:
      return signingRow
    case .sessionIssue:
      return ExchangeRow(
        "session.issue", ["account", "verdict", "risk", "binding", "ttlMs"], evidence: 1...1)
    case .sessionCheck:
      return ExchangeRow("session.check", ["session", "for", "account", "binding"])
    case .deviceCheckQuery:
      return ExchangeRow(
        "deviceCheck.query", ["deviceToken", "transactionId", "offer"],
        withheld: ["deviceToken"], maxSteps: 6)
    case .deviceCheckUpdate:
      return ExchangeRow(
        "deviceCheck.update", ["deviceToken", "transactionId", "bit0", "bit1"],
        withheld: ["deviceToken"], maxSteps: 6)
    case .deviceCheckValidate:
      return ExchangeRow(
        "deviceCheck.validate", ["deviceToken", "transactionId"], withheld: ["deviceToken"],
        maxSteps: 6)
    case .appStore(let endpoint): return endpoint.row
    case .store(let kind): return kind.row
    case .ocsp:
      return ExchangeRow(
        "ocsp", ["mode", "responses"], evidence: 1...1, maxSteps: 2, isRepeatable: true)
    case .schema: return ExchangeRow("schema", ["dialect", "prefix"])
    case .deviceVerify: return ExchangeRow("device.verify", ["deviceId"], evidence: 1...1)
    case .attestRefresh:
      return ExchangeRow(
        "attest.refresh", [], evidence: 1...1, maxSteps: 13, isRepeatable: true,
        hints: .attestReceipt)
    case .jwks, .appleIDIdentity, .appleIDNotification, .appleIDExchangeCode, .appleIDRevoke:
      return tokenRow
    }
  }

  private var tokenRow: ExchangeRow {
    switch self {
    case .appleIDIdentity:
      return ExchangeRow("appleid.identity", ["token", "nonce"], evidence: 1...1)
    case .appleIDNotification:
      return ExchangeRow("appleid.notification", ["payload"], evidence: 1...1)
    case .appleIDExchangeCode:
      return ExchangeRow(
        "appleid.exchange-code", ["code", "clientId", "redirectUri", "nonce"],
        withheld: ["code"], evidence: 0...1, maxSteps: 1)
    case .appleIDRevoke:
      return ExchangeRow(
        "appleid.revoke", ["token", "hint", "clientId"], withheld: ["token"], maxSteps: 5,
        isRepeatable: true)
    default:
      return ExchangeRow(
        "jwks", ["issuer", "state", "wantKid", "keyset"], withheld: ["keyset"], maxSteps: 2,
        isRepeatable: true, hints: .keyset)
    }
  }

  private var signingRow: ExchangeRow {
    switch self {
    case .signPromotionalOfferV1:
      return ExchangeRow(
        "sign.promotional-offer-v1",
        ["bundleId", "productId", "offerId", "applicationUsername", "nonce", "timestamp"])
    case .signPromotionalOfferV2:
      return ExchangeRow(
        "sign.promotional-offer-v2",
        ["bundleId", "productId", "offerIdentifier", "transactionId", "nonce"])
    case .signIntroductoryOffer:
      return ExchangeRow(
        "sign.introductory-offer-eligibility",
        ["bundleId", "productId", "allowIntroductoryOffer", "transactionId", "nonce"])
    case .signDeviceCheckToken: return ExchangeRow("sign.devicecheck-token", [])
    case .signAppleIDSecret: return ExchangeRow("sign.apple-id-secret", ["clientId", "ttlMs"])
    default: return ExchangeRow("sign.api-token", ["bundleId"])
    }
  }

  /// EXC-2: whether a conversation of this kind is about such evidence.
  func takes(_ evidence: VerifiedEvidence) -> Bool {
    if case .store(let kind) = self { return kind.takes(evidence) }
    switch (self, evidence) {
    case (.verifyReceipt, .transactionReceipt), (.verifyReceipt, .appReceipt): return true
    case (.sessionIssue, .attestation), (.sessionIssue, .assertion): return true
    case (.appStore, .storeKit(let payload)): return payload.kind == .transaction
    // Xcode's evidence has no chain to ask about.
    case (.ocsp, .storeKit(let payload)): return !payload.isXcode
    case (.deviceVerify, .storeKit(let payload)): return DeviceProof(payload) != nil
    case (.attestRefresh, .attestReceipt): return true
    case (.attestRefresh, .attestation(let attestation)): return attestation.receipt != nil
    case (.appleIDIdentity, .keyset), (.appleIDNotification, .keyset),
      (.appleIDExchangeCode, .keyset):
      return true
    default: return false
    }
  }
}
