/// A build number of dot-separated integers (ATT-46).
struct BuildNumber {
  private let parts: [Int64]

  private static let partCap = 16

  /// Parses 1 to 16 integers of at most 18 digits; `nil` for any other form.
  init?(_ text: ArraySlice<UInt8>) {
    var parts: [Int64] = []
    for part in text.split(separator: 0x2e, omittingEmptySubsequences: false) {
      guard part.count <= 18, part.first != 0x2d, let number = JSONValue.integer(part),
        parts.count < BuildNumber.partCap
      else { return nil }
      parts.append(number)
    }
    self.parts = parts
  }

  /// Whether this number is not below `other`: parts are compared as integers, missing ones are
  /// 0.
  func isAtLeast(_ other: BuildNumber) -> Bool {
    for index in 0..<Swift.max(parts.count, other.parts.count) {
      let mine = index < parts.count ? parts[index] : 0
      let theirs = index < other.parts.count ? other.parts[index] : 0
      if mine != theirs { return mine > theirs }
    }
    return true
  }
}
