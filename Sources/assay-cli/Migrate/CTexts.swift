import CSystem

/// Texts as an array of C's; `nil` among them is NULL.
struct CTexts {
  private let texts: [String?]

  init(_ texts: [String?]) { self.texts = texts }

  func with<Result>(
    _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
  ) -> Result {
    let copies = unsafe texts.map { unsafe $0.map { unsafe strdup($0) } ?? nil }
    defer { unsafe copies.forEach { unsafe free($0) } }
    let pointers = unsafe copies.map { unsafe UnsafePointer($0) }
    return unsafe pointers.withUnsafeBufferPointer { unsafe body($0.baseAddress) }
  }
}
