/// The environment of a transaction receipt: what its signed transaction id shows,
/// and nothing else (RCP-28). What is unsigned around it is only compared.
struct ReceiptEnvironment: Sendable {
  /// nil: the id shows nothing.
  let environment: Environment?
  /// Whether the outer list calls it a receipt of the sandbox. If the id shows
  /// nothing, the policy takes it for one, and nothing else does (RCP-28).
  let saysSandbox: Bool
  /// The outer key that contradicts the signed id: someone edited the list.
  let alteredKey: StaticString?

  var outerAltered: Bool { alteredKey != nil }

  /// - Parameters:
  ///   - id: the signed transaction id.
  ///   - environment, pod: the outer keys of these names; nil when absent.
  init(id: ArraySlice<UInt8>, environment: ArraySlice<UInt8>?, pod: ArraySlice<UInt8>?) {
    let told = IdEnvironment.of(id)
    saysSandbox = environment?.elementsEqual("Sandbox") ?? false
    if (told == .production && saysSandbox) || (told == .sandbox && !saysSandbox) {
      alteredKey = "environment"
    } else if let pod, !pod.elementsEqual(IdEnvironment.pod(of: id)) {
      alteredKey = "pod"
    } else {
      alteredKey = nil
    }
    self.environment = told.environment
  }
}
