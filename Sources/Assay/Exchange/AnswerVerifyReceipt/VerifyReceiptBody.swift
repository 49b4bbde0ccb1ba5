/// The request body of Apple's verifyReceipt endpoint, as an old back end sends it (VRE-10 …
/// VRE-12).
struct VerifyReceiptBody {
  /// The longest body that Apple reads, in bytes.
  static let byteCap = 3_145_728

  /// The receipt, decoded.
  let transport: Transport
  /// `nil` if the body has no password.
  let password: SecretBytes?
  let excludesOldTransactions: Bool

  /// - Parameters:
  ///   - isTolerant: whether the receipt may be encoded in any form that RCP-1 … RCP-4 allow.
  ///   - cap: the longest receipt text that is read, in bytes.
  /// - Throws: `too-large.verify-receipt.request`, `malformed.verify-receipt.request`,
  ///   `rejected.kind.mismatch`, and what `Transport` throws.
  init(_ body: [UInt8], isTolerant: Bool, cap: Int) throws(Refusal) {
    try require(
      body.count <= VerifyReceiptBody.byteCap, .tooLargeVerifyReceiptRequest, "VRE-10", at: "body")
    let root = try VerifyReceiptBody.object(body)
    guard let data = root.member("receipt-data")?.text, !data.isEmpty else {
      throw VerifyReceiptBody.malformed("receipt-data")
    }
    // Clients without a secret send null.
    if let value = root.present("password") {
      guard let text = value.text else { throw VerifyReceiptBody.malformed("password") }
      password = SecretBytes(text.utf8)
    } else {
      password = nil
    }
    if let value = root.present("exclude-old-transactions") {
      guard let flag = ResponseValue.flag(value) else {
        throw VerifyReceiptBody.malformed("exclude-old-transactions")
      }
      excludesOldTransactions = flag
    } else {
      excludesOldTransactions = false
    }
    if !isTolerant {
      guard data.count <= cap, let read = Transport(asApple: data.utf8) else {
        throw Refusal(.malformedVerifyReceiptRequest, "VRE-12", at: "receipt-data")
      }
      transport = read
    } else {
      do throws(Refusal) {
        transport = try Transport(data.utf8, cap: cap)
      } catch {
        throw error.inside("receipt-data")
      }
    }
    try require(
      transport.form == .list || transport.form == .container, .rejectedKindMismatch, "VRE-14",
      at: "receipt-data",
      detail: "expected a receipt of purchases, looks like "
        + Text(stringLiteral: transport.form.name).string)
  }

  /// Reads the body as a JSON object, as strictly as an answer of Apple's (VRR-15): of two members
  /// with one name, two readers could take different ones.
  private static func object(_ body: [UInt8]) throws(Refusal) -> JSONValue {
    do {
      return try JSONReader.readObject(body, caps: .receiptAnswer).root
    } catch {
      throw malformed("byte " + String(error.offset))
    }
  }

  private static func malformed(_ place: String) -> Refusal {
    Refusal(.malformedVerifyReceiptRequest, "VRE-11", at: place)
  }
}
