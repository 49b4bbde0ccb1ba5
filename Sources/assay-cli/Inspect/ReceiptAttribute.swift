import AssayAuthority

/// An attribute of an app receipt, unverified.
struct ReceiptAttribute {
  let type: Int64
  let value: ArraySlice<UInt8>

  /// Returns the attributes of a SET at any depth.
  static func all(in set: ArraySlice<UInt8>) -> [ReceiptAttribute] {
    var rest = set
    guard let outer = LooseBER.next(&rest), outer.tag == 0x31 else { return [] }
    return outer.children.compactMap { entry in
      let parts = entry.children
      guard parts.count == 3, let type = parts[0].integer else { return nil }
      return ReceiptAttribute(type: type, value: parts[2].octets[...])
    }
  }

  /// The purchases inside attribute 17.
  var inner: [ReceiptAttribute] { type == 17 ? ReceiptAttribute.all(in: value) : [] }

  func lines(indent: String) -> [String] {
    let name = ReceiptAttribute.names[type].map { " \($0)" } ?? ""
    if type == 17 {
      return [indent + "17\(name)"] + inner.flatMap { $0.lines(indent: indent + "  ") }
    }
    return ["\(indent)\(type)\(name)  \(text)"]
  }

  var json: JSONText {
    var json: JSONText = ["type": .integer(type)]
    if let name = ReceiptAttribute.names[type] { json = json.appending("name", .string(name)) }
    if type == 17 { return json.appending("attributes", .array(inner.map(\.json))) }
    return json.appending("value", .string(text))
  }

  /// The value as text: text and numbers directly, everything else in hexadecimal.
  var text: String {
    var rest = value
    if let inside = LooseBER.next(&rest), rest.isEmpty {
      if inside.tag == 0x0c || inside.tag == 0x16 {
        return String(decoding: inside.content, as: UTF8.self)
      }
      if let number = inside.integer { return String(number) }
    }
    let hex = value.prefix(48).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    return "hex \(hex)" + (value.count > 48 ? "… (\(value.count) octets)" : "")
  }

  private static let names: [Int64: String] = [
    0: "receiptType", 1: "appAppleId", 2: "bundleId", 3: "applicationVersion", 4: "opaqueValue",
    5: "deviceHash", 8: "date", 10: "ageRating", 11: "developerId", 12: "creationDate",
    15: "downloadId", 16: "versionExternalIdentifier", 17: "purchase",
    18: "originalPurchaseDate", 19: "originalApplicationVersion", 21: "expirationDate",
    1701: "quantity", 1702: "productId", 1703: "transactionId", 1704: "purchaseDate",
    1705: "originalTransactionId", 1706: "originalPurchaseDate", 1707: "productType",
    1708: "expiresDate", 1711: "webOrderLineItemId", 1712: "cancellationDate",
    1713: "isTrialPeriod", 1719: "isInIntroOfferPeriod", 1720: "cancellationReason",
    1721: "promotionalOfferId",
  ]
}

extension ReceiptAttribute {
  /// The name and the value of a field of an App Attest receipt.
  var attested: (name: String, value: String) {
    let name = ReceiptAttribute.attestNames[type] ?? "unknown"
    if type == 3 {
      return (name, CertificateSummary(Array(value)).lines(isVerbose: false).first ?? "certificate")
    }
    let isText = value.allSatisfy { $0 >= 0x20 && $0 < 0x7f }
    if isText { return (name, String(decoding: value, as: UTF8.self)) }
    return (name, "hex " + AttestDigest.hex(Array(value.prefix(64))))
  }

  private static let attestNames: [Int64: String] = [
    2: "appId", 3: "attestedKey", 4: "clientHash", 5: "token", 6: "type", 7: "environment",
    12: "createdAt", 17: "risk", 19: "notBefore", 21: "expiresAt",
  ]
}
