import Testing

@testable import Assay

private typealias Fixture = TriageFixture
private typealias Receipt = TriageFixture.Receipt

@Suite("Triage: traits of transaction receipts")
struct TriageTraitsTests {
  /// Receipts that differ from a good one in one thing, with the anomalies that triage reports.
  static let odd: [(traits: [String], receipt: TriageFixture.Receipt)] = {
    let good = Receipt()
    var list: [(traits: [String], receipt: Receipt)] = []
    for key in [
      "bid", "product-id", "quantity", "transaction-id", "original-transaction-id", "purchase-date",
    ] {
      list.append((["missing:" + key], good.setting(key, nil)))
      list.append((["missing:" + key], good.setting(key, "")))
    }
    func add(_ traits: [String], _ receipt: Receipt) { list.append((traits, receipt)) }
    add(["bare:quantity", "info-compact"], good.bare("quantity", "1"))
    add(["bare:bid", "info-compact"], good.bare("bid", "com.example.app"))
    add(["info-compact"], good.bare("some-other-key", "1"))
    add(["format:quantity"], good.setting("quantity", "0"))
    add(["format:quantity"], good.setting("quantity", "one"))
    add(["format:transaction-id", "pod", "id-prefix"], good.setting("transaction-id", "x"))
    add(
      ["format:original-transaction-id"],
      good.setting("original-transaction-id", "041000000000001"))
    add(["format:item-id"], good.setting("item-id", "a"))
    add(["format:purchase-date-ms"], good.setting("purchase-date-ms", "1551690123"))
    add(["format:purchase-date-pst"], good.setting("purchase-date-pst", "yesterday"))
    add(
      ["format:purchase-date"],
      good.setting("purchase-date", "2019-02-30 09:02:03 Etc/GMT"))
    add(
      ["format:purchase-date"],
      good.setting("purchase-date", "1999-03-04 09:02:03 Etc/GMT")
        .setting("purchase-date-ms", nil).setting("purchase-date-pst", nil))
    add(["format:is-trial-period"], good.setting("is-trial-period", "1"))
    add(["date-mismatch"], good.setting("purchase-date-ms", "1551690124000"))
    add(
      ["date-mismatch"],
      good.setting("purchase-date-pst", "2019-03-04 03:02:03 America/Los_Angeles"))
    add(
      ["date-mismatch"],
      good.setting("expires-date", "1554368523000")
        .setting("expires-date-formatted", "2019-04-04 09:02:04 Etc/GMT"))
    add(["info-compact"], good.with { $0.infoText = Receipt.saved(good) })
    add(["info-compact"], good.with { $0.infoText = good.signedText + "\n" })
    add(["blob-version"], good.with { $0.blob[0] = 1 })
    add(["blob-version"], good.with { $0.blob[0] = 4 })
    add(["blob-layout"], good.with { $0.blob[0] = 2 })
    add(["blob-layout"], good.with { $0.blob = Receipt.blob(version: 3, said: 901) })
    add(["blob-layout"], good.with { $0.blob = Receipt.blob(version: 3, said: 899) })
    add(["blob-layout"], good.with { $0.blob = Receipt.blob(version: 3, certificate: 4000) })
    add(["blob-layout"], good.with { $0.blob = Array($0.blob.prefix(200)) })
    add(["blob-layout"], good.with { $0.blob = [3] })
    add(["blob-layout"], good.with { $0.blob = [] })
    add(["blob-version", "placeholder"], good.with { $0.blob = utf8("this is no signature") })
    add(["blob-version"], good.with { $0.blob = utf8("this is no signature\u{1}") })
    add(["format:signature"], good.with { $0.signature = "%%%" })
    add(["format:signature"], good.with { $0.signature = "AwAAB" })
    add(["nested"], good.setting("signature", "Ap"))
    add(["pod"], good.with { $0.outer = [("pod", "42")] })
    add(["pod"], good.with { $0.outer = [("pod", "041")] })
    add(
      ["id-prefix"],
      good.setting("transaction-id", "9990000000000042").with { $0.outer = [] })
    add(["format:purchase-info"], good.with { $0.infoText = "" })
    add(["format:purchase-info"], good.with { $0.infoText = "hello" })
    add(["format:purchase-info"], good.with { $0.infoText = "{\"bid\" = \"a\"" })
    add(["format:purchase-info"], good.with { $0.infoText = #"{"bid":"com.example.app"}"# })
    add(
      ["format:purchase-info"],
      good.with { $0.infoText = good.signedText + String(repeating: " ", count: 8192) })
    return list
  }()

  @Test("TRI-5 TRI-9 a trait makes a receipt unconfirmed and refuses nothing", arguments: odd)
  func trait(_ traits: [String], _ receipt: TriageFixture.Receipt) {
    let result = Fixture.look(receipt.blob64)
    checkEqual(result.traitNames, traits)
    checkEqual(result.category, .unconfirmed)
    checkEqual(result.status, "pending.triage.verify-next")
    checkEqual(result.disposition, .keep)
    checkEqual(result.next, (result.keys.isEmpty ? .verify : .lookup))
  }

  @Test("TRI-5 traits are collected of foreign receipts too")
  func foreignTraits() {
    let receipt = Receipt().setting("bid", "com.foreign").setting("quantity", "0")
    let result = Fixture.look(receipt.blob64)
    checkEqual(result.category, .foreign)
    checkEqual(result.traitNames, ["format:quantity"])
  }

  @Test("TRI-5 the trait of a bid of 256 bytes, and the claim it makes")
  func longBundle() {
    let long = String(repeating: "b", count: 256)
    let result = Fixture.look(Receipt().setting("bid", long).blob64)
    checkEqual(result.traitNames, ["format:bid"])
    checkEqual(result.category, .foreign)
  }

  @Test("RCP-17 the layout of wrapped and url-safe signatures is read all the same")
  func unusualSignature() {
    let plain = String(decoding: Fixture.base64(Receipt().blob), as: UTF8.self)
    let wrapped = Receipt().with { $0.signature = plain.prefix(40) + "\n" + plain.dropFirst(40) }
    checkEqual(Fixture.look(wrapped.blob64).category, .candidate)
    let unpadded = Receipt().with { $0.signature = plain.filter { $0 != "=" } }
    checkEqual(Fixture.look(unpadded.blob64).category, .candidate)
  }

  @Test("RCP-17 every padding, and every unused bit, of a signature")
  func paddings() {
    for certificate in 900...905 {
      let good = Receipt().with { $0.blob = Receipt.blob(version: 3, certificate: certificate) }
      checkEqual(Fixture.look(good.blob64).traitNames, [])
      var text = Array(Fixture.base64(good.blob))
      guard let last = text.lastIndex(where: { $0 != 0x3d }), last < text.count - 1 else {
        continue
      }
      for more in ["=", "=="] {
        let padded = good.with {
          $0.signature = String(decoding: Fixture.base64(good.blob), as: UTF8.self) + more
        }
        checkEqual(Fixture.look(padded.blob64).traitNames, ["format:signature"])
      }
      text[last] += 1
      let spoilt = good.with { $0.signature = String(decoding: text, as: UTF8.self) }
      checkEqual(Fixture.look(spoilt.blob64).traitNames, ["format:signature"])
    }
  }

  @Test("RCP-17 a stranger at any place of the signature is seen")
  func strangers() {
    let text = Array(Fixture.base64(Receipt().blob))
    for place in stride(from: 0, to: text.count, by: 7) {
      for stranger in utf8("-!=\u{7f}~") {
        var spoilt = text
        spoilt[place] = stranger
        let receipt = Receipt().with { $0.signature = String(decoding: spoilt, as: UTF8.self) }
        checkEqual(
          Fixture.look(receipt.blob64).traitNames.contains("format:signature"),
          (TolerantBase64.decode(spoilt[...]) == nil), "place \(place), \(stranger)")
      }
    }
  }
}

extension TriageFixture.Receipt {
  /// Returns the signed list without the white space that Apple writes.
  fileprivate static func saved(_ receipt: TriageFixture.Receipt) -> String {
    "{" + receipt.info.map { "\"\($0.key)\"=\($0.value);" }.joined() + "}"
  }
}
