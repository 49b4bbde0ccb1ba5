/// The end of an operation.
struct StoreOutcome {
  /// nil: status 0, go ahead.
  var refusal: Refusal? = nil
  /// The members of the result, after `kind` and `state`.
  let write: (inout JSONWriter) -> Void

  init(_ refusal: Refusal? = nil, _ write: @escaping (inout JSONWriter) -> Void) {
    self.refusal = refusal
    self.write = write
  }
}
