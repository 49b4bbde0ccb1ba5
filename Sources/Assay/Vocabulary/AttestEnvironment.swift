/// Apple's App Attest environment in which a key was made (ATT-26).
enum AttestEnvironment {
  /// Whether the AAGUID is that of production; `nil` if it is unknown.
  static func isProduction(aaguid: ArraySlice<UInt8>) -> Bool? {
    if aaguid.elementsEqual("appattest\0\0\0\0\0\0\0") { return true }
    if aaguid.elementsEqual("appattestdevelop") || aaguid.elementsEqual("appattestsandbox") {
      return false
    }
    return nil
  }

  static func name(production: Bool) -> StaticString { production ? "production" : "development" }
}
