@testable import AssayAuthority
@testable import AssayCases

/// Inputs from which the corpora of receipts grow. Every one is minted.
extension Seeds {
  private static var receipts: ReceiptBench { .shared }

  static func writeReceipts() throws {
    writeTransports()
    writeLists()
    try writeTransactionReceipts()
    try writeAppReceipts()
    writeContainers()
    writeTriage()
    try writeAnswers()
    writeReceiptConfigurations()
  }

  private static var sample: Purchase { receipts.purchase }

  /// A receipt of the case table, taken apart for each target.
  static func writeReceipt(_ kind: ReceiptEvidenceKind, _ sent: [UInt8]) {
    add("transport", [2] + sent.prefix(256))
    let bytes = OtherTransport.base64(sent) ?? sent
    if kind == .transactionReceipt {
      add(
        "transaction-receipt",
        [Selector.byte(mode: 2)]
          + ReceiptBench.marked(bytes, ReceiptTargets.textPieces))
      guard let outer = OtherList(bytes, valueCap: 1 << 16) else {
        add("property-list", [0] + bytes)
        return
      }
      if let blob = outer["signature"].flatMap({ OtherTransport.base64($0) }) {
        add("signature-blob", blob)
      }
      guard let info = outer["purchase-info"].flatMap({ OtherTransport.base64($0) }) else { return }
      add("property-list", [1] + info)
      add("purchase-info", [0] + info)
      for mode in 0..<2 {
        add("transaction-receipt", [Selector.byte(mode: mode)] + info)
      }
      return
    }
    add(
      "app-receipt",
      [Selector.byte(mode: 3)]
        + ReceiptBench.marked(bytes, ReceiptTargets.appPieces))
    guard let payload = OtherMessage(bytes)?.payload else { return }
    add("receipt-attributes", [0] + payload)
    add("app-receipt", [Selector.byte(mode: 0)] + payload)
  }

  private static func writeTransports() {
    let texts = [
      "{\"a\"=\"b\";}", "{}", "eyJh.eyJi.c2ln", "bplist00x", "<?xml version=\"1.0\"?>",
      "com.urus.iap.123456789", "{\"receipt-data\":\"e30=\"}",
    ]
    let blobs: [[UInt8]] =
      texts.map { Array($0.utf8) } + [
        [0x30, 0x80, 0x06, 0x01, 0x2a, 0, 0], [0x30, 0x82, 0x01, 0x00, 0x3f, 0xbf, 0xfb, 0xef],
        [0xa3, 0x63] + Array("fmt".utf8), [0xa2, 0x69] + Array("signature".utf8),
      ]
    for blob in blobs {
      for form in TransportForm.allCases { add("transport", [2] + form.encode(blob)) }
    }
    for text in [
      "", " ", "%2B%3D", "QQ", "QQ=", "QQ==", "Q===", "-_-_", "+/-_", "Q Q = =", "QR==",
    ] {
      add("transport", [0] + text.utf8)
    }
  }

  // MARK: lists

  private static func writeLists() {
    let info = sample.purchaseInfo
    let short = PropertyListText([
      .init("signature", "QUJD"), .init("purchase-info", "e30="), .init("environment", "Sandbox"),
      .init("pod", "100"), .init("signing-status", "0"),
    ])
    for list in [info, short, receipts.production.purchaseInfo] {
      for (_, style) in PropertyListText.Style.all {
        var styled = list
        styled.style = style
        add("property-list", [0] + styled.bytes)
        add("purchase-info", [0] + styled.bytes)
      }
      add("property-list", [1] + list.escaped().bytes)
    }
    for text in [
      "{}", "{a=b;}", "{'a'='b';}", "{\"\"=\"\";}", "{a=1;a=2;}", "{a=\"\\U00e9\\101\\n\\\n\";}",
      "{a=(b);}", "{a=<00>;}", "{a={b=c;};}", "{a;}", "a=b;", "{/**/}", "{//\n}", "{\"a\":1}",
      "{a=b}", "{a=b;} x", "{a=\"\\Ud800\";}", "{a=\"\\0\";}", "{\u{2028}a=b\u{2029};}",
      "{$_/:.-=x;}",
      "{\"\\141\"=x;a=y;}", "<?xml?>", "bplist00", "{a=\u{e9};}", "{a=\"\u{1F600}\u{e9}\";}",
    ] {
      add("property-list", [0] + text.utf8)
    }
    add("property-list", [0] + Array(repeating: Array("{a=".utf8), count: 3).flatMap { $0 })
    for key in [
      "purchase-date", "purchase-date-ms", "purchase-date-pst", "bid", "quantity",
      "transaction-id", "expires-date", "web-order-line-item-id", "is-trial-period",
    ] {
      for value in ["", "0", "1", "true", "100000900000001", "1795219200000"] {
        add("purchase-info", [0] + info.setting(key, value).bytes)
      }
      add("purchase-info", [0] + info.changing(key) { $0.valueQuote = .bare }.bytes)
    }
    for text in [
      "2026-11-21 00:00:00 Etc/GMT", "2024-02-29 23:59:59 America/Los_Angeles",
      "2026-11-21T00:00:00Z", "2026-11-21T00:00:00.5+0100", "2100-02-28T01:02:03.123-08:00", "",
    ] {
      add("purchase-info", [1] + text.utf8)
    }
    for text in [
      "2000000900000001", "180000900000001", "1000000000000", "0", "99999999999999999999",
    ] {
      add("purchase-info", [2] + text.utf8)
    }
    add("signature-blob", [2, 0xff, 0, 0, 0, 0, 2, 0x30, 0])
    add("signature-blob", [3, 0xff, 1, 0, 0, 0, 2, 0x30, 0])
    add("signature-blob", [3, 0xff, 0, 0, 0, 0, 2, 0x30, 0])
    add("signature-blob", [2, 0xff, 0, 0, 0, 0, 1, 0x30, 0])
    add("signature-blob", [4, 1])
    add("signature-blob", [2, 0xff, 0, 0, 0])
  }

  // MARK: receipts

  private static func writeTransactionReceipts() throws {
    let infos: [(Int, [UInt8])] = [
      (0, receipts.oldPurchase.purchaseInfo.bytes), (1, sample.purchaseInfo.bytes),
      (1, receipts.production.purchaseInfo.bytes),
      (1, sample.of("com.example.app.coins100", .consumable).purchaseInfo.bytes),
      (1, ReceiptBench.inProduction(sample.moved(by: -400 * Purchase.day)).purchaseInfo.bytes),
      (1, sample.purchaseInfo.removing("purchase-date-ms").bytes),
      (1, sample.purchaseInfo.setting("bid", "com.example.other").bytes),
      (1, sample.purchaseInfo.setting("product-id", "com.example.app.new").bytes),
      (1, sample.purchaseInfo.setting("transaction-id", "900001").bytes),
    ]
    for (mode, info) in infos {
      for verifier in 0..<8 {
        let route = Route.allCases[verifier % 4]
        add("transaction-receipt", [Selector.byte(verifier, mode: mode, route: route)] + info)
        add("transaction-receipt", [Selector.byte(verifier, mode: mode, lastBit: true)] + info)
      }
    }
    let pieces = ReceiptTargets.textPieces
    for (number, parts) in ReceiptTargets.good.enumerated() {
      let text = ReceiptBench.marked(parts.text, pieces)
      let compact =
        Array("{signature=\"".utf8) + [0xff, UInt8(2 * number)]
        + Array("\";\"purchase-info\"='".utf8) + [0xff, UInt8(2 * number + 1)] + Array("';}".utf8)
      for verifier in [0, 2, 3] {
        add("transaction-receipt", [Selector.byte(verifier, mode: 2)] + text)
        add("transaction-receipt", [Selector.byte(verifier, mode: 2, route: .base64)] + compact)
        add("triage", [Selector.byte(verifier, mode: 0, route: .base64)] + text)
      }
      add(
        "transaction-receipt",
        [Selector.byte(mode: 3)] + ReceiptBench.marked(parts.blob, pieces))
    }
  }

  private static func writeAppReceipts() throws {
    let premium = AppReceiptFacts([sample], like: sample)
    let lists: [AppReceiptFacts] = [
      premium, AppReceiptFacts([receipts.production], like: receipts.production),
      AppReceiptFacts([], like: sample),
      AppReceiptFacts(
        [sample, sample.of("com.example.app.lifetime", .nonConsumable)], like: sample),
      premium.with { $0.bundleId = "com.example.other" },
      premium.with { $0.creationDate = 1_500_000_000_000 },
    ]
    for (number, facts) in lists.enumerated() {
      let payload = AttributeTemplate.set(facts.attributes)
      let brief = AttributeTemplate.set(
        facts.attributes.filter { attribute in
          [0, 1, 2, 4, 5, 12].contains { attribute.isType($0) }
        })
      for bytes in [payload, brief] {
        add("receipt-attributes", [0] + bytes)
        add("receipt-attributes", [3] + bytes)
        for mode in 0..<2 {
          let route = Route.allCases[(number + mode) % 4]
          add("app-receipt", [Selector.byte(number % 6, mode: mode, route: route)] + bytes)
          add("app-receipt", [Selector.byte(0, mode: mode, lastBit: true)] + bytes)
        }
      }
    }
    let xcode = premium.with { $0.type = "Xcode" }
    let payload = AttributeTemplate.set(xcode.xcodeAttributes)
    add("receipt-attributes", [0] + payload)
    for verifier in [0, 6] { add("app-receipt", [Selector.byte(verifier, mode: 2)] + payload) }
    let pieces = ReceiptTargets.appPieces
    for parts in ReceiptTargets.goodApps {
      for verifier in [0, 6] {
        add(
          "app-receipt",
          [Selector.byte(verifier, mode: 3)]
            + ReceiptBench.marked(parts.whole, parts.pieces(in: pieces)))
      }
    }
  }

  // MARK: containers

  private static func writeContainers() {
    let pieces = ContainerTargets.pieces
    func add(_ tree: ASN1Tree) {
      for form in [ASN1Tree.Form.definite, .indefinite(chunk: 1), .indefinite(chunk: 64)] {
        self.add("ber", ReceiptBench.marked(tree.encoded(form), pieces))
      }
    }
    let (certificate, name, rsa) = (pieces[0], pieces[3], pieces[6])
    let (sha256, sha1) = (pieces[4], pieces[5])
    func container(
      _ digest: [UInt8], certificates: Int = 1, signers: Int = 1, extra: [ASN1Tree] = [],
      payload: [UInt8] = [0x31, 0x00]
    ) -> ASN1Tree {
      let signer = ASN1Tree.constructed(
        0x30,
        [
          .raw([2, 1, 1]), .constructed(0x30, [.raw(name), .raw([2, 1, 7])]), .raw(digest),
          .raw(rsa), .octets([1, 2, 3]),
        ])
      return .constructed(
        0x30,
        [
          .raw(pieces[1]),
          .constructed(
            0xa0,
            [
              .constructed(
                0x30,
                [
                  .raw([2, 1, 1]), .constructed(0x31, [.raw(digest)]),
                  .constructed(
                    0x30, [.raw(pieces[2]), .constructed(0xa0, [.octets(payload)])]),
                  .constructed(0xa0, Array(repeating: .raw(certificate), count: certificates)),
                ] + extra
                  + [.constructed(0x31, Array(repeating: signer, count: signers))])
            ]),
        ])
    }
    let brief = AttributeTemplate.set(
      AppReceiptFacts([], like: sample).attributes.filter { attribute in
        [0, 2, 12].contains { attribute.isType($0) }
      })
    add(container(sha256))
    add(container(sha1, certificates: 0, payload: brief))
    add(container(sha1, certificates: 3))
    add(container(sha256, signers: 0))
    add(container(sha256, signers: 2))
    add(container(sha256, extra: [.constructed(0xa1, [.raw([0x30, 0])])]))
    for bytes in [
      [0x30, 0x80, 0x00, 0x00], [0x24, 0x80, 0x04, 0x01, 0x41, 0x00, 0x00], [0x04, 0x80, 0, 0],
      [0x30, 0x81, 0x01, 0x00], [0x1f, 0x01, 0x00], [0x30, 0x00, 0x00],
      [0xa0, 0x80, 0x30, 0x80, 0, 0],
      Array(repeating: [0x30, 0x80] as [UInt8], count: 26).flatMap { $0 },
    ] as [[UInt8]] {
      self.add("ber", bytes)
    }
  }

  // MARK: triage, answers, configurations

  private static func writeTriage() {
    let texts = [
      "com.urus.iap.123456789", "hello world", "{\"pod\"=\"1\";}", "{\"signature\"=\"QQ==\";}",
      "{\"status\":0}", "eyJhbGciOiJFUzI1NiJ9.eyJidW5kbGVJZCI6ImNvbS5leGFtcGxlLmFwcCJ9.AA",
      "bplist00", "<?xml version=\"1.0\"?>", "", " ",
      "{\"receipt-data\":\"e30=\",\"password\":\"x\"}",
    ]
    for (number, text) in texts.enumerated() {
      add("triage", [Selector.byte(number % 8, mode: 0)] + text.utf8)
      add("triage", [Selector.byte(number % 8, mode: 0, route: .base64)] + text.utf8)
    }
    for number in 0..<TriageTargets.pieces.count {
      add("triage", [Selector.byte(number % 8, mode: 0), 0xff, UInt8(number)])
    }
    for text in [
      "{\"a\"=\"bbb\";}", "{a=\"\\101\\101\";}", "0\u{1}0\u{1}00", "((((((", "eyJaaaa.eyJ.aa",
      "com.urus.iap.111111", "{\"a\":[[[[[[1]]]]]]}",
    ] {
      add("triage", [Selector.byte(mode: 1)] + text.utf8)
      add("triage", [Selector.byte(mode: 1, lastBit: true)] + text.utf8)
    }
    let deep: [UInt8] = [0x30, 0x80, 0x30, 0x80, 0x30, 0x80, 0x30, 0x80, 0, 0, 0, 0]
    add("triage", [Selector.byte(mode: 1)] + deep)
    var foreign = sample
    foreign.bundleId = "com.example.other"
    for purchase in [sample, foreign, sample.of("com.example.app.unknown", .consumable)] {
      let list = PropertyListText([
        .init("signature", "QUJD"),
        .init("purchase-info", bytes: Base64Text.encode(purchase.purchaseInfo.bytes)),
        .init("pod", "200"),
      ])
      add("triage", [Selector.byte(mode: 0)] + list.bytes)
      add("triage", [Selector.byte(mode: 0, route: .doubled)] + list.bytes)
    }
  }

  private static func writeAnswers() throws {
    func add(_ template: ReceiptResponseTemplate, latest: UInt8 = 0) {
      var text = template.json.bytes
      if latest != 0 {
        text = text.dropLast() + Array(",\"latest_receipt\":\"".utf8) + [latest] + Array("\"}".utf8)
      }
      for verifier in [0, 1, 2] as [UInt8] { self.add("receipt-response", [verifier] + text) }
    }
    let now = FuzzBench.instant
    let lifetime = sample.of("com.example.app.lifetime", .nonConsumable)
    for purchase in [sample, receipts.production, lifetime] {
      for style in [ReceiptResponseTemplate.Style.ios6, .ios7] {
        add(
          ReceiptResponseTemplate(style, [purchase], requestDate: now),
          latest: style == .ios6 ? 2 : 4)
        add(ReceiptResponseTemplate(style, [purchase], requestDate: now))
        add(
          ReceiptResponseTemplate(style, [purchase], requestDate: now).with { $0.status = 21006 })
      }
    }
    add(
      ReceiptResponseTemplate(
        .ios7,
        [
          sample,
          sample.moved(by: -30 * Purchase.day).with { $0.transactionId = "2000000800000001" },
          lifetime,
        ],
        requestDate: now))
    for status in [
      "21000", "21002", "21004", "21007", "21008", "21010", "21199", "1", "\"0\"", "0",
    ] {
      self.add("receipt-response", [0] + Array("{\"status\":\(status)}".utf8))
      self.add(
        "receipt-response", [1] + Array("{\"status\":\(status),\"is-retryable\":\"1\"}".utf8))
    }
    for text in ["", "[]", "{}", "<html>", "{\"unified_receipt\":{},\"status\":0}"] {
      self.add("receipt-response", [0] + text.utf8)
    }
  }

  private static func writeReceiptConfigurations() {
    let standard = FuzzBench.shared.cases.standardConfig
      .setting("receipts", receipts.authority.configuration)
    let configs: [JSONText] = [
      standard, standard.removing("receipts"), standard.setting("receipts.anchors", []),
      standard.setting([
        ("receipts.v2", "refuse"), ("receipts.lateSigned", "refuse"),
        ("receipts.unknownEnvironment", "allow"), ("receipts.deviceIds", "report"),
        ("receipts.maxAgeMs", 1000),
      ]),
      standard.setting(
        "receipts.sharedSecrets", JSONText.text("{\"*\":\"0123456789abcdef0123456789abcdef\"}")),
      standard.setting(
        "receipts.sharedSecrets",
        JSONText.text("{\"com.example.app\":\"0123456789abcdef0123456789abcde\"}")),
      standard.setting(
        "receipts.caps",
        [
          "inputBytes": 1, "transactionReceiptBytes": 65536, "purchaseInfoBytes": 32768,
          "appReceiptBytes": 4_194_304, "purchases": 32768,
        ]),
      standard.removing("receipts.anchors"),
      standard.setting([
        ("environments", ["Xcode"]),
        ("storekit.xcodeCertificates", [.string(receipts.authority.xcodeFingerprint)]),
      ]),
    ]
    for config in configs {
      add("receipts-config", standIns(config.bytes, TriageTargets.configTexts))
    }
  }
}

extension ReceiptTargets.AppParts {
  /// The numbered pieces without the whole receipts, which would swallow all.
  fileprivate func pieces(in all: [[UInt8]]) -> [[UInt8]] {
    all.map { $0 == whole ? [] : $0 }
  }
}
