import CSystem

/// TLS with one certificate, by the machine's libssl.
@safe
final class MockTLS: @unchecked Sendable {
  /// The functions of libssl, which stay loaded as long as the program runs.
  private let functions: UnsafeMutablePointer<system_tls>
  private let context: UnsafeMutableRawPointer

  /// Loads libssl, a certificate and its key from PEM files.
  init(certificate: String, key: String) throws {
    let functions = UnsafeMutablePointer<system_tls>.allocate(capacity: 1)
    unsafe functions.initialize(to: system_tls())
    guard unsafe system_tls_load(functions) == 1 else {
      throw Problem("--tls needs libssl.so.3, which is not on this machine")
    }
    guard let context = unsafe system_tls_context(functions, certificate, key) else {
      throw Problem("--tls: libssl does not take \(certificate) and \(key)")
    }
    unsafe self.functions = unsafe functions
    unsafe self.context = unsafe context
  }

  /// Returns a session after its handshake; `nil` if the handshake failed.
  func accept(_ descriptor: Int32) -> UnsafeMutableRawPointer? {
    unsafe system_tls_accept(functions, context, descriptor)
  }

  func read(_ session: UnsafeMutableRawPointer, _ bytes: UnsafeMutableRawBufferPointer) -> Int {
    unsafe Int(system_tls_read(functions, session, bytes.baseAddress, Int32(bytes.count)))
  }

  func write(_ session: UnsafeMutableRawPointer, _ bytes: UnsafeRawBufferPointer) -> Int {
    let count = Int32(min(bytes.count, 1 << 20))
    return unsafe Int(system_tls_write(functions, session, bytes.baseAddress, count))
  }

  func end(_ session: UnsafeMutableRawPointer) { unsafe system_tls_end(functions, session) }
}
