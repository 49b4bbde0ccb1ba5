extension HintKind {
  /// Of a document's `kind`; nil: a call that named none.
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
