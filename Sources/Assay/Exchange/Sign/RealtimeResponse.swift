/// The answer to a realtime request of retention messaging: a message, alone or with one of
/// another product, a promotional offer and an Advanced Commerce request (RTM-6).
struct RealtimeResponse: CallResult {
  /// The JSON that the host returns to Apple.
  private let body: [UInt8]
  private(set) var warnings: [Warning] = []

  private static let message = AppStoreMember("messageIdentifier", .body, .uuid, isRequired: true)
  private static let product = AppStoreMember("alternateProductId", .body, .text(255))
  private static let plan = AppStoreMember(
    "billingPlanType", .body, .name(AppStoreValueSets.billingPlanType))
  private static let signedOffer = AppStoreMember("promotionalOfferSignatureV2", .body, .jws)
  private static let signedOfferV1 = AppStoreMember(
    "promotionalOfferSignatureV1", .body,
    .object(
      AppStoreSchema([
        AppStoreMember("encodedSignature", .body, .text(1024), isRequired: true),
        AppStoreMember("productId", .body, .text(255), isRequired: true),
        AppStoreMember("nonce", .body, .uuid, isRequired: true),
        AppStoreMember("timestamp", .body, .time, isRequired: true),
        AppStoreMember("keyId", .body, .text(64), isRequired: true),
        AppStoreMember("offerIdentifier", .body, .text(255), isRequired: true),
        AppStoreMember("appAccountToken", .body, .uuid),
      ])))
  private static let commerce = AppStoreMember("advancedCommerceRequestData", .body, .jws)

  /// The members that choose what comes with the message; at most one may be present.
  private static let kinds: [StaticString] = [
    product.name, "offerIdentifier", signedOffer.name, signedOfferV1.name, commerce.name,
  ]
  /// The members of an offer that is signed here.
  private static let ofOffer: [StaticString] = ["productId", "transactionId", "nonce", "bundleId"]

  init(_ context: OperationContext) throws(Refusal) {
    let request = context.request
    var found: [Warning] = []
    func read(_ member: AppStoreMember) throws(Refusal) -> [AppStoreMember.Value] {
      try member.values(request[member.name], in: nil, isStrict: false, &found)
    }
    let message = try read(Self.message)
    let (product, plan) = (try read(Self.product), try read(Self.plan))
    let (signed, older) = (try read(Self.signedOffer), try read(Self.signedOfferV1))
    let commerce = try read(Self.commerce)
    try RealtimeResponse.checkTogether(request)

    var writer = JSONWriter()
    func begin(_ kind: StaticString) {
      writer.beginObject()
      writer.name(kind)
      writer.beginObject()
      Self.message.write(message, &writer)
    }
    if let product = product.first {
      begin("alternateProduct")
      writer.member("productId", product.text)
      Self.plan.write(plan, &writer)
    } else if request["offerIdentifier"] != nil {
      let offer = try RealtimeResponse.sign(context, &found)
      begin("promotionalOffer")
      writer.name(Self.signedOffer.name)
      writer.string(utf8: offer.bytes)
    } else if !signed.isEmpty || !older.isEmpty {
      begin("promotionalOffer")
      Self.signedOffer.write(signed, &writer)
      Self.signedOfferV1.write(older, &writer)
    } else if let commerce = commerce.first {
      begin("advancedCommerceInfo")
      writer.name("advancedCommerceData")
      writer.string(utf8: RealtimeResponse.encode(commerce.text))
    } else {
      begin("message")
    }
    writer.endObject()
    writer.endObject()
    body = writer.bytes
    warnings = found
  }

  /// Refuses a second answer, and a member that belongs to an answer that is not asked for.
  private static func checkTogether(_ request: ExchangeRequest) throws(Refusal) {
    func refuse(_ holds: Bool, _ name: StaticString) throws(Refusal) {
      try require(
        holds, .misuseAppStoreParameter, "RTM-6", at: Text(stringLiteral: name).string)
    }
    let given = kinds.filter { request[$0] != nil }
    if let last = given.last { try refuse(given.count == 1, last) }
    try refuse(request[plan.name] == nil || request[product.name] != nil, plan.name)
    for name in ofOffer {
      try refuse(request[name] == nil || request["offerIdentifier"] != nil, name)
    }
  }

  /// Signs an offer for the customer who is about to cancel (RTM-7).
  private static func sign(
    _ context: OperationContext, _ warnings: inout [Warning]
  ) throws(Refusal) -> SecretBytes {
    var asked: SignedPayload? = nil
    if case .storeKit(let payload)? = context.evidence.first { asked = payload }
    let result = try AppStoreSigning(context).promotionalOffer(
      product: asked?.text("productId"), transaction: asked?.text("originalTransactionId"))
    warnings += result.warnings
    guard case .signature(let jws)? = result.members.first?.value else {
      throw Refusal(.internalAssayBug, "EXC-3", at: "jws")
    }
    return jws
  }

  /// Returns the object around an Advanced Commerce request, in standard base64.
  private static func encode(_ jws: Text) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member(commerce.name, jws)
    writer.endObject()
    return Base64.encodeStandard(writer.bytes)
  }

  func write(_ writer: inout JSONWriter) {
    writer.name("body")
    writer.string(utf8: body)
  }
}
