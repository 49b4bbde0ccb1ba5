import Testing

@testable import Assay

@Suite(
  "Triage: public test data", .enabled(if: Vectors.arePresent, Vectors.absent))
struct TriageVectorsTests {
  private struct Case {
    let name: String
    let entry: JSONValue
    let blob: [UInt8]

    func member(_ name: StaticString) -> JSONValue? {
      entry.at("config")?.member(name)
    }

    /// Returns a configuration that accepts this evidence as its own.
    func configuration(bundle: String? = nil) throws -> Configuration {
      let bundles = bundle.map { [$0] } ?? entry.at("config")?.texts("bundle_ids") ?? []
      let apps = bundles.map { #"{"bundleId":"\#($0)","appAppleId":1}"# }
      let products = (entry.at("config")?.texts("product_ids") ?? []).map {
        #""\#($0)":{"type":"consumable"}"#
      }
      let xcode = name.hasPrefix("xcode")
      let environments = xcode ? #"["Sandbox"]"# : #"["Production","Sandbox"]"#
      return try ConfigurationReader.read(
        utf8(
          #"{"apps":[\#(apps.joined(separator: ","))],"environments":\#(environments),"#
            + #""products":{\#(products.joined(separator: ","))}}"#))
    }
  }

  private static func cases(_ kinds: [String]) throws -> [Case] {
    let manifest = try require(Vectors.json("receipts/manifest.json", for: "triage"))
    let all = manifest.children.compactMap { entry -> Case? in
      guard kinds.contains(entry.string("kind")),
        let blob = Vectors.file("vectors/receipts/" + entry.string("file"))
      else { return nil }
      return Case(name: entry.string("name"), entry: entry, blob: blob)
    }
    try require(!all.isEmpty)
    return all
  }

  @Test("TRI-9 genuine transaction receipts are candidates, and TRI-6 foreign to others")
  func transactionReceipts() throws {
    for one in try Self.cases(["transaction-receipt"]) where !one.name.hasPrefix("cracker") {
      let result = TriageFixture.look(one.blob, try one.configuration())
      checkEqual(result.form, .transactionReceipt, "\(one.name)")
      checkEqual(result.status, "pending.triage.verify-next", "\(one.name)")
      checkEqual(result.disposition, .keep, "\(one.name)")
      if one.entry.member("genuine")?.boolean == true {
        checkEqual(result.traitNames, [], "\(one.name)")
        checkEqual(result.category, .candidate, "\(one.name)")
        checkEqual(result.keys.count, 1, "\(one.name)")
      }
      let foreign = TriageFixture.look(one.blob, try one.configuration(bundle: "com.none"))
      checkEqual(foreign.status, "rejected.triage.foreign-bundle", "\(one.name)")
    }
  }

  @Test("TRI-5 what the derived receipts show")
  func derived() throws {
    let expected: [String: [String]] = [
      "derived-compact-outer": [], "derived-version-1": ["blob-version"],
      "derived-cert-length-overrun": ["blob-layout"],
    ]
    var seen = 0
    for one in try Self.cases(["transaction-receipt"]) {
      guard let traits = expected[one.name] else { continue }
      seen += 1
      let result = TriageFixture.look(one.blob, try one.configuration())
      checkEqual(result.traitNames, traits, "\(one.name)")
    }
    checkEqual(seen, expected.count)
  }

  @Test("TRI-2 the texts of a cracking program")
  func crackers() throws {
    var seen = 0
    for name in ["cracker-01", "cracker-02"] {
      guard let blob = Vectors.file("receipts/" + name + ".b64", for: "triage") else { continue }
      seen += 1
      let result = TriageFixture.look(blob)
      checkEqual(result.category, .cracker)
      checkEqual(result.disposition, .drop)
    }
    checkEqual(seen, 2)
  }

  @Test("TRI-9 app receipts are candidates, of Xcode unconfirmed, and foreign to others")
  func appReceipts() throws {
    for one in try Self.cases(["app-receipt"]) {
      let result = TriageFixture.look(one.blob, try one.configuration())
      checkEqual(result.form, .appReceipt, "\(one.name)")
      check(result.disposition != .drop || one.name.hasPrefix("derived"), "\(one.name)")
      if one.name.hasPrefix("xcode") {
        checkEqual(result.traitNames, ["environment"], "\(one.name)")
        checkEqual(result.keys, [])
      } else if one.entry.member("genuine")?.boolean == true {
        checkEqual(result.category, .candidate, "\(one.name)")
      }
      let foreign = TriageFixture.look(one.blob, try one.configuration(bundle: "com.none"))
      checkEqual(foreign.status, "rejected.triage.foreign-bundle", "\(one.name)")
    }
  }

  @Test("TRI-3 App Attest objects are told from receipts")
  func attest() throws {
    let manifest = try require(Vectors.json("attest/manifest.json", for: "triage"))
    var forms: [String: Int] = [:]
    for entry in manifest.children {
      guard let blob = Vectors.file("vectors/attest/" + entry.string("file")) else { continue }
      let expected: TriageResult.Form
      switch entry.string("kind") {
      case "attestation": expected = .attestation
      case "assertion": expected = .assertion
      case "app-attest-receipt": expected = .attestReceipt
      default: continue
      }
      let encoded = TriageFixture.look(Base64.encodeStandard(blob))
      checkEqual(encoded.form, expected, "\(entry.string("name"))")
      forms[entry.string("kind"), default: 0] += 1
    }
    checkEqual(forms.count, 3)
  }

  @Test("TRI-3 genuine JWS are recognised, with their kind")
  func jws() throws {
    let entries = Vectors.jws(for: "triage").filter { $0.isGenuine }
    try require(!entries.isEmpty)
    for entry in entries {
      let result = TriageFixture.look(entry.jws)
      checkEqual(result.form, .jws, "\(entry.name)")
      checkEqual(result.kind, entry.kind, "\(entry.name)")
    }
  }

  @Test("TRI-3 answers of verifyReceipt are JSON")
  func answers() throws {
    for one in try Self.cases(["verify-receipt-response"]) {
      checkEqual(TriageFixture.look(one.blob).form, .json, "\(one.name)")
    }
  }
}
