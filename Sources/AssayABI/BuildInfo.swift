import Assay
import CAssay

/// A text about this build, made once and never freed.
@safe struct StaticText: @unchecked Sendable {
  let pointer: UnsafePointer<CChar>?

  init(_ text: [UInt8]) {
    let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: text.count &+ 1)
    _ = unsafe buffer.initialize(from: text + [0])
    unsafe pointer = characters(UnsafeBufferPointer(buffer))
  }
}

enum BuildInfo {
  static let version = StaticText(Array(ASSAY_VERSION.utf8))
  static let json = StaticText(LibraryDescription.json(version: ASSAY_VERSION, abi: ASSAY_ABI))
}
