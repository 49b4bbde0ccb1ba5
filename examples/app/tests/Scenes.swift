// The scenarios of the app: `scenes NAME SERVER FOLDER`. app_side.py compiles this file with those
// of the app, runs the server, and compares the output with its table.
import AuthenticationServices
import CryptoKit
import DeviceCheck
import Foundation
import Security
import StoreKit

/// One app on one device, at its launch.
@MainActor
final class App {
  let server: URL
  let folder: URL
  let store = CredentialStore(service: "app")
  let backEnd: BackEnd
  let session: DeviceSession

  init(server: URL, folder: URL) {
    self.server = server
    self.folder = folder
    let places = Places(
      server: server,
      provider: given["CLIENT"] == nil ? server.appendingPathComponent("provider") : server,
      clientId: given["CLIENT"] ?? "client")
    let account = Account(places: places, store: store, key: .shared)
    backEnd = BackEnd(places: places, account: account)
    session = DeviceSession(backEnd: backEnd)
  }

  func purchases() throws -> Purchases {
    Purchases(backEnd: backEnd, queue: try ResendQueue(folder: folder), ranked: ["premium"])
  }

  var queued: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()) ?? []
  }

  func write(_ text: String, _ name: String) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: folder.appendingPathComponent(name))
  }

  /// Reports the scenario's progress to the server.
  func tell(_ what: String) async {
    _ = try? await URLSession.shared.data(from: server.appendingPathComponent("play/" + what))
  }

  func signIn() async {
    do {
      _ = try await backEnd.account.accessToken()
      print("token")
    } catch {
      print("threw", error)
    }
  }

  func ask() async {
    do {
      print(try await session.text() ?? "none")
    } catch let error as DCError {
      print("threw", error.code)
    } catch is URLError {
      print("no answer")
    } catch {
      print("threw", error)
    }
  }

  func analyze(_ tier: String, _ session: DeviceSession?) async {
    do {
      print(
        String(
          decoding: try await backEnd.analyze("x", tier: tier, session: session), as: UTF8.self))
    } catch {
      print("threw", error)
    }
  }

  func promotion() async {
    let promotions = Promotions(backEnd: backEnd, session: session)
    do {
      let granted = try await promotions.request("welcome", as: [String: Int].self)
      print(granted.map { "\($0)" } ?? "none", terminator: ", ")
    } catch let error as DCError {
      print(error.code, terminator: ", ")
    } catch {
      print(error is URLError ? "no answer" : "\(error)", terminator: ", ")
    }
    print("unanswered \(await promotions.unanswered)")
  }

  /// Prints how often the device was asked to attest, with how many keys and hashes.
  func inputs() {
    let words = MockDevice.inputs.map { $0.split(separator: " ") }
    print(
      "asked \(words.count), keys \(MockDevice.made.count), hashes \(Set(words.map(\.last)).count)")
  }

  func state(_ purchases: Purchases) {
    let asked = purchases.elsewhere.map { "\($0.id)\($0.canTransfer ? " movable" : "")" }
    print(
      "plan \(purchases.plan), finished \(MockStore.finished), queued \(queued), asked \(asked)")
  }
}

/// Waits until a condition holds, at most 30 s.
@MainActor
func comes(_ holds: () async -> Bool) async {
  for _ in 0..<3_000 {
    if await holds() { return }
    try? await Task.sleep(nanoseconds: 10_000_000)
  }
  print("never")
}

/// The environment: with CLIENT, JWS and AUTHORITY the server is the freemium back end.
let given = ProcessInfo.processInfo.environment
let coins = Transaction(id: 7, productID: "coins", jws: given["JWS"] ?? "x.7.z")
let premium = Transaction(id: 8, productID: "premium", jws: "x.8.z")
let joined = Credentials(username: "a_joined", password: "p")

/// Makes the stub the device of a test authority, which the command line mints.
func useDevice(of authority: String) throws {
  func minted(_ words: [String]) -> Data {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: given["ASSAY_PROGRAM"] ?? "")
    process.arguments = ["mint"] + words + ["--authority", authority, "--transport", "raw"]
    process.standardOutput = output
    guard (try? process.run()) != nil else { return Data() }
    defer { process.waitUntilExit() }
    return output.fileHandleForReading.readDataToEndOfFile()
  }
  struct Device: Decodable { let keyId: String }
  _ = minted(["attestation"])  // Makes the device.
  let device = try Data(contentsOf: URL(fileURLWithPath: authority + "/device.json"))
  MockDevice.key = try JSONDecoder().decode(Device.self, from: device).keyId
  MockDevice.mint = { kind, hash in
    let clientData = MockDigest.inputs[hash].map { String(decoding: $0, as: UTF8.self) } ?? ""
    let more =
      kind == "assertion"
      ? ["--counter", "\(MockDevice.assertions)"] : ["--environment", given["ENVIRONMENT"] ?? ""]
    return minted([kind, "--client-data", clientData] + more)
  }
}

@main @MainActor
struct Scenes {
  static func main() async throws {
    let words = CommandLine.arguments
    guard words.count == 4, let server = URL(string: words[2]), let scene = all[words[1]] else {
      return print("scenes NAME SERVER FOLDER")
    }
    // Lines are flushed, so that the output is complete when the process is killed.
    setvbuf(stdout, nil, _IOLBF, 0)
    if let authority = given["AUTHORITY"] { try useDevice(of: authority) }
    try await scene(App(server: server, folder: URL(fileURLWithPath: words[3])))
  }

  static let all: [String: @MainActor (App) async throws -> Void] = [
    // ---- sign-in
    "sign in": { app in
      await app.signIn()
      await app.signIn()
    },
    "sign in three times": { app in
      for _ in 0..<3 { await app.signIn() }
    },
    "sign in as joined": { app in
      try await app.backEnd.account.become(joined)
      await app.signIn()
      print("still joined:", try app.store.read() == joined)
    },
    "sign in behind a locked keychain": { app in
      await app.signIn()
      let before = try app.store.read()
      await app.backEnd.account.dropToken()
      MockKeychain.trouble = errSecInteractionNotAllowed
      await app.signIn()
      MockKeychain.trouble = 0
      await app.signIn()
      print("the same:", try app.store.read() == before)
    },
    "sign in without random octets": { app in
      MockKeychain.generatorTrouble = -1
      await app.signIn()
      print("kept:", try app.store.read() != nil)
      MockKeychain.generatorTrouble = 0
      await app.signIn()
    },
    "sign in with a damaged item": { app in
      let made = try Credentials.make()
      try app.store.keep(made)
      for name in MockKeychain.items.keys { MockKeychain.items[name] = Data("?".utf8) }
      await app.signIn()
      print("another:", try app.store.read() != made)
    },
    "keep the credentials": { app in
      let made = try Credentials.make()
      try app.store.keep(made)
      await app.signIn()
      await app.signIn()
      print("the same:", try app.store.read() == made)
    },
    "join while a sign-in runs": { app in
      let running = Task { try? await app.backEnd.account.accessToken() }
      await app.tell("wait/provider")
      await app.tell("note/joined")
      try await app.backEnd.account.become(joined)
      await app.tell("release")
      print("the old one's token:", await running.value ?? "none")
      print("still joined:", try app.store.read() == joined)
      await app.signIn()
    },
    "sign up where a device cannot attest": { app in
      MockDevice.isSupported = false
      await app.signIn()
    },
    "sign up, three tries": { app in
      for _ in 0..<3 { await app.signIn() }
      app.inputs()
    },
    "sign up while Apple is away": { app in
      MockDevice.attesting = [.serverUnavailable, .serverUnavailable]
      for _ in 0..<3 { await app.signIn() }
      app.inputs()
    },
    "sign up after failed attestations": { app in
      MockDevice.attesting = [.unknownSystemFailure, .invalidKey]
      for _ in 0..<2 { await app.signIn() }
      app.inputs()
    },
    "sign up with a key that Apple refuses": { app in
      MockDevice.attesting = [.invalidKey, .invalidKey]
      for _ in 0..<2 { await app.signIn() }
      app.inputs()
    },
    "sign up, and go on with the key": { app in
      await app.signIn()
      await app.ask()
      print("keys \(MockDevice.made.count)")
    },
    // ---- calls
    "analyze": { app in await app.analyze("premium", nil) },
    "analyze with a session": { app in
      await app.analyze("premium", app.session)
      await app.analyze("premium", app.session)
    },
    // ---- purchases
    "buy": { app in
      let purchases = try app.purchases()
      try await purchases.buy(Product(coins))
      app.state(purchases)
    },
    "buy, and come back": { app in
      let purchases = try app.purchases()
      try await purchases.buy(Product(coins))
      app.state(purchases)
      // The loop sleeps by now, for about a day. The pause only makes the test sharper.
      try await Task.sleep(nanoseconds: 300_000_000)
      purchases.resend()
      await comes { app.queued.isEmpty }
      app.state(purchases)
    },
    "buy while Apple is away": { app in
      MockDevice.attesting = [.serverUnavailable]
      let purchases = try app.purchases()
      try await purchases.buy(Product(coins))
      app.state(purchases)
      print(purchases.trouble?.errorDescription ?? "no trouble")
      purchases.resend()
      await comes { app.queued.isEmpty }
      app.state(purchases)
      print(purchases.trouble?.errorDescription ?? "no trouble")
    },
    "buy, and wait": { app in
      let purchases = try app.purchases()
      try app.write("x.6.z", "6")
      try await purchases.buy(Product(coins))
      await comes { app.queued == ["6"] }
      app.state(purchases)
    },
    "buy, and move": { app in
      let purchases = try app.purchases()
      try await purchases.buy(Product(coins))
      app.state(purchases)
      purchases.resend()
      await app.tell("wait/")
      purchases.move(7)
      await comes { app.queued.isEmpty }
      app.state(purchases)
    },
    "buy, and move twice": { app in
      let purchases = try app.purchases()
      try await purchases.buy(Product(coins))
      purchases.move(7)
      await app.tell("wait/confirm")
      app.state(purchases)
      await comes {
        purchases.resend()
        return app.queued.isEmpty
      }
      app.state(purchases)
    },
    "buy, and leave": { app in
      let purchases = try app.purchases()
      try await purchases.buy(Product(coins))
      await purchases.leave(7)
      app.state(purchases)
    },
    "buy on a full disk": { app in
      let purchases = try app.purchases()
      try FileManager.default.removeItem(at: app.folder)
      try Data().write(to: app.folder)
      try await purchases.buy(Product(coins))
      app.state(purchases)
      purchases.resend()
      await comes { MockStore.unfinished.isEmpty }
      app.state(purchases)
    },
    "buy, and hear more meanwhile": { app in
      let purchases = try app.purchases()
      let running = Task { try await purchases.buy(Product(coins)) }
      await app.tell("wait/v1/update-subscription")
      try app.write("x.7.newer", "7")
      await app.tell("release")
      try await running.value
      await comes { app.queued.isEmpty }
      app.state(purchases)
    },
    "launch": { app in
      let purchases = try app.purchases()
      MockStore.unfinished = [coins]
      MockStore.updates = [coins]
      purchases.start()
      await comes { app.queued.isEmpty && MockStore.unfinished.isEmpty }
      app.state(purchases)
    },
    "launch with bad files": { app in
      for (text, name) in [("", "1"), ("x.2.z", "2"), ("?", "007"), ("?", "a.tmp")] {
        try app.write(text, name)
      }
      try Data([0xFF]).write(to: app.folder.appendingPathComponent("3"))
      try FileManager.default.createDirectory(
        at: app.folder.appendingPathComponent("4"), withIntermediateDirectories: true)
      let purchases = try app.purchases()
      purchases.resend()
      await comes { !app.queued.contains("2") }
      app.state(purchases)
    },
    "come back many times": { app in
      try app.write("x.2.z", "2")
      let purchases = try app.purchases()
      for _ in 0..<100 { purchases.resend() }
      await comes { app.queued.isEmpty }
      app.state(purchases)
    },
    "synchronise without a purchase": { app in
      let purchases = try app.purchases()
      await purchases.synchronise()
      await purchases.synchronise()
      try app.write("x.2.z", "2")
      await purchases.synchronise(force: true)
      app.state(purchases)
    },
    "synchronise for another account": { app in
      let purchases = try app.purchases()
      MockStore.entitlements = [coins, premium]
      await purchases.synchronise()
      await purchases.synchronise()
      await app.tell("note/joined")
      try await app.backEnd.account.become(joined)
      await purchases.synchronise()
      app.state(purchases)
    },
    // ---- the device
    "session": { app in
      await app.ask()
      await app.ask()
      print("keys \(MockDevice.made.count)")
    },
    "session, three tries": { app in
      for _ in 0..<3 { await app.ask() }
      print("keys \(MockDevice.made.count)")
    },
    "session, and another": { app in
      await app.ask()
      await app.session.drop(nil)
      await app.ask()
      print("keys \(MockDevice.made.count), assertions \(MockDevice.assertions)")
    },
    "session on another phone": { app in
      UserDefaults.standard.set("bound elsewhere", forKey: "boundKey")
      await app.ask()
      print("keys \(MockDevice.made.count)")
    },
    "session on another phone, before the first proof": { app in
      let begun =
        #"{"purpose":"","keyId":"made elsewhere","clientData":"","expiresAtMs":0}"#
      UserDefaults.standard.set(Data(begun.utf8), forKey: "attempt")
      await app.ask()
      print("keys \(MockDevice.made.count)")
    },
    "session after invalidInput": { app in
      await app.ask()
      await app.session.drop(nil)
      MockDevice.asserting = [.invalidInput]
      await app.ask()
      print("keys \(MockDevice.made.count)")
    },
    "session after system failures": { app in
      await app.ask()
      await app.session.drop(nil)
      MockDevice.asserting = [.unknownSystemFailure]
      await app.ask()
      await app.ask()
      print("keys \(MockDevice.made.count)")
      await app.session.drop(nil)
      MockDevice.asserting = [.unknownSystemFailure, .unknownSystemFailure]
      await app.ask()
      await app.ask()
      print("keys \(MockDevice.made.count)")
    },
    "session while Apple is away": { app in
      MockDevice.attesting = [.serverUnavailable, .serverUnavailable]
      for _ in 0..<3 { await app.ask() }
      await app.session.drop(nil)
      MockDevice.asserting = [.serverUnavailable, .serverUnavailable, .serverUnavailable]
      for _ in 0..<4 { await app.ask() }
      print("keys \(MockDevice.made.count)")
    },
    "session after failed attestations": { app in
      MockDevice.attesting = [.unknownSystemFailure, .invalidInput, .invalidKey]
      for _ in 0..<3 { await app.ask() }
      print("keys \(MockDevice.made.count)")
    },
    "session on an old device": { app in
      MockDevice.attesting = [.featureUnsupported]
      await app.ask()
      MockDevice.isSupported = false
      await app.ask()
    },
    "two sessions at once": { app in
      async let one: Void = app.ask()
      async let other: Void = app.ask()
      _ = await (one, other)
      print("keys \(MockDevice.made.count), assertions \(MockDevice.assertions)")
    },
    // ---- promotions
    "promotion": { app in await app.promotion() },
    "promotion, three tries": { app in
      for _ in 0..<3 { await app.promotion() }
    },
    "promotion without DeviceCheck": { app in
      MockDevice.isSupported = false
      await app.promotion()
    },
    // ---- the texts
    "trouble": { app in
      let codes: [DCError.Code] = [
        .featureUnsupported, .invalidInput, .invalidKey, .serverUnavailable,
        .unknownSystemFailure,
      ]
      for code in codes {
        let trouble = DeviceTrouble(DCError(code))
        print(trouble?.errorDescription ?? "none")
        print(trouble?.recoverySuggestion ?? "none")
      }
      print(DeviceTrouble(URLError(.timedOut)) == nil)
    },
    // ---- the upgrade
    "upgrade": { app in
      await app.signIn()
      let before = try app.store.read()
      do {
        try await Upgrade(backEnd: app.backEnd).run()
        print("joined:", try app.store.read()?.username ?? "")
      } catch {
        print("threw", error, "the same:", try app.store.read() == before)
      }
    },
    "delete": { app in
      await app.signIn()
      let upgrade = Upgrade(backEnd: app.backEnd)
      for _ in 0..<2 {
        do {
          try await upgrade.deleteAccount()
          print("deleted, kept:", try app.store.read() != nil, "repeat:", upgrade.isDeleting)
        } catch {
          print("threw", error, "kept:", try app.store.read() != nil, "repeat:", upgrade.isDeleting)
        }
      }
    },
  ]
}
