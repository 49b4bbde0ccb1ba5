/// ATT-26: for which of Apple's environments a key was made.
enum AttestEnvironment {
  /// nil: unknown.
  static func isProduction(aaguid: ArraySlice<UInt8>) -> Bool? {
    if aaguid.elementsEqual("appattest\0\0\0\0\0\0\0") { return true }
    if aaguid.elementsEqual("appattestdevelop") || aaguid.elementsEqual("appattestsandbox") {
      return false
    }
    return nil
  }

  static func name(production: Bool) -> StaticString { production ? "production" : "development" }
}
