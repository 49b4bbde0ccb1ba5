import CSystem

/// SIGINT and SIGTERM, which end a run after the batch in hand. The functions of C keep their state
/// in the object file that uses them, so that only this file does, and none of it is inlined.
enum MigrateStop {
  /// From now on the signals are noted.
  @inline(never)
  static func begin() { system_stop_softly() }

  static var isAsked: Bool {
    @inline(never) get { system_stopped() != 0 }
  }

  /// Ends the run if a signal has asked for it.
  static func check() throws {
    if isAsked {
      throw MigrateFault("stopped", "the same command goes on from here", exitCode: 130)
    }
  }
}
