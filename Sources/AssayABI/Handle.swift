import Assay

/// Objects behind C handles: a handle owns one reference.
enum Handle {
  static func retain<Object: AnyObject>(_ object: Object) -> OpaquePointer {
    unsafe OpaquePointer(Unmanaged.passRetained(object).toOpaque())
  }

  static func release<Object: AnyObject>(_ handle: OpaquePointer?, _ type: Object.Type) {
    guard let handle = unsafe handle else { return }
    unsafe Unmanaged<Object>.fromOpaque(UnsafeRawPointer(handle)).release()
  }

  static func document(_ handle: OpaquePointer?) -> Document? {
    guard let handle = unsafe handle else { return nil }
    return unsafe Unmanaged<Document>.fromOpaque(UnsafeRawPointer(handle)).takeUnretainedValue()
  }

  static func verifier(_ handle: OpaquePointer?) -> Verifier? {
    guard let handle = unsafe handle else { return nil }
    return unsafe Unmanaged<Verifier>.fromOpaque(UnsafeRawPointer(handle)).takeUnretainedValue()
  }

  /// Passes a document to the caller, unless `out` is NULL. Returns the document's status code.
  static func answer(
    _ document: Document, _ out: UnsafeMutablePointer<OpaquePointer?>?
  ) -> Int32 {
    unsafe out?.pointee = unsafe retain(document)
    return document.status.code
  }
}

/// Input from across the boundary, copied before anything reads it.
enum Input {
  /// Copies the input; `nil` for a NULL pointer with a length, or for an impossible length. At most
  /// one byte more than `cap` is copied: enough for a refusal because of the size.
  static func bytes(
    _ pointer: UnsafeRawPointer?, _ length: Int, cap: Int
  ) -> [UInt8]? {
    guard length >= 0 else { return nil }
    guard let pointer = unsafe pointer else { return length == 0 ? [] : nil }
    let count = length > cap ? cap &+ 1 : length
    return unsafe [UInt8](UnsafeRawBufferPointer(start: pointer, count: count))
  }

  /// Copies an input that is never longer than `cap`; `nil` if it is, or if `bytes` returns `nil`.
  static func short(_ pointer: UnsafeRawPointer?, _ length: Int, cap: Int) -> [UInt8]? {
    length <= cap ? unsafe bytes(pointer, length, cap: cap) : nil
  }

  /// Returns the documents of an array; `nil` for a NULL array with a count, for a NULL document,
  /// or for more than 4,096 documents.
  static func documents(
    _ pointer: UnsafePointer<OpaquePointer?>?, _ count: Int
  ) -> [Document]? {
    guard count >= 0, count <= 4096 else { return nil }
    guard let pointer = unsafe pointer else { return count == 0 ? [] : nil }
    var documents: [Document] = []
    for index in 0..<count {
      guard let document = unsafe Handle.document(pointer[index]) else { return nil }
      documents.append(document)
    }
    return documents
  }
}

/// Returns the text of a `StaticString`, which ends with a NUL and lives as long as the library.
func characters(_ text: StaticString) -> UnsafePointer<CChar> {
  unsafe UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
}

/// Returns bytes that are followed by a NUL, as C reads them.
func characters(_ text: UnsafeBufferPointer<UInt8>) -> UnsafePointer<CChar>? {
  guard let start = text.baseAddress else { return nil }
  return unsafe UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)
}
