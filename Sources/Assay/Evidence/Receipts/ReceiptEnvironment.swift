/// The environment of a transaction receipt, which only its signed transaction id determines
/// (RCP-28). Unsigned members around the signed ones are merely compared with it.
struct ReceiptEnvironment: Sendable {
  /// The environment; `nil` if the id implies none.
  let environment: Environment?
  /// Whether the unsigned outer list names the sandbox. Used only if the id implies no
  /// environment, and then only for accepting the receipt as one of the sandbox (RCP-28).
  let saysSandbox: Bool
  /// The outer key that contradicts the signed id, which proves that the list was edited; `nil`
  /// if there is none.
  let alteredKey: StaticString?

  var outerAltered: Bool { alteredKey != nil }

  /// Compares the signed transaction id with the outer list.
  ///
  /// - Parameters:
  ///   - id: the signed transaction id.
  ///   - environment, pod: the outer values of these keys; `nil` if absent.
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
