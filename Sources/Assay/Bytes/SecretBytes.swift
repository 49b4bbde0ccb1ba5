/// Bytes that are wiped when the last reference to this object is released (EXC-10, EXC-22).
///
/// A copy of the array that outlives this object keeps its contents: a request under way is sent
/// again with the same bytes.
final class SecretBytes: Sendable {
  // Only `deinit` changes the bytes, when no other thread can reach them.
  nonisolated(unsafe) private var octets: [UInt8]

  var bytes: [UInt8] { unsafe octets }

  /// - Parameter bytes: The only copy.
  init(_ bytes: [UInt8]) { unsafe octets = bytes }

  deinit { unsafe Secret.wipe(&octets) }
}
