/// The main parts of a PKCS#7 receipt.
struct AppReceiptParts {
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
  /// Whether field 6 marks a receipt of App Attest.
  var isAboutKey: Bool {
    attributes.contains {
      $0.type == 6
        && ($0.value.elementsEqual("ATTEST".utf8) || $0.value.elementsEqual("RECEIPT".utf8))
    }
  }
}
