/// The checks of a transaction receipt, in the order in which they are made
/// (docs/spec/receipts.md §2.9).
enum TransactionReceiptCheck: Int, CheckList {
  case transport, outerList, layout, certificates, shape, chainSignatures, signature, infoList
  case fields, validity, bundle, app, product, environment, freshness

  static let ids: [StaticString] = [
    "transport", "plist.outer", "receipt.layout", "chain.certificates", "chain.shape",
    "chain.signatures", "receipt.signature", "plist.info", "receipt.fields", "chain.validity",
    "identity.bundle", "identity.app", "identity.product", "identity.environment", "freshness",
  ]
}

/// The verification of one transaction receipt (docs/spec/receipts.md §2). The purchase-info is
/// read only after its signature has been verified.
struct TransactionReceiptVerification {
  private let trust: ReceiptTrust
  private let nowMs: Int64
  private let isForAnswer: Bool
  private(set) var checks = Checks<TransactionReceiptCheck>()
  private(set) var budget = SignatureBudget()

  /// - Parameters:
  ///   - nowMs: milliseconds since 1970 UTC, 2008 … 2100.
  ///   - isForAnswer: whether the receipt is answered in Apple's words: neither its product nor its
  ///     age is checked (VRE-16, VRE-19).
  init(_ trust: ReceiptTrust, nowMs: Int64, isForAnswer: Bool = false) {
    self.trust = trust
    self.nowMs = nowMs
    self.isForAnswer = isForAnswer
  }

  /// Runs all checks on a receipt as it was sent: raw, base64 or base64 twice. The first check
  /// that fails determines the refusal.
  mutating func run(_ input: [UInt8]) throws(Refusal) -> TransactionReceipt {
    checks.enter(.transport)
    return try run(try Transport(input, cap: trust.configuration.receipts.inputBytes))
  }

  /// Runs all checks on a receipt that is already decoded.
  mutating func run(_ transport: Transport) throws(Refusal) -> TransactionReceipt {
    checks.enter(.transport)
    // Property lists of other kinds are left to the list's reader, which refuses them by name
    // (RCP-8).
    try transport.demand(.list, orNameBetter: [.xmlPropertyList, .binaryPropertyList])
    checks.enter(.outerList)
    let outer = try OuterList(transport.bytes, trust)
    let blob = try layout(outer)
    let path = try provenPath(blob)
    try verifySignature(blob, outer.purchaseInfo, path)
    let info = try purchaseInfo(outer.purchaseInfo)
    let (chain, signedAfterPurchase) = try validity(info, path)
    let environment = ReceiptEnvironment(
      id: info.value(.transactionId) ?? [], environment: outer.list.value("environment"),
      pod: outer.list.value("pod"))
    let product = try identity(info, environment)
    try freshness(info)
    return TransactionReceipt(
      info, version: blob.version, environment: environment, product: product,
      signedAfterPurchase: signedAfterPurchase, chain: chain, transport: transport,
      deviceIdsReported: trust.configuration.receipts.deviceIdsReported)
  }

  // MARK: outer list and blob

  /// The outer list with its two values decoded (RCP-11).
  private struct OuterList {
    let list: PropertyList
    let signature: [UInt8]
    let purchaseInfo: [UInt8]

    init(_ bytes: [UInt8], _ trust: ReceiptTrust) throws(Refusal) {
      let cap = trust.configuration.receipts.transactionReceiptBytes
      try require(bytes.count <= cap, .tooLargeTransactionReceiptOuter, "RCP-1")
      let list = try PropertyList(bytes, limits: trust.configuration.receipts.outerList)
      guard let signature = list.value("signature") else {
        throw Refusal(.malformedTransactionReceiptOuterMissing, "RCP-11", at: "signature")
      }
      guard let purchaseInfo = list.value("purchase-info") else {
        throw Refusal(.malformedTransactionReceiptOuterMissing, "RCP-11", at: "purchase-info")
      }
      guard let blob = TolerantBase64.decode(signature) else {
        throw Refusal(.malformedTransactionReceiptBase64, "RCP-11", at: "signature")
      }
      guard let info = TolerantBase64.decode(purchaseInfo) else {
        throw Refusal(.malformedTransactionReceiptBase64, "RCP-11", at: "purchase-info")
      }
      try require(
        info.count <= trust.configuration.receipts.purchaseInfoBytes,
        .tooLargeTransactionReceiptInfo, "RCP-1",
        at: "purchase-info")
      self.list = list
      self.signature = blob
      self.purchaseInfo = info
    }
  }

  /// Reads the signature blob (RCP-17); its version may be disabled (RCP-21).
  private mutating func layout(_ outer: OuterList) throws(Refusal) -> SignatureBlob {
    checks.enter(.layout)
    let blob = try SignatureBlob(outer.signature)
    try require(
      !(trust.configuration.receipts.version2Refused && blob.version == .v2),
      .rejectedTransactionReceiptV2Disabled, "RCP-21", at: "signature")
    return blob
  }

  // MARK: path and signature

  /// Verifies the signer's path (RCP-20). The blob's version determines the markers that leaf and
  /// intermediate must have (RCP-22).
  private mutating func provenPath(_ blob: SignatureBlob) throws(Refusal) -> ProvenPath {
    let roots = trust.roots
    let profile: ChainProfile = blob.version == .v2 ? .storeReceipt : .receipt
    let leaf = Array(blob.certificate)
    checks.enter(.certificates)
    if let known = try roots.known(profile, leaf: leaf, embedded: []) {
      checks.enter(.shape)
      checks.enter(.chainSignatures)
      return known
    }
    let path = try roots.open(profile, leaf: leaf, embedded: [])
    checks.enter(.shape)
    let profiled = try path.profiled()
    checks.enter(.chainSignatures)
    return try roots.prove(profiled, &budget)
  }

  /// Verifies the signature over version byte and decoded purchase-info, with SHA-1 in both
  /// versions (RCP-18).
  private mutating func verifySignature(
    _ blob: SignatureBlob, _ info: [UInt8], _ path: ProvenPath
  ) throws(Refusal) {
    checks.enter(.signature)
    var message: [UInt8] = []
    message.reserveCapacity(info.count &+ 1)
    message.append(UInt8(truncatingIfNeeded: blob.version.rawValue))
    message.append(contentsOf: info)
    if budget.check(path.chain.leafKey.verifies(blob.signature, .sha1, message[...])) { return }
    try require(
      !budget.allowsOptionalCheck
        || !budget.check(path.chain.leafKey.verifies(blob.signature, .sha256, message[...])),
      .unsupportedTransactionReceiptDigest, "RCP-19", at: "signature")
    throw Refusal(.rejectedTransactionReceiptSignature, "RCP-18", at: "signature")
  }

  // MARK: signed fields

  private mutating func purchaseInfo(_ bytes: [UInt8]) throws(Refusal) -> PurchaseInfo {
    checks.enter(.infoList)
    let list: PropertyList
    do throws(Refusal) {
      list = try PropertyList(bytes, limits: .info)
    } catch {
      throw error.inside("purchase-info")
    }
    checks.enter(.fields)
    let info = PurchaseInfo(list)
    try info.check()
    return info
  }

  /// Checks the path at the purchase date (RCP-26). If the signer's certificate is newer than the
  /// purchase, the path is checked at the first moment of that certificate (RCP-23).
  private mutating func validity(
    _ info: PurchaseInfo, _ path: ProvenPath
  ) throws(Refusal) -> (chain: ValidPath, signedAfterPurchase: Bool) {
    // All times are within 2008 … 2100: no sum overflows.
    let latest = nowMs &+ Self.bookedAheadMs &+ trust.configuration.clockSkewMs
    checks.enter(.validity)
    guard let purchased = info.purchaseDateMs else {
      throw Refusal(.internalAssayBug, "DOC-1", at: "purchase-date")
    }
    try require(purchased <= latest, .rejectedDateFuture, "RCP-26", at: "purchase-date")
    let begin = path.chain.leaf.notBefore
    guard purchased / 1000 < begin else {
      return (try path.validated(atSeconds: purchased / 1000), false)
    }
    try require(
      !trust.configuration.receipts.signedAfterPurchaseRefused,
      .rejectedTransactionReceiptSignedAfterPurchase, "RCP-23",
      at: "purchase-date")
    return (try path.validated(atSeconds: begin), true)
  }

  /// How far ahead Apple books renewals: 48 hours (RCP-16, RCP-26).
  private static let bookedAheadMs: Int64 = 48 * 3_600_000

  // MARK: identity and age

  /// Checks bundle id (RCP-24), app id (RCP-30), product (RCP-25) and environment (RCP-29).
  private mutating func identity(
    _ info: PurchaseInfo, _ environment: ReceiptEnvironment
  ) throws(Refusal) -> Catalogue.Product? {
    checks.enter(.bundle)
    let bundle = info.value(.bid)
    guard let app = trust.configuration.apps.first(where: { $0.bundleId.utf8[...] == bundle })
    else {
      throw Refusal(.rejectedAppBundleId, "RCP-24", at: "bid")
    }
    if environment.environment == .production, let id = info.value(.appItemId) {
      checks.enter(.app)
      let number = PurchaseInfo.decimal(id)
      try require(
        number != nil && number == app.appAppleId, .rejectedAppAppAppleId, "RCP-30",
        at: "app-item-id")
    } else {
      let isProduction = environment.environment == .production
      checks.skip(.app, isProduction ? .noInput : .doesNotApply)
    }
    checks.enter(.product)
    let id = info.text(.productId)
    let product = id.flatMap { trust.configuration.products.product($0) }
    if product == nil, !isForAnswer {
      throw Refusal(
        .rejectedProductUnknown, "RCP-25", at: "product-id", retryClass: "after-config")
    }
    checks.enter(.environment)
    try TransactionReceiptVerification.check(environment, trust)
    return product
  }

  /// Checks that the environment is accepted (RCP-29). If the signed id implies none, the
  /// unsigned outer value `Sandbox` may only accept the receipt as one of the sandbox: no key and
  /// no decision uses it (RCP-28).
  private static func check(
    _ environment: ReceiptEnvironment, _ trust: ReceiptTrust
  ) throws(Refusal) {
    if let told = environment.environment {
      try require(
        trust.configuration.environments.contains(told), .rejectedEnvironmentNotAccepted, "RCP-29",
        at: "transaction-id", hint: told.refusal)
    } else if environment.saysSandbox {
      try require(
        trust.configuration.environments.contains(.sandbox), .rejectedEnvironmentNotAccepted,
        "RCP-28",
        at: "environment", hint: .ofSandbox)
    } else {
      try require(
        trust.configuration.receipts.unknownEnvironmentAllowed, .rejectedEnvironmentMissing,
        "RCP-29", at: "transaction-id")
    }
  }

  /// Checks the receipt's age if the configuration limits it (RCP-26).
  private mutating func freshness(_ info: PurchaseInfo) throws(Refusal) {
    let limit = isForAnswer ? nil : trust.configuration.receipts.maxAgeMs
    guard checks.enter(.freshness, where: limit != nil, else: .notConfigured), let limit else {
      return
    }
    let age = nowMs &- (info.purchaseDateMs ?? 0)
    try require(age <= limit, .rejectedFreshnessStale, "RCP-26", at: "purchase-date")
  }
}
