extension HintKind {
  /// Creates the kind of hints for a document's `kind`; `nil` for a call without a kind.
  init?(document kind: StaticString) {
    for candidate in HintKind.allCases where candidate.name.hasSameBytes(as: kind) {
      self = candidate
      return
    }
    for jws in StoreKitKind.allCases where jws.name.hasSameBytes(as: kind) {
      self = .jws
      return
    }
    return nil
  }
}
