import CSystem

/// SIGINT, SIGTERM and SIGHUP, which end a run after the batch in hand (MIG-35).
enum MigrateStop {
  /// From now on the signals are noted.
  static func begin() { system_stop_softly() }

  static var isAsked: Bool { system_stopped() != 0 }

  /// Ends the run if a signal has asked for it.
  static func check() throws {
    if isAsked {
      throw MigrateFault("stopped", "the same command goes on from here", exitCode: 130)
    }
  }
}
