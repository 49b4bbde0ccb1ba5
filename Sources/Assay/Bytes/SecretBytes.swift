/// Octets that are wiped when nothing holds them any more (EXC-10, EXC-22).
///
/// An array that somebody else still holds is left as it is: what is theirs is not ours to
/// wipe, and a request is sent again with the octets that it had.
final class SecretBytes: Sendable {
  // Changed by deinit alone, when no other thread can have it.
  nonisolated(unsafe) private var octets: [UInt8]

  var bytes: [UInt8] { unsafe octets }

  /// - Parameter bytes: the only copy.
  init(_ bytes: [UInt8]) { unsafe octets = bytes }

  deinit { unsafe Secret.wipe(&octets) }
}
