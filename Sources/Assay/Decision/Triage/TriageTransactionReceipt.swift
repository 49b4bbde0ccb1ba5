/// Triage of a text that begins with `{`: a transaction receipt, a cracking tool's list, or JSON
/// (TRI-2 … TRI-9).
extension Triage {
  func lookAtList(_ transport: Transport) -> TriageResult {
    let bytes = transport.bytes
    if TriageForms.hasColonAfterFirstName(bytes),
      (try? JSONReader.readObject(bytes, caps: .receiptAnswer)) != nil
    {
      return unsupported(.json, transport)
    }
    guard bytes.count <= configuration.receipts.transactionReceiptBytes else {
      return malformed(
        Refusal(.tooLargeTransactionReceiptOuter, "TRI-4"), .transactionReceipt, transport,
        at: .structure)
    }
    let outer: PropertyList
    do {
      outer = try PropertyList(bytes, limits: configuration.receipts.outerList)
    } catch {
      return malformed(
        error, .transactionReceipt, transport, at: .structure, remains(ofList: bytes))
    }
    let signature = outer.value("signature")
    let info = outer.value("purchase-info")
    guard let signature, let info else {
      if signature == nil, info == nil { return cracker(transport) }
      let fields = info.flatMap { purchaseInfo($0) }
      return incomplete(
        transport, missing: signature == nil ? "signature" : "purchase-info",
        fields.map { TriageClaim(ofIncomplete: $0) })
    }
    return lookAtReceipt(transport, outer, signature, info)
  }

  /// Returns the result for a receipt that lacks one of its two parts (TRI-4), with the content
  /// of the other (TRI-13).
  private func incomplete(
    _ transport: Transport, missing key: StaticString, _ remains: TriageClaim?
  ) -> TriageResult {
    var traits = TriageTraits()
    traits.missing = key.hasSameBytes(as: "signature") ? .signature : .purchaseInfo
    return TriageResult(
      refusal: Refusal(
        .rejectedTriageIncomplete, "TRI-4", at: Text(stringLiteral: key).string),
      category: .unconfirmed, form: .transactionReceipt, disposition: .resend, next: .nothing,
      traits: traits, transport: transport, claim: remains, checks: Checks(entering: .structure))
  }

  /// Collects the traits of a receipt (TRI-5), and applies the rules TRI-6 … TRI-9.
  private func lookAtReceipt(
    _ transport: Transport, _ outer: PropertyList, _ signature: ArraySlice<UInt8>,
    _ info: ArraySlice<UInt8>
  ) -> TriageResult {
    var traits = TriageTraits()
    let canBeSigned = traits.suspect(signature: signature)
    guard let fields = purchaseInfo(info) else {
      traits.format.insert(.purchaseInfo)
      return judge(
        TriageClaim([]), .transactionReceipt, transport, traits: traits, isOurs: nil)
    }
    traits.suspect(fields)
    let environment = readEnvironment(fields, outer, &traits)
    var claim = TriageClaim(fields, environment)
    let isOurs = fields.value(.bid).map { self.isOurs(bundleId: $0) }
    var productIsKnown: Bool? = nil
    if isOurs == true, let productId = fields.text(.productId) {
      let product = configuration.products.product(productId)
      // For an unknown product the client keeps its copy and tries daily (TRI-7). A receipt with
      // text in place of a signature is not worth that: verification refuses it for good.
      productIsKnown = canBeSigned ? product != nil : nil
      claim.addKeys(
        of: TriageClaim.Ids(
          transactionId: claim.transactionId, originalTransactionId: claim.originalTransactionId,
          webOrderLineItemId: fields.webOrderLineItemId, purchaseDate: claim.purchaseDate),
        in: environment, type: product?.type)
    }
    return judge(
      claim, .transactionReceipt, transport, traits: traits, isOurs: isOurs,
      productIsKnown: productIsKnown)
  }

  /// Returns the signed list; `nil` if the text is none, which is a trait, because TRI-4 concerns
  /// only the outer list.
  private func purchaseInfo(_ text: ArraySlice<UInt8>) -> PurchaseInfo? {
    guard let bytes = TolerantBase64.decode(text),
      bytes.count <= configuration.receipts.purchaseInfoBytes,
      let list = try? PropertyList(bytes, limits: .info)
    else { return nil }
    return PurchaseInfo(list)
  }

  /// Returns the environment that the transaction id implies (RCP-27); `nil` if none. The
  /// unsigned outer list only adds traits (RCP-28, TRI-8).
  private func readEnvironment(
    _ fields: PurchaseInfo, _ outer: PropertyList, _ traits: inout TriageTraits
  ) -> Environment? {
    guard let id = fields.value(.transactionId) else { return nil }
    let pod = outer.value("pod")
    if let pod, pod != IdEnvironment.pod(of: id) { traits.flags.insert(.pod) }
    if IdEnvironment.of(id) == .unknown { traits.flags.insert(.idPrefix) }
    let told = ReceiptEnvironment(id: id, environment: outer.value("environment"), pod: pod)
    let policy = told.environment ?? (told.saysSandbox ? .sandbox : nil)
    if let policy, !accepts(policy) { traits.flags.insert(.environment) }
    return told.environment
  }
}

extension TriageClaim {
  init(_ fields: PurchaseInfo, _ environment: Environment?) {
    self.init(fields.list.bytes)
    bundleId = fields.range(.bid)
    productId = fields.range(.productId)
    transactionId = fields.range(.transactionId)
    originalTransactionId = fields.range(.originalTransactionId)
    webOrderLineItemId = fields.range(.webOrderLineItemId)
    purchaseDate = fields.purchaseDateMs.flatMap { TimeWindow.contains($0) ? $0 : nil }
    self.environment = environment
  }
}

extension PurchaseInfo {
  /// Returns the range of a field's value in the list's bytes; `nil` if absent or empty.
  fileprivate func range(_ field: Field) -> Range<Int>? { value(field)?.indices }
}

extension TriageTraits {
  /// Adds the traits of the outer `signature` (RCP-17). Returns `false` if it cannot contain a
  /// signature.
  fileprivate mutating func suspect(signature text: ArraySlice<UInt8>) -> Bool {
    if TriageSignature.isWhole(text) { return true }
    guard let bytes = TolerantBase64.decode(text) else {
      format.insert(.signature)
      return false
    }
    do {
      _ = try SignatureBlob(bytes)
    } catch {
      switch error.status {
      case .unsupportedTransactionReceiptVersion, .rejectedTransactionReceiptSignature:
        flags.insert(.blobVersion)
      default: flags.insert(.blobLayout)
      }
      // A genuine blob begins with a byte that is no text.
      if ASCII.isPrintable(bytes[...]) { flags.insert(.placeholder) }
    }
    return !SignatureBlob.isPlaceholder(bytes)
  }

  /// Adds the traits of the signed fields (RCP-13 … RCP-15).
  fileprivate mutating func suspect(_ fields: PurchaseInfo) {
    for fault in fields.faults {
      switch fault.kind {
      case .missing: missing.insert(TriageKeys(fault.field))
      case .bare: bare.insert(TriageKeys(fault.field))
      case .format, .range: format.insert(TriageKeys(fault.field))
      case .conflict: flags.insert(.dateMismatch)
      }
    }
    if !fields.list.hasAppleLayout { flags.insert(.infoCompact) }
    if fields.list.value("signature") != nil { flags.insert(.nested) }
  }
}
