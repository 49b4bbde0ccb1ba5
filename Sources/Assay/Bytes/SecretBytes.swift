/// Octets that are wiped when nothing holds them any more (EXC-10, EXC-22).
final class SecretBytes: Sendable {
  let bytes: [UInt8]

  /// - Parameter bytes: the only copy.
  init(_ bytes: [UInt8]) { self.bytes = bytes }

  deinit { Secret.wipe(bytes) }
}
