import CLibCrypto
import Synchronization

/// A lock that is never waited for: after a few tries it is reported as busy (JWS-65).
///
/// The lock stores the id of the owning process. A child that was forked while another thread
/// held the lock finds it locked forever, and takes it over.
final class TryLock: Sendable {
  enum Outcome { case taken, busy, abandoned }

  /// The id of the owning process; 0 if the lock is free.
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
