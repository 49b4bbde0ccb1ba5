import AssayAuthority

/// A receipt of any kind taken apart by lenient readers. Never given to
/// anything that decides.
struct UnverifiedReceipt {
  /// `{"verified":false,"form":…}`.
  let json: JSONText
  let lines: [String]

  /// nil when the text is not a receipt, with or without one or two layers of base64.
  init?(_ text: [UInt8], isVerbose: Bool) {
    var bytes = text
    for _ in 0...2 {
      if let list = LoosePropertyList(bytes) {
        (json, lines) = UnverifiedReceipt.transactionReceipt(list, isVerbose)
        return
      }
      if bytes.first == 0x30, let parts = AppReceiptParts(bytes) {
        (json, lines) =
          parts.isAboutKey
          ? UnverifiedReceipt.attestReceipt(parts, isVerbose)
          : UnverifiedReceipt.appReceipt(parts, isVerbose)
        return
      }
      let compact = bytes.filter { $0 != 0x20 && $0 != 0x09 }
      guard let decoded = Base64Text.decodeLeniently(compact), !decoded.isEmpty else {
        return nil
      }
      bytes = decoded
    }
    return nil
  }

  // MARK: transaction receipts

  private static func transactionReceipt(
    _ list: LoosePropertyList, _ isVerbose: Bool
  ) -> (JSONText, [String]) {
    let outer = list.entries.filter { $0.key != "signature" && $0.key != "purchase-info" }
    let info = list.value("purchase-info").flatMap(Base64Text.decodeLeniently)
      .flatMap(LoosePropertyList.init)
    let signature = list.value("signature").flatMap(Base64Text.decodeLeniently)
    var lines = ["transaction receipt"] + shown(outer)
    lines += ["purchase-info"] + (info.map { shown($0.entries) } ?? ["  cannot be read"])
    if let place = list.brokenAt { lines.append("cannot be read from octet \(place)") }
    var json: JSONText = [
      "verified": false, "form": "transaction-receipt", "keys": object(outer),
      "purchaseInfo": info.map { object($0.entries) } ?? .null,
    ]
    if let signature {
      let certificate = leaf(of: signature)
      lines.append("signature of \(signature.count) octets, not checked")
      lines.append("  version  \(signature.first.map(String.init) ?? "none")")
      lines += certificate.lines(isVerbose: isVerbose).map { "  " + $0 }
      json = json.appending(
        "signature",
        [
          "octets": .integer(Int64(signature.count)),
          "version": signature.first.map { .integer(Int64($0)) } ?? .null,
          "certificate": certificate.json,
        ])
    } else {
      lines.append("no signature")
      json = json.appending("signature", .null)
    }
    return (json, lines)
  }

  /// The certificate behind the signature: version 2 is made with 1,024 bits,
  /// version 3 with 2,048.
  private static func leaf(of blob: [UInt8]) -> CertificateSummary {
    let start = 1 + (blob.first == 2 ? 128 : 256) + 4
    return CertificateSummary(Array(blob.dropFirst(start)))
  }

  private static func shown(_ entries: [(key: String, value: [UInt8])]) -> [String] {
    entries.map { entry in
      let text = String(decoding: entry.value, as: UTF8.self)
      let isTime = entry.key.hasSuffix("-ms") || entry.key == "expires-date"
      let date = isTime ? Int64(text).map { DocumentView.date($0) } : nil
      return "  \(entry.key)  \(text)\(date ?? "")"
    }
  }

  private static func object(_ entries: [(key: String, value: [UInt8])]) -> JSONText {
    .object(
      entries.map {
        JSONText.Member($0.key, .string(String(decoding: $0.value, as: UTF8.self)))
      })
  }

  // MARK: App Attest receipts

  private static func attestReceipt(
    _ parts: AppReceiptParts, _ isVerbose: Bool
  ) -> (JSONText, [String]) {
    var lines = ["App Attest receipt"]
    var fields: [JSONText] = []
    for field in parts.attributes {
      let (name, text) = field.attested
      lines.append("  \(field.type) \(name)  \(text)")
      fields.append([
        "type": .integer(field.type), "name": .string(name), "value": .string(text),
      ])
    }
    let (json, shown) = certificates(parts, isVerbose)
    return (
      [
        "verified": false, "form": "attest-receipt", "fields": .array(fields),
        "certificates": json,
      ], lines + shown + ["signature not checked"]
    )
  }

  private static func certificates(
    _ parts: AppReceiptParts, _ isVerbose: Bool
  ) -> (JSONText, [String]) {
    let certificates = parts.certificates.map { CertificateSummary($0) }
    let lines = certificates.enumerated().flatMap { place, certificate in
      ["certificates[\(place)]"] + certificate.lines(isVerbose: isVerbose).map { "  " + $0 }
    }
    return (.array(certificates.map(\.json)), lines)
  }

  // MARK: app receipts

  private static func appReceipt(
    _ parts: AppReceiptParts, _ isVerbose: Bool
  ) -> (JSONText, [String]) {
    let lines = ["app receipt"] + parts.attributes.flatMap { $0.lines(indent: "  ") }
    let (certificates, shown) = certificates(parts, isVerbose)
    let json: JSONText = [
      "verified": false, "form": "app-receipt",
      "attributes": .array(parts.attributes.map(\.json)), "certificates": certificates,
    ]
    return (json, lines + shown + ["signature not checked"])
  }
}

/// The parts of a PKCS#7 receipt that are worth looking at.
private struct AppReceiptParts {
  var attributes: [ReceiptAttribute] = []
  var certificates: [[UInt8]] = []

  private static let signedData: [UInt8] = [
    0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02,
  ]

  init?(_ bytes: [UInt8]) {
    var rest = bytes[...]
    guard let outer = LooseBER.next(&rest)?.children, outer.count == 2,
      outer[0].content.elementsEqual(AppReceiptParts.signedData),
      let body = outer[1].children.first?.children, body.count > 3
    else { return nil }
    let content = body[2].children
    if content.count > 1, let octets = content[1].children.first?.octets {
      attributes = ReceiptAttribute.all(in: octets[...])
    }
    if let bag = body.dropFirst(3).first(where: { $0.tag == 0xa0 }) {
      var rest = bag.content
      while certificates.count < 8 {
        let start = rest
        guard LooseBER.next(&rest) != nil else { break }
        certificates.append(Array(start[start.startIndex..<rest.startIndex]))
      }
    }
  }
}

extension AppReceiptParts {
  /// Whether field 6 says that this is a receipt of App Attest.
  var isAboutKey: Bool {
    attributes.contains {
      $0.type == 6
        && ($0.value.elementsEqual("ATTEST".utf8) || $0.value.elementsEqual("RECEIPT".utf8))
    }
  }
}

extension ReceiptAttribute {
  /// Name and value of a field of an App Attest receipt.
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

/// One attribute of an app receipt as it claims to be.
private struct ReceiptAttribute {
  let type: Int64
  let value: ArraySlice<UInt8>

  /// The attributes of a SET, however deep.
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
  private var inner: [ReceiptAttribute] { type == 17 ? ReceiptAttribute.all(in: value) : [] }

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

  /// Text and numbers as such, everything else in hexadecimal.
  private var text: String {
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
