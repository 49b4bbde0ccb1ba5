// Asks Apple what a migration left open: ask.py in Swift, with the same files.
//
//     swift run ask migrate-look config.json /var/lib/shop/ledger.db
//
// For another database, another executor of the ledger.
import AssaySQLite
import AssaySwift
import Foundation

let given = CommandLine.arguments
guard given.count == 4 else {
  print("ask FOLDER CONFIG DATABASE")
  exit(2)
}
let shop = try Ledger(sqlite: given[3], Verifier(file: given[2]))
do {
  print("asked", try await ask(URL(fileURLWithPath: given[1]), shop, Sender().send))
} catch let refusal as AssayError {
  FileHandle.standardError.write(Data("\(refusal)\nthe same command goes on from here\n".utf8))
  exit(1)
}
