import CSystem

/// Runs the same work on several system threads.
enum Threads {
  private final class Work {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Runs `body` on a detached thread. Returns false if the system provides none.
  static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    guard let thread = begin(body) else { return false }
    pthread_detach(thread)
    return true
  }

  private static func begin(_ body: @escaping @Sendable () -> Void) -> pthread_t? {
    var thread = pthread_t()
    let work = unsafe Unmanaged.passRetained(Work(body))
    let code = unsafe pthread_create(
      &thread, nil,
      { context in
        if let context = unsafe context {
          unsafe Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
        }
        return nil
      }, work.toOpaque())
    if code == 0 { return thread }
    unsafe work.release()
    return nil
  }

  /// Runs `body` on this many threads, this one included, and waits for all; on fewer if the system
  /// provides fewer.
  static func perform(_ count: Int, _ body: @escaping @Sendable () -> Void) {
    withoutActuallyEscaping(body) { body in
      var others: [pthread_t] = []
      for _ in 1..<max(1, count) {
        if let thread = begin(body) { others.append(thread) }
      }
      body()
      for thread in others { pthread_join(thread, nil) }
    }
  }
}
