import Foundation

extension Bundle {
  /// The bundle that SwiftPM makes of Resources; here that of one language, which the scenario sets.
  nonisolated static let module =
    Bundle(path: ProcessInfo.processInfo.environment["TEXTS"] ?? "") ?? .main
}
