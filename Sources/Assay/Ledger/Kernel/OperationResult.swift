/// The result of an operation.
struct OperationResult {
  /// The refusal to report; `nil` if the status is ok.
  var refusal: Refusal? = nil
  /// Writes the members of the result after `kind` and `state`.
  let write: (inout JSONWriter) -> Void

  init(_ refusal: Refusal? = nil, _ write: @escaping (inout JSONWriter) -> Void) {
    self.refusal = refusal
    self.write = write
  }
}
