@testable import Assay

/// Unsigned evidence for triage, which checks no signature.
enum TriageFixture {
  static let bundle = "com.example.app"
  static let product = "com.example.app.gold"
  static let subscription = "com.example.app.month"
  static let configuration = read(environments: #"["Production","Sandbox"]"#)
  /// A verifier of production only, which App Review's purchases meet.
  static let productionOnly = read(environments: #"["Production"]"#)

  static func read(environments: String, more: String = "") -> Configuration {
    let text = """
      {"apps":[{"bundleId":"com.example.second","appAppleId":7},
        {"bundleId":"com.example.app","appAppleId":1234567890,"teamId":"ABCDE12345"}],
       "environments":\(environments),"plans":["free","pro"],
       "products":{"com.example.app.gold":{"type":"consumable"},
        "com.example.app.month":{"type":"auto-renewable","plan":"pro"},
        "com.example.app.full":{"type":"non-consumable","plan":"pro"}}\(more)}
      """
    guard let configuration = try? ConfigurationReader.read(utf8(text)) else {
      fatalError("the configuration of the fixture is not usable")
    }
    return configuration
  }

  static func look(_ blob: [UInt8], _ configuration: Configuration = configuration)
    -> TriageResult
  {
    Triage(configuration).look(blob)
  }

  static func look(_ text: String, _ configuration: Configuration = configuration)
    -> TriageResult
  {
    look(utf8(text), configuration)
  }

  static func base64(_ text: String) -> [UInt8] { Base64.encodeStandard(utf8(text)) }

  static func base64(_ bytes: [UInt8]) -> [UInt8] { Base64.encodeStandard(bytes) }

  // MARK: transaction receipts

  /// One transaction receipt, to be changed in one thing.
  struct Receipt {
    /// Key and value as in the signed list, quotation marks included.
    var info: [(key: String, value: String)] = [
      ("original-purchase-date-pst", #""2019-03-04 01:02:03 America/Los_Angeles""#),
      ("quantity", #""1""#), ("bvrs", #""1.0""#),
      ("unique-vendor-identifier", #""11111111-2222-3333-4444-555555555555""#),
      ("purchase-date-ms", #""1551690123000""#),
      ("original-transaction-id", #""410000000000017""#),
      ("transaction-id", #""410000000000042""#), ("item-id", #""1234567""#),
      ("app-item-id", #""1234567890""#), ("web-order-line-item-id", #""410000000000099""#),
      ("product-id", #""com.example.app.gold""#),
      ("purchase-date", #""2019-03-04 09:02:03 Etc/GMT""#),
      ("original-purchase-date", #""2019-03-04 09:02:03 Etc/GMT""#),
      ("bid", #""com.example.app""#),
      ("purchase-date-pst", #""2019-03-04 01:02:03 America/Los_Angeles""#),
      ("original-purchase-date-ms", #""1551690123000""#),
    ]
    var blob: [UInt8] = Receipt.blob(version: 3)
    var outer: [(key: String, value: String)] = [("pod", "41"), ("signing-status", "0")]
    var infoText: String? = nil
    var signature: String? = nil

    /// Returns a signature blob (RCP-17) that states its certificate's length or another one.
    static func blob(version: UInt8, certificate: Int = 900, said: Int? = nil) -> [UInt8] {
      let length = said ?? certificate
      let signature = [UInt8](repeating: 0xab, count: version == 2 ? 128 : 256)
      let head: [UInt8] = [0, 0, UInt8(length >> 8 & 0xff), UInt8(length & 0xff)]
      return [version] + signature + head + [UInt8](repeating: 0x30, count: certificate)
    }

    /// Returns the receipt with one value of the signed list changed, added, or removed by `nil`.
    func setting(_ key: String, _ value: String?) -> Receipt {
      var receipt = self
      let index = info.firstIndex { $0.key == key }
      if let value {
        let quoted = "\"" + value + "\""
        if let index {
          receipt.info[index].value = quoted
        } else {
          receipt.info.append((key, quoted))
        }
      } else if let index {
        receipt.info.remove(at: index)
      }
      return receipt
    }

    func bare(_ key: String, _ value: String) -> Receipt {
      var receipt = setting(key, value)
      if let index = receipt.info.firstIndex(where: { $0.key == key }) {
        receipt.info[index].value = value
      }
      return receipt
    }

    func with(_ change: (inout Receipt) -> Void) -> Receipt {
      var receipt = self
      change(&receipt)
      return receipt
    }

    var signedText: String {
      infoText ?? "{\n" + info.map { "\t\"\($0.key)\" = \($0.value);\n" }.joined() + "}"
    }

    var outerPairs: [(key: String, value: String)] {
      let signature = signature ?? String(decoding: base64(blob), as: UTF8.self)
      return [
        ("signature", signature),
        ("purchase-info", String(decoding: base64(signedText), as: UTF8.self)),
      ] + outer
    }

    /// The text in Apple's format.
    var text: String {
      "{\n" + outerPairs.map { "\t\"\($0.key)\" = \"\($0.value)\";\n" }.joined() + "}"
    }

    /// The text without white space.
    var compact: String {
      "{" + outerPairs.map { "\"\($0.key)\"=\"\($0.value)\";" }.joined() + "}"
    }

    /// The base64 that clients send.
    var blob64: [UInt8] { base64(text) }
  }

  // MARK: JWS

  /// Returns a compact JWS with an invalid signature.
  static func jws(_ payload: String) -> [UInt8] {
    func segment(_ text: String) -> [UInt8] {
      base64(text).compactMap {
        $0 == 0x3d ? nil : $0 == 0x2b ? 0x2d : $0 == 0x2f ? 0x5f : $0
      }
    }
    return segment(#"{"alg":"ES256","x5c":[]}"#) + utf8(".") + segment(payload) + utf8(".")
      + [UInt8](repeating: 0x41, count: 86)
  }

  static let transaction = #"""
    {"bundleId":"com.example.app","productId":"com.example.app.month",
    "transactionId":"2000000000000042","originalTransactionId":"2000000000000017",
    "webOrderLineItemId":"2000000000000099","purchaseDate":1551690123000,
    "type":"Auto-Renewable Subscription","environment":"Sandbox"}
    """#

  // MARK: containers

  /// Returns one definite DER element.
  static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    var length: [UInt8] = []
    var rest = content.count
    while rest > 0 {
      length.insert(UInt8(rest & 0xff), at: 0)
      rest >>= 8
    }
    if content.count < 0x80 { return [tag, UInt8(content.count)] + content }
    return [tag, 0x80 | UInt8(length.count)] + length + content
  }

  static func integer(_ value: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = value
    repeat {
      bytes.insert(UInt8(rest & 0xff), at: 0)
      rest >>= 8
    } while rest > 0
    if bytes[0] >= 0x80 { bytes.insert(0, at: 0) }
    return element(0x02, bytes)
  }

  static func attribute(_ type: Int, _ value: [UInt8]) -> [UInt8] {
    element(0x30, integer(type) + integer(1) + element(0x04, value))
  }

  static func text(_ type: Int, _ value: String) -> [UInt8] {
    attribute(type, element(0x0c, utf8(value)))
  }

  static func date(_ type: Int, _ value: String) -> [UInt8] {
    attribute(type, element(0x16, utf8(value)))
  }

  /// Returns a container with the attributes, without certificate and signer; an unknown attribute
  /// fills it to a length that receipts have.
  static func container(_ attributes: [[UInt8]]) -> [UInt8] {
    let filling = attribute(9999, [UInt8](repeating: 0, count: 256))
    let payload = element(0x31, attributes.flatMap { $0 } + filling)
    let signedData: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02]
    let data: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01]
    let content = element(
      0x30, element(0x06, data) + element(0xa0, element(0x04, payload)))
    let inner = element(0x30, integer(1) + element(0x31, []) + content + element(0x31, []))
    return element(0x30, element(0x06, signedData) + element(0xa0, inner))
  }

  struct AppPurchase {
    var product = TriageFixture.product
    var id = "2000000000000042"
    var originalId = "2000000000000017"
    /// Attribute 1707: 1 is a consumable, 3 an auto-renewable subscription.
    var type = 1
    var webOrderLineItemId = 0

    var attribute: [UInt8] {
      TriageFixture.attribute(
        17,
        element(
          0x31,
          text(1702, product) + text(1703, id) + date(1704, "2019-03-04T09:02:03Z")
            + text(1705, originalId) + TriageFixture.attribute(1707, integer(type))
            + TriageFixture.attribute(1711, integer(webOrderLineItemId))))
    }
  }

  static func appReceipt(
    type: String = "ProductionSandbox", bundle: String? = bundle,
    creation: String? = "2020-01-02T03:04:05Z", _ purchases: [AppPurchase] = [AppPurchase()]
  ) -> [UInt8] {
    var attributes = [text(0, type)]
    if let bundle { attributes.append(text(2, bundle)) }
    if let creation { attributes.append(date(12, creation)) }
    return container(attributes + purchases.map { $0.attribute })
  }

  static func attestReceipt(
    appId: String? = "ABCDE12345.com.example.app", type: String = "RECEIPT"
  ) -> [UInt8] {
    var attributes = [attribute(3, [1, 2, 3]), attribute(6, utf8(type))]
    if let appId { attributes.append(attribute(2, utf8(appId))) }
    attributes.append(attribute(12, utf8("2020-01-02T03:04:05Z")))
    return container(attributes)
  }
}

extension TriageResult {
  var status: String { "\(refusal.status.name)" }

  /// The names of the anomalies that the document lists.
  var traitNames: [String] {
    var writer = JSONWriter()
    traits.write(&writer)
    let list = try? JSONReader.readValue(writer.bytes).root
    return list?.children.compactMap { $0.text?.string } ?? []
  }

  func claimed(_ range: Range<Int>?) -> String? { claim?.text(range)?.string }

  var keys: [String] { claim?.keys.map { $0.string } ?? [] }
}
