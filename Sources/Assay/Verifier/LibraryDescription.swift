import CLibCrypto

/// The versions and components of this build, for `assay_build_info` and bug reports.
public enum LibraryDescription {
  /// Returns `{"version","abi","commit","compiler","libcrypto","shape","features"}`.
  public static func json(version: String, abi: Int32) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("version")
    writer.string(version)
    writer.member("abi", integer: Int64(abi))
    writer.name("commit")
    writer.string(unsafe String(cString: assay_shim_commit()))
    writer.name("compiler")
    writer.string(unsafe String(cString: assay_shim_compiler()))
    writer.name("libcrypto")
    writer.string(unsafe String(cString: assay_shim_libcrypto()))
    #if hasFeature(Embedded)
      writer.member("shape", "embedded")
    #else
      writer.member("shape", "full")
    #endif
    writer.name("features")
    writer.beginArray()
    let features: [StaticString] = [
      "storekit-jws", "decide", "receipts", "triage", "verify-receipt", "app-attest", "exchange",
      "tokens",
    ]
    for feature in features { writer.string(feature) }
    writer.endArray()
    writer.endObject()
    return writer.bytes
  }
}
