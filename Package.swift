// swift-tools-version: 6.2
//
// Assay: verify what Apple signs.
//
// The library is written in the subset of Swift that compiles with the full
// standard library (this manifest) and with Embedded Swift (the Makefile).
// Link flags of libassay.so belong to the Makefile: in linkerSettings they
// would break the linking of tests, and unsafeFlags would bar the package from
// being a dependency.

import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

// The test authority and its cases need no optimiser, which would take most of the time of a build of
// the command line. -Onone would do for that, and would keep every function for a debugger,
// also those that the linker could leave out. The library is small, as it goes into the command
// line, and what ships is built by the Makefile. The Makefile asks for this; unsafeFlags would
// bar the package from being a dependency, so they do not exist for anyone else.
let isMake = Context.environment["ASSAY_MAKE"] != nil
let plain = ["-Xfrontend", "-disable-sil-perf-optzns", "-Xfrontend", "-disable-llvm-optzns"]
let unoptimised: [SwiftSetting] = isMake ? [.unsafeFlags(plain)] : []
// The tests are built in release, too, so that nothing of this is compiled twice: what they
// import with @testable lets them, and they themselves need no optimiser, and no module for others
// that is made on its own.
let testable: [SwiftSetting] =
  isMake ? [.unsafeFlags(["-enable-testing"], .when(configuration: .release))] : []
let tests: [SwiftSetting] =
  isMake ? [.unsafeFlags(["-Onone", "-no-emit-module-separately-wmo"])] : []
// What ships brings the Swift runtime with it; the tests take that of the toolchain.
let standalone: [LinkerSetting] = isMake ? [.unsafeFlags(["-static-stdlib"])] : []
// Optimised for size: the command line only reads files and prints.
let small: [SwiftSetting] = isMake ? [.unsafeFlags(["-Osize"])] : []

let package = Package(
  name: "assay",
  products: [
    .library(name: "assay", type: .dynamic, targets: ["AssayABI"]),
    .library(name: "Assay", targets: ["Assay"]),
    .library(name: "AssaySwift", targets: ["AssaySwift"]),
    .library(name: "AssaySQLite", targets: ["AssaySQLite"]),
    .executable(name: "assay-cli", targets: ["assay-cli"]),
  ],
  traits: [
    .default(enabledTraits: ["Foundation"]),
    .trait(name: "Foundation", description: "AssaySwift makes times of Date and gives them"),
  ],
  targets: [
    .systemLibrary(
      name: "CLibCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CAssay", path: "include"),
    .target(name: "CSystem", publicHeadersPath: "."),
    .target(name: "CGate", dependencies: ["CLibCrypto"]),
    .target(
      name: "Assay", dependencies: ["CLibCrypto"],
      swiftSettings: strict + small + testable),
    .target(
      name: "AssaySwift", dependencies: ["Assay"], swiftSettings: strict + testable),
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .target(
      name: "AssaySQLite", dependencies: ["AssaySwift", "Assay", "CSQLite"],
      swiftSettings: strict + testable),
    .target(
      name: "AssayABI", dependencies: ["Assay", "CAssay", "CGate"],
      exclude: ["Link"], swiftSettings: strict, linkerSettings: standalone),
    .target(
      name: "AssayAuthority", dependencies: ["CLibCrypto"],
      swiftSettings: strict + small + testable),
    .target(
      name: "AssayCases", dependencies: ["Assay", "AssayAuthority"], path: "Tests/AssayCases",
      exclude: ["Recorded"], swiftSettings: strict + unoptimised + testable),
    .executableTarget(
      name: "assay-cli",
      dependencies: ["Assay", "AssayAuthority", "CAssay", "CLibCrypto", "CSystem"],
      exclude: ["Link"], swiftSettings: strict + small, linkerSettings: standalone),
    .executableTarget(
      name: "assay-cases", dependencies: ["AssayCases", "CSystem"], path: "Tests/assay-cases",
      swiftSettings: strict),
    .testTarget(
      name: "AssayTests", dependencies: ["Assay", "AssayAuthority", "AssayCases", "CSQLite"],
      swiftSettings: strict + tests),
    .testTarget(
      name: "AssaySwiftTests",
      dependencies: ["AssaySwift", "AssaySQLite", "Assay", "AssayAuthority", "AssayCases"],
      swiftSettings: strict + tests),
  ]
)
