import AssayAuthority

/// The options for minting receipts and verifyReceipt responses.
struct ReceiptOptions: ParsableArguments {
  @Option(
    help: "Version of a transaction receipt's signature, 2 or 3.", completion: .values(["2", "3"]))
  var receiptVersion = 3

  @Option(help: "Purchases in an app receipt or an answer: this one and the periods before.")
  var purchases = 1

  @Option(
    help: """
      How the client sends a receipt: \
      \(TransportForm.allCases.map(\.rawValue).joined(separator: ", ")).
      """, completion: .values(TransportForm.allCases.map(\.rawValue)))
  var transport = "base64"

  @Option(help: "Vendor id or address of the device of an app receipt, in hexadecimal.")
  var device: String?

  @Option(
    help: "Style of a verifyReceipt answer, ios6 or ios7.", completion: .values(["ios6", "ios7"]))
  var responseStyle = "ios7"

  @Option(help: "Status of a verifyReceipt answer, like 21006.")
  var appleStatus: Int64 = 0

  func validate() throws {
    guard receiptVersion == 2 || receiptVersion == 3 else {
      throw UsageFault("--receipt-version is 2 or 3")
    }
    guard (1...8192).contains(purchases) else {
      throw UsageFault("--purchases \(purchases): give 1 to 8192")
    }
    guard TransportForm(rawValue: transport) != nil else {
      throw UsageFault("--transport \(transport) does not exist")
    }
    guard appleStatus == 0 || (21_000...21_199).contains(appleStatus) else {
      throw UsageFault("--apple-status \(appleStatus): give 0 or 21000 to 21199")
    }
    if let device {
      let count = (try? Input.octets(device, option: "--device"))??.count
      guard count == 16 || count == 6 else {
        throw UsageFault(
          "--device \(device): give the 16 octets of a vendor id or the 6 of an address, in "
            + "hexadecimal")
      }
    }
    guard ReceiptResponseTemplate.Style(rawValue: responseStyle) != nil else {
      throw UsageFault("--response-style is ios6 or ios7")
    }
  }

  func transactionReceipt(
    _ purchase: Purchase, _ authority: ReceiptAuthority
  ) throws -> [UInt8] {
    let template = try authority.transactionTemplate(purchase, version: UInt8(receiptVersion))
    return form.encode(try template.signed())
  }

  func appReceipt(
    _ purchase: Purchase, _ authority: ReceiptAuthority, isXcode: Bool
  ) throws -> [UInt8] {
    var facts = AppReceiptFacts(periods(of: purchase), like: purchase)
    if let device = try Input.octets(device, option: "--device") { facts.device = device }
    let template = try isXcode ? authority.xcodeTemplate(facts) : authority.appTemplate(facts)
    return form.encode(try template.signed())
  }

  /// Returns a verifyReceipt response as JSON.
  func answer(
    _ purchase: Purchase, _ authority: ReceiptAuthority, now: Int64
  ) throws -> [UInt8] {
    try authority.answer(
      ReceiptResponseTemplate.Style(rawValue: responseStyle) ?? .ios7, periods(of: purchase),
      status: appleStatus, requestDate: now)
  }

  private var form: TransportForm { TransportForm(rawValue: transport) ?? .base64 }

  /// Returns the purchase and the requested number of earlier ones, the newest first.
  private func periods(of purchase: Purchase) -> [Purchase] {
    (0..<purchases).map { place in
      place == 0 ? purchase : purchase.earlier(by: Int64(place))
    }
  }
}

extension Purchase {
  /// Returns the period of the same subscription that is this many periods earlier, under its own
  /// transaction id.
  fileprivate func earlier(by periods: Int64) -> Purchase {
    var earlier = moved(by: -30 * Purchase.day * periods)
    earlier.signedDate = signedDate
    earlier.originalPurchaseDate = originalPurchaseDate
    earlier.transactionId = Purchase.less(transactionId, by: periods)
    earlier.webOrderLineItemId = webOrderLineItemId.map { Purchase.less($0, by: periods) }
    earlier.revocationDate = nil
    return earlier
  }

  private static func less(_ id: String, by difference: Int64) -> String {
    Int64(id).map { String(max(1, $0 - difference)) } ?? id
  }
}
