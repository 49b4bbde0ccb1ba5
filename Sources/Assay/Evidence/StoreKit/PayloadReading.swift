/// Reads the payload of a JWS whose signature has been verified: kind, members, dates, identity
/// (docs/spec/storekit-jws.md §7, §10, §11; docs/spec/storekit-payloads.md).
struct PayloadReading {
  private let trust: StoreKitTrust
  private let kind: StoreKitKind
  private let json: JSON
  private let chain: ProvenChain
  /// The app of the request that Apple's server answered with this JWS; `nil` for other texts
  /// (API-57).
  private let askedApp: Configuration.App?
  private let nowMs: Int64
  private var fields: Fields? = nil
  private var warnings: [Warning] = []
  private(set) var notification: NotificationParts? = nil
  private var nestedDate: Int64? = nil

  init(
    _ trust: StoreKitTrust, _ kind: StoreKitKind, _ json: JSON, _ chain: ProvenChain,
    askedFor askedApp: Configuration.App?, nowMs: Int64
  ) {
    self.trust = trust
    self.kind = kind
    self.json = json
    self.chain = chain
    self.askedApp = askedApp
    self.nowMs = nowMs
  }

  private var isXcode: Bool { chain.profile == .xcode }

  // MARK: kind and members (step 10)

  /// Checks the payload's kind (JWS-75), the types of its members (PAY-4 … PAY-6), and the body
  /// and version of a notification (NTF-1, NTF-2).
  mutating func readKind() throws(Refusal) {
    if let look = PayloadReading.look(json.root) {
      try require(
        look == kind, .rejectedKindMismatch, "JWS-75",
        detail: "expected " + Text(stringLiteral: kind.name).string + ", looks like "
          + Text(stringLiteral: look.name).string)
    }
    let context = Fields.Context(isXcode: isXcode, effectiveDate: dateMember)
    let fields = try Fields(
      json.root, StoreKitMembers.table(kind), context, &warnings)
    self.fields = fields
    if kind == .notification {
      notification = try NotificationParts(fields, context, &warnings)
    }
    if let token = fields.text("appAccountToken"), !token.isUUID {
      warnings.append(Warning("app-account-token-form", at: "appAccountToken"))
    }
  }

  /// Returns the kind that a payload resembles, by members that only one kind has; `nil` if it
  /// has none of them.
  static func look(_ payload: JSONValue) -> StoreKitKind? {
    func has(_ name: StaticString) -> Bool { payload.present(name) != nil }
    if has("notificationType") || has("notificationUUID") { return .notification }
    if has("requestIdentifier") && has("userLocale") { return .realtimeRequest }
    if has("receiptType") { return .appTransaction }
    if has("transactionId") || has("purchaseDate") { return .transaction }
    if has("autoRenewStatus") || has("autoRenewProductId") || has("renewalDate")
      || has("isInBillingRetryPeriod")
    {
      return .renewalInfo
    }
    return nil
  }

  // MARK: dates (step 11)

  private var dateMember: StaticString {
    kind == .appTransaction ? "receiptCreationDate" : "signedDate"
  }

  var isUndated: Bool { fields?[dateMember] == nil }

  /// Takes the date of the nested transaction, or else of the renewal info, for an undated
  /// notification, if the nested JWS has the notification's header (JWS-44).
  mutating func adoptDate(
    from nested: [(place: StaticString, payload: SignedPayload)], header: ArraySlice<UInt8>
  ) {
    for wanted in [StoreKitKind.transaction, .renewalInfo] {
      guard let index = nested.firstIndex(where: { $0.payload.kind == wanted }) else { continue }
      let place = nested[index].place
      let member = notification?.body.nestedPlaces.first { $0.kind == wanted }?.member
      guard let member, place.utf8CodeUnitCount > 0,
        let jws = notification?.fields.text(member)?.utf8,
        jws.count > header.count, jws[header.count] == 0x2e, jws[..<header.count] == header
      else { return }
      nestedDate = nested[index].payload.effectiveDate.milliseconds
      return
    }
  }

  /// Returns the date at which the chain must be valid: a plain integer (JWS-40) within range
  /// (JWS-41) and not ahead of the clock (JWS-42), for undated notifications as configured
  /// (JWS-44). Xcode's dates have fractions (JWS-81).
  func readEffectiveDate() throws(Refusal) -> SignedPayload.EffectiveDate {
    var place: String { Text(stringLiteral: dateMember).string }
    guard let value = fields?[dateMember] else { return try undated() }
    guard let time = isXcode ? value.truncated : value.integer else {
      // A whole number beyond Int64 is a date out of range; a fraction, an exponent or a text
      // does not have the form of a date (JWS-40).
      let isWhole = value.source.allSatisfy { $0 == 0x2d || ($0 >= 0x30 && $0 <= 0x39) }
      guard value.kind == .number, isXcode || isWhole else {
        throw Refusal(.malformedPayloadType, "JWS-40", at: place)
      }
      throw Refusal(.rejectedDateRange, "JWS-41", at: place)
    }
    try require(TimeWindow.contains(time), .rejectedDateRange, "JWS-41", at: place)
    try require(
      time <= nowMs &+ trust.configuration.clockSkewMs, .rejectedDateFuture, "JWS-42", at: place)
    return SignedPayload.EffectiveDate(milliseconds: time, source: dateMember)
  }

  private func undated() throws(Refusal) -> SignedPayload.EffectiveDate {
    var place: String { Text(stringLiteral: dateMember).string }
    guard kind == .notification else { throw Refusal(.rejectedDateMissing, "JWS-44", at: place) }
    guard trust.configuration.storekit.undatedNotificationsNested else {
      return SignedPayload.EffectiveDate(milliseconds: nowMs, source: "now")
    }
    guard let nestedDate else { throw Refusal(.rejectedDateMissing, "JWS-44", at: place) }
    return SignedPayload.EffectiveDate(milliseconds: nestedDate, source: "nested")
  }

  /// Checks that every certificate was valid at that second, both ends included (JWS-43).
  func checkValidity(at date: SignedPayload.EffectiveDate) throws(Refusal) {
    guard !isXcode else { return }
    try chain.validated(chain.intermediates, atSeconds: date.milliseconds / 1000)
  }

  // MARK: identity (step 13)

  private var identityFields: Fields? { notification?.fields ?? fields }

  private var environmentMember: StaticString {
    kind == .appTransaction ? "receiptType" : "environment"
  }

  private var environmentPlace: String {
    place(of: environmentMember)
  }

  private func place(of member: StaticString) -> String {
    let name = Text(stringLiteral: member).string
    guard let body = notification?.body else { return name }
    return Text(stringLiteral: body.name).string + "." + name
  }

  /// Checks that the environment is present (JWS-71), accepted (JWS-70), and fits the signer
  /// (JWS-72).
  mutating func checkEnvironment() throws(Refusal) {
    guard let found = try environment() else {
      throw Refusal(.rejectedEnvironmentMissing, "JWS-71", at: environmentPlace)
    }
    try require(
      trust.configuration.environments.contains(found.environment), .rejectedEnvironmentNotAccepted,
      "JWS-70", at: environmentPlace, hint: found.environment.refusal)
    let isLocal = found.environment == .xcode || found.environment == .localTesting
    try require(
      isLocal == isXcode, .rejectedEnvironmentSignerMismatch, "JWS-72", at: environmentPlace)
    if found.source == .payload, let other = environmentOfId, other != found.environment, !isLocal {
      warnings.append(Warning("environment-id-disagree", at: environmentPlace))
    }
  }

  private func environment() throws(Refusal)
    -> (environment: Environment, source: SignedPayload.Identity.Source)?
  {
    if notification?.body == .externalPurchaseToken {
      let id = identityFields?.text("externalPurchaseId") ?? ""
      let isSandbox = id.utf8.prefix(7).elementsEqual("SANDBOX")
      return (isSandbox ? .sandbox : .production, .payload)
    }
    if let text = identityFields?.text(environmentMember) {
      guard let known = Environment(text) else {
        throw Refusal(.rejectedEnvironmentNotAccepted, "JWS-70", at: environmentPlace)
      }
      return (known, .payload)
    }
    guard trust.configuration.storekit.environmentFromTransactionId, let derived = environmentOfId
    else { return nil }
    return (derived, .transactionId)
  }

  /// The environment that a transaction id without its last 13 digits implies (JWS-71); `nil` if
  /// none.
  private var environmentOfId: Environment? {
    let member: StaticString
    switch kind {
    case .transaction: member = "transactionId"
    case .renewalInfo: member = "originalTransactionId"
    default: return nil
    }
    guard let id = fields?.text(member), id.isDecimal, id.count > 13, id.count <= 16 else {
      return nil
    }
    switch JSONValue.integer(id.utf8.dropLast(13)) {
    case .some(100), .some(200): return .sandbox
    case .some(let shard) where shard >= 1 && shard <= 99: return .production
    default: return nil
    }
  }

  /// Whether the kind has a bundle id: renewal info and realtime requests have none.
  var hasBundle: Bool { kind != .renewalInfo && kind != .realtimeRequest }

  /// Requires the bundle id of a configured app (JWS-73), or its absence where the app is known
  /// from the request (API-57).
  mutating func checkBundle() throws(Refusal) {
    try require(app != nil, .rejectedAppBundleId, "JWS-73", at: place(of: "bundleId"))
    if let assumedApp { try checkAssumed(assumedApp) }
  }

  /// The app of the request, if the payload has no member `bundleId`: with the value null it has
  /// one. A notification has it in its body.
  private var assumedApp: Configuration.App? {
    guard kind == .transaction || kind == .appTransaction,
      json.root.member("bundleId") == nil
    else { return nil }
    return askedApp
  }

  /// Requires a payload without a bundle id to show by its own members what it is: nothing else
  /// distinguishes it from another text that Apple signs with this key (API-58).
  private mutating func checkAssumed(_ app: Configuration.App) throws(Refusal) {
    let ids = kind == .transaction ? SignedPayload.transactionIds : []
    try require(
      ids.allSatisfy { fields?.text($0) != nil }, .rejectedAppBundleId, "API-58", at: "bundleId")
    try require(
      try environment()?.source == .payload, .rejectedAppBundleId, "API-58", at: "bundleId")
    if let id = json.root.present("appAppleId") {
      try require(
        id.integer.map { $0 == app.appAppleId } == true, .rejectedAppAppAppleId, "API-58",
        at: "appAppleId")
    }
    warnings.append(Warning("bundle-absent", at: "bundleId"))
  }

  /// The configured app whose bundle id the evidence has, or that is assumed.
  private var app: Configuration.App? {
    if let assumedApp { return assumedApp }
    guard let bundle = identityFields?.text("bundleId") else { return nil }
    return trust.configuration.apps.first { $0.bundleId == bundle }
  }

  private var appAppleId: Int64? { identityFields?.integer("appAppleId") }

  /// Whether `appAppleId` must be compared (the table of docs/spec/storekit-jws.md §10).
  var demandsApp: Bool {
    guard let environment = try? environment()?.environment else { return false }
    switch kind {
    case .notification, .appTransaction: return environment == .production
    case .realtimeRequest:
      if environment == .production { return true }
      // In Sandbox only if the evidence and every configured app have one to compare.
      return environment == .sandbox && appAppleId != nil
        && trust.configuration.apps.allSatisfy { $0.appAppleId != nil }
    case .transaction, .renewalInfo: return false
    }
  }

  /// Requires the app id of the app with this bundle id; of any configured app if the kind has no
  /// bundle id (JWS-74).
  func checkApp() throws(Refusal) {
    let mine: Bool
    if let appAppleId {
      mine =
        hasBundle
        ? app?.appAppleId == appAppleId
        : trust.configuration.apps.contains { $0.appAppleId == appAppleId }
    } else {
      mine = false
    }
    try require(mine, .rejectedAppAppAppleId, "JWS-74", at: place(of: "appAppleId"))
  }

  func identity() throws(Refusal) -> SignedPayload.Identity {
    guard let found = try environment() else {
      throw Refusal(.rejectedEnvironmentMissing, "JWS-71", at: environmentPlace)
    }
    return SignedPayload.Identity(
      environment: found.environment, environmentSource: found.source,
      bundleId: assumedApp?.bundleId ?? identityFields?.text("bundleId"),
      bundleIdIsAssumed: assumedApp != nil, appAppleId: appAppleId)
  }

  // MARK: the result

  /// Whether the payload contains an account token in UUID form (JWS-90).
  var hasAccount: Bool { fields?.text("appAccountToken")?.isUUID == true }

  func payload(
    source: [UInt8], identity: SignedPayload.Identity, effectiveDate: SignedPayload.EffectiveDate,
    chainIsCached: Bool, notification parts: NotificationParts?
  ) throws(Refusal) -> SignedPayload {
    guard let fields else { throw Refusal(.internalAssayBug, "DOC-1", at: "payload") }
    return SignedPayload(
      kind: kind, source: source, json: json, fields: fields, identity: identity,
      effectiveDate: effectiveDate, chain: chain, chainIsCached: chainIsCached,
      warnings: warnings + (parts?.differences() ?? []), notification: parts)
  }
}
