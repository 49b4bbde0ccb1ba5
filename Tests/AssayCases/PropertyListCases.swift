import AssayAuthority

extension CaseFixture {
  /// Adds the two property lists of a transaction receipt (RCP-6 … RCP-11).
  func addPropertyListCases() throws {
    try addListStyles()
    try addListEncoding()
    try addListSyntax()
    try addListConstructs()
    try addListLimits()
    try addOuterKeys()
  }

  /// Adds one broken list, as the outer one and as the signed one.
  private func lists(
    _ rule: String, _ name: String, _ status: String,
    _ change: @escaping @Sendable ([UInt8]) -> [UInt8]
  ) throws {
    let good = try receipts.transactionTemplate(purchase).signed()
    receipt(
      rule, "\(name), outside", Base64Text.encode(change(good)), status, check: "plist.outer")
    try transactionReceipt(rule, "\(name), inside", status, check: "plist.info") {
      $0.infoBytes = change($0.info.bytes)
    }
  }

  /// Adds styles of property lists (RCP-6).
  private func addListStyles() throws {
    for (name, style) in PropertyListText.Style.all {
      try transactionReceipt("RCP-6", "\(name) outside") {
        $0.outer = { PropertyListText($0.entries, style: style) }
      }
      try transactionReceipt("RCP-6", "\(name) inside") { $0.info.style = style }
    }
    try transactionReceipt("RCP-6", "keys in reverse order outside") {
      $0.outer = { PropertyListText($0.entries.reversed()) }
    }
    try transactionReceipt("RCP-6", "keys in reverse order inside") {
      $0.info.entries.reverse()
    }
    try transactionReceipt("RCP-6", "bare words outside") {
      $0.outer = { list in
        list.changing("pod") {
          $0.keyQuote = .bare
          $0.valueQuote = .bare
        }
      }
    }
    try purchaseInfo("RCP-6", "bare words inside") { list in
      list.changing("bid") {
        $0.keyQuote = .bare
        $0.valueQuote = .bare
      }
    }
    let escapes: [(String, String, String)] = [
      ("\\U", "com.example.app.premium.monthly", "\\U0063om.example.app.premium.monthly"),
      ("octal", "com.example.app.premium.monthly", "\\143om.example.app.premium.monthly"),
      ("short octal", "1.4.2 ", "1.4.2\\40"),
      ("quotes", "a\"b'c\\d", "a\\\"b\\'c\\\\d"),
      (
        "control", "\u{7}\u{8}\t\n\u{b}\u{c}\r",
        "\\a\\b\\t\\n\\v\\f\\r"
      ),
    ]
    for (name, plain, escaped) in escapes {
      let key = plain.hasPrefix("com") ? "product-id" : "bvrs"
      let member = key == "bvrs" ? "bundleVersion" : "productId"
      try purchaseInfo("RCP-6", "\(name) escapes inside", facts: [("\(member)", .text(plain))]) {
        $0.setting(key, escaped)
      }
    }
    try transactionReceipt("RCP-6", "every octet of a value escaped outside") {
      $0.outer = { list in list.changing("pod") { $0.value = Array("\\062\\060\\060".utf8) } }
    }
    try purchaseInfo("RCP-6", "text that is not ASCII", facts: [("bundleVersion", "1.0 – élan")]) {
      $0.setting("bvrs", "1.0 – élan")
    }
  }

  /// Adds text encodings (RCP-6).
  private func addListEncoding() throws {
    let broken: [(String, [UInt8])] = [
      ("a byte that is no UTF-8", [0xff]), ("an overlong sequence", [0xc0, 0xaf]),
      ("a surrogate in UTF-8", [0xed, 0xa0, 0x80]), ("a NUL", [0]),
      ("half a sequence", [0xe2, 0x80]),
      ("an escaped surrogate", Array("\\Ud800".utf8)),
      ("an escaped NUL", Array("\\U0000".utf8)),
    ]
    for (name, value) in broken {
      try transactionReceipt(
        "RCP-6", "\(name) outside", "malformed.plist.encoding", check: "plist.outer"
      ) { $0.outer = { $0.changing("pod") { $0.value = value } } }
      try purchaseInfo("RCP-6", "\(name) inside", "malformed.plist.encoding", check: "plist.info") {
        $0.changing("bvrs") { $0.value = value }
      }
    }
  }

  /// Adds faults of syntax (RCP-7).
  private func addListSyntax() throws {
    let status = "malformed.plist.syntax"
    try lists("RCP-7", "no semicolon after the last pair", status) { bytes in
      guard let last = bytes.lastIndex(of: 0x3b) else { return bytes }
      return Array(bytes[..<last]) + bytes[(last + 1)...]
    }
    try lists("RCP-7", "a word after the list", status) { $0 + Array(" x".utf8) }
    try lists("RCP-7", "a second list after it", status) { $0 + Array("{}".utf8) }
    try lists("RCP-7", "a second closing brace", status) { $0 + [0x7d] }
    try lists("RCP-7", "no closing brace", status) { Array($0.dropLast()) }
    try lists("RCP-7", "cut in the middle", status) { Array($0.prefix($0.count / 2)) }
    try lists("RCP-7", "an opening brace alone", status) { Array($0.prefix(1)) }
    try lists("RCP-7", "two semicolons", status) { bytes in
      guard let first = bytes.firstIndex(of: 0x3b) else { return bytes }
      return Array(bytes[...first]) + bytes[first...]
    }
    try lists("RCP-7", "an unknown escape", status) { bytes in
      PropertyListCasesText.appending("\"x\" = \"\\q\";", to: bytes)
    }
    try lists("RCP-7", "an octal escape past 127", status) { bytes in
      PropertyListCasesText.appending("\"x\" = \"\\200\";", to: bytes)
    }
    try lists("RCP-7", "a short \\U escape", status) { bytes in
      PropertyListCasesText.appending("\"x\" = \"\\U12\";", to: bytes)
    }
  }

  /// Adds comments, data and other constructs (RCP-8, RCP-9).
  private func addListConstructs() throws {
    let pairs: [(String, String)] = [
      ("a line comment", "// note\n"), ("a comment", "/* note */"),
      ("an array", "\"x\" = (\"a\", \"b\");"), ("data", "\"x\" = <0fbd>;"),
      ("a colon for the equals sign", "\"x\" : \"y\";"),
      ("a nested list", "\"x\" = { \"a\" = \"b\"; };"), ("a key without a value", "\"x\";"),
    ]
    for (name, text) in pairs {
      try lists("RCP-8", name, "malformed.plist.construct") { bytes in
        PropertyListCasesText.appending(text, to: bytes)
      }
    }
    let json = Array("{\"signature\":\"AA==\",\"purchase-info\":\"AA==\"}".utf8)
    receipt(
      "RCP-8", "JSON, outside", Base64Text.encode(json), "malformed.plist.construct",
      check: "plist.outer")
    let whole: [(String, String)] = [
      ("JSON", "{\"bid\":\"com.example.app\"}"), ("an XML list", "<?xml version=\"1.0\"?><plist/>"),
      ("a list without braces", "\"bid\" = \"com.example.app\";"),
      ("a binary list", "bplist00"),
    ]
    for (name, text) in whole {
      try transactionReceipt(
        "RCP-8", "\(name), inside", "malformed.plist.construct", check: "plist.info"
      ) { $0.infoBytes = Array(text.utf8) }
    }
    for key in ["pod", "signature"] {
      try transactionReceipt(
        "RCP-9", "\(key) twice", "malformed.plist.duplicate-key", check: "plist.outer"
      ) {
        $0.outer = {
          PropertyListText($0.entries + $0.entries.filter { $0.key == Array(key.utf8) })
        }
      }
    }
    try purchaseInfo(
      "RCP-9", "the product id twice", "malformed.plist.duplicate-key", check: "plist.info"
    ) { $0.appending("product-id", "com.example.app.lifetime") }
    try purchaseInfo(
      "RCP-9", "an unknown key twice, once escaped", "malformed.plist.duplicate-key",
      check: "plist.info"
    ) { $0.appending("x", "1").appending("\\U0078", "1") }
    try purchaseInfo("RCP-9", "two keys that differ in case") {
      $0.appending("Product-Id", "com.example.app.lifetime")
    }
  }

  /// Adds lists at and beyond their caps (docs/spec/receipts.md, section 1).
  private func addListLimits() throws {
    @Sendable func many(_ list: PropertyListText, _ total: Int) -> PropertyListText {
      var copy = list
      while copy.entries.count < total { copy = copy.appending("x\(copy.entries.count)", "1") }
      return copy
    }
    let entry = "too-large.plist.entry"
    for (count, status) in [(64, "ok"), (65, entry)] {
      try transactionReceipt(
        "RCP-10", "\(count) keys outside", status, check: status == "ok" ? nil : "plist.outer"
      ) { $0.outer = { many($0, count) } }
      try purchaseInfo(
        "RCP-10", "\(count) keys inside", status, check: status == "ok" ? nil : "plist.info"
      ) { many($0, count) }
    }
    for (length, status) in [(64, "ok"), (65, entry)] {
      let key = String(repeating: "k", count: length)
      try transactionReceipt("RCP-10", "a key of \(length) bytes outside", status) {
        $0.outer = { $0.appending(key, "1") }
      }
      try purchaseInfo("RCP-10", "a key of \(length) bytes inside", status) {
        $0.appending(key, "1")
      }
    }
    for (length, status) in [(12_288, "ok"), (12_289, entry)] {
      try transactionReceipt("RCP-10", "a value of \(length) bytes outside", status) {
        $0.outer = { $0.appending("x", String(repeating: "v", count: length)) }
      }
    }
    for (length, status) in [(4096, "ok"), (4097, entry)] {
      try purchaseInfo("RCP-10", "a value of \(length) bytes inside", status) {
        $0.appending("x", String(repeating: "v", count: length))
      }
    }
    let outer = try receipts.transactionTemplate(purchase).signed()
    for (length, status) in [(16_384, "ok"), (16_385, "too-large.transaction-receipt.outer")] {
      receipt(
        "RCP-10", "a receipt of \(length) bytes",
        Base64Text.encode(outer + Array(repeating: 0x20, count: length - outer.count)), status)
    }
    let inner = purchase.purchaseInfo.bytes
    for (length, status) in [(8192, "ok"), (8193, "too-large.transaction-receipt.info")] {
      try transactionReceipt("RCP-10", "a purchase-info of \(length) bytes", status) {
        $0.infoBytes = inner + Array(repeating: 0x20, count: length - inner.count)
      }
    }
    try transactionReceipt(
      "RCP-10", "a receipt past a lower cap", verifier: "small-receipt",
      "too-large.transaction-receipt.outer")
    try transactionReceipt(
      "RCP-10", "a purchase-info past a lower cap", verifier: "small-info",
      "too-large.transaction-receipt.info")
    try transactionReceipt(
      "RCP-10", "a signature past its cap", "too-large.transaction-receipt.signature"
    ) {
      $0.blob = .trailing(Array(repeating: 0, count: 3000))
    }
  }

  /// Adds missing and undecodable members of the outer list (RCP-11).
  private func addOuterKeys() throws {
    for key in ["signature", "purchase-info"] {
      try transactionReceipt("RCP-11", "no \(key)", "malformed.transaction-receipt.outer-missing") {
        $0.outer = { $0.removing(key) }
      }
      try transactionReceipt(
        "RCP-11", "a renamed \(key)", "malformed.transaction-receipt.outer-missing"
      ) {
        $0.outer = { $0.changing(key) { $0.key = $0.key.map { $0 ^ 0x20 } } }
      }
      for (name, text) in [
        ("that is no base64", "not base64!"), ("of five characters", "AAAAA"),
        ("with padding in the middle", "AA==AAAA"),
      ] {
        try transactionReceipt("RCP-11", "a \(key) \(name)", "malformed.transaction-receipt.base64")
        {
          $0.outer = { $0.setting(key, text) }
        }
      }
      try transactionReceipt("RCP-11", "a wrapped \(key)") {
        $0.outer = { list in
          list.changing(key) {
            $0.value = $0.value.enumerated().flatMap { place, character in
              place > 0 && place % 64 == 0 ? [0x0d, 0x0a, character] : [character]
            }
          }
        }
      }
      try transactionReceipt("RCP-11", "a \(key) in the URL alphabet without padding") {
        $0.outer = { list in
          list.changing(key) { entry in
            entry.value = entry.value.filter { $0 != 0x3d }.map {
              $0 == 0x2b ? 0x2d : $0 == 0x2f ? 0x5f : $0
            }
          }
        }
      }
    }
    try transactionReceipt("RCP-11", "further keys, and pid for pod") {
      $0.outer = { $0.removing("pod").appending("pid", "200").appending("note", "hello") }
    }
    try transactionReceipt("RCP-11", "the two keys alone") {
      $0.outer = { $0.removing("pod").removing("environment").removing("signing-status") }
    }
  }
}

/// Inserts text into a list that is already written.
enum PropertyListCasesText {
  /// Returns the list with `text` before its closing brace.
  static func appending(_ text: String, to bytes: [UInt8]) -> [UInt8] {
    guard let brace = bytes.lastIndex(of: 0x7d) else { return bytes }
    return Array(bytes[..<brace]) + Array(text.utf8) + bytes[brace...]
  }
}
