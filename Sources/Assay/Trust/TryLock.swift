import CLibCrypto
import Synchronization

/// A lock that is never waited for: a few tries, then "busy" (JWS-65).
///
/// It remembers the process that took it. A child forked while another thread
/// held it finds a lock that will never be released, and takes it over.
final class TryLock: Sendable {
  enum Outcome { case taken, busy, abandoned }

  /// 0: free; otherwise the id of the process that holds it.
  private let owner = Atomic<Int32>(0)

  private static let tries = 400

  func take() -> Outcome {
    let process = getpid()
    for _ in 0..<TryLock.tries {
      let (exchanged, holder) = owner.compareExchange(
        expected: 0, desired: process, ordering: .acquiring)
      if exchanged { return .taken }
      if holder != process {
        let (seized, _) = owner.compareExchange(
          expected: holder, desired: process, ordering: .acquiring)
        if seized { return .abandoned }
      }
    }
    return .busy
  }

  func release() { owner.store(0, ordering: .releasing) }
}
