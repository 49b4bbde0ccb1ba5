/// The extensions of authenticator data, which systems from iOS 27 on fill: how the running build
/// was distributed (its validation category), and its build number (ATT-15).
struct AttestExtensions: Sendable {
  private(set) var category: UInt32? = nil
  private(set) var bundleVersion: Text? = nil
  /// Names and encoded values of unknown extensions.
  private(set) var others: [(name: Text, value: [UInt8])] = []

  private static let cap = 8

  /// Creates the value for authenticator data without extensions.
  init() {}

  /// Reads a map with text keys. Each of the two known extensions has two names, of which one may
  /// be present.
  init(_ cbor: CBOR, _ forms: AttestForms) throws(Refusal) {
    let status = forms.extensions
    guard let map = cbor.root, map.kind == .map else {
      throw Refusal(status, "ATT-15", at: "extensions")
    }
    let pairs = try forms.named(map, cbor)
    try require(pairs.count <= AttestExtensions.cap, status, "ATT-15", at: "extensions")
    for (key, value) in pairs {
      var place: String { "byte " + String(value.start) }
      let name = cbor.bytes(key)
      if name.elementsEqual("apple_bundle_version_01") || name.elementsEqual("bundleVersion") {
        try require(
          bundleVersion == nil && value.kind == .text, status, "ATT-15", at: place)
        bundleVersion = Text(Array(cbor.bytes(value)))
      } else if name.elementsEqual("apple_validation_category_01")
        || name.elementsEqual("validationCategory")
      {
        guard category == nil, let number = AttestExtensions.category(cbor, value) else {
          throw Refusal(status, "ATT-15", at: place)
        }
        category = number
      } else {
        others.append((Text(Array(name)), Array(cbor.encoding(value))))
      }
    }
  }

  /// Returns a category encoded as four little-endian bytes, as systems send it, or as an
  /// unsigned integer of 32 bits, as Apple documents it; `nil` for anything else.
  private static func category(_ cbor: CBOR, _ value: CBOR.Item) -> UInt32? {
    switch value.kind {
    case .unsigned: return UInt32(exactly: value.argument)
    case .bytes:
      let octets = cbor.bytes(value)
      guard octets.count == 4 else { return nil }
      return octets.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    default: return nil
    }
  }

  func write(_ writer: inout JSONWriter) {
    writer.member("category", integer: category.map { Int64($0) })
    writer.name("categoryName")
    if let name = category.flatMap(ValidationCategory.name) {
      writer.string(name)
    } else {
      writer.null()
    }
    writer.member("bundleVersion", bundleVersion)
    writer.name("otherExtensions")
    writer.beginObject()
    for (name, value) in others { writer.member(name, hex: value) }
    writer.endObject()
  }
}

extension AttestPolicy {
  /// Checks the validation category (ATT-45). Returns `false` if the system sent none, which the
  /// policy accepts.
  func checkCategory(
    _ extensions: AttestExtensions, _ refusals: AttestPolicyRefusals
  ) throws(Refusal) -> Bool {
    guard let number = extensions.category else {
      try require(!category.missingIsRefused, refusals.categoryMissing, "ATT-45")
      return false
    }
    try require(
      category.accepted.contains(number),
      refusals.category, "ATT-45", detail: "category " + String(number))
    return true
  }

  /// Checks the build number (ATT-46). Returns `false` if the system sent none, which is accepted
  /// where a missing category is.
  func checkBundleVersion(
    _ extensions: AttestExtensions, _ refusals: AttestPolicyRefusals
  ) throws(Refusal) -> Bool {
    guard let version = extensions.bundleVersion else {
      try require(!category.missingIsRefused, refusals.bundleVersion, "ATT-46")
      return false
    }
    try require(bundleVersion.accepts(version), refusals.bundleVersion, "ATT-46")
    return true
  }
}

extension AttestPolicy.BundleVersion {
  var isAny: Bool {
    if case .any = self { return true }
    return false
  }

  func accepts(_ version: Text) -> Bool {
    switch self {
    case .any: return true
    case .exact(let texts): return texts.contains(version)
    case .minimum(let least):
      guard let number = BuildNumber(version.utf8[...]), let bound = BuildNumber(least.utf8[...])
      else { return false }
      return number.isAtLeast(bound)
    }
  }
}
