import AssayAuthority

/// A receipt of any kind, read by lenient readers. Never passed to code that decides.
struct UnverifiedReceipt {
  /// The content as `{"verified":false,"format":…}`.
  let json: JSONText
  let lines: [String]

  /// Reads a receipt with at most two layers of base64; `nil` if the input is not a receipt.
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
      "verified": false, "format": "transaction-receipt", "keys": object(outer),
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

  /// Returns the certificate behind the signature: version 2 uses 1,024 bits, version 3 uses 2,048.
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
        "verified": false, "format": "attest-receipt", "fields": .array(fields),
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
      "verified": false, "format": "app-receipt",
      "attributes": .array(parts.attributes.map(\.json)), "certificates": certificates,
    ]
    return (json, lines + shown + ["signature not checked"])
  }
}
