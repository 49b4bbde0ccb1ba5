import AssayCases
import CProcess
import Glibc

@testable import Assay

// Runs the case table once for each removed check, each in a process of its own:
//
//   harness COUNT NUMBER …   of this many checks, prints "NUMBER killed WHAT" or
//                            "NUMBER survived" for each of these
//
// A check that no case reaches survives untested. Only cases that reach it are run, because the
// others cannot change; all of them run if making the verifiers reaches it. A crash or an
// endless loop is noticed, and so kills the mutant, too.

@main
enum Harness {
  static let instant: Int64 = 1_795_219_200_000
  static let failed: Int32 = 1
  static let secondsForOne: UInt32 = 120

  static func main() throws {
    let numbers = CommandLine.arguments.dropFirst().compactMap { Int32($0) }
    guard let count = numbers.first, numbers.dropFirst().allSatisfy({ (1...count).contains($0) })
    else {
      print("0 called without COUNT NUMBER …")
      exit(2)
    }
    let table = try CaseTable.make(now: instant)
    let asking = Asking(table, count: Int(count))
    for number in numbers.dropFirst() {
      fflush(stdout)
      let places = asking.places[Int(number)]
      let isOfVerifiers = asking.ofVerifiers.contains(Int(number))
      if places.isEmpty && !isOfVerifiers {
        print("\(number) survived")
        continue
      }
      let child = process_fork(secondsForOne)
      if child == 0 {
        Mutants.removed = number
        let run = CaseRun(table)
        guard
          let name = firstFailure(run, places)
            ?? (isOfVerifiers ? firstFailure(run, Array(table.cases.indices)) : nil)
        else { _exit(0) }
        print("\(number) killed \(name)")
        fflush(stdout)
        _exit(failed)
      }
      let status = process_wait(child)
      if status == 0 { print("\(number) survived") }
      if status > 256 { print("\(number) killed signal \(status - 256)") }
    }
  }

  /// Returns the name of the first of these cases with an unexpected result; `nil` if there is
  /// none.
  private static func firstFailure(_ run: CaseRun, _ places: [Int]) -> String? {
    if run.verifiers.count != run.table.verifiers.count { return "a verifier of the table" }
    let cases = run.table.cases
    return places.first { !run.faults(cases[$0]).isEmpty }.map { cases[$0].name }
  }
}

/// The cases that reach each check, by its number.
struct Asking {
  private(set) var places: [[Int]]
  /// The checks that are reached while the table's verifiers are made.
  private(set) var ofVerifiers: Set<Int> = []

  /// Ends the process if the table fails without a mutant.
  init(_ table: CaseTable, count: Int) {
    places = Array(repeating: [], count: count + 1)
    let asked = UnsafeMutablePointer<UInt8>.allocate(capacity: count + 1)
    asked.initialize(repeating: 0, count: count + 1)
    Mutants.reached = asked
    let run = CaseRun(table)
    ofVerifiers = Set((0...count).filter { asked[$0] == 1 })
    for (place, entry) in table.cases.enumerated() {
      asked.update(repeating: 0, count: count + 1)
      if let fault = run.faults(entry).first {
        print("0 fails without any mutant: \(entry.name): \(fault)")
        exit(2)
      }
      for number in 0...count where asked[number] == 1 { places[number].append(place) }
    }
    Mutants.reached = nil
  }
}
