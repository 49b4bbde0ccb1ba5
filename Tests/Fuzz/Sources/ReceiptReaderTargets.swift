import CReference

@testable import Assay
@testable import AssayAuthority

/// Targets for the readers of a transaction receipt, each compared with another reader of the same
/// bytes.
enum ReceiptReaderTargets {
  // MARK: transport

  /// Reads any bytes as a client might send them. The lowest bit of the first byte selects a small
  /// cap.
  static func transport(_ input: [UInt8]) {
    guard let selector = input.first else { return }
    let text = Array(input.dropFirst())
    let cap = selector & 1 == 0 ? 1 << 20 : 48
    demand(TolerantBase64.decode(text[...]) == OtherTransport.base64(text), "base64 differs")
    do throws(Refusal) {
      let found = try Transport(text, cap: cap)
      demand(text.count <= cap, "passed the cap")
      OtherTransport.check(found, text)
    } catch {
      OtherTransport.check(error, text, cap: cap)
    }
    if selector & 2 != 0 { OtherTransport.checkRoundTrip(text) }
  }

  // MARK: lists

  /// Reads any bytes as a list. The lowest bit of the first byte selects the limits.
  static func propertyList(_ input: [UInt8]) {
    guard let selector = input.first else { return }
    let limits: PropertyList.Limits = selector & 1 == 0 ? .outer : .info
    let text = Array(input.dropFirst())
    let other = OtherList(text, valueCap: limits.valueBytes)
    do throws(Refusal) {
      let list = try PropertyList(text, limits: limits)
      guard let other else { fatalError("the other reader accepts no such list") }
      demand(other.holds(list), "the entries differ")
      checkAccess(list, other)
      checkWrittenAnew(list, limits)
    } catch {
      demand(other == nil, "the other reader accepts the list: \(error.status.name)")
      checkPlace(error, text.count)
    }
  }

  private static func checkAccess(_ list: PropertyList, _ other: OtherList) {
    for (key, name) in [("bid", "bid"), ("signature", "signature"), ("a", "a"), ("", "")]
      as [(StaticString, String)]
    {
      let wanted = other.pairs.first { $0.key == Array(name.utf8) }
      demand(list.value(key).map { Array($0) } == wanted?.value, "value of \(name)")
      demand(list.entry(key).map { $0.isBare } == wanted?.isBare, "entry of \(name)")
    }
  }

  /// Checks that a list in Apple's layout is read as the same list.
  private static func checkWrittenAnew(_ list: PropertyList, _ limits: PropertyList.Limits) {
    var text = PropertyListText([])
    var isPlain = true
    for entry in list.entries {
      let key = escaped(entry.key)
      let value = escaped(entry.value)
      isPlain = isPlain && key.count == entry.key.count && value.count == entry.value.count
      var written = PropertyListText.Entry("", bytes: value)
      written.key = key
      text.entries.append(written)
    }
    guard let again = try? PropertyList(text.bytes, limits: limits) else {
      fatalError("a written list is refused")
    }
    demand(again.hasAppleLayout == isPlain, "the layout of a written list")
    demand(
      again.entries.map { [Array($0.key), Array($0.value)] }
        == list.entries.map { [Array($0.key), Array($0.value)] }, "a list changes")
  }

  private static func escaped(_ text: ArraySlice<UInt8>) -> [UInt8] {
    text.flatMap { byte -> [UInt8] in
      switch byte {
      case 0x22, 0x5c: [0x5c, byte]
      case 1...0x1f: [0x5c, 0x30, 0x30 + (byte >> 3 & 7), 0x30 + (byte & 7)]
      default: [byte]
      }
    }
  }

  /// Checks that an offset such as "byte 12" is in the text, or at its end.
  static func checkPlace(_ refusal: Refusal, _ count: Int) {
    let offset = refusal.place.hasPrefix("byte ") ? Int(refusal.place.dropFirst(5)) : nil
    demand(offset.map { $0 >= 0 && $0 <= count } == true, "refused at \(refusal.place)")
  }

  // MARK: the signed fields

  /// Reads what the first byte selects: a list of signed fields, a date text, a date of an app
  /// receipt, a transaction id.
  static func purchaseInfo(_ input: [UInt8]) {
    guard let selector = input.first else { return }
    let text = Array(input.dropFirst())
    switch selector & 7 {
    case 1: checkDates(text)
    case 2: checkId(text)
    default:
      guard let list = try? PropertyList(text, limits: .info),
        let other = OtherList(text, valueCap: 4096)
      else { return }
      OtherInfo(other).check(PurchaseInfo(list))
    }
  }

  private static func checkDates(_ text: [UInt8]) {
    typealias Reader = Assay.ReceiptDateText
    for (zone, name) in [(Reader.utc, "Etc/GMT"), (Reader.pacific, "America/Los_Angeles")] {
      let other = reference_zone_date(text, text.count, name)
      demand(Reader.seconds(text[...], zone: zone) ?? .min == other, "a date differs")
    }
    demand(
      AppReceiptDate.milliseconds(text[...]) ?? .min == reference_iso_date(text, text.count),
      "a date of an app receipt differs")
  }

  /// Checks an id = pod × 10^13 + n (RCP-27).
  private static func checkId(_ text: [UInt8]) {
    guard let id = UInt64(String(decoding: text, as: UTF8.self)), text.first != 0x30,
      text.first != 0x2b
    else { return }
    let wanted: IdEnvironment =
      switch id / 10_000_000_000_000 {
      case 100, 200: .sandbox
      case 1...99: .production
      default: .unknown
      }
    demand(IdEnvironment.of(text[...]) == wanted, "an id tells something else")
  }

  // MARK: the signature blob

  static func signatureBlob(_ input: [UInt8]) {
    // Runs of zeros replace a signature, which no rule reads here.
    let bytes = ReceiptFixture.assemble(
      input[...], [[UInt8](repeating: 0, count: 128), [UInt8](repeating: 0, count: 256)])
    let size = bytes.first == 2 ? 128 : bytes.first == 3 ? 256 : nil
    var certificate: [UInt8]? = nil
    if let size, bytes.count >= 5 + size {
      let count = bytes[(1 + size)..<(5 + size)].reduce(0) { $0 * 256 + Int($1) }
      if bytes.count == 5 + size + count { certificate = Array(bytes.suffix(count)) }
    }
    do throws(Refusal) {
      let blob = try SignatureBlob(bytes)
      demand(bytes.count <= 4096, "passed the cap")
      demand(Array(blob.certificate) == certificate, "the certificate differs")
      demand(Array(blob.signature) == Array(bytes.dropFirst().prefix(size ?? 0)), "the signature")
      demand(blob.version.rawValue == Int64(bytes.first ?? 0), "the version differs")
    } catch {
      demand(certificate == nil || bytes.count > 4096, "refused a blob of good lengths")
      if error.status == .rejectedTransactionReceiptSignature {
        // Text, or too few bytes, in place of a blob of a known version (RCP-18).
        demand(size == nil && error.place == "signature", "a blob taken for a placeholder")
      } else if bytes.count <= 4096 {
        checkPlace(error, bytes.count)
      }
    }
  }
}

/// A list as the reference reader reads it; `nil` if the reader refuses it.
struct OtherList {
  let pairs: [(key: [UInt8], value: [UInt8], isBare: Bool)]

  init?(_ text: [UInt8], valueCap: Int) {
    guard !text.contains(0), String(validating: text, as: UTF8.self) != nil else { return nil }
    var out = [UInt8](repeating: 0, count: text.count + 1)
    var found = [reference_pair](
      repeating: reference_pair(), count: REFERENCE_PAIRS)
    let count = reference_list(text, text.count, valueCap, &out, &found)
    guard count >= 0 else { return nil }
    pairs = found.prefix(Int(count)).map { pair in
      (
        Array(out[pair.key..<pair.key + pair.key_length]),
        Array(out[pair.value..<pair.value + pair.value_length]), pair.is_bare != 0
      )
    }
  }

  func holds(_ list: PropertyList) -> Bool {
    list.count == pairs.count
      && zip(list.entries, pairs).allSatisfy { mine, other in
        mine.key.elementsEqual(other.key) && mine.value.elementsEqual(other.value)
          && mine.isBare == other.isBare
      }
  }

  /// Returns the value of a key; `nil` if it is absent or empty.
  subscript(_ key: String) -> [UInt8]? {
    let found = pairs.first { $0.key == Array(key.utf8) }?.value
    return found?.isEmpty == false ? found : nil
  }
}

/// A second implementation of RCP-13 … RCP-15, on texts.
struct OtherInfo {
  private let list: OtherList

  init(_ list: OtherList) { self.list = list }

  func check(_ info: PurchaseInfo) {
    var status = "ok"
    do throws(Refusal) { try info.check() } catch { status = "\(error.status.name)" }
    demand(status == self.status, "\(status), not \(self.status)")
    for field in PurchaseInfo.Field.allCases {
      demand(info.value(field).map { Array($0) } == list["\(field.name)"], "\(field.name)")
    }
    guard status == "ok" else { return }
    demand(info.purchaseDateMs == milliseconds("purchase-date-ms", "purchase-date"), "date")
    demand(
      info.originalPurchaseDateMs
        == milliseconds("original-purchase-date-ms", "original-purchase-date"), "original date")
    demand(info.expiresDateMs == milliseconds("expires-date", "expires-date-formatted"), "end")
    demand(info.quantity == list["quantity"].flatMap { number($0) }, "quantity")
  }

  private var status: String {
    let required = [
      "bid", "product-id", "quantity", "transaction-id", "original-transaction-id",
      "purchase-date",
    ]
    if required.contains(where: { list[$0] == nil }) {
      return "malformed.transaction-receipt.field-missing"
    }
    if !formatsHold { return "malformed.transaction-receipt.field-format" }
    let moments = OtherInfo.moments
    for names in moments {
      for date in [list[names.ms].flatMap { number($0) }, seconds(names.utc).map { $0 * 1000 }] {
        guard let date else { continue }
        if date < 1_199_145_600_000 || date >= 4_102_444_800_000 { return "rejected.date.range" }
      }
    }
    return moments.allSatisfy(agree) ? "ok" : "rejected.transaction-receipt.field-conflict"
  }

  static let moments: [(ms: String, utc: String, pst: String)] = [
    ("purchase-date-ms", "purchase-date", "purchase-date-pst"),
    ("original-purchase-date-ms", "original-purchase-date", "original-purchase-date-pst"),
    ("expires-date", "expires-date-formatted", "expires-date-formatted-pst"),
  ]

  private var formatsHold: Bool {
    let ids = ["transaction-id", "original-transaction-id"]
    let numbers = [
      "item-id", "app-item-id", "version-external-identifier",
      "web-order-line-item-id",
    ]
    return ["bid", "product-id"].allSatisfy { (list[$0]?.count ?? 0) <= 255 }
      && (ids + numbers).allSatisfy { list[$0].map { isDigits($0, 1...20) } ?? true }
      && ids.allSatisfy { list[$0]?.first != 0x30 || list[$0]?.count == 1 }
      && list["quantity"].map { isDigits($0, 1...9) && number($0) != 0 } == true
      && ["is-trial-period", "is-in-intro-offer-period"].allSatisfy {
        list[$0].map { ["true", "false"].contains(String(decoding: $0, as: UTF8.self)) } ?? true
      }
      && OtherInfo.moments.allSatisfy { names in
        (list[names.ms].map { isDigits($0, 12...13) } ?? true)
          && (list[names.utc] == nil || seconds(names.utc) != nil)
          && (list[names.pst] == nil || seconds(names.pst, "America/Los_Angeles") != nil)
      }
  }

  private func agree(_ names: (ms: String, utc: String, pst: String)) -> Bool {
    let exact = list[names.ms].flatMap { number($0) }.map { $0 / 1000 }
    let utc = seconds(names.utc)
    if let exact, let utc, exact != utc { return false }
    guard let pacific = seconds(names.pst, "America/Los_Angeles"), let instant = utc ?? exact
    else { return true }
    return [7 * 3600, 8 * 3600].contains(instant - pacific)
  }

  private func milliseconds(_ ms: String, _ utc: String) -> Int64? {
    list[ms].flatMap { number($0) } ?? seconds(utc).map { $0 * 1000 }
  }

  private func seconds(_ name: String, _ zone: String = "Etc/GMT") -> Int64? {
    guard let text = list[name] else { return nil }
    let found = reference_zone_date(text, text.count, zone)
    return found == .min ? nil : found
  }

  private func isDigits(_ text: [UInt8], _ counts: ClosedRange<Int>) -> Bool {
    counts.contains(text.count) && text.allSatisfy { (0x30...0x39).contains($0) }
  }

  private func number(_ text: [UInt8]) -> Int64? {
    text.first == 0x2b || text.first == 0x2d ? nil : Int64(String(decoding: text, as: UTF8.self))
  }
}
