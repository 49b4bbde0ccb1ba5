/// `attest`: what is accepted from App Attest (docs/spec/configuration.md §5). Present even
/// without the block, with the defaults.
struct AttestPolicy: Sendable {
  /// Whose attestations, assertions and receipts are ours. Empty: none; every
  /// call is then refused with `config.attest.app-ids`.
  var appIds: [AppId] = []
  var acceptsProduction = false
  var acceptsDevelopment = false
  /// Own roots of attestations; empty: Apple App Attestation Root CA.
  var anchors: [Anchor] = []
  /// Own roots of App Attest receipts; empty: Apple Root CA - G3.
  var receiptAnchors: [Anchor] = []
  /// ATT-40: certificates are judged at the receipt's date, not now.
  var storedTime = false
  /// Milliseconds; for receipts that are not stored ones.
  var maxAgeMs: Int64 = 300_000
  /// ATT-12: the receipt inside an attestation is ignored.
  var ignoresReceipt = false
  var category = Category()
  var bundleVersion = BundleVersion.any
  var platform = Platform.any
  var challenge = Challenge.host
  /// RFR-3: shortest time between two refreshes of a receipt.
  var refreshEveryMs: Int64 = 86_400_000
  /// How far Apple's clock may be ahead of `now_ms`: the shared member.
  var clockSkewMs: Int64 = 60_000

  /// App ID prefix, dot, bundle id (ATT-23), and its SHA-256, which is what
  /// authenticator data holds.
  struct AppId: Sendable {
    let text: Text
    let digest: [UInt8]

    /// nil: no App ID. The prefix has ten characters A–Z 0–9, the bundle id
    /// 1…255 bytes.
    init?(_ text: Text) {
      let bytes = text.utf8
      guard (12...266).contains(bytes.count), bytes[10] == 0x2e,
        bytes[..<10].allSatisfy(ConfigurationReader.isTeamCharacter)
      else { return nil }
      self.text = text
      digest = Digest.sha256.of(bytes)
    }
  }

  /// ATT-45: where the running build came from.
  struct Category: Sendable {
    var accepted: [UInt32] = [1, 2, 3, 4, 5, 6, 10]
    /// Systems before iOS 27 say nothing.
    var missingIsRefused = false
  }

  /// ATT-46: which builds pass, by CFBundleVersion.
  enum BundleVersion: Sendable {
    case any
    case exact([Text])
    case minimum(Text)
  }

  /// ATT-47: whether the access control octets of a Mac are demanded.
  enum Platform: Int, Sendable { case any, macOS, iOS }

  /// ASR-10: where the challenge stands in the client data.
  enum Challenge: Sendable {
    case host
    case whole
    case json(path: [Text], Encoding)

    enum Encoding: Int, Sendable { case text, base64, base64url, hex }
  }

  /// The App ID with that digest (ATT-23, ASR-5).
  func appId(digest: ArraySlice<UInt8>) -> AppId? {
    appIds.first { ConstantTime.areEqual($0.digest[...], digest) }
  }

  /// The App ID of that text (FRC-8).
  func appId(_ text: ArraySlice<UInt8>) -> AppId? {
    appIds.first { $0.text.utf8[...] == text }
  }

  func accepts(production: Bool) -> Bool { production ? acceptsProduction : acceptsDevelopment }
}

extension AttestPolicy {
  /// What the shared members of a configuration say where the block does not.
  init(defaultsOf configuration: Configuration) {
    for app in configuration.apps {
      guard let team = app.teamId, let id = AppId(Text(team.utf8 + [0x2e] + app.bundleId.utf8))
      else { continue }
      appIds.append(id)
    }
    acceptsProduction = configuration.environments.contains(.production)
    acceptsDevelopment = configuration.environments.contains(.sandbox)
    clockSkewMs = configuration.clockSkewMs
  }
}

extension AttestPolicy {
  /// The value of `attest` in the effective configuration: null if nothing could be
  /// accepted, which happens only without the block.
  func write(_ writer: inout JSONWriter) {
    guard !appIds.isEmpty, acceptsProduction || acceptsDevelopment else {
      writer.null()
      return
    }
    write(&writer) { member, writer in
      switch member {
      case .appIds: writer.texts("appIds", appIds.map { $0.text })
      case .environments:
        var names: [Text] = []
        if acceptsProduction { names.append("production") }
        if acceptsDevelopment { names.append("development") }
        writer.texts("environments", names)
      case .anchors: AnchorSet(.attestations, anchors).write("anchors", &writer)
      case .receiptAnchors:
        AnchorSet(.attestReceipts, receiptAnchors).write("receiptAnchors", &writer)
      case .category: category.write(&writer)
      case .bundleVersion:
        writer.name("bundleVersion")
        bundleVersion.write(&writer)
      case .challenge:
        writer.name("challenge")
        challenge.write(&writer)
      }
    }
  }
}

extension AttestPolicy.Category {
  func write(_ writer: inout JSONWriter) {
    writer.name("category")
    writer.beginObject()
    writer.name("accept")
    writer.beginArray()
    for number in accepted { writer.integer(Int64(number)) }
    writer.endArray()
    writer.member(
      "missing", ConfigurationTable.attestCategoryMissing[missingIsRefused ? 1 : 0])
    writer.endObject()
  }
}

extension AttestPolicy.BundleVersion {
  func write(_ writer: inout JSONWriter) {
    switch self {
    case .any: writer.null()
    case .exact(let texts):
      writer.beginObject()
      writer.texts("exact", texts)
      writer.endObject()
    case .minimum(let text):
      writer.beginObject()
      writer.member("minimum", text)
      writer.endObject()
    }
  }
}

extension AttestPolicy.Challenge {
  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    switch self {
    case .host: writer.member("mode", "host")
    case .whole: writer.member("mode", "whole")
    case .json(let path, let encoding):
      writer.member("mode", "json")
      writer.member("path", Text(Array(path.map { $0.utf8 }.joined(separator: [0x2e]))))
      writer.member("encoding", ConfigurationTable.attestChallengeEncoding[encoding.rawValue])
    }
    writer.endObject()
  }
}
