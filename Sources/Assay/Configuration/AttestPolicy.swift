/// `attest`: the policy for App Attest (docs/spec/configuration.md §5). Without the block it has
/// its defaults.
struct AttestPolicy: Sendable {
  /// The App IDs whose attestations, assertions and receipts are accepted. If empty, every call
  /// is refused with `config.attest.app-ids`.
  var appIds: [AppId] = []
  var acceptsProduction = false
  var acceptsDevelopment = false
  /// Configured roots of attestations; if empty, Apple App Attestation Root CA.
  var anchors: [Anchor] = []
  /// Configured roots of App Attest receipts; if empty, Apple Root CA - G3.
  var receiptAnchors: [Anchor] = []
  /// Whether certificates are checked at the receipt's creation time instead of now (ATT-40).
  var storedTime = false
  /// The greatest age of a receipt in milliseconds; not applied if `storedTime` is true.
  var maxAgeMs: Int64 = 300_000
  /// Whether the receipt inside an attestation is ignored (ATT-12).
  var ignoresReceipt = false
  var category = Category()
  var bundleVersion = BundleVersion.any
  var platform = Platform.any
  var challenge = Challenge.host
  /// The shortest time between two refreshes of a receipt, in milliseconds (RFR-3).
  var refreshEveryMs: Int64 = 86_400_000
  /// The most that Apple's clock may be ahead of `now_ms`, in milliseconds; a shared member.
  var clockSkewMs: Int64 = 60_000

  /// An App ID: prefix, dot, bundle id (ATT-23), with its SHA-256, which authenticator data
  /// contains.
  struct AppId: Sendable {
    let text: Text
    let digest: [UInt8]

    /// Parses an App ID whose prefix has ten characters A–Z 0–9 and whose bundle id has 1 to 255
    /// bytes; `nil` for any other text.
    init?(_ text: Text) {
      let bytes = text.utf8
      guard (12...266).contains(bytes.count), bytes[10] == 0x2e,
        bytes[..<10].allSatisfy(ConfigurationReader.isTeamCharacter)
      else { return nil }
      self.text = text
      digest = Digest.sha256.of(bytes)
    }
  }

  /// The accepted origins of the running build (ATT-45).
  struct Category: Sendable {
    var accepted: [UInt32] = [1, 2, 3, 4, 5, 6, 10]
    /// Whether an attestation without a category is refused; systems before iOS 27 omit the
    /// category.
    var missingIsRefused = false
  }

  /// The accepted builds, by CFBundleVersion (ATT-46).
  enum BundleVersion: Sendable {
    case any
    case exact([Text])
    case minimum(Text)
  }

  /// The platform, which decides whether the access control bytes of a Mac are required (ATT-47).
  enum Platform: Int, Sendable { case any, macOS, iOS }

  /// The location of the challenge in the client data (ASR-10).
  enum Challenge: Sendable {
    case host
    case whole
    case json(path: [Text], Encoding)

    enum Encoding: Int, Sendable { case text, base64, base64url, hex }
  }

  /// Returns the App ID with this SHA-256 (ATT-23, ASR-5); `nil` if none is configured.
  func appId(digest: ArraySlice<UInt8>) -> AppId? {
    appIds.first { ConstantTime.areEqual($0.digest[...], digest) }
  }

  /// Returns the App ID with this text (FRC-8); `nil` if none is configured.
  func appId(_ text: ArraySlice<UInt8>) -> AppId? {
    appIds.first { $0.text.utf8[...] == text }
  }

  func accepts(production: Bool) -> Bool { production ? acceptsProduction : acceptsDevelopment }
}

extension AttestPolicy {
  /// Creates the policy that the shared members imply without the block.
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
  /// Writes the value of `attest` in the effective configuration: null if no evidence could be
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
